import type { Document, ItemValue, Link, NestedItem, Range } from 'civic/reader';
import { affiliationClaim } from './claims.ts';
import { socialOf } from './contacts.ts';
import { findDates } from './dates.ts';
import { foldName, type TextIndex } from './text.ts';
import type { FoundActor, FoundClaim, FoundType } from './types.ts';
import { FIRST_NAMES } from './words/first-names.ts';

const ORGANIZATION = /Organization$|Business$|Corporation$|^(?:NGO|School|HighSchool|ElementarySchool|MiddleSchool|Preschool|CollegeOrUniversity|Library|Museum|Church|CatholicChurch|Mosque|Synagogue|PlaceOfWorship|Hospital|MedicalClinic|Consortium|PoliticalParty|Store|Restaurant|CityHall|GovernmentOffice|GovernmentBuilding|FireStation|PoliceStation|LegalService|Hotel|FinancialService|RealEstateAgent|WorkersUnion|FundingScheme)$/;
const MOST_ITEMS = 1000;
const MOST_ACTORS = 200;

/** Reads actors from JSON-LD, microdata, RDFa and microformats. What the text does not show is left out: a reader could not check it. */
export function structuredActors(document: Document, index: TextIndex): FoundActor[] {
  const found: FoundActor[] = [];
  const page = createPage(document, index);
  for (const item of itemsOf(document.items)) {
    const type = typeOf(item);
    const actor = type ? actorOf(item, type, page) : null;
    if (actor) found.push(actor);
    if (found.length >= MOST_ACTORS) break;
  }
  return found;
}

/** What values are looked up in; built once, because a page can have many items. */
interface Page {
  text: string;
  index: TextIndex;
  /** Links with a visible text, by address. */
  links: Map<string, Link>;
  /** Where the text shows a day: in words or numbers, or in a block with a `<time>` of that day. */
  days(): Map<string, Range>;
}

function createPage({ text, links, blocks }: Document, index: TextIndex): Page {
  const byUrl = new Map<string, Link>();
  for (const link of links) if (link.end > link.start && !byUrl.has(bareUrl(link.url))) byUrl.set(bareUrl(link.url), link);
  let days: Map<string, Range> | null = null;
  return { text, index, links: byUrl, days: () => days ??= daysOf(blocks) };
}

function daysOf(blocks: Document['blocks']): Map<string, Range> {
  const days = new Map<string, Range>();
  for (const { text, start, end, time } of blocks) {
    for (const date of findDates(text, start)) if (!days.has(date.day)) days.set(date.day, { start: date.start, end: date.end });
    const stated = time?.slice(0, 10);
    if (stated && !days.has(stated)) days.set(stated, { start, end: Math.min(end, start + 300) });
  }
  return days;
}

/** Returns items with those inside of them. */
function itemsOf(items: NestedItem[]): NestedItem[] {
  const all: NestedItem[] = items.slice(0, MOST_ITEMS);
  for (let at = 0; at < all.length && all.length < MOST_ITEMS; at++) {
    all.push(...Object.values(all[at]!.properties).flat().filter((value): value is NestedItem => typeof value === 'object'), ...all[at]!.children ?? []);
  }
  return all.slice(0, MOST_ITEMS);
}

function typeOf(item: NestedItem): FoundType | null {
  const { types } = item;
  if (types.includes('Person')) return 'person';
  if (types.some((type) => ORGANIZATION.test(type))) return 'organization';
  if (types.includes('h-event') || types.some((type) => /Event$|^Hackathon$/.test(type))) return 'event';
  if (!types.includes('h-card')) return null;
  // A card is that of an organization when its name is that of the organization, or like that of no person.
  const [name, organization] = [textOf(item, 'name'), textOf(item, 'org')];
  if (organization && name && foldName(organization) === foldName(name)) return 'organization';
  return organization || textOf(item, 'job-title', 'given-name') || FIRST_NAMES.has(foldName(name ?? '').split(' ')[0]!) ? 'person' : 'organization';
}

function actorOf(item: NestedItem, type: FoundType, page: Page): FoundActor | null {
  const name = plain(textOf(item, 'name', 'legalName') ?? '');
  const range = name.length >= 2 && name.length <= 120 && !/[@<>{}]|https?:/.test(name) && /\p{L}{2}/u.test(name) ? page.index.find(name) : null;
  if (!range || (type === 'person' && !/\s/.test(name))) return null;
  const shown = page.text.slice(range.start, range.end);
  const claims: FoundClaim[] = [{ property: 'name', value: shown, ...range }, ...contactClaims(item, page), ...aboutClaims(item, type, page)];
  if (type === 'event') claims.push(...eventClaims(item, page));
  if (type === 'event' && !claims.some(({ property }) => property === 'event_start')) return null;
  return { type, name: shown, score: 0.92, method: 'structured', claims };
}

function contactClaims(item: NestedItem, { text, index, links }: Page): FoundClaim[] {
  const claims: FoundClaim[] = [];
  const email = textOf(item, 'email')?.replace(/^mailto:/i, '').trim().toLowerCase() ?? '';
  const emailRange = /^[^\s@]{1,64}@[^\s@]{1,250}\.[a-z]{2,}$/.test(email) ? index.find(email) : null;
  if (emailRange && text.slice(emailRange.start, emailRange.end).toLowerCase() === email) claims.push({ property: 'email', value: email, ...emailRange });
  const phone = textOf(item, 'telephone', 'tel');
  const phoneRange = phone && /\d{3}/.test(phone) && phone.length <= 50 ? findDigits(phone, index) : null;
  if (phoneRange) {
    const start = text[phoneRange.start - 1] === '(' ? phoneRange.start - 1 : phoneRange.start;
    claims.push({ property: 'phone', value: text.slice(start, phoneRange.end), start, end: phoneRange.end });
  }
  const own = texts(item, 'url');
  for (const url of [...own, ...texts(item, 'sameAs')].slice(0, 20)) {
    const link = links.get(bareUrl(url));
    const claim = link && (socialOf(link) ?? (/^https?:/.test(url) && own.includes(url) ? { property: 'website' as const, value: link.url, start: link.start, end: link.end } : null));
    if (claim) claims.push(claim);
  }
  return claims;
}

/** Structured data write a number as +1-555-010-0100 that the page shows as (555) 010-0100. */
function findDigits(phone: string, index: TextIndex): Range | null {
  const digits = phone.replaceAll(/\D/g, '').replace(/^1(?=\d{10}$)/, '');
  return index.find(phone) ?? (digits.length === 10 ? index.find(`${digits.slice(0, 3)} ${digits.slice(3, 6)} ${digits.slice(6)}`) ?? index.find(digits) : null);
}

function aboutClaims(item: NestedItem, type: FoundType, { index }: Page): FoundClaim[] {
  const claims: FoundClaim[] = [];
  const description = plain(textOf(item, 'description') ?? '');
  const shown = description.length >= 20 && description.length <= 400 ? index.find(description) : null;
  if (shown) claims.push({ property: 'description', value: description, ...shown });
  const role = plain(textOf(item, 'jobTitle', 'job-title', 'role') ?? '').slice(0, 200);
  const organization = plain(textOf(item, 'worksFor', 'memberOf', 'affiliation', 'org') ?? '').slice(0, 300);
  const range = type === 'person' && organization ? (role ? index.find(role) : null) ?? index.find(organization) : null;
  if (range && index.find(organization)) claims.push(affiliationClaim(organization, role && index.find(role) ? role : null, range));
  const ein = /^\d{2}-?\d{7}$/.exec(textOf(item, 'taxID') ?? '')?.[0];
  const einRange = ein ? index.find(ein) : null;
  if (ein && einRange) claims.push({ property: 'identifier', value: { scheme: 'ein', value: ein }, ...einRange });
  return claims;
}

function eventClaims(item: NestedItem, { text, index, days }: Page): FoundClaim[] {
  const claims: FoundClaim[] = [];
  for (const [property, names] of [['event_start', ['startDate', 'start']], ['event_end', ['endDate', 'end']]] as const) {
    const value = textOf(item, ...names)?.trim() ?? '';
    const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})$/.test(value) ? value : /^\d{4}-\d{2}-\d{2}/.exec(value)?.[0];
    const range = moment && !Number.isNaN(Date.parse(moment)) ? days().get(moment.slice(0, 10)) : null;
    if (moment && range) claims.push({ property, value: moment, ...range });
  }
  const place = plain(textOf(item, 'location') ?? '').slice(0, 500);
  const range = place ? index.find(place) : null;
  if (range) claims.push({ property: 'event_location', value: text.slice(range.start, range.end), ...range });
  return claims;
}

function texts(item: NestedItem, name: string): string[] {
  return (item.properties[name] ?? []).flatMap((value) => valueText(value) ?? []);
}

function textOf(item: NestedItem, ...names: string[]): string | null {
  for (const name of names) {
    const [value] = texts(item, name);
    if (value) return value;
  }
  return null;
}

function valueText(value: ItemValue): string | null {
  if (typeof value !== 'object') return String(value);
  const name = value.properties['name']?.[0];
  return typeof name === 'string' ? name : value.value ?? null;
}

function plain(text: string): string {
  return text.slice(0, 2000).replaceAll(/<[^<>]{0,200}>/g, ' ').replaceAll('&amp;', '&').replaceAll(/\s+/g, ' ').trim();
}

function bareUrl(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
