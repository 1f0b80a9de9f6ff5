import { dialectOf, type Reader } from 'civic';
import type { ShownActor } from '../actors/read-store.ts';
import { tagToken } from '../search/document.ts';
import type { Match } from '../search/match.ts';
import { countFound, keysIn } from '../search/query-store.ts';

/** What a calendar is about: a place by its number, or an issue area by its slug. */
export type Scope = { place: number } | { issueArea: string };

// So many meetings no calendar shows; the earliest ones are the next.
export const MOST_EVENTS = 1000;

/** Public events from a time on, the earliest first. */
export async function eventsFrom(reader: Reader, scope: Scope, since: string): Promise<Pick<ShownActor, 'key'>[]> {
  const query = reader('directory_actors as actor').where('actor.starts_at', '>=', since).where('actor.visibility', 'public')
    .orderBy(['actor.starts_at', 'actor.key']).limit(MOST_EVENTS).select('actor.key');
  if ('place' in scope) return query.join('directory_listings as listing', 'listing.actor_key', 'actor.key').where('listing.place', scope.place);
  return query.whereRaw(dialectOf(reader) === 'postgres' ? 'strpos(actor.tags, ?) > 0' : 'instr(actor.tags, ?) > 0', [` i:${scope.issueArea} `]);
}

/** Returns the keys of public events in a place from a time on, the earliest first. `areFew` is whether the place has few events, past ones included. */
export async function upcomingIn(reader: Reader, place: number, since: string, limit: number, areFew: boolean): Promise<number[]> {
  if (areFew) return eventsOfPlace(reader, place, since, limit);
  // SQLite joins in the order of a cross join.
  const rows: { key: number }[] = await reader.raw(`select actors.key from directory_actors as actors cross join directory_listings as listings
    where listings.actor_key = actors.key and listings.place = ? and actors.starts_at >= ? and actors.visibility = 'public' order by actors.starts_at, actors.key limit ?`, [place, since, limit]);
  return rows.map(({ key }) => Number(key));
}

/** Finds them by their tags: among all events to come, few are in one place. */
async function eventsOfPlace(reader: Reader, place: number, since: string, limit: number): Promise<number[]> {
  const match: Match = { all: [{ token: tagToken(`p:${place}`), isPrefix: false }, { token: tagToken('t:event'), isPrefix: false }] };
  const { keys } = await countFound(reader, { match, freshness: null }, true);
  return reader('directory_actors').whereRaw(`key in (${keysIn(reader)})`, [`[${keys!.join()}]`]).where('starts_at', '>=', since).where({ visibility: 'public' }).orderBy(['starts_at', 'key']).limit(limit).pluck('key');
}
