import type { Request, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import Joi from 'joi';
import type { AsyncApi } from '../contracts/asyncapi.ts';
import type { OpenApi } from '../contracts/openapi.ts';
import type { Asset } from '../http/assets.ts';
import { JSON_TYPE, responseBytes, sendBytes, type ResponseBytes } from '../http/bytes.ts';
import { translatedProblem, type Pages } from '../http/pages.ts';
import { textEtag } from '../http/ready.ts';
import { problem, type ProblemKinds } from '../problems.ts';
import type { Texts } from '../texts/texts.ts';
import { docsRoutes } from './docs.ts';
import type { ExampleRegistry } from './examples/registry.ts';
import type { DescribedPlugin } from './groups.ts';

export interface CorePagesOptions {
  pages: Pages;
  problems: ProblemKinds;
  /** The plugins that run, in order. */
  plugins: DescribedPlugin[];
  /** The examples of operations that plugins declare. */
  examples: ExampleRegistry;
  now(): number;
  /** Generated when first requested, since they describe every route. */
  openApi: () => OpenApi;
  asyncApi: () => AsyncApi;
}

/** Adds core's own pages and the two contracts. Called after every plugin has registered, because a plugin may own `/`. */
export function addCorePages(server: Server, options: CorePagesOptions): void {
  const { pages, plugins, problems } = options;
  const internal = { plugins: { civic: { internal: true } } };
  const textsFor = ({ civic: { language } }: Request): Promise<Texts> => pages.texts.of('core', language);
  const kinds = Object.entries(problems).map(([code, { status }]) => ({ code, status })).sort((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1));
  const documents = { openapi: once(options.openApi), asyncapi: once(options.asyncApi) };
  const openApiBytes = once(() => document(documents.openapi()));
  const asyncApiBytes = once(() => document(documents.asyncapi()));
  const asset = assetHandler(pages);

  server.route([
    ...docsRoutes(server, { ...options, openApi: documents.openapi, asyncApi: documents.asyncapi }),
    {
      method: 'GET', path: '/problems', options: internal,
      handler: async (request, h) => {
        const t = await textsFor(request);
        return h.view('problems', { canonical: '/problems', title: t('problems.title'), kinds: kinds.map((kind) => ({ ...kind, ...translatedProblem(t, kind.code) })) });
      },
    },
    { method: 'GET', path: '/problems/{code}', options: internal, handler: async (request, h) => problemKindPage(request, h, problems, await textsFor(request)) },
    { method: 'GET', path: '/assets/{file*}', options: internal, handler: asset },
    // Browsers request it for responses that link no icon, such as JSON.
    { method: 'GET', path: '/favicon.ico', options: internal, handler: (request, h) => h.redirect(request.server.app.civic.basePath + pages.assets().get('icon')!.path).header('cache-control', 'public, max-age=3600') },
    {
      method: 'GET', path: '/openapi.json', handler: (request, h) => sendBytes(request, h, openApiBytes()),
      options: { id: 'getOpenApi', description: 'The HTTP API of this instance, as OpenAPI 3.1', notes: 'Generated from the routes that run here, so it describes this instance and no other.', response: { schema: Joi.object({ openapi: Joi.string().required() }).unknown(), sample: 0 }, plugins: { civic: { conditional: true } } },
    },
    {
      method: 'GET', path: '/asyncapi.json', handler: (request, h) => sendBytes(request, h, asyncApiBytes()),
      options: { id: 'getAsyncApi', description: 'The streams and sockets of this instance, as AsyncAPI 3.0', notes: 'Generated from the plugins that run here, so it describes this instance and no other.', response: { schema: Joi.object({ asyncapi: Joi.string().required() }).unknown(), sample: 0 }, plugins: { civic: { conditional: true } } },
    },
  ]);
  const isStartTaken = server.table().some(({ method, path }) => method === 'get' && path === '/');
  if (!isStartTaken) {
    server.route({
      method: 'GET', path: '/', options: internal,
      handler: async (request, h) => {
        const t = await textsFor(request);
        return h.view('welcome', { canonical: '/', plugins: plugins.map(({ name, summary }) => ({ name, summary: t.declared(name, 'summary', summary) })), hasPlugins: plugins.length > 0 });
      },
    });
  }
}

function problemKindPage(request: Request, h: ResponseToolkit, problems: ProblemKinds, t: Texts): ResponseObject {
  const code = String(request.params.code);
  const kind = Object.hasOwn(problems, code) ? problems[code] : undefined;
  if (!kind) throw problem('not_found', { detail: `This instance knows no problem of the code "${code}".` });
  const { title, advice } = translatedProblem(t, code);
  return h.view('problem-kind', { canonical: `/problems/${code}`, code, status: kind.status, advice, heading: title, title });
}

function assetHandler(pages: Pages): (request: Request, h: ResponseToolkit) => ResponseObject | symbol {
  const byPath = once(() => new Map([...pages.assets().values()].map((asset) => [asset.path, assetBytes(asset)])));
  return (request, h) => {
    const found = byPath().get(request.path);
    if (!found) throw problem('not_found');
    return sendBytes(request, h, found);
  };
}

function assetBytes({ body, type }: Asset): ResponseBytes {
  return responseBytes({ body, type, etag: textEtag(body.toString()), headers: { 'cache-control': 'public, max-age=31536000, immutable' } });
}

function document(value: object): ResponseBytes {
  const body = JSON.stringify(value);
  return responseBytes({ body, type: JSON_TYPE, etag: textEtag(body), headers: { 'cache-control': 'public, no-cache' } });
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
