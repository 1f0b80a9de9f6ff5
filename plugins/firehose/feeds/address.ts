import { addressOf } from '../query/address.ts';
import type { Query } from '../types.ts';

export const FEEDS = {
  atom: { path: '/api/signals/feed.atom', type: 'application/atom+xml', label: 'Atom', name: 'an Atom feed' },
  json: { path: '/api/signals/feed.json', type: 'application/feed+json', label: 'JSON Feed', name: 'a JSON Feed' },
};
export type FeedFormat = keyof typeof FEEDS;

/** Returns the address of a feed in its one form: sorted, and without parameters that it ignores. */
export function feedAddress(format: FeedFormat, { places, issues, signal_types: types, since, until }: Query, { text, hasUpkeep }: { text: string; hasUpkeep: boolean }): string {
  const lists = Object.entries({ place: places, issue: issues, signal_type: types }).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
  const single = Object.entries({ query: text, since, until, upkeep: hasUpkeep && types.length === 0 ? 'true' : null });
  return addressOf(FEEDS[format].path, new URLSearchParams([...lists, ...single.flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : []))]));
}
