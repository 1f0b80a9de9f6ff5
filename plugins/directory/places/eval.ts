import { Failure, type Command, type Database } from 'civic';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlaceRow } from './gazetteer.ts';
import { squash } from './names.ts';
import { readingsOf } from './reading.ts';
import type { Places } from './service.ts';
import { stateByText } from './states.ts';
import { americanPlaces } from './store.ts';

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

export interface OcdReport {
  file: string;
  divisions: number;
  /** Places of the gazetteer whose name is that of a division right below their state, or whose id is in the file. */
  found: number;
  right: number;
  share: number;
  wrong: string[];
  /** Places whose name only townships below a county have: often not the same place, so they are not counted. */
  only_townships: number;
}

/** A candidate below this is not taken by a program. */
const TAKEN = 0.5;
const NEAR_KM = 50;
const SHOWN = 20;

export function evalPlacesCommand({ places, db }: { places: Places; db(): Database }): Command {
  return {
    name: 'eval places',
    summary: 'Measures the place resolver and the OCD ids on files of known answers',
    arguments: '[path]',
    examples: ['bin/civic eval places groups.json', 'bin/civic eval places us_census_places.csv', 'bin/civic eval places a-folder-of-both'],
    needs: 'database',
    async run({ terminal, positionals, cwd }) {
      const texts: TextReport[] = [];
      const ids: OcdReport[] = [];
      for (const file of filesAt(positionals[0], cwd)) {
        if (file.endsWith('.json')) texts.push(await evalTexts(places, db(), file));
        else ids.push(await evalOcdIds(db(), file));
      }
      terminal.print({ texts, ocd_ids: ids }, () => [...texts.map(wordsOfTexts), ...ids.map(wordsOfIds)].join('\n'));
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

interface Division {
  id: string;
  state: string;
  /** `place`, `county`, `municipio`. */
  type: string;
  squashed: string;
  isTownship: boolean;
}

const DIVISION = /^ocd-division\/country:us\/(?:state|territory|district):([a-z]{2})\/(?:(.+)\/)?([a-z_]+):([^/:]+)$/;

async function evalOcdIds(db: Database, file: string): Promise<OcdReport> {
  const { parse } = await import('csv-parse/sync');
  const rows = parsed(file, (text) => parse(text, { columns: true, bom: true }) as { id?: string }[]);
  const divisions = rows.flatMap(({ id = '' }): Division[] => {
    const match = DIVISION.exec(id);
    return match ? [{ id, state: match[1]!.toUpperCase(), type: match[3]!, squashed: squash(match[4]!.replaceAll('_', ' ').replaceAll('~', '')), isTownship: match[2] !== undefined }] : [];
  });
  if (divisions.length === 0) throw new Failure(`${file} has no column id with OCD ids`);
  const known = new Set(divisions.map(({ id }) => id));
  const nameOf = (state: string, squashed: string) => `${state} ${squashed}`;
  const direct = new Set(divisions.filter(({ isTownship, type }) => !isTownship && ['place', 'municipio'].includes(type)).map(({ state, squashed }) => nameOf(state, squashed)));
  const townships = new Set(divisions.filter(({ isTownship }) => isTownship).map(({ state, squashed }) => nameOf(state, squashed)));
  const report: OcdReport = { file, divisions: divisions.length, found: 0, right: 0, share: 0, wrong: [], only_townships: 0 };
  for (const place of await americanPlaces(db.read)) {
    const isRight = place.ocd_id !== null && known.has(place.ocd_id);
    const name = nameOf(place.state ?? '', place.squashed);
    if (isRight) report.right++;
    else if (direct.has(name)) report.wrong.push(`${place.place_key} → ${place.ocd_id}`);
    else if (townships.has(name)) report.only_townships++;
  }
  report.found = report.right + report.wrong.length;
  report.share = report.found === 0 ? 0 : Math.floor((report.right / report.found) * 10_000) / 10_000;
  return report;
}

function wordsOfTexts({ file, texts, right, refused, wrong_place: wrongPlace, wrong_state: wrongState }: TextReport): string {
  return [
    `${file}: ${right} of ${texts} texts to the right place, ${refused.length} refused, ${wrongPlace.length} to another place, ${wrongState.length} to a wrong state`,
    ...listed('refused', refused), ...listed('another place', wrongPlace), ...listed('wrong state', wrongState),
  ].join('\n');
}

function wordsOfIds({ file, divisions, found, right, share, wrong, only_townships: townships }: OcdReport): string {
  return [
    `${file}: OCD ids right for ${right} of ${found} places found among ${divisions} divisions (${(share * 100).toFixed(2)} %); ${townships} more have the name of a township only`,
    ...listed('wrong', wrong),
  ].join('\n');
}

function listed(label: string, lines: string[]): string[] {
  return [...lines.slice(0, SHOWN).map((line) => `  ${label}: ${line}`), ...(lines.length > SHOWN ? [`  … and ${lines.length - SHOWN} more; --json has them all`] : [])];
}
