import type { Reader } from 'civic';
import { issuesWithFindings, pageTotals, skippedPages } from '../runs/pages-store.ts';
import { queriesOf, type SearchFault } from '../runs/queries-store.ts';
import type { RunRow } from '../runs/store.ts';
import { BUDGETS } from './reading.ts';

export const GAP_TYPES = ['no_pages', 'issue_area', 'robots', 'login_wall', 'search_engine', 'page_budget'] as const;

/** Something that a run could not look at, so that a reader knows what its result does not say. */
export interface Gap {
  type: (typeof GAP_TYPES)[number];
  /** The slug of an issue area, a host, or the name of a search engine. */
  subject: string | null;
  /** How many pages are concerned; 0 where pages are not counted. */
  count: number;
  detail: string;
}

/** Of one run: more hosts than this help no reader. */
const MOST_GAPS = 100;
const SKIPS = new Map<string, { type: Gap['type']; words: string }>([
  ['robots', { type: 'robots', words: 'Its robots.txt does not allow programs to read these pages.' }],
  ['robots_unreachable', { type: 'robots', words: 'Its robots.txt cannot be read, so nothing of the host was.' }],
  ['login_wall', { type: 'login_wall', words: 'These pages ask for a sign-in.' }],
]);

/** Returns what a run that ends could not look at. */
export async function gapsOf(reader: Reader, run: RunRow, issueName: (slug: string) => string | null): Promise<Gap[]> {
  const totals = await pageTotals(reader, run.key);
  if (totals.all === 0) return [{ type: 'no_pages', subject: null, count: 0, detail: 'The run knew no page to begin with. Give it seeds, watch sources of the place, or configure a search engine.' }];
  const found = await issuesWithFindings(reader, run.key);
  const areas = (JSON.parse(run.issue_areas) as string[]).filter((slug) => !found.has(slug));
  return [
    ...areas.map((slug): Gap => ({ type: 'issue_area', subject: slug, count: 0, detail: `No page that names actors has words of “${issueName(slug) ?? slug}”.` })),
    ...(await skippedPages(reader, run.key)).flatMap(({ host, reason, count }): Gap[] => {
      const skip = SKIPS.get(reason);
      return skip ? [{ type: skip.type, subject: host, count, detail: skip.words }] : [];
    }),
    ...await searchGaps(reader, run),
    ...budgetGaps(run, totals),
  ].slice(0, MOST_GAPS);
}

async function searchGaps(reader: Reader, run: RunRow): Promise<Gap[]> {
  const faults = (await queriesOf(reader, run.key)).flatMap((row) => JSON.parse(row.faults) as SearchFault[]);
  return [...new Map(faults.map(({ engine, detail }): [string, Gap] => [engine, { type: 'search_engine', subject: engine, count: 0, detail }])).values()];
}

function budgetGaps({ depth }: RunRow, { hosts, all }: { hosts: Map<string, number>; all: number }): Gap[] {
  const budget = BUDGETS[depth];
  if (all >= budget.pages) return [{ type: 'page_budget', subject: null, count: all, detail: `The run has as many pages as a ${depth} run reads; others may be left out.` }];
  return [...hosts].filter(([, count]) => count >= budget.host).map(([host, count]): Gap => ({ type: 'page_budget', subject: host, count, detail: `The run has as many pages of this host as a ${depth} run reads; others may be left out.` }));
}
