/** The icon of types without one. */
export const PLAIN_ICON = 'M10 4a6 6 0 1 1 0 12 6 6 0 0 1 0-12z M10 10v.01';

const OPAQUE = /^(?:sha\d+[:-])?[0-9a-f]{24,}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a value is an id or a hash, which readers cannot use. */
export function isOpaque(value: unknown): boolean {
  return typeof value === 'string' && OPAQUE.test(value);
}

/** A name or slug as people read it: `heron_count` is Heron count. */
export function nameWords(name: string): string {
  const words = name.replaceAll(/[-_]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const STATE_ENDING = /^(.+)-([a-z]{2})$/;

/** A place key or slug as people write it: `kansas-city,missouri` is Kansas City, Missouri. */
export function placeWords(key: string): string {
  const [city = '', region] = key.split(',');
  if (region !== undefined) return `${capitalised(city)}, ${capitalised(region)}`;
  const [, name, state] = STATE_ENDING.exec(key) ?? [];
  return name ? `${capitalised(name)}, ${state!.toUpperCase()}` : capitalised(key);
}

const SMALL = new Set(['of', 'the', 'and', 'in', 'on', 'de', 'la']);

function capitalised(slug: string): string {
  return slug.split('-').map((word, i) => (i > 0 && SMALL.has(word) ? word : word.charAt(0).toUpperCase() + word.slice(1))).join(' ');
}

/** What somebody typed for a place, as a key or slug: "Kansas City, MO" is kansas-city-mo. */
export function typedPlace(text: string): string {
  const [city = '', region] = text.split(',').map(slugOf);
  if (!region) return city;
  return region.length === 2 ? `${city}-${region}` : `${city},${region}`;
}

export function slugOf(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '');
}
