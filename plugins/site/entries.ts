import type { Texts } from 'civic';
import type { Actor } from 'civic/directory';

/** An entry in a list. */
export interface ShownEntry {
  name: string;
  href: string;
  type: string;
  description: string | null;
  places: { name: string; href: string }[];
  sources: string;
  freshness: { status: string; words: string };
}

export function shownEntries(actors: Actor[], t: Texts): ShownEntry[] {
  return actors.map((actor) => ({
    name: actor.name,
    href: `/actors/${actor.id}`,
    type: t(`types.${actor.type}`),
    description: actor.description,
    places: actor.places.map((place) => ({ name: placeName(place), href: `/places/${place.place_key}` })),
    sources: t('entry.sources', { count: actor.source_count }),
    freshness: { status: actor.freshness.status, words: t(`freshness.${actor.freshness.status}`) },
  }));
}

/** Returns the name of a place with the abbreviation of its state. */
export function placeName({ name, state }: Actor['places'][number]): string {
  return state ? `${name}, ${state}` : name;
}
