import { Failure, type Command, type Database } from 'civic';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROW_ENDS } from '../transfer/table.ts';
import type { PlaceRow } from './gazetteer.ts';
import { loadedGazetteer } from './store.ts';
import { squash } from './names.ts';
import { readingsOf } from './reading.ts';
import type { Places } from './service.ts';
import { stateByText } from './states.ts';

/** A group with a free-form `city`; `location` says what is meant. */
interface Group {
  name?: string;
  city?: string;
  location?: { city?: string; state?: string; country?: string; coordinates?: { latitude?: string | number; longitude?: string | number } };
}

export interface TextReport {
  file: string;
  texts: number;
  right: number;
  wrong_place: string[];
  wrong_state: string[];
  refused: string[];
}

/** How many governments a query finds. */
export interface Found {
  itself: number;
  /** Itself of all, rounded down. */
  share: number;
  another: string[];
  unresolved: string[];
}

export interface GovernmentReport {
  file: string;
  governments: number;
  /** Rows of other countries, and of divisions that are no place. */
  skipped: number;
  by_id: Found;
  /** By the name with its legal type, the county of one below a county, and the state. */
  by_name: Found;
}

/** A candidate below this is not taken by a program. */
const TAKEN = 0.5;
const NEAR_KM = 50;
const SHOWN = 20;

export function evalPlacesCommand({ places, db }: { places: Places; db(): Database }): Command {
  return {
    name: 'eval places',
    summary: 'Measure the place resolver on files with known results',
    arguments: '[path]',
    examples: ['bin/civic eval places groups.json', 'bin/civic eval places us_census_places.csv', 'bin/civic eval places a-folder-of-both'],
    needs: 'database',
    async run({ terminal, positionals, cwd }) {
      const texts: TextReport[] = [];
      const governments: GovernmentReport[] = [];
      if (!await loadedGazetteer(db().read)) throw new Failure('The places are not loaded yet: run bin/civic migrate');
      for (const file of filesAt(positionals[0], cwd)) {
        if (file.endsWith('.json')) texts.push(await evalTexts(places, db(), file));
        else governments.push(await evalGovernments(places, db(), file));
      }
      terminal.print({ texts, governments }, () => [...texts.map(wordsOfTexts), ...governments.map(wordsOfGovernments)].join('\n'));
    },
  };
}

function filesAt(path: string | undefined, cwd: string): string[] {
  const root = fileURLToPath(new URL('.', import.meta.resolve('civic/package.json')));
  const at = path === undefined ? join(root, '..', 'shared', 'data', 'places') : resolve(cwd, path);
  if (!existsSync(at)) throw new Failure(path === undefined ? 'Name a file: JSON with groups that have a `city`, or CSV with OCD ids' : `Nothing is at ${at}`);
  const files = statSync(at).isDirectory() ? readdirSync(at).filter((name) => /\.(json|csv)$/.test(name)).sort().map((name) => join(at, name)) : [at];
  const wrong = files.find((file) => !/\.(json|csv)$/.test(file));
  if (wrong || files.length === 0) throw new Failure(`${wrong ?? at} is neither JSON with groups that have a \`city\`, nor CSV with OCD ids`);
  return files;
}

function parsed<Row>(file: string, parse: (text: string) => Row[]): Row[] {
  try {
    const rows = parse(readFileSync(file, 'utf8'));
    if (Array.isArray(rows)) return rows;
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  throw new Failure(`${file} is not a list of groups`);
}

/** Groups in the US: those whose location says so. */
async function evalTexts(places: Places, db: Database, file: string): Promise<TextReport> {
  const groups = parsed(file, (text) => JSON.parse(text) as Group[]).filter(({ city, location }) => city && /^(usa?|united states.*)$/i.test(location?.country ?? ''));
  const report: TextReport = { file, texts: groups.length, right: 0, wrong_place: [], wrong_state: [], refused: [] };
  for (const group of groups) {
    const [best] = await places.resolve(db.read, group.city!, { limit: 1 });
    if (!best || best.confidence < TAKEN) report.refused.push(group.city!);
    else if (best.place.state !== expectedState(group)) report.wrong_state.push(`${group.city} → ${best.place.place_key}`);
    else if (!isExpected(best.place, group)) report.wrong_place.push(`${group.city} → ${best.place.place_key}`);
    else report.right++;
  }
  return report;
}

function expectedState({ city, location }: Group): string | null {
  const state = stateByText(location?.state || city!.split(',').at(-1)!.trim());
  return state?.abbreviation ?? null;
}

/** By name, or within 50 km of where the group is. */
function isExpected(place: PlaceRow, { city, location }: Group): boolean {
  const names = [location?.city ?? '', ...readingsOf(city!).map(({ name }) => name)].map(squash);
  if (names.includes(place.squashed)) return true;
  const [latitude, longitude] = [Number(location?.coordinates?.latitude), Number(location?.coordinates?.longitude)];
  return place.latitude !== null && 111 * Math.hypot(place.latitude - latitude, (place.longitude! - longitude) * Math.cos((latitude * Math.PI) / 180)) < NEAR_KM;
}

interface Government {
  id: string;
  text: string;
}

const DIVISION = /^ocd-division\/country:us\/(?:state|territory|district):([a-z]{2})\/(?:(?:county|parish):([^/]+)\/)?(?:place|county|parish|borough|census_area|municipio):[^/:]+$/;

async function evalGovernments(places: Places, db: Database, file: string): Promise<GovernmentReport> {
  const { parse } = await import('csv-parse/sync');
  const rows = parsed(file, (text) => parse(text, { record_delimiter: ROW_ENDS, columns: true, bom: true }) as { id?: string; name?: string }[]);
  const names = new Map(rows.map(({ id = '', name = '' }) => [id, name]));
  const governments = rows.flatMap(({ id = '', name = '' }): Government[] => {
    const [, state, county] = DIVISION.exec(id) ?? [];
    if (!state) return [];
    const parent = names.get(id.slice(0, id.lastIndexOf('/'))) ?? `${county?.replaceAll('_', ' ')} County`;
    return [{ id, text: [name, ...(county ? [parent] : []), state.toUpperCase()].join(', ') }];
  });
  if (governments.length === 0) throw new Failure(`${file} has no column id with OCD ids`);
  const byId = await countFound(governments, async ({ id }) => places.byKey(db.read, id), ({ id }) => id);
  const byName = await countFound(governments, async ({ text }) => {
    const [best] = await places.resolve(db.read, text, { limit: 1 });
    return best && best.confidence >= TAKEN ? best.place : null;
  }, ({ text }) => text);
  return { file, governments: governments.length, skipped: rows.length - governments.length, by_id: byId, by_name: byName };
}

async function countFound(governments: Government[], find: (government: Government) => Promise<PlaceRow | null>, query: (government: Government) => string): Promise<Found> {
  const found: Found = { itself: 0, share: 0, another: [], unresolved: [] };
  for (const government of governments) {
    const place = await find(government);
    if (place?.ocd_id === government.id) found.itself++;
    else if (place) found.another.push(`${query(government)} (${government.id}) → ${place.place_key}`);
    else found.unresolved.push(`${query(government)} (${government.id})`);
  }
  found.share = Math.floor((found.itself / governments.length) * 10_000) / 10_000;
  return found;
}

function wordsOfTexts({ file, texts, right, refused, wrong_place: wrongPlace, wrong_state: wrongState }: TextReport): string {
  return [
    `${file}: ${right} of ${texts} texts to the right place, ${refused.length} refused, ${wrongPlace.length} to another place, ${wrongState.length} to a wrong state`,
    ...listed('refused', refused), ...listed('another place', wrongPlace), ...listed('wrong state', wrongState),
  ].join('\n');
}

function wordsOfGovernments({ file, governments, skipped, by_id: byId, by_name: byName }: GovernmentReport): string {
  const words = (how: string, { itself, share, another, unresolved }: Found) => [
    `  by ${how}: ${itself} to themselves (${(share * 100).toFixed(2)} %), ${another.length} to another, ${unresolved.length} unresolved`,
    ...listed('another', another), ...listed('unresolved', unresolved),
  ];
  return [`${file}: ${governments} governments${skipped > 0 ? `, ${skipped} other rows skipped` : ''}`, ...words('OCD id', byId), ...words('name', byName)].join('\n');
}

function listed(label: string, lines: string[]): string[] {
  return [...lines.slice(0, SHOWN).map((line) => `  ${label}: ${line}`), ...(lines.length > SHOWN ? [`  … and ${lines.length - SHOWN} more; --json has them all`] : [])];
}
