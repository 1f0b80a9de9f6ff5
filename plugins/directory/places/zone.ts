import { createRequire } from 'node:module';

type Lookup = (latitude: number, longitude: number) => string;
let lookup: Lookup | undefined;

/** Returns the IANA name of the time zone of a point, or null without one. Loads its data on the first call. */
export function zoneAt(latitude: number | null, longitude: number | null): string | null {
  if (latitude === null || longitude === null) return null;
  lookup ??= createRequire(import.meta.url)('@photostructure/tz-lookup') as Lookup;
  return lookup(latitude, longitude);
}
