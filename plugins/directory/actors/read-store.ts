import { dialectOf, keysetAfter, type Reader } from 'civic';
import { chunksOf } from '../chunks.ts';
import { CITING_CLAIM } from '../ledger/holds-store.ts';
import type { HiddenField } from '../policy/fields.ts';
import { shownSql } from '../policy/store.ts';
import type { ActorRow } from './derive.ts';
import type { CountRow, Standing } from './store.ts';

export type ShownActor = Pick<ActorRow, 'key' | 'id' | 'body' | 'fresh_until' | 'aging_until' | 'visibility' | 'workspace_id' | 'version' | 'model' | 'tags' | 'sources'>;

const SHOWN = ['key', 'id', 'body', 'fresh_until', 'aging_until', 'visibility', 'workspace_id', 'version', 'model', 'tags', 'sources'] as const;

export async function actorById(reader: Reader, id: string): Promise<ShownActor | undefined> {
  return reader('directory_actors').where({ id }).first(...SHOWN);
}

/** Public ones first: ids that imports bring may give a private actor the same slug. */
export async function actorsBySlug(reader: Reader, slug: string): Promise<ShownActor[]> {
  return reader('directory_actors').where({ slug }).orderBy(['visibility', 'key']).select(...SHOWN);
}

/** It changes with every change of the actor; undefined when there is none. */
export async function versionOf(reader: Reader, key: number): Promise<number | undefined> {
  return (await reader('directory_actors').where({ key }).first('version'))?.version;
}

/** In the order of the keys that are asked for. */
export async function actorsByKey(reader: Reader, keys: number[]): Promise<ShownActor[]> {
  const byKey = new Map<number, ShownActor>();
  for (const some of chunksOf(keys)) {
    const rows: ShownActor[] = await reader('directory_actors').whereIn('key', some).select(...SHOWN);
    for (const row of rows) byKey.set(row.key, row);
  }
  return keys.flatMap((key) => byKey.get(key) ?? []);
}

/** Those everybody may see, and a workspace's own. */
export async function actorsAfter(reader: Reader, after: number, limit: number, workspaceId: string | null): Promise<ShownActor[]> {
  const query = reader('directory_actors').where('key', '>', after).orderBy('key').limit(limit).select(...SHOWN);
  query.where((may) => {
    may.where({ visibility: 'public' });
    if (workspaceId) may.orWhere({ workspace_id: workspaceId });
  });
  return query;
}

export type PlaceSort = 'name' | 'recent' | 'source_count';

export interface PlaceListing {
  place: number;
  /** And of ors over tags. */
  filters: string[][];
  workspaceId: string | null;
  sort: PlaceSort;
  limit: number;
  after: (string | number)[] | null;
}

export interface ListedRow {
  actor_key: number;
  name_sort: string;
  updated_at: string;
  source_count: number;
}

const SORTS: Record<PlaceSort, { column: keyof ListedRow; direction: 'asc' | 'desc' }> = {
  name: { column: 'name_sort', direction: 'asc' },
  recent: { column: 'updated_at', direction: 'desc' },
  source_count: { column: 'source_count', direction: 'desc' },
};

const hasTag = (reader: Reader): string => (dialectOf(reader) === 'postgres' ? 'strpos(tags, ?) > 0' : 'instr(tags, ?) > 0');

function inPlace(reader: Reader, { place, filters, workspaceId }: Pick<PlaceListing, 'place' | 'filters' | 'workspaceId'>) {
  const query = reader('directory_listings').where({ place });
  query.where((may) => {
    may.whereNull('workspace_id');
    if (workspaceId) may.orWhere({ workspace_id: workspaceId });
  });
  const isIn = hasTag(reader);
  for (const any of filters) query.where((either) => { for (const tag of any) either.orWhereRaw(isIn, [` ${tag} `]); });
  return query;
}

/** One row more than asked for tells whether there is a next page. */
export async function placeListing(reader: Reader, listing: PlaceListing): Promise<ListedRow[]> {
  const { column, direction } = SORTS[listing.sort];
  const query = inPlace(reader, listing).select('actor_key', 'name_sort', 'updated_at', 'source_count').limit(listing.limit + 1);
  keysetAfter(query, [{ column, direction }, { column: 'actor_key', direction }], listing.after);
  return query;
}

export type PagedActor = ListedRow & Pick<ActorRow, 'id' | 'body' | 'fresh_until' | 'aging_until' | 'model'>;

/** The actors of a page and the kept total in one statement. The total is null when there is nobody on the page. */
export async function placePage(reader: Reader, { place, filters, sort, limit, after }: Omit<PlaceListing, 'workspaceId'>, kept: { issueArea: string; type: string }): Promise<{ rows: PagedActor[]; total: number | null }> {
  const { column, direction } = SORTS[sort];
  const isIn = hasTag(reader);
  const narrowed = filters.filter((any) => any.length > 0).map((any) => `and (${any.map(() => isIn).join(' or ')})`).join(' ');
  const beyond = after ? `and (${column}, actor_key) ${direction === 'asc' ? '>' : '<'} (?, ?)` : '';
  // Written out: a builder takes longer to put it together than the database to run it.
  const rows: (PagedActor & { total: number | null })[] = await reader.raw(`
    select page.actor_key, page.name_sort, page.updated_at, page.source_count, actors.id, actors.body, actors.fresh_until, actors.aging_until, actors.model,
      (select actors from directory_counts where place = ? and issue_area = ? and type = ?) as total
    from (select actor_key, name_sort, updated_at, source_count from directory_listings where place = ? and workspace_id is null ${narrowed} ${beyond}
      order by ${column} ${direction}, actor_key ${direction} limit ?) as page
    join directory_actors as actors on actors.key = page.actor_key order by page.${column} ${direction}, page.actor_key ${direction}`,
  [place, kept.issueArea, kept.type, place, ...filters.flat().map((tag) => ` ${tag} `), ...after ?? [], limit + 1]);
  return { rows, total: rows.length > 0 ? Number(rows[0]!.total ?? 0) : null };
}

export function positionOf(row: ListedRow, sort: PlaceSort): (string | number)[] {
  return [row[SORTS[sort].column], row.actor_key];
}

export async function countListings(reader: Reader, listing: Pick<PlaceListing, 'place' | 'filters' | 'workspaceId'>): Promise<number> {
  return countOf(inPlace(reader, listing));
}

/** A kept counter: public actors of a place, with one issue area and one type or all (empty). */
export async function placeCount(reader: Reader, place: number, issueArea: string, type: string): Promise<number> {
  const row = await reader('directory_counts').where({ place, issue_area: issueArea, type }).first('actors');
  return row ? Number(row.actors) : 0;
}

export type PlaceStanding = Pick<ActorRow, 'tags' | 'sources' | 'fresh_until' | 'aging_until'>;

/** Of the public actors of a place, what its coverage is counted from: one statement, so that all its numbers are of one moment. */
export async function placeStandings(reader: Reader, place: number): Promise<PlaceStanding[]> {
  // Written out: for a small place the builder takes as long as the database.
  return reader.raw(`select actors.tags, actors.sources, actors.fresh_until, actors.aging_until
    from directory_listings as listings join directory_actors as actors on actors.key = listings.actor_key
    where listings.place = ? and actors.visibility = 'public'`, [place]);
}

export async function placeSources(reader: Reader, place: number, after: (string | number)[] | null, limit: number): Promise<{ source_key: number; retrieved_at: string }[]> {
  const query = reader('directory_place_sources').where({ place }).select('source_key', 'retrieved_at').limit(limit + 1);
  keysetAfter(query, [{ column: 'retrieved_at', direction: 'desc' }, { column: 'source_key', direction: 'desc' }], after);
  return query;
}

export async function countPlaceSources(reader: Reader, place: number): Promise<number> {
  return countOf(reader('directory_place_sources').where({ place }));
}

const cites = (hidden: HiddenField[]): string => `select * from (select distinct directory_claims.source_key, record_key from directory_claims join directory_records on directory_records.key = record_key
  where source_key = ? and ${CITING_CLAIM} and deleted_at is null and (directory_records.visibility = 'public' or directory_records.workspace_id = ?) ${shownSql(hidden)} order by record_key limit ?) as cited`;
/** Nobody's workspace. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

const MOST_CITES = 100;

/** A source, with its claims that are not shown. */
export interface CitedSource {
  key: number;
  hidden: HiddenField[];
}

/** For each source the actors that stand on it and may be seen, the first so many: a dataset may stand behind a million. */
async function citing<Row>(reader: Reader, sources: CitedSource[], most: number, workspaceId: string | null, columns: string, join = ''): Promise<Row[]> {
  const found: Row[] = [];
  for (const some of chunksOf(sources, MOST_CITES)) {
    // Written out: a builder takes longer to put the union together than the database to run it.
    const rows = await reader.raw(`select cites.source_key, ${columns} from (${some.map(({ hidden }) => cites(hidden)).join(' union all ')}) as cites
      join directory_records on directory_records.key = cites.record_key ${join} order by cites.source_key, cites.record_key`, some.flatMap(({ key }) => [key, workspaceId ?? NOBODY, most]));
    found.push(...rows as Row[]);
  }
  return found;
}

export const recordsCiting = (reader: Reader, sourceKeys: number[], most: number) => citing<{ source_key: number; actor_key: number }>(reader, sourceKeys.map((key) => ({ key, hidden: [] })), most, null, 'directory_records.actor_key');

/** As far as the caller may see them. */
export async function actorsCiting(reader: Reader, sources: CitedSource[], most: number, workspaceId: string | null): Promise<{ source_key: number; id: string }[]> {
  const rows = await citing<{ source_key: number; id: string; visibility: string; workspace_id: string | null }>(
    reader, sources, most, workspaceId, 'directory_actors.id, directory_actors.visibility, directory_actors.workspace_id', 'join directory_actors on directory_actors.key = directory_records.actor_key');
  return rows.filter(({ visibility, workspace_id }) => visibility === 'public' || (workspaceId !== null && workspace_id === workspaceId));
}

export async function actorsByIds(reader: Reader, ids: string[]): Promise<ShownActor[]> {
  return ids.length === 0 ? [] : reader('directory_actors').whereIn('id', ids).select(...SHOWN);
}

/** Public actors of a place with any of these tags, those with most sources first; with `mostRead`, among so many with most sources. */
export async function listedWith(reader: Reader, place: number, tags: string[], limit: number, mostRead: number | null = null): Promise<{ actor_key: number; tags: string }[]> {
  if (tags.length === 0) return [];
  if (mostRead !== null) {
    const isIn = hasTag(reader);
    return reader.raw(`select actor_key, tags from (select actor_key, tags, source_count from directory_listings where place = ? and workspace_id is null order by source_count desc, actor_key desc limit ?) as best
      where ${tags.map(() => isIn).join(' or ')} order by source_count desc, actor_key desc limit ?`, [place, mostRead, ...tags.map((tag) => ` ${tag} `), limit]);
  }
  return inPlace(reader, { place, filters: [tags], workspaceId: null }).orderBy([{ column: 'source_count', order: 'desc' }, { column: 'actor_key', order: 'desc' }]).limit(limit).select('actor_key', 'tags');
}

/** Actors that are shown by a claim that has ended. */
export async function expiredActors(reader: Reader, now: string, limit: number): Promise<number[]> {
  return reader('directory_actors').where('expires_at', '<=', now).orderBy('expires_at').limit(limit).pluck('key');
}

// Place claims that count, of actors that are shown, whose place exists without a listing; and listings without their place.
const MISPLACED = `
  select records.actor_key from directory_claims as claims
    join directory_records as records on records.key = claims.record_key and records.deleted_at is null
    join directory_actors as actors on actors.key = records.actor_key
    join directory_places as places on places.place_key = substr(claims.value, 2, length(claims.value) - 2)
    left join directory_listings as listings on listings.actor_key = records.actor_key and listings.place = places.key
  where claims.property = 'place' and claims.status in ('active', 'disputed') and claims.rank <> 'deprecated'
    and (claims.expires_at is null or claims.expires_at > ?) and listings.place is null
  union select listings.actor_key from directory_listings as listings left join directory_places as places on places.key = listings.place where places.key is null`;

/** Actors that are listed in other places than their claims name, as far as the gazetteer has these places. Reads all claims. */
export async function misplacedActors(reader: Reader, now: string): Promise<number[]> {
  const rows: { actor_key: number }[] = await reader.raw(MISPLACED, [now]);
  return rows.map(({ actor_key: key }) => Number(key));
}

export async function standingsAfter(reader: Reader, after: number, limit: number): Promise<Standing[]> {
  return reader('directory_actors').where('key', '>', after).orderBy('key').limit(limit).select('key', 'tags', 'sources', 'rank', 'visibility');
}

export async function allCounts(reader: Reader): Promise<CountRow[]> {
  return reader('directory_counts').where('actors', '<>', 0);
}

async function countOf(query: ReturnType<Reader>): Promise<number> {
  const row = await query.count({ count: '*' }).first();
  return Number(row?.count);
}

export const countActors = (reader: Reader) => countOf(reader('directory_actors'));
export const countSearchable = (reader: Reader) => countOf(reader('directory_search'));
export const countLiveActors = (reader: Reader) => countOf(reader('directory_records').whereNull('deleted_at').where('key', reader.ref('actor_key')));
