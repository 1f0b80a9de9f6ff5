import { fitList, Joi, pageOf, quoteText, singleLine, summarizeList, type ListQuery, type Tool, type Truncation } from 'civic';
import { filterParameters, pageParameters, queryOf, type QueryParameters } from './query/schemas.ts';
import { PATH, readingCaller, type RouteContext } from './routes.ts';
import { toolSignalList } from './signals/schemas.ts';
import { meterUse } from './snapshot/answer.ts';
import { readSnapshot, SNAPSHOT_POSITION } from './snapshot/snapshot.ts';
import type { Signal } from './types.ts';

const LONGEST_URL = 2000;

interface SignalPage {
  data: Signal[];
  total: number;
  next_cursor: string | null;
  truncated?: Truncation[];
}

type Filters = Omit<QueryParameters, 'limit' | 'cursor'>;

/** Creates the tools. Call it once all plugins have declared their signal types, which the schemas list. */
export function signalTools(context: RouteContext): Tool[] {
  const { civic, kinds, subscribe } = context;
  const input = Joi.object({ ...filterParameters(kinds.queryable()), ...pageParameters, limit: pageParameters.limit.default(10) });
  return [{
    name: 'search_signals',
    title: 'Search signals',
    description: 'Finds civic signals, such as public meetings, votes, filings and changes of sources, by place, issue area, type and time; the latest detected first. Each has evidence with the URL of its source: cite it. Get keys for place from search_places and slugs for issue from resolve_issue_areas.',
    readOnly: true,
    destructive: false,
    // The same conditions as GET /api/firehose.
    ...(!civic.config.anonymous && { scope: 'firehose:read', plan: 'firehose' }),
    input,
    output: toolSignalList(kinds).meta({ name: 'SignalList' }),
    advice: {
      invalid_cursor: 'Use next_cursor of the previous result unchanged, with the same arguments as before.',
      visibility_forbidden: 'Set visibility to public, or to workspace for the signals of your workspace.',
      authentication_required: 'Set visibility to public.',
    },
    async run(query: QueryParameters, { caller, maxBytes, given }) {
      const list: ListQuery = { path: PATH, query: query as unknown as Record<string, unknown>, given, schema: input };
      const page = pageOf<Filters>(list, SNAPSHOT_POSITION);
      const signalQuery = queryOf({ ...page.query, limit: page.limit });
      const subscription = await subscribe(civic.db.read, signalQuery, readingCaller(caller, signalQuery.visibility));
      const data = await fitList<SignalPage>(list, page, maxBytes, async (fitting) => {
        const { rows, tally, next } = await readSnapshot(context, subscription, fitting);
        return { data: rows.map(({ signal }) => signal), total: tally.total, next };
      });
      await meterUse(context, subscription, data.data.length);
      return { data, text: textOf(data) };
    },
  }];
}

/** Returns the summary of a page for clients that show text only. */
function textOf(page: SignalPage): string {
  if (page.total === 0) return 'No signals. Try a longer time, other places or fewer filters.';
  return summarizeList(['signal', 'signals'], page, page.data.map(signalLine));
}

function signalLine({ type, title, occurred_at: occurred, detected_at: detected, evidence: [source] }: Signal): string {
  return `- ${(occurred ?? detected).slice(0, 10)} ${type}: ${quoteText(title)} (${source ? singleLine(source.source_url, LONGEST_URL) : 'no source'})`;
}
