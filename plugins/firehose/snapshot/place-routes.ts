import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, listText, pageOf, textAnswer, weakEtag, type Civic } from 'civic';
import type { DirectoryService } from 'civic/directory';
import { createHash } from 'node:crypto';
import { addressOf } from '../query/address.ts';
import { completeQuery, filterParameters, LONGEST_CURSOR, moment } from '../query/schemas.ts';
import type { Subscribe } from '../query/subscription.ts';
import type { SignalKinds } from '../signals/kinds.ts';
import { signalList } from '../signals/schemas.ts';
import type { Query } from '../types.ts';
import { readSnapshot, SNAPSHOT_POSITION, type SnapshotContext } from './snapshot.ts';

export interface PlaceContext extends SnapshotContext {
  civic: Pick<Civic, 'url'>;
  subscribe: Subscribe;
  kinds: SignalKinds;
}

interface PlaceQuery {
  signal_type: Query['signal_types'];
  issue: string[];
  since?: string;
  until?: string;
}

/** The public signals of a place, for everybody. */
export function placeSignalRoutes(context: PlaceContext, directory: DirectoryService): ServerRoute[] {
  const { signal_type, issue } = filterParameters(context.kinds.queryable());
  const since = moment.description('Signals with `detected_at` from this time on.');
  const until = moment.description('Signals with `detected_at` before this time.');
  return [{
    method: 'GET',
    path: '/api/places/{place_key}/signals',
    options: {
      description: 'The public signals of a place, the latest detected first',
      notes: 'Needs no key. `GET /api/firehose` has more filters, the signals of your workspace, streams and waits.',
      validate: {
        params: Joi.object({ place_key: Joi.string() }),
        query: Joi.object({ signal_type, issue, since, until, limit: Joi.number().integer().min(1).max(100).default(25), cursor: Joi.string().max(LONGEST_CURSOR).description('From `next_cursor`; enough by itself') }),
      },
      plugins: { civic: { conditional: true, problems: ['unknown_place', 'invalid_cursor'] } },
      response: { schema: signalList(context.kinds).keys({ place: directory.placeSchema.required() }).meta({ name: 'PlaceSignalList' }), sample: 0 },
    },
    handler: (request, h) => placeSignals(context, directory, request, h),
  }];
}

async function placeSignals(context: PlaceContext, directory: DirectoryService, request: Request, h: ResponseToolkit) {
  const page = pageOf<PlaceQuery>(request, SNAPSHOT_POSITION);
  const place = await directory.placeOfPath(String(request.params['place_key']));
  const { signal_type, issue, since = null, until = null } = page.query;
  const query = completeQuery({ places: [place.place_key], signal_types: signal_type, issues: issue, since, until, visibility: 'public' });
  const subscription = await context.subscribe(context.db().read, query, null);
  const { rows, tally, next } = await readSnapshot(context, subscription, page);
  const { body, headers } = listText(request, page, { data: rows.map(({ signal }) => signal), total: tally.total, next, extra: { place } });
  // Of the result alone: the same until a signal in it comes, changes or goes.
  const which = createHash('sha256').update(JSON.stringify([subscription.key, page.limit, page.after, place])).digest('base64url').slice(0, 16);
  return textAnswer(request, h, {
    body,
    etag: weakEtag(context.log.epoch(), which, tally.last_seq, tally.total),
    headers: { ...headers, 'content-location': context.civic.url(addressOf(`/api/places/${place.place_key}/signals`, new URLSearchParams(request.url.search))) },
  });
}
