import type { Reader } from 'civic';
import type { PlaceRow } from './gazetteer.ts';
import { legalName, squash, withoutLegalType } from './names.ts';
import { stateByAbbreviation, stateBySlug } from './states.ts';
import { placeByOcdId, placesByKeys, placesByName } from './store.ts';

/** `kansas-city-mo` for `kansas-city,missouri`; states and places abroad have none. */
export function slugOfPlace({ place_key: key, state, country }: Pick<PlaceRow, 'place_key' | 'state' | 'country'>): string | null {
  const comma = key.indexOf(',');
  return country === 'US' && state && comma > 0 ? `${key.slice(0, comma)}-${state.toLowerCase()}` : null;
}

/** Two slugs and a comma between them, or one slug: lower case, no spaces. */
const KEY = /^(?!.*\p{Lu})[\p{L}\p{M}\p{N}]+(?:-[\p{L}\p{M}\p{N}]+)*(?:,[\p{L}\p{M}\p{N}]+(?:-[\p{L}\p{M}\p{N}]+)*)?$/u;

/** The place with this key, slug or OCD id, or a synonym of one: Saint or St, `city-of-x`, hyphens or none. Free text is not a key. */
export async function keyCandidates(reader: Reader, wanted: string): Promise<PlaceRow | null> {
  if (wanted.length > 200) return null;
  if (wanted.startsWith('ocd-division/')) return placeByOcdId(reader, wanted);
  if (!KEY.test(wanted)) return null;
  const slug = /^(.+)-([a-z]{2})$/.exec(wanted);
  const slugState = slug && !wanted.includes(',') ? stateByAbbreviation(slug[2]!) : null;
  const canonical = slugState ? `${slug![1]},${slugState.slug}` : wanted;
  const [exact] = await placesByKeys(reader, [canonical]);
  if (exact) return exact;
  const comma = canonical.lastIndexOf(',');
  return comma < 1 ? null : bySynonym(reader, canonical.slice(0, comma), canonical.slice(comma + 1));
}

/** Synonyms are of the city: the region is its whole name, as an abbreviation belongs to a slug. */
async function bySynonym(reader: Reader, name: string, region: string): Promise<PlaceRow | null> {
  const names = [name, ...withoutLegalType(name)].map(squash).filter(Boolean);
  const state = stateBySlug(region);
  const found = (await placesByName(reader, names, state ? { state: state.abbreviation } : {})).filter((place) => regionSlug(place) === region);
  // `malta-town,new-york`: the town, and of several townships of one name none.
  const legal = legalName(name.replaceAll('-', ' '));
  const typed = legal ? found.filter(({ kind, squashed }) => legal.kinds.includes(kind) && squashed === squash(legal.plain)) : [];
  return typed.length > 1 ? null : typed[0] ?? found[0] ?? null;
}

function regionSlug({ place_key: key }: PlaceRow): string {
  return key.slice(key.indexOf(',') + 1);
}
