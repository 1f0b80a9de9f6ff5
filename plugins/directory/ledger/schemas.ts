import { Joi } from 'civic';
import { ACTOR_TYPES, CLAIM_STATUSES, METHODS, PROPERTIES, RANKS, SOURCE_KINDS, type ActorDraft, type ClaimDraft, type ClaimValues, type Property, type SourceDraft } from '../types.ts';

/** Whether the time of an event is a date alone, such as `2026-12-24`. */
export function isWholeDay(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value);
}

export const text = (max: number) => Joi.string().trim().min(1).max(max);
export const time = Joi.string().isoDate().custom((value: string, { error }) => {
  const [, year, month, day] = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?/.exec(value) ?? [];
  // The thirtieth of February is not the second of March.
  if (!year || (day && Number(day) > new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate())) return error('string.isoDate');
  const text = new Date(value).toISOString();
  return text.length === 24 ? text : error('string.isoDate');
}, 'RFC 3339 in UTC');
/** A date alone is a whole day and stays one: midnight in UTC is the evening before in America. */
const timeOrDay = time.custom((value: string, { original }) => (isWholeDay(original) ? original : value), 'a time, or the date of a whole day');
const day = Joi.string().pattern(/^\d{4}(-\d{2}(-\d{2})?)?$/, 'a year, month or day');
const webAddress = Joi.string().trim().max(2000).uri({ scheme: ['http', 'https'] });

/** What both databases keep as a number of characters. */
export const MOST_CHARACTERS = 2 ** 31 - 1;

/** The form of each property's value. */
const valueSchemas: Record<Property, Joi.Schema> = {
  name: text(300),
  description: text(5000),
  type: Joi.string().valid(...ACTOR_TYPES),
  place: text(200),
  issue_area: text(100),
  website: webAddress,
  email: Joi.string().trim().max(320).email({ tlds: false }),
  phone: text(50).pattern(/\d{3}/, 'digits'),
  social: Joi.object<ClaimValues['social'], true>({ network: text(50).lowercase().required(), url: webAddress.required() }),
  identifier: Joi.object<ClaimValues['identifier'], true>({ scheme: text(50).lowercase().required(), value: text(200).required() }),
  affiliation: Joi.object<ClaimValues['affiliation'], true>({
    entity_id: Joi.string().guid().lowercase().allow(null).default(null),
    name: text(300).required(),
    role: text(200).allow(null).default(null),
    since: day.allow(null).default(null),
    until: day.allow(null).default(null),
  }),
  status: Joi.string().valid('active', 'inactive'),
  event_start: timeOrDay,
  event_end: timeOrDay,
  event_location: text(500),
};

// oxlint-disable-next-line unicorn/no-thenable -- the word is Joi's
const value = Joi.alternatives().conditional('property', { switch: PROPERTIES.map((property) => ({ is: property, then: valueSchemas[property]! })) }).required()
  .description('A text; an object for social, identifier and affiliation');
const locator = Joi.object({ start: Joi.number().integer().min(0).required(), end: Joi.number().integer().min(Joi.ref('start')).max(MOST_CHARACTERS).required() }).allow(null)
  .description('Where in the text of the source the excerpt is, in characters');

const sourceFields: Joi.StrictSchemaMap<Omit<SourceDraft, 'id'>> = {
  local_id: text(100).required().description('Claims of the same request name the source by it'),
  url: webAddress.required(),
  title: text(500).allow(null),
  publication: text(300).allow(null),
  kind: Joi.string().valid(...SOURCE_KINDS),
  published_at: time.allow(null),
  retrieved_at: time.allow(null),
  excerpt: text(5000).allow(null),
  content_hash: text(200).allow(null),
};

/** What callers may say of a source; its id is created here. */
export const sourceInput = Joi.object<Omit<SourceDraft, 'id'>, true>(sourceFields).meta({ name: 'SourceInput' });

/** What imports may say of a source. */
export const sourceDraft = Joi.object<SourceDraft, true>({ ...sourceFields, id: Joi.string().guid().lowercase() }).meta({ name: 'SourceDraft' });

/** What callers may say of a claim. */
export const claimInput = Joi.object<ClaimDraft>({
  property: Joi.string().valid(...PROPERTIES).required(),
  value,
  source_local_id: text(100).required(),
  excerpt: text(5000).allow(null),
  locator,
  confidence: Joi.number().min(0).max(1),
  expires_at: time.allow(null),
}).meta({ name: 'ClaimDraft' });

/** What imports may say besides. */
const claimDraft = claimInput.keys({
  id: Joi.string().guid().lowercase(),
  method: Joi.string().valid(...METHODS),
  rank: Joi.string().valid(...RANKS),
  status: Joi.string().valid(...CLAIM_STATUSES),
  first_seen_at: time,
  last_seen_at: time,
});

export const actorDraft = Joi.object<ActorDraft>({
  id: Joi.string().guid().lowercase(),
  type: Joi.string().valid(...ACTOR_TYPES).required(),
  visibility: Joi.string().valid('public', 'workspace'),
  sources: Joi.array().items(sourceDraft).min(1).max(500).required(),
  claims: Joi.array().items(claimDraft).min(1).max(2000).required(),
  origin: text(300),
  created_at: time,
  updated_at: time,
});
