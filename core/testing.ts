import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { AssistantClient, ToolResult } from './assistant/types.ts';
import type { Clock } from './clock.ts';
import { compose, type Composition } from './compose.ts';
import { describeErrors } from './config/report.ts';
import { recordResponses } from './contracts/recorder.ts';
import { loadPluginAt } from './load.ts';
import { createLogger, type Logger } from './log.ts';
import type { Caller, Plugin } from './plugin.ts';
import { prepare } from './prepare.ts';
import { projectRoot } from './root.ts';
import { stateFor, testCallers } from './testing/caller.ts';
import { driverEnvironment, testDatabase, type TestDatabase } from './testing/database.ts';

export { stoppedClock } from './clock.ts';
export { testDatabases } from './testing/database.ts';
export { slowness } from './testing/slowness.ts';

export interface TestServerOptions {
  /** Plugin objects, names of bundled plugins, or absolute folders; only names and folders have templates and assets. */
  plugins?: (Plugin | string)[];
  /** The config file as an object; it is checked like a file. */
  config?: Record<string, unknown> & { plugins?: Record<string, unknown> };
  database?: 'sqlite' | 'postgres';
  clock?: Clock;
  /** Also listens on a free port of 127.0.0.1; `url` is then its address. */
  listen?: boolean;
  /** False for a server that cannot identify callers, as without accounts: `as` of a request then has no effect. */
  callers?: boolean;
  /** False to only register, without a database. */
  open?: boolean;
  /** The logger; by default nothing is logged. */
  log?: Logger;
}

export interface TestRequest {
  payload?: unknown;
  headers?: Record<string, string>;
  /** The caller of the request. By default it has an account on the plan `free`, the role `user`, a key, and no scope or capability. */
  as?: Partial<Caller>;
}

export interface TestResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The parsed JSON, or the text of other types. */
  body: any;
  text: string;
}

export interface TestServer {
  readonly composition: Composition;
  readonly server: Composition['server'];
  readonly db: Composition['db'];
  /** The address of the server, with `listen`. */
  readonly url: string;
  request(method: string, path: string, options?: TestRequest): Promise<TestResponse>;
  /** Calls a tool with the checks of arguments, scope, role and plan. Throws the problem of the tool. */
  tool(name: string, input?: object, options?: Pick<TestRequest, 'as'>): Promise<ToolResult<any>>;
  /** Reads a resource by its URI, with the checks of scope, role and plan. */
  read(uri: string, options?: Pick<TestRequest, 'as'>): Promise<string>;
  /** Returns the text of a prompt. */
  prompt(name: string, given?: object): Promise<string>;
  /** Stops the server and deletes its database. Fails when a response did not match the declaration of its route. */
  close(): Promise<void>;
}

/** Starts a real server on a new database, for tests of the kit and of plugins. */
export async function testServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'civic-test-'));
  const faults: string[] = [];
  let database: TestDatabase | null = null;
  let composition: Composition | null = null;

  async function close(): Promise<void> {
    const unstopped = await composition?.stop() ?? [];
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
    if (unstopped.length > 0) throw new Error(unstopped.join('\n'));
    if (faults.length > 0) throw new Error(`Responses that do not match the declaration of their route:\n${faults.join('\n')}`);
  }

  try {
    if (options.open !== false) database = await testDatabase(options.database ?? 'sqlite', folder);
    composition = await composeForTest(options, folder, database?.url ?? null);
    if (!options.log) showFailures(composition.server);
    recordResponses(composition.server, { ...composition.surroundings, onFault: (fault) => { faults.push(fault); } });
    if (database) {
      const { migrations: sets } = composition;
      // Plugins without tables share the template of core alone.
      const preparing = sets.length > 0 ? options : { ...options, plugins: [], config: {} };
      await database.create({ sets, prepare: (url, dataDir) => prepareDatabase(preparing, url, dataDir) });
      await composition.open({ writes: true, schema: 'migrate' });
      await composition.start();
      if (options.listen) await composition.listen();
    }
  } catch (error) {
    faults.length = 0;
    await close();
    throw error;
  }
  const { server } = composition;
  const running = composition;
  return {
    composition: running,
    server,
    get db() { return running.db; },
    url: server.info.uri,
    request: (method, path, request = {}) => inject(server, method, path, request),
    tool: (name, input = {}, { as } = {}) => callTool(running, name, input, clientOf(as)),
    read: (uri, { as } = {}) => readResource(running, uri, clientOf(as)),
    prompt: async (name, given = {}) => running.assistant.write(declared(running.assistant.prompts, 'prompt', name), given),
    close,
  };
}

/** Prints why a handler failed: the response is a bare 500. */
function showFailures(server: Composition['server']): void {
  server.events.on({ name: 'request', channels: ['error'] }, (request, { error }) => {
    process.stderr.write(`${request.method.toUpperCase()} ${request.path} failed: ${(error as Error | undefined)?.stack ?? String(error)}\n`);
  });
}

/** Migrates a template database and fills its derived tables. */
async function prepareDatabase(options: TestServerOptions, url: string | null, dataDir: string): Promise<void> {
  // The template ignores the folder and database that the test configures.
  const { data_dir: _folder, database: _database, ...config } = options.config ?? {};
  const composition = await composeForTest({ ...options, config, log: undefined }, dataDir, url);
  try {
    await composition.open({ writes: true, schema: 'migrate' });
  } finally {
    await composition.stop();
  }
}

async function composeForTest(options: TestServerOptions, folder: string, url: string | null): Promise<Composition> {
  const { plugins: named = [], config = {}, callers = true } = options;
  const plugins = await Promise.all([...named, ...(callers ? [testCallers] : [])].map(async (plugin) => (typeof plugin === 'string' && isAbsolute(plugin) ? loadPluginAt(plugin, projectRoot) : plugin)));
  const given = plugins.filter((plugin) => typeof plugin !== 'string');
  const sections = Object.fromEntries(plugins.map((plugin) => [typeof plugin === 'string' ? plugin : plugin.name, {}]));
  const text = JSON.stringify({ ...settingsForTest(folder, url), ...config, plugins: { ...sections, ...config.plugins } });
  const prepared = await prepare({ env: driverEnvironment(), args: {}, text, given });
  if (prepared.errors.length > 0) throw new Error(describeErrors(prepared.errors, { color: false }));
  const log = options.log ?? await createLogger({ level: 'silent', access: 'warn', format: 'json' });
  return compose({ ...prepared, log, clock: options.clock, strict: true });
}

function settingsForTest(folder: string, url: string | null): Record<string, unknown> {
  return { data_dir: folder, http: { port: 0 }, shutdown_seconds: 30, database: { url } };
}

function clientOf(as: TestRequest['as']): AssistantClient {
  return { caller: stateFor(as).caller ?? null, signal: new AbortController().signal };
}

async function callTool({ assistant }: Composition, name: string, input: object, client: AssistantClient): Promise<ToolResult> {
  return assistant.call(declared(assistant.tools, 'tool', name), input, client);
}

async function readResource({ assistant }: Composition, uri: string, client: AssistantClient): Promise<string> {
  const found = assistant.match(uri);
  if (!found) throw new Error(`There is no resource "${uri}"; there are ${[...assistant.resources.keys()].join(', ') || 'none'}`);
  return assistant.read(found.resource, found.variables, client);
}

function declared<Declared>(all: ReadonlyMap<string, Declared>, label: string, name: string): Declared {
  const found = all.get(name);
  if (!found) throw new Error(`There is no ${label} "${name}"; there are ${[...all.keys()].join(', ') || 'none'}`);
  return found;
}

async function inject(server: Composition['server'], method: string, path: string, { payload, headers = {}, as }: TestRequest): Promise<TestResponse> {
  const response = await server.inject({ method, url: path, headers, payload: payload as object | undefined, app: stateFor(as) });
  const isCompressed = response.headers['content-encoding'] === 'gzip' && response.rawPayload.length > 0;
  const text = isCompressed ? gunzipSync(response.rawPayload).toString() : response.payload;
  const isJson = /[/+]json/.test(String(response.headers['content-type'] ?? ''));
  return { status: response.statusCode, headers: response.headers as TestResponse['headers'], body: isJson && text ? JSON.parse(text) : text, text };
}
