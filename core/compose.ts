import type { Server } from '@hapi/hapi';
import type { Assistant } from './assistant/types.ts';
import { bringUpToDate, checkDatabaseExists, listen, prepareDataFolder } from './boot.ts';
import { coreChecks } from './checks.ts';
import { addCommand, civicFor, type Kernel, type OwnedCheck, type OwnedCommand } from './civic.ts';
import { Failure } from './cli/command.ts';
import { eventCommands } from './cli/events.ts';
import type { Clock } from './clock.ts';
import type { ConfigFragment, CoreConfig, Instance, Origin } from './config/types.ts';
import type { Surroundings } from './contracts/answer.ts';
import { asyncApi, type AsyncApi } from './contracts/asyncapi.ts';
import { openApi, type OpenApi } from './contracts/openapi.ts';
import { openDatabase, type OpenDatabase } from './database/connect.ts';
import type { MigrationName, MigrationSet } from './database/migrate.ts';
import type { EventBus } from './events.ts';
import { registerPages } from './http/pages.ts';
import { checkRoutes } from './http/rules.ts';
import { httpState } from './http/state.ts';
import { KEPT_MS } from './idempotency/handler.ts';
import { pruneAnswers } from './idempotency/store.ts';
import type { JobQueue, Role } from './jobs.ts';
import { createKernel, openDatabaseOf } from './kernel.ts';
import { folderOfPlugin } from './load.ts';
import type { Logger } from './log.ts';
import { addCorePages } from './pages/routes.ts';
import { referenceOrder } from './pages/groups.ts';
import type { Lifecycle, Plugin, Progress } from './plugin.ts';
import { problemsOf } from './problems.ts';
import { projectRoot, version } from './root.ts';

export interface ComposeOptions {
  config: CoreConfig;
  /** In order. */
  plugins: Plugin[];
  /** Where the values of the configuration come from and which are secrets: shown in backups and masked in texts for operators. */
  origins?: Map<string, Origin>;
  schema?: ConfigFragment;
  log: Logger;
  clock?: Clock;
  role?: Role;
  /** Checks that cost too much in production: response schemas, misuse of transactions. */
  strict?: boolean;
}

export interface OpenOptions {
  /** This process will write: on SQLite it must be the only one. */
  writes: boolean;
  /** Bring the schema and derived tables up to date, refuse a schema that is not, or take it as it is. */
  schema: 'migrate' | 'require' | 'any';
  /** Called before the first pending migration of a database that holds data. What it answers is called when that one failed. */
  beforeMigrating?: (db: OpenDatabase) => Promise<(() => Promise<void>) | void>;
  /** How this instance restores a backup: named when the database is newer. */
  restoreCommand?: (folder: string) => string;
  /** Shows how far plugins have come with their derived tables. */
  onProgress?: Progress;
}

/** The plugins put together: everything declared, nothing opened yet. */
export interface Composition {
  readonly config: CoreConfig;
  readonly instance: Instance;
  readonly plugins: Plugin[];
  readonly server: Server;
  readonly commands: OwnedCommand[];
  readonly checks: OwnedCheck[];
  readonly migrations: MigrationSet[];
  readonly events: EventBus;
  readonly jobs: JobQueue;
  readonly assistant: Assistant;
  readonly db: OpenDatabase;
  readonly surroundings: Surroundings;
  openApi(): OpenApi;
  asyncApi(): AsyncApi;
  /** Answers the migrations that were run. */
  open(options: OpenOptions): Promise<MigrationName[]>;
  /** Fills derived tables that are empty or cannot be served; `open` does so after migrating. */
  fillReadModels(onProgress?: Progress): Promise<void>;
  start(): Promise<void>;
  listen(): Promise<void>;
  /** Undoes in reverse what was done, each step within `shutdown_seconds`. Answers what did not stop cleanly. */
  stop(): Promise<string[]>;
}

/** The phase register: hands every plugin its `Civic` and takes its declarations. No I/O. */
export async function compose(options: ComposeOptions): Promise<Composition> {
  const kernel = createKernel(options);
  const pages = await registerPages(kernel.server, { instance: kernel.instance, folders: Object.fromEntries(options.plugins.map((plugin) => [plugin.name, folderOfPlugin(plugin)])), log: options.log, now: () => kernel.clock.now() });
  kernel.pages = pages;
  kernel.checks.push(...coreChecks(kernel));
  defineCoreJobs(kernel);
  for (const command of eventCommands(() => kernel.events)) addCommand(kernel, 'core', command);
  const lifecycles = await registerAll(options.plugins, kernel);
  for (const { plugin, run } of kernel.whenComposed) await naming(plugin, 'register', () => namingOwners(kernel.server, async () => run()));
  kernel.isRegistering = false;
  const contracts = contractsOf(options.plugins, kernel);
  addCorePages(kernel.server, { pages, plugins: options.plugins, problems: contracts.surroundings.problems, examples: kernel.examples, now: () => kernel.clock.now(), ...contracts });
  httpState(kernel.server).problemPage = pages.problemPage;
  refuseFaultyRoutes(kernel, options.plugins);
  refuseFaultyTools(kernel);
  refuseFaultyExamples(kernel);

  const undo: { name: string; run: () => Promise<unknown> }[] = [];

  async function open(open: OpenOptions): Promise<MigrationName[]> {
    if (!open.writes) checkDatabaseExists(options.config);
    const lock = await prepareDataFolder(options.config, open.writes, options.log);
    if (lock) undo.push({ name: 'writer lock', run: () => lock.release() });
    const { url, pool, driver } = options.config.database;
    const opened = await openDatabase({ url, pool, driver, dataDir: options.config.data_dir, log: options.log, strict: options.strict, lock });
    undo.push({ name: 'database', run: () => opened.close() });
    const applied = await bringUpToDate(opened, options.config, migrationsOf(options.plugins), open);
    kernel.db = opened;
    if (open.schema === 'migrate') await kernel.readModels.fill(open.onProgress ?? silent);
    return applied;
  }

  async function start(): Promise<void> {
    undo.push({ name: 'fetch', run: () => kernel.fetch.close() });
    await kernel.readModels.fill(silent, await kernel.events.open());
    for (const { plugin, lifecycle } of lifecycles) {
      if (lifecycle.stop) undo.push({ name: plugin.name, run: () => lifecycle.stop!() });
      await naming(plugin, 'start', async () => lifecycle.start?.());
    }
    undo.push({ name: 'events', run: () => kernel.events.stop() });
    await kernel.events.start();
    // Jobs that do not hear and streams that go on are cut a moment before the step would be given up.
    const patience = options.config.shutdown_seconds * 1000 * 0.8;
    undo.push({ name: 'jobs', run: () => kernel.jobs.stop(patience) });
    await kernel.readModels.start();
    await kernel.jobs.start();
    undo.push({ name: 'http', run: () => kernel.server.stop({ timeout: patience }) });
    await kernel.server.initialize();
  }

  async function stop(): Promise<string[]> {
    const faults: string[] = [];
    for (const step of undo.reverse().splice(0)) {
      await bounded(step.run, options.config.shutdown_seconds * 1000).catch((error) => {
        options.log.error({ err: error }, `${step.name} did not stop cleanly`);
        faults.push(`${step.name} did not stop cleanly: ${(error as Error).message}`);
      });
    }
    kernel.db = null;
    return faults;
  }

  return {
    config: options.config,
    instance: kernel.instance,
    plugins: options.plugins,
    server: kernel.server,
    commands: [...kernel.commands.values()],
    checks: kernel.checks,
    migrations: migrationsOf(options.plugins),
    events: kernel.events,
    jobs: kernel.jobs,
    assistant: kernel.assistant,
    ...contracts,
    get db() { return openDatabaseOf(kernel); },
    open,
    fillReadModels: (onProgress = silent) => kernel.readModels.fill(onProgress),
    start,
    async listen() {
      openDatabaseOf(kernel).failWhenSilent();
      await listen(kernel.server, options.config);
    },
    stop,
  };
}

const silent: Progress = () => undefined;

/** What core itself throws away in time. */
function defineCoreJobs(kernel: Kernel): void {
  const jobs = kernel.jobs.of('core');
  jobs.define({ name: 'core.prune_events', every_seconds: 3600, run: async () => { await kernel.events.prune(); } });
  jobs.define({
    name: 'core.prune_answers',
    every_seconds: 3600,
    run: (job) => job.write(async (tx) => { await pruneAnswers(tx, new Date(kernel.clock.now() - KEPT_MS).toISOString()); }),
  });
}

/** What the registered routes promise, worked out when asked for. */
function contractsOf(plugins: Plugin[], { server, instance, gates }: Kernel): Pick<Composition, 'surroundings' | 'openApi' | 'asyncApi'> {
  const surroundings = { problems: problemsOf(plugins), isCounted: gates.admit.length > 0 };
  const about = {
    info: { title: instance.name, version },
    publicUrl: instance.public_url,
    plugins: Object.fromEntries(plugins.map((plugin) => [plugin.name, plugin.summary])),
    order: referenceOrder(plugins),
    ...surroundings,
  };
  return { surroundings, openApi: () => openApi(server, about), asyncApi: () => asyncApi(server, about) };
}

interface Registered {
  plugin: Plugin;
  lifecycle: Lifecycle;
}

/** Each is a hapi plugin of the same name, so that hapi itself knows whose a route is. */
async function registerAll(plugins: Plugin[], kernel: Kernel): Promise<Registered[]> {
  const registered: Registered[] = [];
  for (const plugin of plugins) {
    await naming(plugin, 'register', () => kernel.server.register({
      name: plugin.name,
      register: async (server: Server) => {
        const lifecycle = await namingOwners(kernel.server, async () => plugin.register(server, civicFor(plugin, kernel)));
        registered.push({ plugin, lifecycle: lifecycle ?? {} });
      },
    }));
  }
  return registered;
}

/** hapi says that two routes collide, but not whose the other one is. */
async function namingOwners<T>(server: Server, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const taken = error instanceof Error && /^New route .+ conflicts with existing (.+)$/.exec(error.message)?.[1];
    const owner = taken && server.table().find((route) => route.path === taken)?.realm.plugin;
    if (owner) (error as Error).message += ` of the plugin ${owner}`;
    throw error;
  }
}

async function naming<T>(plugin: Plugin, phase: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`The plugin ${plugin.name} failed to ${phase}: ${(error as Error).message}${placeOf(error as Error)}`, { cause: error });
  }
}

const CORE = `${import.meta.dirname}/`;
const CORE_SOURCES = `${projectRoot}/core/`;

/** The line of the plugin's own code where it happened, for whoever wrote it. */
function placeOf({ stack = '' }: Error): string {
  const places = stack.split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line) && !/node:|node_modules/.test(line));
  const place = places.find((line) => !line.includes(CORE) && !line.includes(CORE_SOURCES)) ?? places[0];
  const file = place && /(?:file:\/\/)?(\/[^()]+:\d+:\d+)/.exec(place)?.[1];
  return file ? ` (${file})` : '';
}

function refuseFaultyRoutes({ server, vocabulary }: Kernel, plugins: Plugin[]): void {
  const faults = checkRoutes(server, vocabulary, plugins.map(({ name }) => name));
  if (faults.length > 0) throw new Failure(`These routes do not keep the contract (docs/writing-plugins.md#routes):\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
}

function refuseFaultyTools({ assistant }: Kernel): void {
  const faults = assistant.faults();
  if (faults.length > 0) throw new Failure(`These declarations for assistants do not keep the contract (docs/writing-plugins.md#tools-for-assistants):\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
}

function refuseFaultyExamples({ server, examples }: Kernel): void {
  const faults = examples.faults(server);
  if (faults.length > 0) throw new Failure(`These examples do not keep the contract (docs/writing-plugins.md#examples):\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
}

function migrationsOf(plugins: Plugin[]): MigrationSet[] {
  return plugins.flatMap((plugin) => (plugin.migrations ? [{ plugin: plugin.name, folder: plugin.migrations }] : []));
}

async function bounded(work: () => Promise<unknown>, milliseconds: number): Promise<unknown> {
  const working = work();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => { reject(new Error(`took longer than ${milliseconds / 1000} s`)); }, milliseconds);
  });
  return Promise.race([working, late]).finally(() => { clearTimeout(timer); });
}
