import type { Document, Link } from 'civic/reader';
import type { Candidate } from './candidates.ts';
import { affiliationClaim } from './claims.ts';
import { contactsIn, socialOf } from './contacts.ts';
import type { Line } from './lines.ts';
import { areRolesBelow, roleOf } from './roles.ts';
import { foldName, foldWords } from './text.ts';
import type { FoundClaim } from './types.ts';

export type ScoredCandidate = Candidate & { score: number };

/** What was found on a page, from which the claims of each actor are read. */
export interface Found {
  document: Document;
  lines: Line[];
  people: ScoredCandidate[];
  organizations: ScoredCandidate[];
  /** The organization whose page it is; null when none is certain. */
  owner: ScoredCandidate | null;
  /** Links to web sites with a visible text, by their folded text. */
  websites: Map<string, Link>;
  /** The lines of each person. */
  cards: Map<ScoredCandidate, Line[]>;
  isRoleBelow: boolean;
}

const IDENTITY = ['title_part', 'by_title', 'site_name', 'by_site_name', 'copyright', 'host'];
const CARD_LINES = 5;
const MOST_CONTACTS = 3;
const EIN = /\bEIN\b[\s:#]{0,4}(?:is |number )?(\d{2}-\d{7})\b/i;

/** Prepares what the claims of all actors of a page are read from. */
export function foundOn(document: Document, lines: Line[], people: ScoredCandidate[], organizations: ScoredCandidate[]): Found {
  const websites = new Map<string, Link>();
  for (const link of document.links) if (link.end > link.start && isWebsite(link.url)) websites.set(foldName(link.text.slice(0, 200)), link);
  const starts = people.map(({ start }) => start).toSorted((one, other) => one - other);
  const cards = new Map(people.map((person) => [person, cardOf(person, lines, starts.find((start) => start > person.start) ?? Infinity)]));
  return { document, lines, people, organizations, owner: ownerOf(organizations), websites, cards, isRoleBelow: areRolesBelow(people, lines) };
}

/** Names, role and contacts of a person. */
export function personClaims(person: ScoredCandidate, found: Found): FoundClaim[] {
  const claims: FoundClaim[] = [nameClaim(person)];
  const organization = found.owner;
  const role = roleOf(person, found.lines, found.isRoleBelow);
  const employer = role?.organization ?? organization?.name;
  if (role && employer) claims.push(affiliationClaim(employer, role.text, role));
  else if (role) claims.push({ property: 'description', value: role.text, start: role.start, end: role.end });
  const contacts = contactsIn(found.cards.get(person) ?? []);
  // A card may have the contacts of an office: an address counts when it is the only one, or has the name in it.
  const emails = contacts.filter((claim) => claim.property === 'email');
  const own = emails.filter(({ value }) => foldWords(person.name).some((word) => word.length > 2 && value.split('@')[0]!.includes(word)));
  claims.push(...(own.length > 0 ? own : emails.length === 1 ? emails : []).slice(0, 1), ...contacts.filter(({ property }) => property === 'phone').slice(0, 1));
  return claims;
}

/** Returns the lines that belong to a person: the rest of the row or card, up to the next person. */
function cardOf({ line }: ScoredCandidate, lines: Line[], next: number): Line[] {
  if (!line || line.isProse) return [];
  const isSame = (other: Line) => other.level === null && (line.item === null ? other.block - line.block <= 3 : other.item === line.item);
  return lines.slice(line.number, line.number + CARD_LINES).filter((other) => other.start < next && (other.number === line.number || isSame(other)));
}

/** Names and contacts of an organization. The contacts of a page belong to the organization whose page it is. */
export function organizationClaims(organization: ScoredCandidate, found: Found): FoundClaim[] {
  const claims: FoundClaim[] = [nameClaim(organization)];
  const { document, lines } = found;
  const home = found.websites.get(foldName(organization.name));
  if (home) claims.push({ property: 'website', value: home.url, start: home.start, end: home.end });
  if (found.owner !== organization) return claims;
  const taken = new Set([...found.cards.values()].flat().map(({ number }) => number));
  const contacts = contactsIn(lines.filter(({ number, isProse, hasContact, links }) => !taken.has(number) && (hasContact || (!isProse && links.some(({ url }) => url.startsWith('mailto:'))))).slice(0, 100));
  for (const property of ['email', 'phone'] as const) claims.push(...contacts.filter((claim) => claim.property === property).slice(0, MOST_CONTACTS));
  claims.push(...document.links.slice(0, 2000).flatMap((link) => socialOf(link) ?? []).slice(0, 6));
  const ein = EIN.exec(document.text);
  if (ein) claims.push({ property: 'identifier', value: { scheme: 'ein', value: ein[1]! }, start: ein.index + ein[0].lastIndexOf(ein[1]!), end: ein.index + ein[0].length });
  const about = lines.find(({ text, isProse }) => isProse && text.length <= 600 && text.startsWith(organization.name) && /^[^.]{0,40}?\s(?:is|was|works|helps|provides|serves|es|trabaja|ofrece)\s/.test(text.slice(organization.name.length)));
  if (about) claims.push({ property: 'description', value: about.text.trim(), start: about.start, end: about.start + about.text.trim().length });
  return claims;
}

/** Returns the organization whose page it is; null when none is certain. */
function ownerOf(organizations: ScoredCandidate[]): ScoredCandidate | null {
  let owner: ScoredCandidate | null = null;
  let most = 0;
  for (const candidate of organizations) {
    const count = IDENTITY.filter((feature) => candidate.features.has(feature)).length + candidate.score;
    if (candidate.score >= 0.5 && !candidate.features.has('generic') && count >= 1.5 && count > most) [owner, most] = [candidate, count];
  }
  return owner;
}

function nameClaim({ name, start, end }: ScoredCandidate): FoundClaim {
  return { property: 'name', value: name, start, end };
}

/** The address of a site, not that of a page deep inside. */
function isWebsite(url: string): boolean {
  return /^https?:\/\/[^/?#]+\/?$/.test(url);
}
