import { distance } from 'fastest-levenshtein';
import { STRONG_SCHEMES } from './contact.ts';
import { information, organizationLikeness, organizationNames, type OrganizationName } from './organization.ts';
import { isFrequent, latinPersonName, personLikeness, type PersonName } from './person.ts';
import type { Prepared } from './profile.ts';

export const LEVELS = ['exact', 'close', 'partial', 'disagree'] as const;
export type Level = (typeof LEVELS)[number] | 'missing';
export const FIELDS = ['name', 'place', 'website', 'email', 'phone', 'identifier', 'issue_areas'] as const;
export type Field = (typeof FIELDS)[number];

export interface Comparison {
  field: Field;
  level: Level;
  /** What was compared, as it was written; null where one side has nothing. */
  left: string | null;
  right: string | null;
  /** Many bear this name: to agree on it says less. */
  frequent?: boolean;
  /** They have nothing in common, as against names of branches and departments of one body. */
  unrelated?: boolean;
}

/** From which likeness on names are exact, close, partly alike. */
export const NAME_LEVELS = { exact: 0.99, close: 0.84, partial: 0.6 };
const UNRELATED = 0.25;
/** Where there is nothing but two names: from here on they are taken for the same name. */
export const SAME_NAME = 0.81;

export function nameLevel(likeness: number): Level {
  if (likeness >= NAME_LEVELS.exact) return 'exact';
  if (likeness >= NAME_LEVELS.close) return 'close';
  return likeness >= NAME_LEVELS.partial ? 'partial' : 'disagree';
}

/** How alike two names are, from 0 to 1, and nothing else known of their bearers. */
export function nameLikeness(isPerson: boolean, one: string, other: string): number {
  if (isPerson) return personLikeness(latinPersonName(one), latinPersonName(other));
  return Math.max(0, ...organizationNames(one).flatMap((left) => organizationNames(other).map((right) => organizationLikeness(left, right))));
}

/** Compares two actors field by field. */
export function compare(left: Prepared, right: Prepared): Comparison[] {
  return [names(left, right), places(left, right), websites(left, right), emails(left, right), phones(left, right), identifiers(left, right), issueAreas(left, right)];
}

interface Best<Item> {
  one: Item | undefined;
  other: Item | undefined;
  score: number;
}

function best<Item>(left: Item[], right: Item[], score: (one: Item, other: Item) => number): Best<Item> {
  let found: Best<Item> = { one: left[0], other: right[0], score: -1 };
  for (const one of left) for (const other of right) {
    const reached = score(one, other);
    if (reached > found.score) found = { one, other, score: reached };
  }
  return found;
}

function names(left: Prepared, right: Prepared): Comparison {
  const isPair = left.isPerson === right.isPerson;
  if (left.profile.names.length === 0 || right.profile.names.length === 0) return { field: 'name', level: 'missing', left: left.profile.names[0] ?? null, right: right.profile.names[0] ?? null };
  if (!isPair) return crossNames(left, right);
  if (left.isPerson) {
    const { one, other, score } = best(left.people, right.people, personLikeness);
    const written = (of: Prepared, name: PersonName | undefined) => of.profile.names[of.people.indexOf(name!)] ?? null;
    return { field: 'name', level: nameLevel(score), left: written(left, one), right: written(right, other), frequent: [one, other].some((name) => name !== undefined && isFrequent(name)) };
  }
  const { one, other, score } = best(left.organizations, right.organizations, organizationLikeness);
  const written = (of: Prepared, name: OrganizationName | undefined) => of.written[of.organizations.indexOf(name!)] ?? null;
  const said = one && other ? Math.min(information(one), information(other)) : 0;
  return { field: 'name', level: nameLevel(score), left: written(left, one), right: written(right, other), frequent: said < 1.6, unrelated: score < UNRELATED };
}

/** A person and an organization of the same name, such as a campaign called after its candidate. */
function crossNames(left: Prepared, right: Prepared): Comparison {
  const { one, other, score } = best(left.profile.names, right.profile.names, (name, another) => nameLikeness(false, name, another));
  return { field: 'name', level: nameLevel(score), left: one ?? null, right: other ?? null };
}

function found<Item>(field: Field, left: Item[], right: Item[], score: (one: Item, other: Item) => number, text: (item: Item) => string): Comparison {
  const { one, other, score: reached } = best(left, right, score);
  const shown = { left: one === undefined ? null : text(one), right: other === undefined ? null : text(other) };
  if (one === undefined || other === undefined) return { field, level: 'missing', ...shown };
  return { field, level: (['disagree', 'partial', 'close', 'exact'] as const)[reached]!, ...shown };
}

const text = (item: string): string => item;

function places(left: Prepared, right: Prepared): Comparison {
  const state = (place: string) => place.slice(place.lastIndexOf(',') + 1);
  return found('place', left.profile.places, right.profile.places, (one, other) => (one === other ? 3 : state(one) === state(other) ? 1 : 0), text);
}

function websites(left: Prepared, right: Prepared): Comparison {
  const score = (one: { site: string; page: string }, other: { site: string; page: string }) => {
    // The front page of a council is not a page of each of its members.
    if (one.page === other.page) return left.isPerson && right.isPerson && !isOwn(one, left) ? 1 : 3;
    if (one.site !== other.site) return 0;
    // The front page of a site and a page below it are near; two pages may be two departments.
    return one.page.startsWith(other.page) || other.page.startsWith(one.page) ? 2 : 1;
  };
  return found('website', left.websites, right.websites, score, ({ page }) => page);
}

function isOwn({ page, site }: { page: string; site: string }, { people }: Prepared): boolean {
  return page.includes('/') || people.some(({ family }) => site.includes(family.at(-1) ?? '/'));
}

function emails(left: Prepared, right: Prepared): Comparison {
  const score = (one: { address: string; domain: string | null }, other: { address: string; domain: string | null }) =>
    one.address === other.address ? 3 : isMistyped(one.address, other.address) ? 2 : one.domain !== null && one.domain === other.domain ? 1 : 0;
  return found('email', left.emails, right.emails, score, ({ address }) => address);
}

/** A letter wrong, not a digit: "lee1" and "lee2" are two. */
function isMistyped(one: string, other: string): boolean {
  const digits = (address: string) => address.replace(/\D/g, '');
  return digits(one) === digits(other) && one.length > 12 && distance(one, other) <= 1;
}

function phones(left: Prepared, right: Prepared): Comparison {
  return found('phone', left.phones, right.phones, (one, other) => (one === other ? 3 : 0), text);
}

/** Only identifiers of one scheme can be compared. */
function identifiers(left: Prepared, right: Prepared): Comparison {
  const shared = (from: Prepared, to: Prepared) => from.identifiers.filter(({ scheme }) => to.identifiers.some((other) => other.scheme === scheme));
  const score = (one: { scheme: string; value: string }, other: { scheme: string; value: string }) =>
    one.scheme !== other.scheme ? -1 : one.value === other.value ? 3 : 0;
  return found('identifier', shared(left, right), shared(right, left), score, ({ scheme, value }) => `${scheme}:${value}`);
}

function issueAreas(left: Prepared, right: Prepared): Comparison {
  const [one, other] = [left.profile.issue_areas, right.profile.issue_areas];
  const shown = { left: one.length > 0 ? one.join(', ') : null, right: other.length > 0 ? other.join(', ') : null };
  if (shown.left === null || shown.right === null) return { field: 'issue_areas', level: 'missing', ...shown };
  const both = one.filter((slug) => other.includes(slug)).length;
  const level = both === 0 ? 'disagree' : both === Math.max(one.length, other.length) ? 'exact' : 'partial';
  return { field: 'issue_areas', level, ...shown };
}

/** What the strong identifiers say: the schemes they agree on and those they contradict each other in. */
export function strongIdentifiers(left: Prepared, right: Prepared): { agree: string[]; conflict: string[] } {
  const values = (of: Prepared, scheme: string) => of.identifiers.filter((identifier) => identifier.scheme === scheme).map(({ value }) => value);
  const said = { agree: [] as string[], conflict: [] as string[] };
  for (const scheme of STRONG_SCHEMES) {
    const [one, other] = [values(left, scheme), values(right, scheme)];
    if (one.length === 0 || other.length === 0) continue;
    (one.some((value) => other.includes(value)) ? said.agree : said.conflict).push(scheme);
  }
  return said;
}
