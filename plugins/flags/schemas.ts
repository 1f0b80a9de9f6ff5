import { Joi } from 'civic';
import { SUSPICIONS } from './suspicion.ts';
import { ENTITY_FLAG_TYPES, FLAG_TYPES, SOURCE_FLAG_TYPES, STATUSES, TARGET_TYPES, type CreatedFlag, type Message, type Receipt, type ReviewedFlag } from './types.ts';

const id = Joi.string().required();
const time = Joi.string().isoDate().required();
const nullable = Joi.string().allow(null).required();
const target_type = Joi.string().valid(...TARGET_TYPES).required();
const status = Joi.string().valid(...STATUSES).required();
const flagType = Joi.string().valid(...FLAG_TYPES).required();

const LONGEST = 2000;
/** Postgres takes no U+0000 and no half of a surrogate pair. */
const storable = /^[^\0\p{Surrogate}]*$/u;
export const written = Joi.string().trim().max(LONGEST).pattern(storable, 'text without U+0000');
const reason = written.min(1).required().description('What is wrong, in your own words; only reviewers read it');

export const entityFlagFields = {
  entity_id: Joi.string().required().description('The id of the actor'),
  reason,
  flag_type: Joi.string().valid(...ENTITY_FLAG_TYPES).required().description('What kind of problem it is'),
  claim_id: Joi.string().description('The claim that is wrong, from the claims of the actor'),
};
export const newEntityFlag = Joi.object(entityFlagFields).meta({ name: 'NewEntityFlag' });

export const sourceFlagFields = {
  source_id: Joi.string().required().description('The id of the source'),
  reason,
  flag_type: Joi.string().valid(...SOURCE_FLAG_TYPES).required().description('What kind of problem it is'),
};
export const newSourceFlag = Joi.object(sourceFlagFields).meta({ name: 'NewSourceFlag' });

export const createdFlagSchema = Joi.object<CreatedFlag, true>({
  id, target_type, target_id: id, claim_id: nullable, flag_type: flagType, reason: Joi.string().required(), status, created_at: time,
  receipt: Joi.string().required().description('With it anyone can look up what became of the flag'),
}).meta({ name: 'Flag' });

export const receiptSchema = Joi.object<Receipt, true>({ id, flag_type: flagType, status, created_at: time, decided_at: time.allow(null) }).meta({ name: 'FlagReceipt' });

const message = Joi.object<Message, true>({
  id, kind: Joi.string().valid('question', 'reply', 'reopening').required(), text: Joi.string().required(), suspicion: Joi.string().valid(...SUSPICIONS).allow(null).required(), account_id: nullable.description('The account of the reviewer who asked'), at: time,
}).meta({ name: 'ReviewedFlagMessage' });

export const reviewedFlagSchema = Joi.object<ReviewedFlag, true>({
  id, target_type, target_id: id.description('The id of the actor or source, or the key of the place'), claim_id: nullable, flag_type: flagType, reason: Joi.string().required(), status,
  proposal: Joi.object({ value: nullable, source_url: nullable }).allow(null).required().description('The value that the reporter proposes, and the address of its source'),
  account_id: nullable.description('Null when the reporter was not signed in'),
  suspicion: Joi.string().valid(...SUSPICIONS).allow(null).required().description('Why the flag may be spam. It is not counted until it is accepted'),
  reporter_email: nullable.description('The address that the reporter left; deleted after the decision'),
  messages: Joi.array().items(message).required().description('Questions of reviewers and what the reporter wrote since, the oldest first'),
  note: nullable, decided_by: nullable.description('The account of the reviewer'), decided_at: time.allow(null), created_at: time, updated_at: time,
}).meta({ name: 'ReviewedFlag' });

export const flagList = Joi.object({ data: Joi.array().items(reviewedFlagSchema).required(), total: Joi.number().integer().required(), next_cursor: nullable }).meta({ name: 'FlagList' });

export const decision = Joi.object({
  status: Joi.string().valid('accepted', 'dismissed', 'resolved').required(),
  note: written.description('For other reviewers'),
}).meta({ name: 'FlagDecision' });

const several = (values: readonly string[]) => Joi.array().items(Joi.string().valid(...values)).single();

export const flagQuery = Joi.object({
  status: several(STATUSES),
  target_type: several(TARGET_TYPES),
  flag_type: several(FLAG_TYPES),
  place: Joi.string().max(200).description('A place key or slug; an unknown one matches nothing'),
  limit: Joi.number().integer().min(1).max(100).default(25),
  cursor: Joi.string(),
});
