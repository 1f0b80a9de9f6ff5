import { foldText } from 'civic';
import type { CountyCount } from 'civic/directory';

/** FIPS codes of counties from 510 on are those of independent cities. Virginia has both a county and a city named Fairfax. */
const INDEPENDENT = 510;
const COUNTY_WORDS = /(?: city and)? (?:county|parish|borough|municipality|census area|municipio)$/;

/** Returns a function that finds the county or city that an area of a map shows. */
export function areaMatcher(counts: CountyCount[]): (area: { id: string; name: string }) => CountyCount | undefined {
  const counties = byName(counts.filter(({ kind }) => kind === 'county'));
  const others = byName(counts.filter(({ kind }) => kind !== 'county'));
  return ({ id, name }) => {
    const plain = plainName(name);
    return Number(id.slice(2)) < INDEPENDENT ? counties.get(plain) ?? others.get(plain) : others.get(plain);
  };
}

/** Indexes areas by name; of two with the same name, the one with more entries. */
function byName(counts: CountyCount[]): Map<string, CountyCount> {
  return new Map(counts.toSorted((a, b) => a.entity_count - b.entity_count).map((count) => [plainName(count.name), count]));
}

function plainName(name: string): string {
  return foldText(name).replace(COUNTY_WORDS, '').replaceAll(/[^a-z0-9]/g, '');
}
