import { dialectOf, type Reader } from 'civic';
import type { ShownActor } from '../actors/read-store.ts';

/** What a calendar is about: a place by its number, or an issue area by its slug. */
export type Scope = { place: number } | { issueArea: string };

// So many meetings no calendar shows; the earliest ones are the next.
const MOST = 1000;

/** Public events from a time on, the earliest first. */
export async function eventsFrom(reader: Reader, scope: Scope, since: string): Promise<Pick<ShownActor, 'key'>[]> {
  const query = reader('directory_actors as actor').where('actor.starts_at', '>=', since).where('actor.visibility', 'public')
    .orderBy(['actor.starts_at', 'actor.key']).limit(MOST).select('actor.key');
  if ('place' in scope) return query.join('directory_listings as listing', 'listing.actor_key', 'actor.key').where('listing.place', scope.place);
  return query.whereRaw(dialectOf(reader) === 'postgres' ? 'strpos(actor.tags, ?) > 0' : 'instr(actor.tags, ?) > 0', [` i:${scope.issueArea} `]);
}

/** Returns the keys of public events in a place from a time on, the earliest first. `isSmall` is whether the place has few actors. */
export async function upcomingIn(reader: Reader, place: number, since: string, limit: number, isSmall: boolean): Promise<number[]> {
  // SQLite joins in the order of a cross join.
  const tables = isSmall ? 'directory_listings as listings cross join directory_actors as actors' : 'directory_actors as actors cross join directory_listings as listings';
  const isEvent = isSmall ? `and ${dialectOf(reader) === 'postgres' ? 'strpos' : 'instr'}(listings.tags, ' t:event ') > 0` : '';
  const rows: { key: number }[] = await reader.raw(`select actors.key from ${tables}
    where listings.actor_key = actors.key and listings.place = ? ${isEvent} and actors.starts_at >= ? and actors.visibility = 'public' order by actors.starts_at, actors.key limit ?`, [place, since, limit]);
  return rows.map(({ key }) => Number(key));
}
