import { fitList, Joi, pageOf, type ListQuery, type Tool } from 'civic';
import { filterParameters, pageParameters, queryOf, type QueryParameters } from './query/schemas.ts';
import { PATH, readingCaller, type RouteContext } from './routes.ts';
import { signalList } from './signals/schemas.ts';
import { meterUse } from './snapshot/answer.ts';
import { readSnapshot, SNAPSHOT_POSITION } from './snapshot/snapshot.ts';
import type { Signal } from './types.ts';

/** Signals with more bytes are shortened in results of tools. `GET /api/firehose` returns them complete. */
const MOST_BYTES = 8000;
const MOST_EVIDENCE = 3;
const MOST_ITEMS = 10;
const MOST_CHARACTERS = 500;
const MOST_LINES = 40;

interface SignalPage {
  data: Signal[];
  total: number;
  next_cursor: string | null;
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
    output: signalList(kinds).meta({ name: 'SignalList' }),
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
        return { data: rows.map(({ signal }) => shortened(signal)), total: tally.total, next };
      });
      await meterUse(context, subscription, data.data.length);
      return { data, text: textOf(data) };
    },
  }];
}

/** Returns the JSON of a signal, with fewer items and shorter texts if it is large. */
function shortened(text: string): string {
  if (Buffer.byteLength(text) <= MOST_BYTES) return text;
  const signal = JSON.parse(text) as Signal;
  return JSON.stringify({
    ...signal,
    summary: signal.summary && cut(signal.summary),
    places: signal.places.slice(0, MOST_ITEMS),
    issues: signal.issues.slice(0, MOST_ITEMS),
    actors: signal.actors.slice(0, MOST_ITEMS),
    evidence: signal.evidence.slice(0, MOST_EVIDENCE).map((one) => ({ ...one, passage: one.passage && cut(one.passage) })),
    changes: signal.changes.slice(0, MOST_ITEMS).filter((change) => JSON.stringify(change).length <= MOST_CHARACTERS),
  });
}

function cut(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1)}…`;
}

/** Returns the summary of a page for clients that show text only. */
function textOf({ data, total, next_cursor: cursor }: SignalPage): string {
  if (total === 0) return 'No signals. Try a longer time, other places or fewer filters.';
  const head = data.length === total ? `${total} signals:` : `${total} signals, of which ${data.length} are here:`;
  const more = cursor === null ? [] : [`There are more: call the tool again with cursor "${cursor}".`];
  return [head, ...data.slice(0, MOST_LINES).map(signalLine), ...more].join('\n');
}

function signalLine({ type, title, occurred_at: occurred, detected_at: detected, evidence }: Signal): string {
  return `- ${(occurred ?? detected).slice(0, 10)} ${type}: ${title.slice(0, 160)} (${evidence[0]?.source_url ?? 'no source'})`;
}
