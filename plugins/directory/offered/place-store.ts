import { dialectOf, type Reader } from 'civic';
import type { CoveredRow } from '../places/covered-store.ts';
import type { FreshnessStatus } from '../types.ts';

export interface ListedTags {
  actor_key: number;
  source_count: number;
  tags: string;
}

/** Returns public actors of a place, those with most sources first. */
export async function listedBySources(reader: Reader, place: number, after: ListedTags | null, limit: number): Promise<ListedTags[]> {
  const beyond = after ? 'and (source_count, actor_key) < (?, ?)' : '';
  return reader.raw(`select actor_key, source_count, tags from directory_listings where place = ? and workspace_id is null ${beyond} order by source_count desc, actor_key desc limit ?`,
    [place, ...(after ? [after.source_count, after.actor_key] : []), limit]);
}

/** Returns the keys of the actors of some places that have most sources, private ones too; an actor in two of them twice. Reads an index only. */
export async function mostSourcesIn(reader: Reader, places: number[], limit: number): Promise<number[]> {
  const rows: { actor_key: number }[] = await reader.raw(`select actor_key from directory_listings where place in (${places.map(() => '?').join(', ')}) order by source_count desc, actor_key desc limit ?`, [...places, limit]);
  return rows.map(({ actor_key: key }) => Number(key));
}

export interface NamedActor {
  id: string;
  name: string;
  phone: string | null;
}

/** Returns the names of actors by key. Their whole records would be parsed for nothing else. */
export async function namesByKey(reader: Reader, keys: number[]): Promise<Map<number, NamedActor>> {
  const [values, name, phone] = dialectOf(reader) === 'sqlite' ? ['select value from json_each(?)', "body ->> '$.name'", "body ->> '$.contact.phone'"]
    : ['select value::bigint from json_array_elements_text(?::json)', "body::json ->> 'name'", "body::json #>> '{contact,phone}'"];
  const rows: (NamedActor & { key: number })[] = await reader.raw(`select key, id, ${name} as name, ${phone} as phone from directory_actors where key in (${values})`, [JSON.stringify(keys)]);
  return new Map(rows.map(({ key, ...actor }) => [Number(key), actor]));
}

/** Returns the number of public actors of a place by freshness on a day, of `total` actors. */
export async function freshnessIn(reader: Reader, place: number, day: number, total: number): Promise<Record<FreshnessStatus, number>> {
  // Ranges of an index: a sum over all actors of a large place takes three times as long.
  const count = (range: string) => `(select count(*) from directory_listings where place = ? and workspace_id is null and ${range})`;
  const [row]: Record<FreshnessStatus, number>[] = await reader.raw(
    `select ${count('fresh_until >= ?')} as fresh, ${count('fresh_until < ? and aging_until >= ?')} as aging, ${count('fresh_until is null')} as unknown`, [place, day, place, day, day, place]);
  const [fresh, aging, unknown] = [Number(row!.fresh), Number(row!.aging), Number(row!.unknown)];
  return { fresh, aging, stale: Math.max(0, total - fresh - aging - unknown), unknown };
}

export interface IssueCount {
  issue_area: string;
  actors: number;
  /** How many of them are events. */
  events: number;
}

/** Returns the number of public actors of a place by issue area; all of them under the empty text. */
export async function issueCountsIn(reader: Reader, place: number): Promise<IssueCount[]> {
  const rows: { issue_area: string; type: string; actors: number }[] = await reader('directory_counts').where({ place }).whereIn('type', ['', 'event']).where('actors', '>', 0).select('issue_area', 'type', 'actors');
  const events = new Map(rows.filter(({ type }) => type === 'event').map(({ issue_area, actors }) => [issue_area, Number(actors)]));
  return rows.filter(({ type }) => type === '').map(({ issue_area, actors }) => ({ issue_area, actors: Number(actors), events: events.get(issue_area) ?? 0 }));
}

/** Returns how many issue areas have at least so many public actors, by place. */
export async function countWellCovered(reader: Reader, places: number[], actors: number): Promise<Map<number, number>> {
  if (places.length === 0) return new Map();
  const rows: { place: number; issues: number }[] = await reader('directory_counts').whereIn('place', places).where({ type: '' }).whereNot({ issue_area: '' }).where('actors', '>=', actors)
    .groupBy('place').select('place').count({ issues: '*' });
  return new Map(rows.map(({ place, issues }) => [Number(place), Number(issues)]));
}

/** Returns the places with most public actors of an issue area, and the number of places with some. */
export async function largestOfIssue(reader: Reader, issueArea: string, limit: number): Promise<{ rows: CoveredRow[]; total: number }> {
  const counted = () => reader('directory_counts as counts').where({ issue_area: issueArea, type: '' }).where('actors', '>', 0);
  const [count] = await counted().count({ total: '*' });
  const largest: { place: number; actors: number }[] = await counted().orderBy([{ column: 'actors', order: 'desc' }, { column: 'place', order: 'desc' }]).limit(limit).select('place', 'actors');
  const places = new Map((await reader('directory_places').whereIn('key', largest.map(({ place }) => place))).map((row: CoveredRow) => [Number(row.key), row]));
  return { rows: largest.flatMap(({ place, actors }) => (places.has(Number(place)) ? [{ ...places.get(Number(place))!, actors: Number(actors) }] : [])), total: Number(count!.total) };
}
