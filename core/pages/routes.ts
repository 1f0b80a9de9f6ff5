import type { Request, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import Joi from 'joi';
import { createHash } from 'node:crypto';
import type { AsyncApi } from '../contracts/asyncapi.ts';
import type { OpenApi } from '../contracts/openapi.ts';
import type { Pages } from '../http/pages.ts';
import { problem, type ProblemKinds } from '../problems.ts';
import { reference } from './reference.ts';

export interface CorePagesOptions {
  pages: Pages;
  problems: ProblemKinds;
  /** The plugins that run, in order. */
  plugins: { name: string; summary: string }[];
  /** Worked out when first asked for, since they are about every route. */
  openApi: () => OpenApi;
  asyncApi: () => AsyncApi;
}

/** Core's own pages and the two contracts. Called when every plugin has registered, so that one of them may own `/`. */
export function addCorePages(server: Server, options: CorePagesOptions): void {
  const { pages, plugins, problems } = options;
  const internal = { plugins: { civic: { internal: true } } };
  const kinds = Object.entries(problems).map(([code, kind]) => ({ code, ...kind })).sort((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1));
  const documents = { openapi: once(options.openApi), asyncapi: once(options.asyncApi) };
  let docs: Promise<string> | undefined;
  // Long, and the same for everybody but for what the layout says of the reader: written once.
  const docsText = (request: Request): Promise<string> => (docs ??= request.render('docs', reference(documents.openapi().value, documents.asyncapi().value), { layout: false }));

  server.route([
    { method: 'GET', path: '/docs', options: internal, handler: async (request, h) => h.view('ready', { title: 'Interface', text: await docsText(request) }) },
    { method: 'GET', path: '/problems', options: internal, handler: (_request, h) => h.view('problems', { title: 'Problems', kinds }) },
    { method: 'GET', path: '/problems/{code}', options: internal, handler: (request, h) => problemKindPage(request, h, problems) },
    { method: 'GET', path: '/assets/{file*}', options: internal, handler: (request, h) => asset(request, h, pages) },
    {
      method: 'GET', path: '/openapi.json', handler: (_request, h) => document(h, documents.openapi()),
      options: { id: 'getOpenApi', description: 'The HTTP interface of this instance, as OpenAPI 3.1', response: { schema: Joi.object({ openapi: Joi.string().required() }).unknown() }, plugins: { civic: { conditional: true, rate: 'none' } } },
    },
    {
      method: 'GET', path: '/asyncapi.json', handler: (_request, h) => document(h, documents.asyncapi()),
      options: { id: 'getAsyncApi', description: 'The streams and sockets of this instance, as AsyncAPI 3.0', response: { schema: Joi.object({ asyncapi: Joi.string().required() }).unknown() }, plugins: { civic: { conditional: true, rate: 'none' } } },
    },
  ]);
  const isStartTaken = server.table().some(({ method, path }) => method === 'get' && path === '/');
  if (!isStartTaken) {
    server.route({ method: 'GET', path: '/', options: internal, handler: (_request, h) => h.view('welcome', { plugins, hasPlugins: plugins.length > 0 }) });
  }
}

function problemKindPage(request: Request, h: ResponseToolkit, problems: ProblemKinds): ResponseObject {
  const code = String(request.params.code);
  const kind = Object.hasOwn(problems, code) ? problems[code] : undefined;
  if (!kind) throw problem('not_found', { detail: `This instance knows no problem of the code "${code}".` });
  // Advice marks code with backticks.
  const advice = kind.advice.split('`').map((text, index) => ({ text, isCode: index % 2 === 1 }));
  return h.view('problem-kind', { code, status: kind.status, advice, heading: kind.title, title: kind.title });
}

function asset(request: Request, h: ResponseToolkit, pages: Pages): ResponseObject {
  const found = [...pages.assets().values()].find(({ path }) => path === request.path);
  if (!found) throw problem('not_found');
  return h.response(found.body).type(found.type).header('cache-control', 'public, max-age=31536000, immutable');
}

interface Cached<T> {
  value: T;
  etag: string;
}

function once<T extends object>(make: () => T): () => Cached<T> {
  let cached: Cached<T> | undefined;
  return () => {
    if (!cached) {
      const value = make();
      cached = { value, etag: createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16) };
    }
    return cached;
  };
}

function document(h: ResponseToolkit, { value, etag }: Cached<object>): ResponseObject {
  return h.response(value).etag(etag).header('cache-control', 'public, no-cache');
}
