import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, type Caller } from 'civic';
import type { Ingest } from '../context.ts';
import { PATH, problems, reading, visibilityQuery, writing } from '../sources/routes.ts';
import type { Owner, Sources } from '../sources/sources.ts';
import { MOST_SOURCES, sourcesIn } from './files.ts';
import { importSources } from './import.ts';
import { opmlOf } from './opml.ts';

export const OPML = 'text/x-opml';
const MOST_BYTES = 1024 * 1024;
const count = Joi.number().integer().min(0).required();

const importReport = Joi.object({
  created: count,
  watched: count.description('Addresses that were watched before'),
  rejected: count,
  results: Joi.array().items(Joi.object({
    row: Joi.number().integer().min(1).required(),
    url: Joi.string().allow(null, '').required(),
    outcome: Joi.string().valid('created', 'watched', 'rejected').required(),
    id: Joi.string().uuid().allow(null).required(),
    code: Joi.string().allow(null).required(),
    detail: Joi.string().allow(null).required().description('Why the source was rejected'),
  }).meta({ name: 'WatchedSourceImportResult' })).required(),
}).meta({ name: 'WatchedSourceImportReport' });

const importBody = Joi.alternatives(
  Joi.object({ sources: Joi.array().items(Joi.object().unknown()).min(1).max(MOST_SOURCES).required().description('Each as a NewWatchedSource without `test` and `visibility`') }),
  Joi.string().description('OPML'),
).meta({ name: 'WatchedSourceImport' });

/** Adds many sources at once, and exports them. */
export function listRoutes(ingest: Ingest, sources: Sources): ServerRoute[] {
  const ownerOf = (request: Request): Owner => sources.ownerOf(request.auth.credentials as unknown as Caller, (request.query as { visibility: 'workspace' | 'public' }).visibility);
  return [
    {
      method: 'POST',
      path: `${PATH}/import`,
      options: {
        description: 'Watch many sources',
        notes: `The body is \`{"sources": […]}\` with up to ${MOST_SOURCES} sources, or OPML as \`${OPML}\` or \`text/xml\`. No address is read first: the first reads follow within some minutes, one after the other, and recognise the platforms. A source that is rejected does not stop the others.`,
        auth: writing,
        validate: { query: visibilityQuery, payload: importBody },
        payload: { allow: ['application/json', OPML, 'text/xml'], maxBytes: MOST_BYTES },
        plugins: { civic: { problems } },
        response: { schema: importReport },
      },
      async handler(request) {
        const owner = ownerOf(request);
        const body = request.payload as string | { sources: object[] };
        return importSources(ingest, sources, owner, typeof body === 'string' ? await sourcesIn(body, 'opml') : body.sources);
      },
    },
    {
      method: 'GET',
      path: `${PATH}.opml`,
      options: {
        description: 'The watched sources of your workspace, as OPML',
        notes: 'Feed readers and other instances can import it.',
        auth: reading,
        validate: { query: visibilityQuery },
        plugins: { civic: { problems, produces: [OPML] } },
        response: { status: { 200: true as never } },
      },
      handler: (request, h) => opmlResponse(ingest, sources, h, ownerOf(request)),
    },
  ];
}

/** Responds with all sources of an owner as a file to save. */
export async function opmlResponse({ civic }: Ingest, sources: Sources, h: ResponseToolkit, { workspace_id }: Pick<Owner, 'workspace_id'>): Promise<ResponseObject> {
  const text = opmlOf(`Watched sources: ${civic.instance.name}`, await sources.all(civic.db.read, { workspace_id }));
  return h.response(text).type(`${OPML}; charset=utf-8`).header('content-disposition', 'attachment; filename="sources.opml"').header('cache-control', 'private, no-store');
}
