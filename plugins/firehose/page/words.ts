import type { SignalType } from '../types.ts';

/** How a type of signal is called and marked for people. */
export interface TypeWords {
  word: string;
  /** What it belongs to: gives it a colour, and its place in the list of types. */
  family: Family;
  /** The path of its mark, on 20 by 20. */
  mark: string;
}

export const FAMILIES = { decisions: 'Meetings and decisions', records: 'Records and money', sources: 'Sources', people: 'People and groups', review: 'Care of the directory' } as const;
export type Family = keyof typeof FAMILIES;

const CALENDAR = 'M3 5h14v12H3z M3 9h14 M7 3v4 M13 3v4';
const DOCUMENT = 'M5 2.5h7l3 3v12H5z M12 2.5v3h3 M7.5 10h5 M7.5 13h5';
const PERSON = 'M10 3a3.2 3.2 0 1 1 0 6.4A3.2 3.2 0 0 1 10 3z M3.5 17c.6-3.6 3-5.4 6.5-5.4s5.9 1.8 6.5 5.4';

export const TYPE_WORDS: Record<SignalType, TypeWords> = {
  public_meeting: { word: 'Public meeting', family: 'decisions', mark: CALENDAR },
  meeting_cancelled: { word: 'Meeting cancelled', family: 'decisions', mark: 'M3 5h14v12H3z M7 3v4 M13 3v4 M7.5 9l5 5 M12.5 9l-5 5' },
  short_notice: { word: 'Short notice', family: 'decisions', mark: 'M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z M10 6v4.5l3 2' },
  public_comment: { word: 'Public comment', family: 'decisions', mark: 'M3 4h14v9.5H9L5.5 17v-3.5H3z' },
  vote: { word: 'Vote', family: 'decisions', mark: 'M3 3h14v14H3z M6.5 10l2.7 2.8L13.8 7' },
  filing: { word: 'Filing', family: 'records', mark: DOCUMENT },
  grant_award: { word: 'Grant award', family: 'records', mark: 'M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z M12.6 7.4c-.6-.9-1.5-1.2-2.6-1.2-1.5 0-2.6.7-2.6 1.8 0 2.7 5.4 1.3 5.4 4 0 1.2-1.2 1.9-2.8 1.9-1.3 0-2.3-.5-2.8-1.5 M10 4.6v10.8' },
  coalition_activity: { word: 'Coalition activity', family: 'people', mark: 'M6.5 4a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z M13.5 4a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z M2 16c.4-3 2-4.5 4.5-4.5s3.1.8 3.5 1.6c.4-.8 1-1.6 3.5-1.6S17.6 13 18 16' },
  new_source: { word: 'New source', family: 'sources', mark: 'M5 2.5h10v15H5z M10 7v6 M7 10h6' },
  source_change: { word: 'Source changed', family: 'sources', mark: 'M4 8a6.2 6.2 0 0 1 11-2.5 M15.5 2.5v3.3h-3.3 M16 12a6.2 6.2 0 0 1-11 2.5 M4.5 17.5v-3.3h3.3' },
  role_change: { word: 'Role changed', family: 'people', mark: PERSON },
  freshness_change: { word: 'Freshness changed', family: 'review', mark: 'M10 3a7 7 0 1 0 7 7 M10 6.5V10l2.5 1.5 M13 3.2l4 .3-.6 3.9' },
  actor_discovered: { word: 'New in the directory', family: 'people', mark: `${PERSON} M16 3v4 M14 5h4` },
  actor_merged: { word: 'Entries merged', family: 'review', mark: 'M4 3v4c0 3 6 3 6 6v4 M16 3v4c0 3-6 3-6 6' },
  flag_resolved: { word: 'Report resolved', family: 'review', mark: 'M5 17.5V3h10l-2.5 3.5L15 10H5' },
  coverage_gap: { word: 'Gap in coverage', family: 'review', mark: 'M16.3 13.2a7 7 0 1 1 0-6.4 M10 6.8v3.6 M10 13.2v.01' },
};

const STATE_ENDING = /^(.+)-([a-z]{2})$/;

/** A place key or slug as people write it: `kansas-city,missouri` is Kansas City, Missouri. */
export function placeWords(key: string): string {
  const [city = '', region] = key.split(',');
  if (region !== undefined) return `${capitalised(city)}, ${capitalised(region)}`;
  const [, name, state] = STATE_ENDING.exec(key) ?? [];
  return name ? `${capitalised(name)}, ${state!.toUpperCase()}` : capitalised(key);
}

export function issueWords(slug: string): string {
  const words = slug.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
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
