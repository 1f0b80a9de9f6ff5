import type { Civic } from 'civic';
import { slugOf, typedPlace } from './words.ts';

/** A text of the Place field, with the key that the filter takes. */
export interface PlaceFilter {
  text: string;
  key: string;
  /** The nearest places when the text names none for certain; null when it does. */
  near: { value: string; name: string }[] | null;
  /** Whether these places have the name that was typed, in several regions. */
  isShared: boolean;
}

/** Resolves a key, a slug or free text. A text that names no place stays a filter: signals may have places that no gazetteer has. */
export async function resolvePlaceFilter({ db, serviceIfOn }: Pick<Civic, 'db' | 'serviceIfOn'>, text: string): Promise<PlaceFilter> {
  const directory = serviceIfOn('directory');
  const known = { text, near: null, isShared: false };
  if (!directory) return { ...known, key: typedPlace(text) };
  // Keys have no capitals: "washington" is the state, "Washington" may be the city.
  const key = await directory.placeKey(db.read, text);
  if (key !== null) return { ...known, key };
  const { place, candidates } = await directory.resolvePlace(db.read, text);
  if (place) return { ...known, key: place.place_key };
  return {
    text, key: typedPlace(text),
    near: candidates.map(({ place_key: value, display_name: name }) => ({ value, name })),
    isShared: candidates.length > 1 && slugOf(candidates[0]!.name) === slugOf(text),
  };
}
