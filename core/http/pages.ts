import type { Request, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import vision from '@hapi/vision';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Instance } from '../config/types.ts';
import { lazily } from '../lazy.ts';
import { projectRoot } from '../root.ts';
import { basePathOf } from '../url.ts';
import { loadAssets, type Asset } from './assets.ts';
import { preferredType } from './negotiate.ts';
import { isForPrograms } from './state.ts';

export interface PagesOptions {
  instance: Instance;
  /** The folders of the plugins that run, by name: they may hold templates, partials and assets. */
  folders: Record<string, string>;
}

export interface NavigationItem {
  label: string;
  /** From the root of the instance: `/places`. */
  path: string;
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
  fill(request: Request): object | null;
}

/** What plugins add around every page. */
export interface PageSlots {
  /** Adds an entry to the navigation. */
  navigation(item: NavigationItem): void;
  header(part: HeaderPart): void;
  /** Adds a part to a slot that this plugin or one in its `needs` or `uses` declares. */
  fill(slot: string, part: SlotPart): void;
  /** Returns the parts of a slot of this plugin, loaded for a request. The template shows them with the partial `slot`. */
  parts(slot: string, request: Request): Promise<LoadedPart[]>;
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

export interface Pages extends PageSlots {
  assets(): Map<string, Asset>;
  /** The Content-Security-Policy of every page. */
  policy: string;
  /** All that the layout shows of the reader: two requests with the same text get the same layout at one path. */
  readerOf(request: Request): string;
  /** A problem as a page, for those who would rather read one; null for programs, which get JSON. */
  problemPage(request: Request, h: ResponseToolkit, problem: ShownProblem): ResponseObject | null;
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

const TEMPLATES = join(projectRoot, 'templates');

/**
 * Makes `h.view('queue')` of core and `h.view('flags/queue')` of plugins work everywhere, in one layout.
 * No template is read before the first page is requested, and a start does not wait for Handlebars.
 */
export async function registerPages(server: Server, options: PagesOptions): Promise<Pages> {
  const theme = join(options.instance.data_dir, 'theme');
  const policy = pagePolicy(basePathOf(options.instance.public_url));
  const slots: Slots = { navigation: [], header: [], filled: new Map() };
  const foldersFor = (inner: string): Record<string, string> => Object.fromEntries(Object.entries(options.folders).map(([plugin, folder]) => [plugin, join(folder, inner)]));
  let assets: Map<string, Asset> | undefined;
  const assetsOnce = (): Map<string, Asset> => (assets ??= loadAssets(theme, foldersFor('assets')));

  await server.register(vision.plugin as never);
  server.views({
    engines: { html: handlebars(theme, foldersFor('templates/partials')) },
    path: [theme, join(TEMPLATES, 'pages')],
    layout: true,
    layoutPath: [theme, TEMPLATES],
    context: (request: Request | undefined) => surroundings(request, options.instance, slots, assetsOnce()),
  } as never);

  const foldersOf = (plugin: string): string[] => [join(theme, plugin), join(options.folders[plugin] ?? theme, 'templates')];

  server.decorate('toolkit', 'view' as never, ((inherited: ResponseToolkit['view']) => function view(this: ResponseToolkit, name: string, context?: object) {
    const [page, plugin] = name.split('/').reverse() as [string, string?];
    return inherited.call(this, page, context, plugin === undefined ? {} : { path: foldersOf(plugin) }).header('content-security-policy', policy);
  }) as never, { extend: true });

  return {
    navigation: (item) => { slots.navigation.push(item); },
    header: (part) => { slots.header.push(part); },
    fill: (slot, part) => { slots.filled.set(slot, [...(slots.filled.get(slot) ?? []), part]); },
    parts: (slot, request) => loadParts(slots.filled.get(slot) ?? [], request),
    assets: assetsOnce,
    policy,
    readerOf: (request) => JSON.stringify([request.civic.formToken, headerParts(request, slots)]),
    problemPage: (request, h, problem) => (prefersPage(request) ? problemPage(h, problem) : null),
  };
}

function problemPage(h: ResponseToolkit, problem: ShownProblem): ResponseObject {
  const places = problem.errors?.map(({ parameter, pointer, detail }) => ({ place: parameter ?? pointer, detail }));
  return h.view('problem', { ...problem, errors: places, heading: problem.title, title: problem.title, isOurs: problem.status >= 500 })
    .code(problem.status)
    .header('cache-control', 'no-store')
    .vary('accept');
}

/** Whether an error is better told as a page: the reader asked for HTML more than for JSON, and not at a path for programs. */
function prefersPage(request: Request): boolean {
  if (isForPrograms(request.server, request.path)) return false;
  return preferredType(request.headers.accept as string | undefined, ['application/json', 'text/html']) === 'text/html';
}

interface Slots {
  navigation: NavigationItem[];
  header: HeaderPart[];
  filled: Map<string, SlotPart[]>;
}

async function loadParts(parts: SlotPart[], request: Request): Promise<LoadedPart[]> {
  const loaded = await Promise.all(parts.map(async ({ partial, load }) => ({ partial, context: await load(request) })));
  return loaded.filter((part): part is LoadedPart => part.context !== null);
}

/** What the layout shows around every page. */
function surroundings(request: Request | undefined, instance: Instance, slots: Slots, assets: Map<string, Asset>): object {
  const base = basePathOf(instance.public_url);
  const here = request?.path ?? '/';
  return {
    site: instance,
    base,
    here: base + here,
    assets: addresses(assets, base),
    form_token: request?.civic?.formToken ?? '',
    header: request ? headerParts(request, slots) : [],
    navigation: [...slots.navigation, { label: 'API', path: '/docs' }].map(({ label, path }) => ({ label, href: base + path, isHere: here === path || here.startsWith(`${path}/`) })),
  };
}

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

type Handlebars = typeof import('handlebars');

const loadHandlebars = lazily(() => import('handlebars'));

/** Vision's engine, loaded with the layout's partials when the first page is asked for. */
function handlebars(theme: string, pluginFolders: Record<string, string>): object {
  let engine: Handlebars;
  return {
    prepare(_config: object, done: (error?: Error) => void) {
      loadHandlebars().then(({ default: library }) => {
        engine = library.create() as Handlebars;
        for (const folder of [join(TEMPLATES, 'partials'), join(theme, 'partials')]) addPartials(engine, folder);
        for (const [plugin, folder] of Object.entries(pluginFolders)) addPartials(engine, folder, `${plugin}/`);
        done();
      }).catch(done);
    },
    compile: (source: string) => {
      const template = engine.compile(source, { preventIndent: true });
      return (context: object, runtime: object) => template(context, runtime);
    },
  };
}

function addPartials(engine: Handlebars, folder: string, prefix = ''): void {
  if (!existsSync(folder)) return;
  for (const file of readdirSync(folder)) {
    if (file.endsWith('.html')) engine.registerPartial(prefix + basename(file, '.html'), readFileSync(join(folder, file), 'utf8'));
  }
}
