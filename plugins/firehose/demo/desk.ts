import type { KnownActor, KnownSource } from 'civic/directory';
import type { SignalDraft } from '../types.ts';
import { evidenceOf } from '../signals/draft.ts';
import { namedId } from '../signals/id.ts';

export interface DemoFacts {
  /** Milliseconds. */
  now: number;
  actors: KnownActor[];
  merged: { id: string; into: string; name: string }[];
  /** As it reads within a sentence. */
  issueName(slug: string): string;
  /** Whether the taxonomy in use has it: an operator may have another one. */
  hasIssue(slug: string): boolean;
}

/** What the writers of the year share. */
export interface Desk extends DemoFacts {
  random: Random;
  /** Notes a signal if it was found within the last year; answers its id, or null when it was not. */
  add(key: string, draft: Omit<SignalDraft, 'id' | 'detected_at' | 'evidence'> & { detected: number; sources: KnownSource[] }): string | null;
  drafts: SignalDraft[];
  /** The id of who somebody is by now. */
  present(id: string | null): string | null;
}

/** Numbers that look random and are the same for the same seed. */
export interface Random {
  next(): number;
  chance(share: number): boolean;
  between(low: number, high: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

export const [HOUR, DAY] = [3_600_000, 86_400_000];
const YEAR = 365 * DAY;
const MOST_EVIDENCE = 3;

export function openDesk(facts: DemoFacts, seed: number): Desk {
  const drafts: SignalDraft[] = [];
  const random = createRandom(seed);
  return {
    ...facts,
    random,
    drafts,
    present: (id) => facts.merged.find((one) => one.id === id)?.into ?? id,
    add(key, { detected, sources, ...draft }) {
      if (detected > facts.now - HOUR || detected < facts.now - YEAR || sources.length === 0) return null;
      // The same on every load, so that links to it stay good.
      const id = namedId(`demo ${seed} ${key}`);
      drafts.push({ ...draft, id, detected_at: isoOf(detected + random.between(0, 59) * 60_000), evidence: sources.slice(0, MOST_EVIDENCE).map(evidenceOf) });
      return id;
    },
  };
}

/** What most signals say of the actor they are about. */
export function about(actor: KnownActor): Pick<SignalDraft, 'places' | 'issues' | 'actors'> {
  return { places: actor.places.map(({ place_key }) => place_key), issues: actor.issue_areas.slice(0, 4), actors: [{ id: actor.id, name: actor.name, type: actor.type }] };
}

export function sourcesOf(actor: KnownActor, ...kinds: KnownSource['kind'][]): KnownSource[] {
  return actor.sources.filter(({ kind }) => kinds.includes(kind));
}

export function isoOf(time: number): string {
  return new Date(time).toISOString();
}

const shown = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

/** The valley keeps one clock all year, five hours behind Greenwich. */
export function dayInWords(time: number): string {
  return shown.format(new Date(time - 5 * HOUR));
}

/** Mulberry32: 32 bits of state are plenty for made-up data. */
function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    chance: (share) => next() < share,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (items) => items[Math.floor(next() * items.length)]!,
  };
}
