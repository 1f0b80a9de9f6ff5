import { openDatabase } from '../../core/database/connect.ts';
import { createLogger } from '../../core/log.ts';
import type { BenchDatabase } from '../directory/databases.ts';
import { benchGenerator } from '../directory/fill.ts';
import { randomFrom } from '../directory/generate.ts';
import { mix } from '../directory/search.ts';

/** What is asked for: each once, so that no response is in the cache. */
export interface SiteSubjects {
  /** Place keys, the largest first; half of them are the largest of all. */
  places: string[];
  /** Ids of actors, those with most sources first. */
  actors: string[];
  /** Queries of the search page, without the question mark. */
  searches: string[];
  /** The id of a source that many statements cite. */
  source: string;
}

/** Filters without words, as visitors click them: some of them match a tenth of all actors. */
const FILTERS = [
  'state=CA', 'state=NY&entity_type=organization', 'issue_area=housing_affordability', 'issue_area=public_transit&state=MO', 'entity_type=person', 'entity_type=event&state=TX',
  'freshness=fresh', 'freshness=stale&state=CA', 'sort=source_count', 'sort=recent&entity_type=organization', 'sort=name&state=WA', '',
];

/** Chooses from the database, the same in every run. */
export async function siteSubjects({ folder }: BenchDatabase, actors: number, count: number): Promise<SiteSubjects> {
  const db = await openDatabase({ url: null, dataDir: folder, pool: 2, log: await createLogger({ level: 'error', access: 'warn', format: 'json' }) });
  try {
    const random = randomFrom(7);
    const counted: { place_key: string }[] = await db.read('directory_counts').join('directory_places', 'directory_places.key', 'directory_counts.place')
      .where({ issue_area: '', type: '' }).where('actors', '>', 0).orderBy([{ column: 'actors', order: 'desc' }, { column: 'place' }]).select('place_key');
    const keys = counted.map(({ place_key }) => place_key);
    const largest = keys.slice(0, Math.ceil(count / 2));
    const others = some(keys.slice(largest.length), count - largest.length, random);
    const many: string[] = await db.read('directory_actors').orderBy([{ column: 'source_count', order: 'desc' }, { column: 'key' }]).limit(Math.ceil(count / 10)).pluck('id');
    const numbers = Array.from({ length: count - many.length }, () => 1 + Math.floor(random() * actors));
    const [{ id: source }] = await db.read('directory_sources').where({ key: 1 }).select('id') as [{ id: string }];
    return {
      places: [...largest, ...others], actors: [...new Set([...many, ...await db.read('directory_actors').whereIn('key', numbers).orderBy('key').pluck('id') as string[]])],
      searches: searchesOf(actors, count), source,
    };
  } finally {
    await db.close();
  }
}

function searchesOf(actors: number, count: number): string[] {
  const words = mix(benchGenerator(), { actors, queries: count, folder: null, postgres: null }).map(({ query, filters }) => {
    const state = filters[0]?.any[0]?.slice(2).toUpperCase();
    return new URLSearchParams({ query: query!, ...(state && { state }) }).toString();
  });
  return [...new Set([...FILTERS, ...words])].slice(0, count);
}

function some<T>(all: T[], count: number, random: () => number): T[] {
  const left = [...all];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(Math.floor(random() * left.length), 1)[0]!);
}
