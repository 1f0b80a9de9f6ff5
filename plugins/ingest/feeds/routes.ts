import type { ServerRoute } from '@hapi/hapi';
import { Joi, textAnswer, textEtag } from 'civic';
import type { Ingest } from '../context.ts';
import { OPERATOR } from '../sources/commands.ts';
import { PATH } from '../sources/routes.ts';
import type { Sources } from '../sources/sources.ts';
import { latestSignals } from './store.ts';

const NEWEST = 50;
const FORMATS = { atom: { type: 'application/atom+xml', label: 'Atom', name: 'an Atom feed' }, json: { type: 'application/feed+json', label: 'JSON Feed', name: 'a JSON Feed' } };

function feedPath(id: string, format: keyof typeof FORMATS): string {
  return `${PATH}/${id}/feed.${format}`;
}

/** Returns the feeds of a source for pages. */
export function feedsOf(id: string): { label: string; path: string }[] {
  return (['atom', 'json'] as const).map((format) => ({ label: FORMATS[format].label, path: feedPath(id, format) }));
}

/** Feeds of the signals of one source of the operator. Feed readers send no key, so sources of workspaces have none. */
export function feedRoutes({ civic, firehose }: Ingest, sources: Sources): ServerRoute[] {
  return (['atom', 'json'] as const).map((format) => ({
    method: 'GET',
    path: feedPath('{id}', format),
    options: {
      description: `The newest signals of one watched source, as ${FORMATS[format].name}`,
      notes: 'For sources of the operator, whose signals are public. A source of a workspace is 404. Unknown query parameters are ignored, as feed readers add their own. The response has an ETag.',
      validate: { query: Joi.object({}).unknown(), params: Joi.object({ id: Joi.string().max(100).description('The id of the source') }) },
      plugins: { civic: { conditional: true, produces: [FORMATS[format].type], problems: ['unknown_watched_source'] } },
      response: { status: { 200: true as never } },
    },
    async handler(request, h) {
      const { key, id, name } = await sources.found(civic.db.read, OPERATOR, String(request.params['id']));
      const body = await firehose.feedOf(civic.db.read, await latestSignals(civic.db.read, key, NEWEST), format, { title: `${name}: ${civic.instance.name}`, self: feedPath(id, format), json: feedPath(id, 'json') });
      return textAnswer(request, h, { body, etag: textEtag(body), headers: {}, type: `${FORMATS[format].type}; charset=utf-8` });
    },
  }) satisfies ServerRoute);
}
