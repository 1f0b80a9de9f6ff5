import type { Database } from 'civic';
import { CERTAIN } from '../places/resolve.ts';
import type { Places } from '../places/service.ts';
import { stateByAbbreviation } from '../places/states.ts';
import type { Taxonomy } from '../taxonomy/service.ts';
import type { DatasetSource, ReadContext } from './format.ts';

export interface ContextOptions {
  db: Database;
  places: Places;
  taxonomy: Taxonomy;
  source: DatasetSource | null;
  timezone: string | null;
  now: string;
}

const MOST_KEPT = 20_000;
// A text is about an issue area when nearly all its words say so.
const SURE = 0.8;

/** What readers of formats may ask. Files name the same places and subjects again and again, so answers are kept. */
export function readContext({ db, places, taxonomy, source, timezone, now }: ContextOptions): ReadContext {
  const found = new Map<string, string | null>();
  const subjects = new Map<string, string[]>();
  return {
    source,
    timezone,
    now,
    stateName: (abbreviation) => stateByAbbreviation(abbreviation)?.name ?? null,
    hasIssueArea: (slug) => taxonomy.issueAreaBySlug(slug) !== null,
    issueAreas: (text) => kept(subjects, text, () => (text ? taxonomy.resolveIssueAreas(text).filter(({ score }) => score >= SURE).slice(0, 2).map(({ item }) => item.slug) : [])),
    async resolvePlace(text) {
      const known = found.get(text);
      if (known !== undefined) return known;
      const [first] = await places.resolve(db.read, text, { limit: 2 });
      const key = first && first.confidence >= CERTAIN ? first.place.place_key : null;
      return kept(found, text, () => key);
    },
  };
}

function kept<Value>(cache: Map<string, Value>, key: string, make: () => Value): Value {
  if (cache.has(key)) return cache.get(key)!;
  if (cache.size >= MOST_KEPT) cache.clear();
  const value = make();
  cache.set(key, value);
  return value;
}
