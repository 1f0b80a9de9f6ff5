import { isId, Joi, problem } from 'civic';
import type { Workspaces } from '../context.ts';
import { createRecords, type Records } from '../records/records.ts';
import { checkedActors, entityReference, entityReferences, type EntityReference } from '../references.ts';
import { id, listOf, nullable, recordFields, time, writtenText } from '../schemas.ts';
import { reviewOf, type ReviewRow } from './store.ts';

export const REVIEW_STATUSES = ['to_review', 'in_review', 'confirmed', 'rejected'] as const;
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

/** What a workspace decided about an actor, for itself. It changes nothing in the directory. */
export interface Review {
  id: string;
  target: { type: 'entity'; id: string };
  entity: EntityReference;
  status: ReviewStatus;
  note: string | null;
  decided_by: string;
  decided_at: string;
  created_at: string;
  updated_at: string;
  created_by: string;
}

const status = Joi.string().valid(...REVIEW_STATUSES);
const note = writtenText(2000).allow(null);
/** The column is a UUID, with which Postgres compares no other text; a filter that names no actor matches nothing. */
const NO_ACTOR = '00000000-0000-0000-0000-000000000000';
const target = Joi.object({ type: Joi.string().valid('entity').required(), id: Joi.string().required().description('The id of an actor') });

const shown = Joi.object<Review, true>({
  ...recordFields,
  target: Joi.object({ type: Joi.string().valid('entity').required(), id }).required(),
  entity: entityReference.required(),
  status: status.required(),
  note: nullable,
  decided_by: id.description('The account that set the status'),
  decided_at: time,
}).meta({ name: 'Review' });

export type Reviews = Records<ReviewRow, Review>;

export function createReviews(workspaces: Workspaces): Reviews {
  const { clock } = workspaces.civic;
  return createRecords<ReviewRow, Review>(workspaces, {
    name: 'reviews',
    noun: 'review',
    param: 'review_id',
    table: 'workspaces_reviews',
    unknown: 'unknown_review',
    problems: ['unknown_actor', 'already_reviewed'],
    changedBy: 'reviewer',
    schemas: {
      created: Joi.object({ target: target.required(), status: status.default('to_review'), note }).meta({ name: 'NewReview' }),
      changed: Joi.object({ status, note }).min(1).meta({ name: 'ReviewChange' }),
      shown,
      list: listOf(shown, 'ReviewList'),
      filters: { status: Joi.array().items(status).single(), target_id: Joi.string().max(100).custom((given: string) => (isId(given) ? given : NO_ACTOR)).description('The id of an actor') },
    },
    async columns(tx, context, given, row) {
      const decided = given.status !== undefined && given.status !== row?.status ? { status: given.status as ReviewStatus, decided_by: context.caller.account_id, decided_at: clock.iso() } : {};
      const columns = { ...decided, ...(given.note !== undefined && { note: given.note as string | null }) };
      if (row) return columns;
      const [target_id] = await checkedActors(workspaces, tx, context, [given.target.id as string]) as [string];
      const known = await reviewOf(tx, context.workspace.id, target_id);
      if (known) throw problem('already_reviewed', { detail: `The workspace has a review of the actor ${target_id}.`, extra: { review_id: known } });
      return { ...columns, target_type: 'entity', target_id };
    },
    async show(reader, context, rows) {
      const entity = await entityReferences(workspaces, reader, context, rows.map(({ target_id }) => target_id));
      return rows.map(({ id: reviewId, target_id, status: now, note: written, decided_by, decided_at, created_at, updated_at, created_by }) => ({
        id: reviewId, target: { type: 'entity', id: target_id }, entity: entity(target_id), status: now as ReviewStatus, note: written, decided_by, decided_at, created_at, updated_at, created_by,
      }));
    },
  });
}
