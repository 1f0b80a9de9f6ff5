import { likelyKeys } from '../places/routes.ts';
import { likelySlugs } from '../taxonomy/service.ts';
import type { DirectoryContext } from './context.ts';

/** What a filter with an unknown value could have meant. */
export interface Suggestion {
  parameter: 'issue_area' | 'place';
  value: string;
  did_you_mean: string[];
}

/** Finding near names takes time, so only the first few values get suggestions. */
const MOST = 3;

/** Returns suggestions for values that do not exist, from the taxonomy and the gazetteer. */
export async function suggestionsFor({ taxonomy, places, civic }: DirectoryContext, { issue_area = [], place = [] }: { issue_area?: string[]; place?: string[] }): Promise<Suggestion[]> {
  const found: Suggestion[] = [];
  for (const value of new Set(issue_area)) {
    if (found.length >= MOST) return found;
    if (!taxonomy().issueAreaBySlug(value)) found.push({ parameter: 'issue_area', value, did_you_mean: likelySlugs(taxonomy().resolveIssueAreas(value.replaceAll('_', ' '))) });
  }
  for (const value of new Set(place)) {
    if (found.length >= MOST) return found;
    if (!await places.byKey(civic.db.read, value)) found.push({ parameter: 'place', value, did_you_mean: await likelyKeys(places, civic.db, value) });
  }
  return found;
}
