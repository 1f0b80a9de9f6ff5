import type { Request, RequestRoute, Server } from '@hapi/hapi';
import { pageOf, type Page } from 'civic';
import { SNAPSHOT_POSITION } from '../snapshot/snapshot.ts';
import { completeQuery, queryOf, type QueryParameters } from '../query/schemas.ts';
import type { Query } from '../types.ts';

const FIREHOSE = '/api/firehose';

/** What GET calls the members of a query that a cursor carries. */
const PARAMETERS = {
  places: 'place', issues: 'issue', actor_types: 'actor_type', signal_types: 'signal_type', source_classes: 'source_class',
  visibility: 'visibility', since: 'since', until: 'until', sort: 'sort',
} as const;

/** A query with what was left out: by a cursor if there is one, which is enough by itself, else as GET has it. */
export function wholeQuery(server: Server, given: Partial<Query>): Query {
  const query = completeQuery(given);
  if (query.cursor === null) return query;
  const named = Object.entries(PARAMETERS).map(([member, parameter]) => [parameter, given[member as keyof typeof PARAMETERS] ?? undefined]);
  const page = pageOfGet(server.match('get', FIREHOSE)!, query.cursor, Object.fromEntries(named.filter(([, value]) => value !== undefined)));
  return queryOf({ ...page.query, limit: query.limit, cursor: query.cursor });
}

/** Returns where the first page of a session begins. Its cursor was validated when the session was created, and may name a signal type of a plugin that is off now. */
export function firstPage({ cursor }: Query): Pick<Page, 'after'> {
  return cursor === null ? { after: null } : pageOfGet({ settings: {} }, cursor, {});
}

/** Cursors are made by GET /api/firehose, and read as if they were given there. */
function pageOfGet(route: Pick<RequestRoute, 'settings'>, cursor: string, parameters: object): Page<QueryParameters> {
  const query = { ...parameters, cursor };
  return pageOf({ query, orig: { query }, path: FIREHOSE, route } as unknown as Request, SNAPSHOT_POSITION);
}
