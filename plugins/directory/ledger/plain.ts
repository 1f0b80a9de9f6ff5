import { isId } from 'civic';
import { ACTOR_TYPES, CLAIM_STATUSES, METHODS, RANKS, SOURCE_KINDS, type Property } from '../types.ts';
import { MOST_CHARACTERS } from './schemas.ts';

/**
 * Imports bring drafts by the million, nearly all of them in their normal form already, and reading one through its schema costs as much as storing it.
 * What is plain needs no schema: it would be accepted as it is. Whatever is not goes through the schema, which alone refuses and explains.
 */
export function isPlainDraft(input: unknown): boolean {
  return isObject(input) && hasOnly(input, DRAFT)
    && Array.isArray(input['sources']) && input['sources'].length >= 1 && input['sources'].length <= 500 && input['sources'].every(isPlainSource)
    && Array.isArray(input['claims']) && input['claims'].length >= 1 && input['claims'].length <= 2000 && input['claims'].every(isPlainClaim);
}

type Fits = (value: unknown) => boolean;
type Bag = Record<string, unknown>;

const URL = /^https?:\/\/[a-z0-9]+(?:[.-][a-z0-9]+)*(?::\d{1,5})?(?:\/(?:[\w.~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$/;
const EMAIL = /^[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]{2,20}$/;
const DAY = /^\d{4}(-\d{2}(-\d{2})?)?$/;

const isObject = (value: unknown): value is Bag => typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (max: number): Fits => (value) => typeof value === 'string' && value.length >= 1 && value.length <= max && value.trim() === value;
const lowText = (max: number): Fits => (value) => text(max)(value) && (value as string).toLowerCase() === value;
const oneOf = (values: readonly string[]): Fits => {
  const set = new Set<unknown>(values);
  return (value) => set.has(value);
};
const matches = (pattern: RegExp, max: number): Fits => (value) => typeof value === 'string' && value.length <= max && pattern.test(value);
const orNull = (fits: Fits): Fits => (value) => value === null || fits(value);
const optional = (fits: Fits): Fits => (value) => value === undefined || fits(value);
const optionalOrNull = (fits: Fits): Fits => (value) => value === undefined || value === null || fits(value);

const id: Fits = (value) => isId(value) && value.toLowerCase() === value;
const url = matches(URL, 2000);
/** As the ledger keeps it: UTC with milliseconds. */
const time: Fits = (value) => {
  if (typeof value !== 'string' || value.length !== 24 || value.charCodeAt(23) !== 90) return false;
  const at = Date.parse(value);
  return !Number.isNaN(at) && new Date(at).toISOString() === value;
};
const position: Fits = (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_CHARACTERS;

function hasOnly(bag: Bag, members: Record<string, Fits>): boolean {
  for (const name in bag) if (!Object.hasOwn(members, name)) return false;
  for (const name in members) if (!members[name]!(bag[name])) return false;
  return true;
}
const bag = (members: Record<string, Fits>): Fits => (value) => isObject(value) && hasOnly(value, members);
const any: Fits = () => true;

const VALUES: Record<Property, Fits> = {
  name: text(300),
  description: text(5000),
  type: oneOf(ACTOR_TYPES),
  place: text(200),
  issue_area: text(100),
  website: url,
  email: matches(EMAIL, 64),
  phone: (value) => text(50)(value) && /\d{3}/.test(value as string),
  social: bag({ network: lowText(50), url }),
  identifier: bag({ scheme: lowText(50), value: text(200) }),
  affiliation: bag({ entity_id: orNull(id), name: text(300), role: orNull(text(200)), since: orNull(matches(DAY, 10)), until: orNull(matches(DAY, 10)) }),
  status: oneOf(['active', 'inactive']),
  event_start: time,
  event_end: time,
  event_location: text(500),
};

const locator: Fits = (value) => isObject(value) && hasOnly(value, { start: position, end: position }) && (value['end'] as number) >= (value['start'] as number);

const SOURCE: Record<string, Fits> = {
  local_id: text(100), id: optional(id), url, title: optionalOrNull(text(500)), publication: optionalOrNull(text(300)), kind: optional(oneOf(SOURCE_KINDS)),
  published_at: optionalOrNull(time), retrieved_at: optionalOrNull(time), excerpt: optionalOrNull(text(5000)), content_hash: optionalOrNull(text(200)),
};

const CLAIM: Record<string, Fits> = {
  property: (value) => typeof value === 'string' && Object.hasOwn(VALUES, value), value: any, source_local_id: text(100), excerpt: optionalOrNull(text(5000)), locator: optionalOrNull(locator),
  confidence: optional((value) => typeof value === 'number' && value >= 0 && value <= 1), expires_at: optionalOrNull(time),
  id: optional(id), method: optional(oneOf(METHODS)), rank: optional(oneOf(RANKS)), status: optional(oneOf(CLAIM_STATUSES)), first_seen_at: optional(time), last_seen_at: optional(time),
};

const DRAFT: Record<string, Fits> = {
  id: optional(id), type: oneOf(ACTOR_TYPES), visibility: optional(oneOf(['public', 'workspace'])), sources: any, claims: any, origin: optional(text(300)),
  created_at: optional(time), updated_at: optional(time),
};

const isPlainSource = bag(SOURCE);
const isPlainClaim: Fits = (value) => isObject(value) && hasOnly(value, CLAIM) && VALUES[value['property'] as Property](value['value']);
