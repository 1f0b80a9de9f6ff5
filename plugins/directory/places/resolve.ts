import type { Reader } from 'civic';
import { distance } from 'fastest-levenshtein';
import { countryName } from './abroad.ts';
import type { PlaceRow } from './gazetteer.ts';
import { keyCandidates } from './keys.ts';
import { legalName, squash, withoutLegalType } from './names.ts';
import { NICKNAMES } from './nicknames.ts';
import { readingsOf, splitZip, type Reading } from './reading.ts';
import { stateByAbbreviation, stateByText } from './states.ts';
import { placeByAlias, placeByZip, placesByKeys, placesByName, placesByPrefix, type Region } from './store.ts';

export interface Candidate {
  place: PlaceRow;
  /** 1 is certain. Among places of one name it is their share of the population. */
  confidence: number;
  reason: string;
}

export interface ResolveOptions {
  /** Abbreviation or name: only places in this state. */
  state?: string;
  limit?: number;
}

/** Below this nobody should take the first candidate without asking. */
export const CERTAIN = 0.9;

/** Of a text before its spaces are joined. */
const LONGEST_TEXT = 1000;

interface Match {
  place: PlaceRow;
  quality: number;
  reason: string;
}

const LARGE = 100_000;
/** Of a place whose population is unknown, and of one whose name belongs to another place in its state. */
const UNCOUNTED = 500;
const UNCOUNTED_NAMESAKE = 25;
/** Of several governments of one legal name in a state none is taken, whatever its size, nor is a place of another legal type. */
const ONE_OF_SEVERAL = 0.49;

/** The places a free text may mean, likeliest first. */
export async function resolvePlace(reader: Reader, text: string, { state, limit = 25 }: ResolveOptions = {}): Promise<Candidate[]> {
  const cleaned = text.slice(0, LONGEST_TEXT).normalize('NFC').replace(/\s+/g, ' ').trim().slice(0, 200);
  const wanted = state === undefined ? null : stateByText(state);
  if (cleaned === '' || (state !== undefined && !wanted)) return [];
  const inWanted = (matches: Match[]) => matches.filter(({ place }) => !wanted || place.state === wanted.abbreviation);
  for (const step of steps(reader, cleaned, wanted?.abbreviation ?? null)) {
    const matches = inWanted(await step());
    if (matches.length > 0) return ranked(matches).slice(0, limit);
  }
  return [];
}

/** The places that a free text names exactly, likeliest first: by key, name, nickname or ZIP code, and not by likeness. */
export async function namedPlaces(reader: Reader, text: string, limit: number): Promise<PlaceRow[]> {
  for (const step of exactSteps(reader, text, null)) {
    // A text whose region is unknown may go on: "Harlan, Io".
    const matches = (await step()).filter(({ quality }) => quality >= CERTAIN);
    if (matches.length > 0) return ranked(matches).slice(0, limit).map(({ place }) => place);
  }
  return [];
}

/** Returns whether a caller should ask before it takes the first candidate; false when there is none to take. */
export function isAmbiguous(candidates: Candidate[]): boolean {
  return candidates.length > 0 && candidates[0]!.confidence < CERTAIN;
}

type Step = () => Promise<Match[]>;

/** From certain to guessed; the first that finds anything decides. */
function steps(reader: Reader, text: string, state: string | null): Step[] {
  const each = eachReading(text, state);
  return [
    ...exactSteps(reader, text, state),
    ...each((reading) => byOtherForm(reader, reading)),
    ...each((reading) => byParts(reader, reading)),
    ...each((reading) => byLikeness(reader, reading)),
    ...each((reading) => byElsewhere(reader, reading)),
  ];
}

function exactSteps(reader: Reader, text: string, state: string | null): Step[] {
  const { rest, zip } = splitZip(text);
  const each = eachReading(text, state);
  return [
    () => byKey(reader, text),
    () => byNickname(reader, text, state),
    () => byDisplayName(reader, text),
    ...(rest === '' ? [] : [...each((reading) => byLegalName(reader, reading)), ...each((reading) => byName(reader, reading))]),
    async () => one(zip === null ? null : await placeByZip(reader, zip), 1, 'ZIP code'),
  ];
}

/** A step for each way to read a text. */
function eachReading(text: string, state: string | null): (find: (reading: Reading) => Promise<Match[]>) => Step[] {
  const readings = readingsOf(splitZip(text).rest || text).map((reading): Reading => (state && !reading.region ? { ...reading, region: { state } } : reading));
  return (find) => readings.map((reading) => () => find(reading));
}

/** Confidence is quality, shared among equals by population. */
function ranked(matches: Match[]): Candidate[] {
  const cities = matches.filter(({ place }) => !isState(place));
  const citiesWeigh = cities.reduce((sum, { place }) => sum + weightOf(place), 0);
  const isNamesake = cities.some(({ place }) => weightOf(place) >= LARGE);
  // Who says "New York" may mean the state, but more often the city.
  const shareOf = ({ place }: Match) => (isNamesake && isState(place) ? Math.min(weightOf(place), citiesWeigh * 0.6) : weightOf(place));
  const total = matches.reduce((sum, match) => sum + shareOf(match), 0);
  const candidates = matches.map((match) => {
    const share = shareOf(match) / total;
    return { place: match.place, confidence: Math.round(match.quality * share * 1000) / 1000, reason: match.reason };
  });
  return candidates.sort((a, b) => b.confidence - a.confidence || a.place.key - b.place.key);
}

const isState = ({ place_key: key }: PlaceRow) => !key.includes(',');
const populationOf = (place: PlaceRow) => place.population ?? (hasPlainKey(place) ? UNCOUNTED : UNCOUNTED_NAMESAKE);
/** Whether the key is the name alone: the place that people mean by the name. */
const hasPlainKey = ({ place_key: key, squashed }: PlaceRow) => squash(key.slice(0, key.indexOf(','))) === squashed;
/** Who names no country means one abroad only when it is far larger. */
const weightOf = (place: PlaceRow) => populationOf(place) * (place.country === 'US' ? 1 : 0.1);

function one(place: PlaceRow | null, quality: number, reason: string): Match[] {
  return place ? [{ place, quality, reason }] : [];
}

function all(places: PlaceRow[], quality: number, reason: string): Match[] {
  return places.map((place) => ({ place, quality, reason }));
}

/** A place key, a slug or an OCD id. */
async function byKey(reader: Reader, text: string): Promise<Match[]> {
  if (!/^[^\s]+$/.test(text) || !/[-,:]/.test(text)) return [];
  return one(await keyCandidates(reader, text.toLowerCase()), 1, text.startsWith('ocd-division/') ? 'OCD id' : 'place key');
}

async function byNickname(reader: Reader, text: string, state: string | null): Promise<Match[]> {
  const keys = NICKNAMES.get(squash(text)) ?? [];
  const rows = await placesByKeys(reader, keys);
  const matches = all(rows.filter((row) => !state || row.state === state), 1, 'nickname');
  // A nickname is for the first, whatever its population.
  return matches.length < 2 ? matches : matches.map((match) => ({ ...match, quality: match.place.place_key === keys[0] ? 0.9 : 0.5 }));
}

/** The display name of a place abroad, as responses have it: "Toronto, Ontario, Canada". */
async function byDisplayName(reader: Reader, text: string): Promise<Match[]> {
  const comma = text.indexOf(',');
  if (comma < 1) return [];
  const found = await placesByName(reader, [squash(text.slice(0, comma))]);
  return all(found.filter((place) => place.state === null && displayName(place).toLowerCase() === text.toLowerCase()), 1, 'display name');
}

/** "Kansas City, MO", "Toronto, Ontario, Canada", "Missouri". A code of no country, such as that of the demo, is left out. */
export function displayName({ place_key: key, name, state, admin1, country }: PlaceRow): string {
  if (!key.includes(',')) return name;
  const nation = countryName(country);
  return state ? `${name}, ${state}` : [name, admin1, nation === country && admin1 ? null : nation].filter((part, index, parts) => part && part !== parts[index - 1]).join(', ');
}

/** A name with its legal type, which tells a city from the township around it: "Bloomfield township", "Town of Malta". */
async function byLegalName(reader: Reader, reading: Reading): Promise<Match[]> {
  const { name, region, isRegionUnknown } = reading;
  const legal = legalName(name);
  if (!legal || isRegionUnknown) return [];
  const [plain, whole] = [squash(legal.plain), squash(name)];
  const found = inCounty(await placesByName(reader, [plain, whole], region ?? {}), reading);
  // "Union City" is a name, "Union city" is one with a type.
  if (!legal.isType && found.some(({ squashed }) => squashed === whole)) return [];
  const named = found.filter(({ squashed, kind }) => squashed === plain && legal.kinds.includes(kind));
  // Of namesakes only the government has an OCD id.
  const governments = named.some(({ ocd_id: id }) => id !== null) ? named.filter(({ ocd_id: id }) => id !== null) : named;
  const isOneOfSeveral = (place: PlaceRow) => governments.some((other) => other !== place && other.state !== null && other.state === place.state);
  return governments.map((place) => ({ place, quality: isOneOfSeveral(place) ? ONE_OF_SEVERAL : 1, reason: 'name with its legal type' }));
}

/** The places in the county that a text names, and those whose county is unknown. */
function inCounty(places: PlaceRow[], { county, name }: Reading): PlaceRow[] {
  if (county === undefined) return places;
  const wanted = squash(county);
  const there = places.filter(({ ocd_id: id }) => countyOf(id) === wanted);
  // A city has no county in its id, and a text without a type means the city before the township around it.
  return there.length > 0 && legalName(name) ? there : places.filter(({ ocd_id: id }) => [null, wanted].includes(countyOf(id)));
}

function countyOf(ocdId: string | null): string | null {
  const ending = ocdId === null ? undefined : /\/county:([^/]+)\/place:/.exec(ocdId)?.[1];
  return ending === undefined ? null : squash(ending.replaceAll('_', ' '));
}

async function byName(reader: Reader, reading: Reading): Promise<Match[]> {
  const { name, region, isRegionUnknown } = reading;
  const found = inCounty(await placesByName(reader, [squash(name)], region ?? {}), reading);
  return all(region?.state ? found.filter((place) => !isState(place)) : found, isRegionUnknown ? 0.6 : 1, 'name');
}

/** With or without its legal type, a name of the post office, a nickname in its state. */
async function byOtherForm(reader: Reader, reading: Reading): Promise<Match[]> {
  const { name, region, isRegionUnknown } = reading;
  const forms = [...withoutLegalType(name).map(squash), ...(region?.state ? [`${squash(name)}city`] : [])].filter(Boolean);
  const found = inCounty(await placesByName(reader, forms, region ?? {}), reading);
  // A city of the name is not the township that the text names. Abroad no legal types are known.
  const isOther = ({ kind, country }: PlaceRow) => country === 'US' && legalName(name)?.kinds.includes(kind) === false;
  if (found.length > 0) return found.map((place) => ({ place, quality: isRegionUnknown ? 0.5 : isOther(place) ? ONE_OF_SEVERAL : 0.95, reason: 'name without its legal type' }));
  if (!region?.state) return [];
  const nick = await byNickname(reader, name, region.state);
  if (nick.length > 0) return nick;
  return one(await placeByAlias(reader, squash(name), region.state), 0.8, 'part of it, to the post office');
}

/** Twin cities by both names, and a city in the name of its region: "Bryan-College Station", "Tampa Bay", "Greater Boston". */
async function byParts(reader: Reader, { name, region }: Reading): Promise<Match[]> {
  if (!region) return [];
  const twins = name.split(/\s*[-–/&]\s*|\s+and\s+/i).filter(Boolean);
  if (twins.length > 1) {
    const found = await Promise.all(twins.map((twin) => placesByName(reader, [squash(twin)], region)));
    if (found.every((rows) => rows.length > 0)) return all(found.map((rows) => rows[0]!), 0.9, 'one of several in the name');
  }
  if (/\b(?:county|parish)$/i.test(name)) return [];
  const words = name.split(' ');
  const cores = words.length < 2 ? [] : [words.slice(0, -1), ...(/^(?:greater|metro|metropolitan|downtown|central|inner)$/i.test(words[0]!) ? [words.slice(1)] : [])];
  const found = await placesByName(reader, cores.map((core) => squash(core.join(' '))), region);
  return all(found.filter((place) => populationOf(place) >= LARGE), 0.6, 'its name is part of the text');
}

/** One or two wrong letters, or the beginning of a name. */
async function byLikeness(reader: Reader, reading: Reading): Promise<Match[]> {
  const { name, region, isRegionUnknown } = reading;
  const wanted = squash(name);
  if (wanted.length < 3 || isRegionUnknown) return [];
  const near = inCounty(await placesByPrefix(reader, wanted.slice(0, 2), region ?? {}, 3000), reading);
  const allowed = wanted.length < 5 ? 0 : wanted.length < 9 ? 1 : 2;
  const measured = near.map((place) => ({ place, wrong: Math.abs(place.squashed.length - wanted.length) > allowed ? 9 : distance(place.squashed, wanted) }));
  const least = Math.min(...measured.map(({ wrong }) => wrong));
  if (least <= allowed) return all(measured.filter(({ wrong }) => wrong === least).map(({ place }) => place), 0.6, 'spelled almost like it');
  return all(near.filter((place) => place.squashed.startsWith(wanted)).slice(0, 25), 0.4, 'begins like it');
}

/** The same name outside the region that was named: never to be taken unasked. */
async function byElsewhere(reader: Reader, { name, region }: Reading): Promise<Match[]> {
  return region ? all(await placesByName(reader, [squash(name)]), 0.2, `not in ${regionName(region)}`) : [];
}

function regionName({ state, country, admin1 }: Region): string {
  return (state ? stateByAbbreviation(state)?.name : admin1 ?? countryName(country ?? '')) ?? '';
}
