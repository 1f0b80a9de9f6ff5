import { createHash } from 'node:crypto';
import type { Random } from '../random.ts';
import type { ActorDraft, ActorType, ClaimDraft, ClaimValues, Method, Property, SourceKind } from '../types.ts';
import { demoId } from './id.ts';

const DAY = 86_400_000;

/** A page that was read: what it says is written sentence by sentence, and claims point into it. */
export interface Page {
  id: string;
  url: string;
  title: string;
  publication: string;
  kind: SourceKind;
  method: Method;
  published_at: string | null;
  retrieved_at: string;
  text: string;
}

/** An actor while it is being written. */
export interface Entry {
  id: string;
  key: string;
  type: ActorType;
  name: string;
  /** How many days ago somebody last looked at it. */
  age: number;
  pages: Set<Page>;
  claims: ClaimDraft[];
}

export type Said = { [Name in Property]: [property: Name, value: ClaimValues[Name]] }[Property];

/** What the writers of the demo share: chance, the time, and every page and actor so far. */
export interface Desk {
  seed: number;
  random: Random;
  now: number;
  pages: Map<string, Page>;
  entries: Map<string, Entry>;
}

export interface PageFacts {
  url: string;
  title: string;
  publication: string;
  kind: SourceKind;
  method?: Method;
  /** Days before now. */
  published?: number;
  read: number;
}

/** The page at this address; the first who opens it says what it is. */
export function page(desk: Desk, { url, title, publication, kind, method = 'rules', published, read }: PageFacts): Page {
  const found = desk.pages.get(url);
  if (found) return found;
  const made: Page = {
    id: demoId(desk.seed, `source ${url}`),
    url,
    title,
    publication: `${publication} (demo)`,
    kind,
    method,
    published_at: published === undefined ? null : before(desk, Math.max(published, read), 9),
    retrieved_at: before(desk, read, 4),
    text: '',
  };
  desk.pages.set(url, made);
  return made;
}

export function entry(desk: Desk, type: ActorType, key: string, name: string): Entry {
  const id = demoId(desk.seed, `actor ${key}`);
  const made: Entry = { id, key, type, name, age: ageOf(desk.random), pages: new Set(), claims: [] };
  if (desk.entries.has(key)) throw new Error(`The demo has two actors "${key}"`);
  desk.entries.set(key, made);
  return made;
}

/** Most of it was looked at this season, some of it last year, and some has been forgotten. */
function ageOf(random: Random): number {
  const draw = random.next();
  if (draw < 0.62) return random.between(1, 50);
  return draw < 0.85 ? random.between(150, 330) : random.between(520, 1_100);
}

const CONFIDENCE: Record<Method, number> = { manual: 1, structured: 0.95, import: 0.9, rules: 0.8, model: 0.65 };

/** Puts a sentence on a page, once, and notes what it says of an actor. */
export function say(desk: Desk, on: Page, who: Entry, sentence: string, said: Said[], more: Partial<ClaimDraft> = {}): void {
  let start = on.text.indexOf(sentence);
  if (start < 0) {
    start = on.text === '' ? 0 : on.text.length + 1;
    on.text = on.text === '' ? sentence : `${on.text} ${sentence}`;
  }
  who.pages.add(on);
  for (const [property, value] of said) {
    who.claims.push({
      id: demoId(desk.seed, `claim ${who.key} ${on.url} ${property} ${JSON.stringify(value)}`),
      property,
      value,
      source_local_id: on.id,
      excerpt: sentence,
      locator: { start, end: start + sentence.length },
      confidence: CONFIDENCE[on.method],
      method: on.method,
      first_seen_at: on.retrieved_at,
      last_seen_at: on.retrieved_at,
      ...more,
    });
  }
}

/** RFC 3339, so many days before now, at an hour of that day (UTC). */
export function before(desk: Desk, days: number, hour: number): string {
  const midnight = Math.floor((desk.now - days * DAY) / DAY) * DAY;
  return new Date(Math.min(midnight + hour * 3_600_000, desk.now)).toISOString();
}

const shown = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

export function dayInWords(time: string): string {
  return shown.format(new Date(time));
}

/** What is handed to the ledger. */
export function draftOf({ id, key, type, pages, claims }: Entry): ActorDraft {
  const sources = [...pages].map(({ id: local_id, url, title, publication, kind, published_at, retrieved_at, text }) => ({
    local_id,
    id: local_id,
    url,
    title,
    publication,
    kind,
    published_at,
    retrieved_at,
    excerpt: text.length > 300 ? `${text.slice(0, text.lastIndexOf(' ', 299))} …` : text,
    content_hash: createHash('sha256').update(text).digest('hex'),
  }));
  const seen = sources.map(({ retrieved_at }) => retrieved_at).sort();
  return { id, type, visibility: 'public', origin: `demo:${key}`, sources, claims, created_at: seen[0]!, updated_at: seen.at(-1)! };
}
