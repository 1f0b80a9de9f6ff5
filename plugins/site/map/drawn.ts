import { Failure } from 'civic';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A map as the build prepares it, so that no start and no request loads the library that draws it. */
export interface DrawnMap {
  /** The `viewBox` of the SVG. */
  box: string;
  /** In the order of their federal numbers (FIPS). */
  areas: { id: string; name: string; path: string }[];
}

/** The folder of the maps, beside this module. */
export const DRAWN = 'drawn';

const maps = new Map<string, DrawnMap>();

/** Returns the map of the states, `us`, or that of the counties of a state by its two digits. */
export function drawnMap(name: string): DrawnMap {
  const known = maps.get(name);
  if (known) return known;
  const file = join(import.meta.dirname, DRAWN, `${name}.json`);
  try {
    const map = JSON.parse(readFileSync(file, 'utf8')) as DrawnMap;
    maps.set(name, map);
    return map;
  } catch (error) {
    throw new Failure(`The build is damaged: ${file} cannot be read (${(error as Error).message}). Delete dist/ and start again; without the sources, install civic again.`, { cause: error });
  }
}
