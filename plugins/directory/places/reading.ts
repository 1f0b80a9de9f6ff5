import { countryByText, divisionByText } from './abroad.ts';
import { stateByText } from './states.ts';
import type { Region } from './store.ts';

/** A way to read a free text: a name, and where it should lie. */
export interface Reading {
  name: string;
  /** Null when the text says nothing about it. */
  region: Region | null;
  /** The county that the text names besides a place in it, without its word. */
  county?: string;
  /** The text names a region nobody knows. */
  isRegionUnknown?: boolean;
}

const ZIP = /(?:^|[\s,])(\d{5})(?:-\d{4})?$/;
const LONGEST_STATE_WORDS = 3;

/** The ZIP code at the end of a text, and the text without it. */
export function splitZip(text: string): { rest: string; zip: number | null } {
  const match = ZIP.exec(text);
  return match ? { rest: text.slice(0, match.index).replace(/[\s,]+$/, ''), zip: Number(match[1]) } : { rest: text, zip: null };
}

/** The ways to read a text, likeliest first: split at the last comma, as a whole, with a state as its last words. */
export function readingsOf(text: string): Reading[] {
  const parts = text.split(/\s*(?:,|;|\||\s[-–—]\s)\s*/).filter(Boolean);
  if (parts.length > 2 && countryByText(parts.at(-1)!) === 'US') parts.pop();
  if (parts.length < 2) return [{ name: text, region: null }, ...trailingStates(text)];
  const region = regionByText(parts.at(-1)!);
  const names = parts.slice(0, -1);
  // An address has the street before the town; some put the county between town and state.
  const county = names.length > 1 ? COUNTY.exec(names.at(-1)!)?.[1] : undefined;
  if (region) return [county === undefined ? { ...withCounty(names.at(-1)!), region } : { name: names.at(-2)!, county, region }];
  const spoken = names.flatMap((one) => trailingStates(one)).slice(0, 1);
  return [...spoken, { name: parts[0]!, region: null, isRegionUnknown: true }];
}

const COUNTY = /^(.+) (?:county|parish|co\.?)$/i;
const NAME_AND_COUNTY = /^(.+?) \((.+) (?:county|parish|co\.?)\)$|^(.+? (?:township|twp\.?|town|village|borough|city)) (?:in )?(.+) (?:county|parish)$/i;

/** "Malta (Saratoga County)", "Whitpain Township Montgomery County". */
function withCounty(text: string): Pick<Reading, 'name' | 'county'> {
  const [, name, county, typed, countyOfTyped] = NAME_AND_COUNTY.exec(text) ?? [];
  return name !== undefined ? { name, county } : typed !== undefined ? { name: typed, county: countyOfTyped } : { name: text };
}

/** A state, a country, or a division abroad. */
function regionByText(text: string): Region | null {
  const state = stateByText(text);
  if (state) return { state: state.abbreviation };
  const country = text.length > 2 || text === text.toUpperCase() ? countryByText(text) : null;
  const division = divisionByText(text);
  // Two letters are a province before they are a country: "Vancouver, BC", "Toronto, ON".
  if (division && (text.length <= 3 || !country)) return { admin1: division };
  return country ? { country } : null;
}

/** "Portland Oregon", "Columbia County PA". */
function trailingStates(text: string): Reading[] {
  const words = text.split(' ');
  for (let count = Math.min(LONGEST_STATE_WORDS, words.length - 1); count > 0; count--) {
    const state = stateByText(words.slice(-count).join(' '));
    if (state) return [{ ...withCounty(words.slice(0, -count).join(' ')), region: { state: state.abbreviation } }];
  }
  return [];
}
