import { fitList, Joi, pageOf, type ListQuery, type Tool } from 'civic';
import { filterParameters, pageParameters, queryOf, type QueryParameters } from './query/schemas.ts';
import { PATH, readingCaller, type RouteContext } from './routes.ts';
import { signalList } from './signals/schemas.ts';
import { meterUse } from './snapshot/answer.ts';
import { readSnapshot, SNAPSHOT_POSITION } from './snapshot/snapshot.ts';
import type { Signal } from './types.ts';

/** A larger signal is shortened in results of tools; `GET /api/firehose` has all of it. */
const LARGE = 8000;
const MOST_EVIDENCE = 3;
const MOST_ITEMS = 10;
const LONGEST = 500;

type Filters = Omit<QueryParameters, 'limit' | 'cursor'>;

/** Created once all plugins have declared their signal types. */
export function signalTools(context: RouteContext): Tool[] {
  const { civic, kinds, subscribe } = context;
  const input = Joi.object({ ...filterParameters(kinds.queryable()), ...pageParameters, limit: pageParameters.limit.default(10) });
  return [{
    name: 'search_signals',
    title: 'Search signals',
    description: 'Finds civic signals, such as public meetings, votes, filings and changes of sources, by place, issue area, type and time; the latest detected first. Each has evidence with the URL of its source: cite it. Get keys for place from search_places and slugs for issue from resolve_issue_areas.',
    readOnly: true,
    destructive: false,
    // As the route that reads the same.
    ...(!civic.config.anonymous && { scope: 'firehose:read', plan: 'firehose' }),
    input,
    output: signalList(kinds).meta({ name: 'SignalList' }),
    advice: {
      invalid_cursor: 'Use next_cursor of the previous result unchanged, with the same arguments as before.',
      visibility_forbidden: 'Set visibility to public, or to workspace for the signals of the own workspace.',
      authentication_required: 'Set visibility to public.',
    },
    async run(query: QueryParameters, { caller, maxBytes, given }) {
      const list: ListQuery = { path: PATH, query: query as unknown as Record<string, unknown>, given, schema: input };
      const page = pageOf<Filters>(list, SNAPSHOT_POSITION);
      const asked = queryOf({ ...page.query, limit: page.limit });
      const subscription = await subscribe(civic.db.read, asked, readingCaller(caller, asked.visibility));
      const data = await fitList<{ data: Signal[]; total: number; next_cursor: string | null }>(list, page, maxBytes, async (fitting) => {
        const { rows, tally, next } = await readSnapshot(context, subscription, fitting);
        return { data: rows.map(({ signal }) => shortened(signal)), total: tally.total, next };
      });
      await meterUse(context, subscription, data.data.length);
      return { data, text: textOf(data) };
    },
  }];
}

function shortened(text: string): string {
  if (Buffer.byteLength(text) <= LARGE) return text;
  const signal = JSON.parse(text) as Signal;
  return JSON.stringify({
    ...signal,
    summary: signal.summary && cut(signal.summary),
    places: signal.places.slice(0, MOST_ITEMS),
    issues: signal.issues.slice(0, MOST_ITEMS),
    actors: signal.actors.slice(0, MOST_ITEMS),
    evidence: signal.evidence.slice(0, MOST_EVIDENCE).map((one) => ({ ...one, passage: one.passage && cut(one.passage) })),
    changes: signal.changes.slice(0, MOST_ITEMS).filter((change) => JSON.stringify(change).length <= LONGEST),
  });
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

function textOf({ data, total, next_cursor: cursor }: { data: Signal[]; total: number; next_cursor: string | null }): string {
  if (total === 0) return 'No signals. Try a longer time, other places or fewer filters.';
  const lines = data.map(({ type, title, occurred_at: occurred, detected_at: detected, evidence }) => `- ${(occurred ?? detected).slice(0, 10)} ${type}: ${title.slice(0, 160)} (${evidence[0]?.source_url ?? 'no source'})`);
  const more = cursor === null ? [] : [`More follow: call the tool again with cursor "${cursor}".`];
  return [data.length === total ? `${total} signals:` : `${total} signals; ${data.length} of them here:`, ...lines.slice(0, 40), ...more].join('\n');
}
