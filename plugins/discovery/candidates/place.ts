import type { ActorDraft } from 'civic/directory';

type Draft = Pick<ActorDraft, 'type' | 'claims' | 'sources'>;

/** Returns a draft with the place of its run, if it states none: people who asked not to be listed are known by name and place, and known actors are compared by both. */
export function atPlace<D extends Draft>(draft: D, placeKey: string | null): D {
  const [source] = draft.sources;
  if (placeKey === null || !source || draft.claims.some(({ property }) => property === 'place')) return draft;
  return { ...draft, claims: [...draft.claims, { property: 'place', value: placeKey, source_local_id: source.local_id }] };
}
