import type { PositionShape, Reader } from 'civic';
import { sourcesByKey, sourcesByUrl } from '../ledger/store.ts';
import type { Columns } from '../search/columns.ts';
import { listActors } from '../search/list.ts';
import type { Actor } from '../types.ts';
import { tagged } from './derive.ts';
import { comparePositions } from './position.ts';
import { actorsByIds, actorsByKey, listedWith, recordsCiting, type ShownActor } from './read-store.ts';

export interface RelatedEvidence {
  kind: 'affiliation' | 'source' | 'issue_area' | 'place';
  detail: string;
  source_id?: string;
  issue_area?: string;
  place_key?: string;
}

interface Relation {
  evidence: RelatedEvidence[];
  score: number;
}

/** A source that more actors share than this, such as a register, relates none of them. */
const MOST_SHARING = 50;
const MOST_IN_PLACE = 200;
/** Of a place, for the strongest relations only. */
const MOST_READ = 500;

const WEIGHTS = { affiliation: 0.6, source: 0.3, issue_area: 0.15, place: 0.05 };

export interface RelatedActor extends Relation {
  row: ShownActor;
}

/** Who has to do with an actor, by what, strongest first. Only what everybody may see. */
export async function relationsOf(reader: Reader, actor: ShownActor, columns: Columns): Promise<RelatedActor[]> {
  const relations = await foundRelations(reader, actor, columns, null);
  return loadedRelations(reader, relations, [...relations.keys()]);
}

/** Returns the strongest relations of an actor, in less time: of a place it reads only the actors with most sources, and loads only those it returns. */
export async function strongestRelations(reader: Reader, actor: ShownActor, columns: Columns, most: number): Promise<RelatedActor[]> {
  const relations = await foundRelations(reader, actor, columns, MOST_READ);
  const keys = [...relations].toSorted(([a, left], [b, right]) => right.score - left.score || a - b).map(([key]) => key);
  const found: RelatedActor[] = [];
  // Some may be private.
  for (let from = 0; found.length < most && from < keys.length; from += most) found.push(...await loadedRelations(reader, relations, keys.slice(from, from + most)));
  return found.slice(0, most);
}

async function loadedRelations(reader: Reader, relations: ReadonlyMap<number, Relation>, keys: number[]): Promise<RelatedActor[]> {
  const rows = (await actorsByKey(reader, keys)).filter(({ visibility }) => visibility === 'public');
  const related = rows.map((row) => {
    const { score, evidence } = relations.get(row.key)!;
    return { row, evidence, score: Math.round(score * 1000) / 1000 };
  });
  return related.toSorted((a, b) => comparePositions(relatedPosition(a), relatedPosition(b)));
}

async function foundRelations(reader: Reader, actor: ShownActor, columns: Columns, mostRead: number | null): Promise<Map<number, Relation>> {
  const relations = new Map<number, Relation>();
  const relate = (key: number, evidence: RelatedEvidence) => {
    if (key === actor.key) return;
    const relation = relations.get(key) ?? { evidence: [], score: 0 };
    relations.set(key, relation);
    relation.evidence.push(evidence);
    // Each further piece counts, but never to certainty.
    relation.score = 1 - (1 - relation.score) * (1 - WEIGHTS[evidence.kind]);
  };
  await byAffiliation(reader, actor, relate, columns);
  await bySource(reader, actor, relate);
  await byPlaceAndIssue(reader, actor, relate, mostRead);
  return relations;
}

/** Of related actors: the score, negative, and the key. */
export const RELATED_POSITION: PositionShape = ['number', 'integer'];

export function relatedPosition({ row, score }: Pick<RelatedActor, 'row' | 'score'>): number[] {
  return [-score, row.key];
}

type Relate = (key: number, evidence: RelatedEvidence) => void;

async function byAffiliation(reader: Reader, actor: ShownActor, relate: Relate, columns: Columns): Promise<void> {
  const { affiliations, name } = JSON.parse(actor.body) as Actor;
  const others = await actorsByIds(reader, affiliations.flatMap(({ entity_id }) => entity_id ?? []));
  for (const other of others) {
    for (const { entity_id, role } of affiliations) if (entity_id === other.id) relate(other.key, { kind: 'affiliation', detail: role ?? 'affiliated' });
  }
  const named = await listActors(reader, { query: null, filters: [{ any: [`a:${actor.id}`] }], workspace: null, sort: 'name', limit: MOST_IN_PLACE, after: null }, columns);
  for (const other of await actorsByKey(reader, named.keys)) {
    const own = (JSON.parse(other.body) as Actor).affiliations.filter(({ entity_id }) => entity_id === actor.id);
    for (const { role } of own) relate(other.key, { kind: 'affiliation', detail: role ? `${role}, ${name}` : `affiliated with ${name}` });
  }
}

async function bySource(reader: Reader, actor: ShownActor, relate: Relate): Promise<void> {
  const own = await sourcesByKey(reader, actor.sources.split(' ').filter((key) => key !== '').map(Number));
  // A private actor and a public one may cite the same page, but never the same row.
  const open = actor.visibility === 'public' ? own : await sourcesByUrl(reader, own.map(({ url }) => url), null);
  const citing = await recordsCiting(reader, open.map(({ key }) => key), MOST_SHARING + 1);
  for (const { key, url } of open) {
    const actors = new Set(citing.filter(({ source_key }) => source_key === key).map(({ actor_key }) => actor_key));
    if (actors.size > MOST_SHARING) continue;
    const source = own.find((one) => one.url === url)!;
    for (const actorKey of actors) relate(actorKey, { kind: 'source', detail: source.title ?? url, source_id: source.id });
  }
}

async function byPlaceAndIssue(reader: Reader, actor: ShownActor, relate: Relate, mostRead: number | null): Promise<void> {
  const { places } = JSON.parse(actor.body) as Actor;
  const issues = tagged(actor.tags, 'i');
  const numbers = tagged(actor.tags, 'p').map(Number);
  for (const [index, place] of numbers.entries()) {
    const { place_key, name } = places[index]!;
    for (const { actor_key, tags } of await listedWith(reader, place, issues.map((slug) => `i:${slug}`), MOST_IN_PLACE, mostRead)) {
      const shared = tagged(tags, 'i').filter((slug) => issues.includes(slug));
      for (const issue_area of shared) relate(actor_key, { kind: 'issue_area', detail: issue_area, issue_area });
      relate(actor_key, { kind: 'place', detail: name, place_key });
    }
  }
}
