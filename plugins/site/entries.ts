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
    places: actor.places.map(({ name, state, place_key }) => ({ name: state ? `${name}, ${state}` : name, href: `/places/${place_key}` })),
    sources: t('entry.sources', { count: actor.source_count }),
    freshness: { status: actor.freshness.status, words: t(`freshness.${actor.freshness.status}`) },
  }));
}
