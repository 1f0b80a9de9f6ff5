import type { Request, ResponseObject, ResponseToolkit, Server, ServerRoute } from '@hapi/hapi';
import type { AsyncApi } from '../contracts/asyncapi.ts';
import type { OpenApi, Operation } from '../contracts/openapi.ts';
import { responseBytes, sendBytes, type ResponseBytes } from '../http/bytes.ts';
import { nothingAt } from '../http/codes.ts';
import type { Pages } from '../http/pages.ts';
import { textEtag } from '../http/ready.ts';
import { problem } from '../problems.ts';
import { LANGUAGES } from '../texts/language.ts';
import { pathOf } from './examples/call.ts';
import type { ExampleRegistry, ShownExamples } from './examples/registry.ts';
import type { DescribedPlugin } from './groups.ts';
import { groupPage, overview, type ReferenceContext } from './reference.ts';

export interface DocsOptions {
  pages: Pages;
  plugins: DescribedPlugin[];
  examples: ExampleRegistry;
  openApi: () => OpenApi;
  asyncApi: () => AsyncApi;
  now(): number;
}

/** How long examples and their responses are used before a request looks them up again. */
const EXAMPLES_MS = 30_000;
const internal = { plugins: { civic: { internal: true } } };

/** Returns the routes of the API page: an overview, a page for each plugin, and the target of its forms. */
export function docsRoutes(server: Server, options: DocsOptions): ServerRoute[] {
  const render = createRenderer(server, options);
  return [
    { method: 'GET', path: '/docs', options: internal, handler: (request, h) => render(request, h, null) },
    { method: 'GET', path: '/docs/{group}', options: internal, handler: (request, h) => render(request, h, String(request.params.group)) },
    { method: 'GET', path: '/docs/try/{operation}', options: internal, handler: (request, h) => redirectToOperation(options.openApi(), request, h) },
  ];
}

/** Redirects a form to the operation that it names, with its values as parameters. Only for GET operations, which change nothing. */
function redirectToOperation(api: OpenApi, request: Request, h: ResponseToolkit): ResponseObject {
  const id = String(request.params.operation);
  const [path, item] = Object.entries(api.paths).find(([, { get }]) => get?.operationId === id) ?? [];
  if (path === undefined) throw problem('not_found', { detail: nothingAt(request.path) });
  const { params, query, missing } = sortedValues(item!.get!, request.query as Record<string, string | string[]>);
  if (missing.length > 0) throw problem('invalid_request', { detail: `This needs a value for ${missing.join(' and ')}.`, errors: missing.map((parameter) => ({ parameter, detail: 'is required' })) });
  return h.redirect(request.server.app.civic.basePath + pathOf(path, { params, query })).code(303);
}

function sortedValues({ parameters = [] }: Operation, sent: Record<string, string | string[]>): { params: Record<string, string>; query: Record<string, string>; missing: string[] } {
  // An empty field is no parameter; of repeated fields the first one with a value is used.
  const values = parameters.map(({ name, in: place }) => ({ name, place, value: [sent[name] ?? []].flat().find((text) => text !== '') })).filter(({ place }) => place !== 'header');
  const given = (wanted: string): Record<string, string> => Object.fromEntries(values.flatMap(({ name, place, value }) => (place === wanted && value !== undefined ? [[name, value]] : [])));
  return { params: given('path'), query: given('query'), missing: values.filter(({ place, value }) => place === 'path' && value === undefined).map(({ name }) => name) };
}

/** A page without its layout. */
interface RenderedPage {
  title: string;
  canonical: string;
  text: string;
}

/** One version of the examples, and the pages that were rendered with it. */
interface Edition {
  examples: Map<string, ShownExamples>;
  /** The examples as one text, to notice changes. */
  text: string;
  rendered: Map<string, RenderedPage>;
  cached: Map<string, ResponseBytes>;
}

type Render = (request: Request, h: ResponseToolkit, group: string | null) => Promise<ResponseObject | symbol>;

/** Returns the function that renders the API page. Pages are long and the same for all anonymous callers of a language, so each is rendered once for an edition and sent as bytes. */
function createRenderer(server: Server, { pages, plugins, examples, openApi, asyncApi, now }: DocsOptions): Render {
  let lookedUp: { at: number; edition: Promise<Edition> } | undefined;
  let latest: Edition | undefined;

  /** Looks the examples and their responses up. A change starts a new edition, so that no page with earlier data is cached in it. */
  async function lookUp(): Promise<Edition> {
    const found = await examples.print(server, openApi());
    // Also when the requests are the same: data in a response may have been corrected or deleted.
    await examples.addResponses(server, openApi(), found);
    const text = JSON.stringify([...found]);
    if (text !== latest?.text) latest = { examples: found, text, rendered: new Map(), cached: new Map() };
    return latest;
  }

  function currentEdition(): Promise<Edition> {
    const isFresh = lookedUp && now() >= lookedUp.at && now() - lookedUp.at < EXAMPLES_MS;
    if (!isFresh) {
      lookedUp = { at: now(), edition: lookUp() };
      lookedUp.edition.catch(() => { lookedUp = undefined; });
    }
    return lookedUp!.edition;
  }

  async function view({ examples: shown, rendered }: Edition, request: Request, group: string | null): Promise<RenderedPage> {
    const { language, languagePrefix } = request.civic;
    const key = JSON.stringify([language, languagePrefix, group]);
    const before = rendered.get(key);
    if (before) return before;
    const context: ReferenceContext = { api: openApi(), streams: asyncApi(), plugins, examples: shown };
    const t = await pages.texts.of('core', language);
    const page = group === null ? overview(context, t) : groupPage(context, group, t);
    if (page === null) throw problem('not_found', { detail: nothingAt(request.path) });
    const text = await request.render(group === null ? 'docs' : 'docs-group', page, { layout: false });
    const title = group === null ? t('docs.title') : t('docs.group_title', { group: (page as { title: string }).title });
    const made = { title, canonical: group === null ? '/docs' : `/docs/${group}`, text };
    rendered.set(key, made);
    return made;
  }

  async function bytesOf(edition: Edition, request: Request, group: string | null): Promise<ResponseBytes> {
    const body = await request.render('ready', await view(edition, request, group));
    return responseBytes({ body, etag: textEtag(body), type: 'text/html; charset=utf-8', headers: { 'cache-control': 'no-cache', ...pages.headers(request) } });
  }

  return async (request, h, group) => {
    const key = JSON.stringify([pages.readerOf(request), group]);
    const edition = await currentEdition();
    const { cached } = edition;
    // Each language with and without its prefix, for each group and the overview.
    const most = 2 * LANGUAGES.length * (plugins.length + 2);
    const mayCache = cached.has(key) || cached.size < most;
    if (request.auth.isAuthenticated || request.civic.formToken !== null || !mayCache) return h.view('ready', await view(edition, request, group));
    const page = cached.get(key) ?? await bytesOf(edition, request, group);
    cached.set(key, page);
    return sendBytes(request, h, page);
  };
}
