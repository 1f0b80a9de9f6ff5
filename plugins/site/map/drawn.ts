import { Failure } from 'civic';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A map that the build has drawn, so that neither a start nor a request loads d3-geo. */
export interface DrawnMap {
  /** The `viewBox` of the SVG. */
  box: string;
  /** Sorted by their FIPS codes, which are their ids. */
  areas: { id: string; name: string; path: string }[];
}

/** The folder of the maps, beside this module. */
export const DRAWN = 'drawn';

const maps = new Map<string, DrawnMap>();

/** Returns the map of the states, `us`, or the map of the counties of a state by its FIPS code. */
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
