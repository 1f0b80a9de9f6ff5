import { cutText, isId, parseUrl } from 'civic';
import { createHash } from 'node:crypto';
import { groupBy } from '../ledger/group.ts';
import type { ActorDraft, ActorType, ClaimDraft, ClaimValues, Property, SourceDraft, SourceKind } from '../types.ts';
import type { DatasetSource, ReadContext, Row } from './format.ts';
import { parseItem } from './json.ts';

/** What a file of another format says about itself. */
export interface FoundSource {
  url: string;
  title?: string | null;
  publication?: string | null;
  kind?: SourceKind;
  published_at?: string | null;
  retrieved_at?: string | null;
}

/** A claim as our exports put it beside the fields of another format: with it, each value finds its own source again. */
export interface EvidenceClaim extends Partial<Omit<ClaimDraft, 'source_local_id' | 'property' | 'value'>> {
  property: Property;
  value: unknown;
  source: string;
}

export interface RowStart {
  number: number;
  raw: unknown;
  type: ActorType;
  id?: string;
  origin?: string;
  sources?: FoundSource[];
  evidence?: EvidenceClaim[];
}

/** Gathers what one part of a foreign file says about one actor. */
export interface RowBuilder {
  say<P extends Property>(property: P, value: ClaimValues[P] | null | undefined, more?: Partial<ClaimDraft>): void;
  /** Resolves a text; what is not certain becomes a note, never a place. */
  sayPlace(text: string | null | undefined): Promise<void>;
  sayIssueAreas(text: string | null | undefined, more?: Partial<ClaimDraft>): void;
  sayWebsite(url: unknown): void;
  note(text: string): void;
  row(): Row;
}

const WRITTEN_WELL = /^(?:[\w\-.~:/?@!$&'()*+,;=]|%[0-9a-f]{2})+(?:#(?:[\w\-.~:/?@!$&'()*+,;=]|%[0-9a-f]{2})*)?$/i;
const WRITTEN_BADLY = /[^\w\-.~:/?#@!$&'()*+,;=%]|%(?![0-9a-f]{2})/gi;
// Every expression on this page takes time in proportion to the text: rows are read on the event loop.
const EMAIL = /^[^\s@<>()]+@[^\s@<>()][^\s@<>().]*\.[^\s@<>()]+$/;
export const NO_SOURCE = 'it names no source, and none was given for the whole file';
const LONGEST_TEXT = 5000;
/** No text of a row that becomes part of an actor may be longer; a description is cut to what the ledger stores. */
const LONGEST_FIELD = 20_000;
/** A subject of more characters is prose, and the search for issue areas compares each word of it. */
const LONGEST_SUBJECT = 300;
/** As many as the ledger accepts of an actor. */
const MOST_SOURCES = 500;
const MOST_CLAIMS = 2000;
const NAMESPACE = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

export function startRow({ number, raw, type, id, origin, sources = [], evidence = [] }: RowStart, context: ReadContext): RowBuilder {
  const claims: ClaimDraft[] = [];
  const notes: string[] = [];
  if (evidence.length > MOST_CLAIMS) throw new RowFault(`it has ${evidence.length} claims; at most ${MOST_CLAIMS} are allowed`);
  const known = sourceList([...sources, ...evidence.map((claim) => ({ url: claim.source }))], context.source);
  const sourceByUrl = new Map(known.map((source) => [source.url, source]));
  const evidenceByValue = groupBy(evidence, (claim) => valueKey(claim.property, claim.value));
  const seen = new Set<string>();

  function add(claim: ClaimDraft): void {
    const key = JSON.stringify([claim.property, claim.value, claim.source_local_id]);
    if (seen.has(key)) return;
    if (claims.length === MOST_CLAIMS) throw new RowFault(`it has more than ${MOST_CLAIMS} values`);
    seen.add(key);
    claims.push(claim);
  }

  function say(property: Property, value: unknown, more: Partial<ClaimDraft> = {}): void {
    const clean = cleanValue(property, value);
    if (clean === null) return;
    if (clean instanceof Error) return note(clean.message);
    const backed = evidenceByValue.get(valueKey(property, clean)) ?? [];
    for (const { property: _property, value: _value, source, ...rest } of backed) {
      const found = sourceByUrl.get(source);
      if (found) add({ ...rest, property, value: clean, source_local_id: found.local_id });
    }
    if (backed.length > 0) return;
    // The name stands on every source of the row, so that none is lost; other fields on the first.
    const behind = property === 'name' && more.rank !== 'normal' ? known : known.slice(0, 1);
    for (const { local_id } of behind) add({ method: 'import', ...more, property, value: clean, source_local_id: local_id });
  }

  function note(text: string): void {
    if (notes.length < 20 && !notes.includes(text)) notes.push(text);
  }

  return {
    say,
    note,
    async sayPlace(text) {
      const asked = cleanText(text);
      if (!asked) return;
      const place = await context.resolvePlace(asked);
      if (place) say('place', place);
      else note(`no place is surely meant by "${asked.slice(0, 100)}"`);
    },
    sayIssueAreas(text, more) {
      for (const slug of context.issueAreas((cleanText(text) ?? '').slice(0, LONGEST_SUBJECT))) say('issue_area', slug, more);
    },
    sayWebsite(url) {
      const social = socialOf(url);
      if (social) say('social', social);
      else say('website', url as string);
    },
    row() {
      if (known.length === 0) return { number, raw, fault: NO_SOURCE };
      if (!claims.some((claim) => claim.property === 'name')) return { number, raw, fault: 'it has no name' };
      const draft: ActorDraft = { type, sources: known, claims };
      if (id) draft.id = id;
      // Without an id of its own, the same row is the same thing, and names alone make nobody the same.
      draft.origin = origin ?? `row:${createHash('sha256').update(JSON.stringify([type, raw])).digest('hex')}`;
      return { number, raw, draft, notes };
    },
  };
}

function sourceList(found: FoundSource[], dataset: DatasetSource | null): SourceDraft[] {
  const byUrl = new Map<string, SourceDraft>();
  if (found.length > MOST_CLAIMS) throw new RowFault(`it names ${found.length} sources; at most ${MOST_SOURCES} are allowed`);
  for (const source of found) {
    const url = httpUrl(source.url);
    if (url && !byUrl.has(url)) byUrl.set(url, { ...source, url, local_id: `s${byUrl.size + 1}` });
  }
  if (byUrl.size === 0 && dataset) byUrl.set(dataset.url, { ...dataset, kind: 'dataset', local_id: 's1' });
  return [...byUrl.values()];
}

/** Null for nothing, an error for what cannot be a value of this property. */
function cleanValue(property: Property, value: unknown): ClaimDraft['value'] | null | Error {
  if (value === null || value === undefined) return null;
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, cleanText(part)])) as unknown as ClaimValues['affiliation'];
  const text = cleanText(value);
  if (!text) return null;
  if (property === 'website') return httpUrl(text) ?? new Error(`"${text.slice(0, 100)}" is no web address`);
  if (property === 'description') return cutText(text, LONGEST_TEXT);
  if (property === 'phone') return /\d{3}/.test(text) ? text : new Error(`"${text.slice(0, 100)}" is no phone number`);
  if (property === 'email') return EMAIL.test(text) ? text : new Error(`"${text.slice(0, 100)}" is no e-mail address`);
  return text;
}

/** Removes invisible characters and the spaces at both ends. Returns null when nothing is left; rejects the row when the text is too long. */
export function cleanText(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  if (typeof value === 'string' && value.length > LONGEST_FIELD) throw new LongField(value);
  // oxlint-disable-next-line no-control-regex
  const text = String(value).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufeff]/g, '').trim();
  return text === '' ? null : text;
}

export function httpUrl(value: unknown): string | null {
  const text = cleanText(value);
  if (!text || /\s/.test(text)) return null;
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text.replace(/^\/\//, '')}`;
  if (!/^https?:\/\/[^/]+\.[^/]+/i.test(whole)) return null;
  const url = parseUrl(whole);
  if (!url) return null;
  // As it was written, unless that is no address by the letter.
  return WRITTEN_WELL.test(whole) ? whole : wellWritten(url.href);
}

/** Encodes every character that an address may not have, and each `#` behind the first. */
function wellWritten(href: string): string {
  const [address, ...fragments] = href.replace(WRITTEN_BADLY, encodeURIComponent).split('#');
  return fragments.length === 0 ? address! : `${address}#${fragments.join('%23')}`;
}

const NETWORKS = new Map(Object.entries({
  'twitter.com': 'twitter', 'x.com': 'twitter', 'facebook.com': 'facebook', 'instagram.com': 'instagram', 'youtube.com': 'youtube',
  'linkedin.com': 'linkedin', 'tiktok.com': 'tiktok', 'bsky.app': 'bluesky', 'threads.net': 'threads',
}));

/** The network an address belongs to; null for websites. */
export function socialOf(value: unknown): ClaimValues['social'] | null {
  const url = httpUrl(value);
  const host = url && new URL(url).hostname.replace(/^(www|m|mobile)\./, '');
  const network = host ? NETWORKS.get(host) : undefined;
  return url && network ? { network, url } : null;
}

const HOMES = new Map(Object.entries({
  twitter: 'https://twitter.com/', facebook: 'https://www.facebook.com/', instagram: 'https://www.instagram.com/', youtube: 'https://www.youtube.com/',
}));

/** A handle as formats give it, as the address of its page. */
export function handleOf(network: string, handle: unknown): ClaimValues['social'] | null {
  const name = cleanText(handle)?.replace(/^@/, '');
  if (!name) return null;
  if (/^https?:/.test(name)) return { network, url: name };
  const home = HOMES.get(network);
  return home && /^[\w.-]+$/.test(name) ? { network, url: home + name } : null;
}

/** Words of code such as `lt_governor` or `saint_louis`, as a title. */
export function titled(code: string): string {
  return code.replaceAll('_', ' ').replace(/(^|[ ~-])(\p{Ll})/gu, (_, before: string, letter: string) => before + letter.toUpperCase());
}

/** The UUID in an id such as `ocd-person/…`, or one worked out from the id: the same id always gives the same actor. */
export function actorIdOf(origin: string, id: string): string {
  const own = id.slice(id.lastIndexOf('/') + 1).toLowerCase();
  if (isId(own)) return own;
  const hash = createHash('sha1').update(NAMESPACE).update(origin).digest().subarray(0, 16);
  hash[6] = (hash[6]! & 0x0f) | 0x50;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Ids that hold only within one file are told apart by where it comes from. */
export function originOf(scheme: string, id: string, source: DatasetSource | null): string {
  const host = source && parseUrl(source.url)?.hostname;
  return host ? `${scheme}:${host}/${id}` : `${scheme}:${id}`;
}

const CITY_STATE = /([\p{L}][\p{L} .'’-]*?),?\s*,\s*([A-Z]{2}|[A-Z][a-z]+(?: [A-Z][a-z]+)?)\.?(?:[\s,]+\d{5}(?:-\d{4})?)?(?:,?\s*(?:USA?|United States))?\s*$/u;

/** The end of an address that is searched: CITY_STATE backtracks, so its text is short. */
const LONGEST_TOWN = 150;

/** The town and state at the end of a postal address. */
export function townOf(address: unknown): string | null {
  const text = cleanText(address)?.split(/[\r\n;]/).map((part) => part.trim()).filter(Boolean).join(', ').replace(/\s+/g, ' ').slice(-LONGEST_TOWN);
  const match = text ? CITY_STATE.exec(text) : null;
  const town = match?.[1]?.split(',').pop()?.trim();
  return match && town && !/^\d/.test(town) ? `${town}, ${match[2]}` : null;
}

/** The same text for the same value of a property. */
function valueKey(property: Property, value: unknown): string {
  return JSON.stringify([property, value !== null && typeof value === 'object' ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) : value]);
}

/** A list, one thing alone or nothing, as a list. */
export function asList<Item>(value: Item | Item[] | null | undefined): Item[] {
  return ([value].flat() as (Item | null | undefined)[]).filter((item) => item !== null && item !== undefined);
}

/** What is wrong with a row, in the words of the report. */
class RowFault extends Error {}

class LongField extends RowFault {
  readonly text: string;

  constructor(text: string) {
    super(`a text of it is longer than ${LONGEST_FIELD} characters`);
    this.text = text;
  }
}

/** Foreign files hold anything: what has not the form it should have spoils its own row only. */
export async function rowOrFault(number: number, raw: unknown, make: () => Promise<Row>): Promise<Row> {
  try {
    return await make();
  } catch (error) {
    return { number, raw, fault: faultOf(error, raw) };
  }
}

export async function* rowsOrFault(number: number, raw: unknown, rows: AsyncIterable<Row>): AsyncIterable<Row> {
  try {
    yield* rows;
  } catch (error) {
    yield { number, raw, fault: faultOf(error, raw) };
  }
}

function faultOf(error: unknown, raw: unknown): string {
  if (error instanceof LongField) return longFieldFault(error, raw);
  if (error instanceof RowFault) return error.message;
  if (!(error instanceof TypeError) && !(error instanceof SyntaxError)) throw error;
  return `it has not the form it should have: ${error.message}`;
}

function longFieldFault({ text, message }: LongField, raw: unknown): string {
  const parsed = typeof raw === 'string' ? parseItem(raw) : { value: raw };
  const path = 'value' in parsed ? pathOf(text, parsed.value) : null;
  return path === null ? message : `${path} is longer than ${LONGEST_FIELD} characters`;
}

/** The members that lead to a text: `location.address`. Parsed rows are not deep. */
function pathOf(text: string, value: unknown): string | null {
  if (value === text) return '';
  if (value === null || typeof value !== 'object') return null;
  for (const [name, inner] of Object.entries(value)) {
    const rest = pathOf(text, inner);
    if (rest !== null) return rest === '' ? name : `${name}.${rest}`;
  }
  return null;
}

/** A day, month or year as affiliations have it; null for anything else. */
export function dayOf(value: unknown): string | null {
  const match = /^\d{4}(-\d{2}(-\d{2})?)?/.exec(cleanText(value) ?? '');
  return match ? match[0] : null;
}
