import type { Request, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import vision from '@hapi/vision';
import { join } from 'node:path';
import type { Instance } from '../config/types.ts';
import type { Logger } from '../log.ts';
import { problemKind } from '../problems.ts';
import { DEFAULT_LANGUAGE, LANGUAGE_NAMES, LANGUAGES } from '../texts/language.ts';
import { createTexts, type AllTexts, type LoadedTexts, type Texts } from '../texts/texts.ts';
import { basePathOf } from '../url.ts';
import { loadAssets, type Asset } from './assets.ts';
import { nothingAt } from './codes.ts';
import { preferredType } from './negotiate.ts';
import { hasLanguages, isForPrograms, pagePath } from './state.ts';
import { handlebars, TEMPLATES } from './templates.ts';

export interface PagesOptions {
  instance: Instance;
  /** The folders of the plugins that run, by name: they may hold templates, partials and assets. */
  folders: Record<string, string>;
  log: Logger;
  now(): number;
}

/** A link on every page: a label, or the key of a text of the plugin. The path is from the root of the instance: `/places`. */
export type NavigationItem = ({ label: string } | { text: string }) & {
  path: string;
  /** Where it stands: the header when left out. */
  in?: 'header' | 'footer';
  /** Entries with a smaller number stand first; 100 when left out. */
  order?: number;
};

/** What the layout shows of a page, besides what its template shows. */
export interface PageContext {
  title?: string;
  /** One sentence for search engines and link previews. */
  description?: string;
  /** The path of the page without parameters that only sort or page. Search engines index such pages. */
  canonical?: string;
  /** Whether search engines should not index the page. */
  isUnlisted?: boolean;
  /** The feeds of what the page shows; paths are from the root of the instance. */
  feeds?: { type: string; title: string; path: string }[];
  /** Further plugins whose style sheets the page links, such as the one whose frame is around it. */
  looks?: string[];
  /** What the page shows, in the words of schema.org. */
  linkedData?: object;
  [name: string]: unknown;
}

/** A page as text, for a plugin that caches it. */
export interface RenderedPage {
  body: string;
  headers: Record<string, string>;
}

/** What a problem's page shows: the same as its JSON. */
export interface ShownProblem {
  code: string;
  title: string;
  status: number;
  detail?: string;
  request_id: string;
  errors?: { pointer?: string; parameter?: string; detail: string }[];
}

/** What the header of every page shows of a plugin: its partial, filled for the reader; nothing for null. */
export interface HeaderPart {
  /** `accounts/visitor` is `plugins/accounts/templates/partials/visitor.html`. */
  partial: string;
  /** Parts with a smaller number stand first; 100 when left out. */
  order?: number;
  fill(request: Request): object | null;
}

/** What plugins add around every page. */
export interface PageSlots {
  /** Adds a link to the header or the footer of every page. */
  navigation(item: NavigationItem): void;
  header(part: HeaderPart): void;
  /** Adds a part to a slot that this plugin or one in its `needs` or `uses` declares. */
  fill(slot: string, part: SlotPart): void;
  /** Returns the parts of a slot of this plugin, loaded for a request. The template shows them with the partial `slot`. */
  parts(slot: string, request: Request): Promise<LoadedPart[]>;
  /** Renders a page, such as `hello/guests`, as `h.view` does. */
  render(request: Request, name: string, context?: PageContext): Promise<RenderedPage>;
}

/** What a plugin shows in a slot of a page. */
export interface SlotPart {
  /** `hello/card` is `templates/partials/card.html` of the plugin `hello`. */
  partial: string;
  /** Returns what the partial shows, or null to show nothing. */
  load(request: Request): Promise<object | null> | object | null;
}

export interface LoadedPart {
  partial: string;
  context: object;
}

export interface Pages extends Omit<PageSlots, 'navigation'> {
  navigation(item: NavigationItem, plugin: string): void;
  texts: AllTexts;
  assets(): Map<string, Asset>;
  /** The headers of a page in the language of the request. */
  headers(request: Request): Record<string, string>;
  /** All that the layout shows of the reader: two requests with the same text get the same layout at one path. */
  readerOf(request: Request): string;
  /** A problem as a page, for those who would rather read one; null for programs, which get JSON. */
  problemPage(request: Request, h: ResponseToolkit, problem: ShownProblem): Promise<ResponseObject> | null;
}

const PAGE_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * Pages run no script but our own assets, load nothing from other origins and cannot be framed.
 * A source with a path needs a host, and the instance may be reached by several: the second policy names every host, and
 * a script must pass both. So a response that is a script, such as JSONP, runs on no page of ours.
 */
function pagePolicy(base: string): string {
  return `${PAGE_POLICY}, script-src *:*${base}/assets/`;
}

/**
 * Makes `h.view('queue')` of core and `h.view('flags/queue')` of plugins work everywhere, in one layout.
 * No template is read before the first page is requested, and a start does not wait for Handlebars.
 */
export async function registerPages(server: Server, options: PagesOptions): Promise<Pages> {
  const theme = join(options.instance.data_dir, 'theme');
  const policy = pagePolicy(basePathOf(options.instance.public_url));
  const texts = createTexts({ theme, folders: options.folders, log: options.log, now: options.now });
  const slots: Slots = { navigation: [], header: [], filled: new Map() };
  const foldersFor = (inner: string): Record<string, string> => Object.fromEntries(Object.entries(options.folders).map(([plugin, folder]) => [plugin, join(folder, inner)]));
  let assets: Map<string, Asset> | undefined;
  const assetsOnce = (): Map<string, Asset> => (assets ??= loadAssets(theme, foldersFor('assets')));

  await server.register(vision.plugin as never);
  server.views({
    engines: { html: handlebars({ theme, folders: options.folders, texts }) },
    path: [theme, join(TEMPLATES, 'pages')],
    layout: true,
    layoutPath: [theme, TEMPLATES],
    context: async (request: Request | undefined) => surroundings(request, options.instance, slots, { assets: assetsOnce(), texts: await texts.load() }),
  } as never);

  const headers = (request: Request): Record<string, string> => ({ 'content-security-policy': policy, 'content-language': request.civic.language, ...(request.civic.languagePrefix === '' && { vary: 'accept-language' }) });
  const foldersOf = (plugin: string): string[] => [join(theme, plugin), join(options.folders[plugin] ?? theme, 'templates')];

  /** Returns what vision takes: `flags/queue` is the page `queue` in the folders of the plugin `flags`. */
  const located = (name: string, context: PageContext = {}): [page: string, context: object, options: { path?: string[] }] => {
    const [page, plugin] = name.split('/').reverse() as [string, string?];
    const linkedData = context.linkedData && scriptText(context.linkedData);
    return [page, { plugin, ...context, linkedData }, plugin === undefined ? {} : { path: foldersOf(plugin) }];
  };

  server.decorate('toolkit', 'view' as never, ((inherited: ResponseToolkit['view']) => function view(this: ResponseToolkit, name: string, context?: PageContext) {
    const response = inherited.call(this, ...located(name, context));
    for (const [header, value] of Object.entries(headers(this.request))) response.header(header, value, { append: header === 'vary' });
    return response;
  }) as never, { extend: true });

  return {
    navigation: (item, plugin) => { slots.navigation.push({ ...item, plugin }); },
    header: (part) => { slots.header = inOrder([...slots.header, part]); },
    fill: (slot, part) => { slots.filled.set(slot, [...(slots.filled.get(slot) ?? []), part]); },
    parts: (slot, request) => loadParts(slots.filled.get(slot) ?? [], request),
    async render(request, name, context) {
      return { body: await request.render(...located(name, context) as Parameters<Request['render']>), headers: headers(request) };
    },
    assets: assetsOnce,
    texts,
    headers,
    readerOf: (request) => JSON.stringify([request.civic.language, request.civic.languagePrefix, request.civic.formToken, headerParts(request, slots)]),
    problemPage: (request, h, problem) => (prefersPage(request) ? problemPage(request, h, problem, texts) : null),
  };
}

async function problemPage(request: Request, h: ResponseToolkit, problem: ShownProblem, texts: AllTexts): Promise<ResponseObject> {
  const t = await texts.of('core', request.civic.language);
  const { title } = translatedProblem(t, problem.code);
  const places = problem.errors?.map(({ parameter, pointer, detail }) => ({ place: parameter ?? pointer, detail }));
  return h.view('problem', { ...problem, detail: shownDetail(request, problem, t), errors: places, heading: title, title, isOurs: problem.status >= 500 })
    .code(problem.status)
    .header('cache-control', 'no-store')
    .vary('accept');
}

/** Returns the detail in the language of the page where it is one of core's. A problem without a detail has the advice of its code there. */
function shownDetail(request: Request, { code, detail }: ShownProblem, t: Texts): string | undefined {
  if (detail === nothingAt(request.path)) return t('problem.nothing_at', { path: pagePath(request, request.path) });
  // Advice marks code with backticks.
  return detail === problemKind(code)!.advice ? translatedProblem(t, code).advice.replaceAll('`', '') : detail;
}

/** Returns the title and the advice of a code in a language; in English where there is no translation. */
export function translatedProblem(t: Texts, code: string): { title: string; advice: string } {
  const { title, advice, owner } = problemKind(code)!;
  const path = `problems.${code}`;
  return { title: t.declared(owner, `${path}.title`, title), advice: t.declared(owner, `${path}.advice`, advice) };
}

/** Returns whether an error is shown as a page: the client prefers HTML to JSON. At a path for programs only a browser that opens the address gets a page. */
function prefersPage(request: Request): boolean {
  if (isForPrograms(request.server, request.path) && !isOpenedInBrowser(request)) return false;
  return preferredType(request.headers.accept as string | undefined, ['application/json', 'text/html']) === 'text/html';
}

/** Returns whether a user opened the address itself. Errors of the API stay JSON, as its responses are. */
function isOpenedInBrowser({ headers, path }: Request): boolean {
  return headers['sec-fetch-dest'] === 'document' && !path.startsWith('/api/');
}

interface Slots {
  navigation: (NavigationItem & { plugin: string })[];
  header: HeaderPart[];
  filled: Map<string, SlotPart[]>;
}

async function loadParts(parts: SlotPart[], request: Request): Promise<LoadedPart[]> {
  const loaded = await Promise.all(parts.map(async ({ partial, load }) => ({ partial, context: await load(request) })));
  return loaded.filter((part): part is LoadedPart => part.context !== null);
}

/** What the layout shows around every page. */
function surroundings(request: Request | undefined, instance: Instance, slots: Slots, { assets, texts }: { assets: Map<string, Asset>; texts: LoadedTexts }): object {
  const root = basePathOf(instance.public_url);
  const { language, languagePrefix } = request?.civic ?? { language: DEFAULT_LANGUAGE, languagePrefix: '' };
  const base = root + languagePrefix;
  const here = request?.path ?? '/';
  const links = (where: 'header' | 'footer'): object[] => inOrder(slots.navigation.filter((item) => (item.in ?? 'header') === where)).map((item) => ({
    label: 'label' in item ? item.label : texts.of(item.plugin, language)(item.text),
    href: base + item.path,
    isHere: here === item.path || here.startsWith(`${item.path}/`),
  }));
  return {
    site: instance,
    root,
    base,
    prefix: languagePrefix,
    here: base + here,
    language,
    languages: request ? languagesOf(request, root) : [],
    assets: addresses(assets, root),
    form_token: request?.civic?.formToken ?? '',
    header: request ? headerParts(request, slots) : [],
    navigation: links('header'),
    footer: links('footer'),
  };
}

/** Returns linked data as JSON that cannot end the `script` element around it. Members without a value are left out: readers take null for an error. */
function scriptText(data: object): string {
  return JSON.stringify(data, (_name, value: unknown) => value ?? undefined).replaceAll('<', '\\u003c');
}

function inOrder<Item extends { order?: number }>(items: Item[]): Item[] {
  return items.toSorted((a, b) => (a.order ?? LAST) - (b.order ?? LAST));
}

/** The addresses of this page in every language; of a page that only a form leads to, those of the home page. None where addresses have no language. */
function languagesOf(request: Request, root: string): object[] {
  const { civic, path, server } = request;
  const method: string = request.method;
  // Core sets this method for malformed requests, which may have neither a path nor a URL.
  if (method === 'refused' || !hasLanguages(server, path)) return [];
  const isGet = method === 'get' || method === 'head';
  const isRead = isGet || server.match('get', path)?.settings.plugins?.civic?.internal;
  const page = isRead ? path + (isGet ? request.url.search : '') : '/';
  return LANGUAGES.map((language) => ({ language, name: LANGUAGE_NAMES[language], href: `${root}/${language}${page}`, isHere: language === civic.language }));
}

const LAST = 100;

function headerParts(request: Request, slots: Slots): object[] {
  return slots.header.flatMap(({ partial, fill }) => filled(partial, fill(request)));
}

function filled(partial: string, context: object | null): object[] {
  return context ? [{ partial, context }] : [];
}

/** `assets.style` is core's, `assets.accounts.passkeys` a plugin's. */
function addresses(assets: Map<string, Asset>, base: string): object {
  const named: Record<string, string | Record<string, string>> = {};
  for (const [name, { path }] of assets) {
    const [file, plugin] = name.split('/').reverse() as [string, string?];
    if (plugin === undefined) named[file] = base + path;
    else named[plugin] = { ...(named[plugin] as Record<string, string> | undefined), [file]: base + path };
  }
  return named;
}
