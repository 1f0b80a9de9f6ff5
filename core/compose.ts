import type { Server } from '@hapi/hapi';
import { dirname, join, resolve } from 'node:path';
import { coreChecks } from './checks.ts';
import { addCommand, civicFor, type Kernel, type OwnedCheck, type OwnedCommand } from './civic.ts';
import { Failure, shellWord } from './cli/command.ts';
import { eventCommands } from './cli/events.ts';
import { systemClock, type Clock } from './clock.ts';
import type { CoreConfig, Instance } from './config/types.ts';
import type { Surroundings } from './contracts/answer.ts';
import { asyncApi, type AsyncApi } from './contracts/asyncapi.ts';
import { openApi, type OpenApi } from './contracts/openapi.ts';
import { openDatabase, type OpenDatabase } from './database/connect.ts';
import { makeDataFolder } from './database/folder.ts';
import { takeWriterLock, type WriterLock } from './database/lock.ts';
import { migrate, pendingMigrations, type GoingBack, type MigrationName, type MigrationSet } from './database/migrate.ts';
import { createEvents, type EventBus } from './events.ts';
import { createFetch } from './http/fetch.ts';
import { registerPages } from './http/pages.ts';
import { checkRoutes } from './http/rules.ts';
import { createServer } from './http/server.ts';
import { httpState } from './http/state.ts';
import { createJobs, type JobQueue, type Role } from './jobs.ts';
import type { Logger } from './log.ts';
import { addCorePages } from './pages/routes.ts';
import type { EventKind, Lifecycle, Plugin } from './plugin.ts';
import { problemsOf } from './problems.ts';
import { version } from './root.ts';

export interface ComposeOptions {
  config: CoreConfig;
  /** In order. */
  plugins: Plugin[];
  log: Logger;
  clock?: Clock;
  role?: Role;
  /** Checks that cost too much in production: response schemas, misuse of transactions. */
  strict?: boolean;
}

export interface OpenOptions {
  /** This process will write: on SQLite it must be the only one. */
  writes: boolean;
  /** Bring the schema up to date, refuse one that is not, or take it as it is. */
  schema: 'migrate' | 'require' | 'any';
  /** Called before the first pending migration of a database that holds data. What it answers is called when that one failed. */
  beforeMigrating?: (db: OpenDatabase) => Promise<(() => Promise<void>) | void>;
  /** How this instance restores a backup: named when the database is newer. */
  restoreCommand?: (folder: string) => string;
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
  readonly db: OpenDatabase;
  readonly surroundings: Surroundings;
  openApi(): OpenApi;
  asyncApi(): AsyncApi;
  /** Answers the migrations that were run. */
  open(options: OpenOptions): Promise<MigrationName[]>;
  rebuild(reason: 'restored' | 'missed_events', plugins?: string[]): Promise<void>;
  start(): Promise<void>;
  listen(): Promise<void>;
  /** Undoes in reverse what was done, each step within `shutdown_seconds`. */
  stop(): Promise<void>;
}

/** The phase register: hands every plugin its `Civic` and takes its declarations. No I/O. */
export async function compose(options: ComposeOptions): Promise<Composition> {
  const kernel = createKernel(options);
  const pages = await registerPages(kernel.server, { instance: kernel.instance });
  kernel.checks.push(...coreChecks(kernel));
  kernel.jobs.of('core').define({ name: 'core.prune_events', every_seconds: 3600, run: async () => { await kernel.events.prune(); } });
  for (const command of eventCommands(() => kernel.events)) addCommand(kernel, 'core', command);
  const lifecycles = await registerAll(options.plugins, kernel);
  kernel.isRegistering = false;
  const surroundings = { problems: problemsOf(options.plugins), isCounted: kernel.gates.admit.length > 0 };
  const about = { info: { title: kernel.instance.name, version }, publicUrl: kernel.instance.public_url, plugins: Object.fromEntries(options.plugins.map((plugin) => [plugin.name, plugin.summary])), ...surroundings };
  const contracts = { openApi: () => openApi(kernel.server, about), asyncApi: () => asyncApi(kernel.server, about) };
  addCorePages(kernel.server, { pages, plugins: options.plugins, problems: surroundings.problems, ...contracts });
  httpState(kernel.server).problemPage = pages.problemPage;
  refuseFaultyRoutes(kernel.server);

  const undo: { name: string; run: () => Promise<unknown> }[] = [];
  const db = (): OpenDatabase => {
    if (!kernel.db) throw new Error('The database is not open yet');
    return kernel.db;
  };

  async function open(open: OpenOptions): Promise<MigrationName[]> {
    const lock = await prepareDataFolder(options.config, open.writes);
    if (lock) undo.push({ name: 'writer lock', run: () => lock.release() });
    const { url, pool } = options.config.database;
    const opened = await openDatabase({ url, pool, dataDir: options.config.data_dir, log: options.log, strict: options.strict });
    undo.push({ name: 'database', run: () => opened.close() });
    const applied = await bringUpToDate(opened, options.config, migrationsOf(options.plugins), open);
    kernel.db = opened;
    return applied;
  }

  async function rebuild(reason: 'restored' | 'missed_events', names?: string[]): Promise<void> {
    for (const { plugin, lifecycle } of lifecycles) {
      if (names && !names.includes(plugin.name)) continue;
      await naming(plugin, 'rebuild', async () => lifecycle.rebuild?.(reason));
    }
  }

  async function start(): Promise<void> {
    undo.push({ name: 'fetch', run: () => kernel.fetch.close() });
    await rebuild('missed_events', await kernel.events.open());
    for (const { plugin, lifecycle } of lifecycles) {
      if (lifecycle.stop) undo.push({ name: plugin.name, run: () => lifecycle.stop!() });
      await naming(plugin, 'start', async () => lifecycle.start?.());
    }
    undo.push({ name: 'events', run: () => kernel.events.stop() });
    await kernel.events.start();
    // Jobs that do not hear are handed over a moment before the step would be given up.
    undo.push({ name: 'jobs', run: () => kernel.jobs.stop(options.config.shutdown_seconds * 1000 * 0.8) });
    await kernel.jobs.start();
    undo.push({ name: 'http', run: () => kernel.server.stop({ timeout: options.config.shutdown_seconds * 1000 }) });
    await kernel.server.initialize();
  }

  async function stop(): Promise<void> {
    for (const step of undo.reverse().splice(0)) {
      await bounded(step.run(), options.config.shutdown_seconds * 1000).catch((error) => {
        options.log.error({ err: error }, `${step.name} did not stop cleanly`);
      });
    }
    kernel.db = null;
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
    surroundings,
    ...contracts,
    get db() { return db(); },
    open,
    rebuild,
    start,
    listen: () => listen(kernel.server, options.config),
    stop,
  };
}

function createKernel(options: ComposeOptions): Kernel {
  const { config, log } = options;
  const { clock = systemClock, role = 'all' } = options;
  const gates: Kernel['gates'] = { resolvers: [], admit: [] };
  const checks: OwnedCheck[] = [];
  const server = createServer({ config, version, log, gates, checks: () => checks, validateResponses: options.strict ?? false });
  const db = (): OpenDatabase => kernel.db ?? fail('The database is not open yet');
  const kernel: Kernel = {
    config, log, clock, gates, checks, server,
    instance: { name: config.name, version, public_url: config.public_url, data_dir: config.data_dir },
    fetch: createFetch({
      allowPrivateAddresses: config.http.fetch.allow_private_addresses,
      timeoutSeconds: config.http.fetch.timeout_seconds,
      maxBytes: config.http.fetch.max_bytes,
      maxRedirects: config.http.fetch.max_redirects,
      userAgent: config.http.fetch.user_agent,
      log,
    }),
    events: createEvents({ db, log, clock, kinds: eventsOf(options.plugins), retentionDays: config.events.retention_days, delivers: role !== 'web' }),
    jobs: createJobs({ db, log, clock, role, concurrency: config.jobs.concurrency, pollSeconds: config.jobs.poll_seconds }),
    services: new Map(),
    commands: new Map(),
    db: null,
    isRegistering: true,
  };
  return kernel;
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
        const lifecycle = await plugin.register(server, civicFor(plugin, kernel));
        registered.push({ plugin, lifecycle: lifecycle ?? {} });
      },
    }));
  }
  return registered;
}

async function naming<T>(plugin: Plugin, phase: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`The plugin ${plugin.name} failed to ${phase}: ${(error as Error).message}`, { cause: error });
  }
}

function refuseFaultyRoutes(server: Server): void {
  const faults = checkRoutes(server);
  if (faults.length > 0) throw new Failure(`These routes do not keep the contract (docs/writing-plugins.md#routes):\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
}

function eventsOf(plugins: Plugin[]): Record<string, EventKind> {
  return Object.assign({}, ...plugins.map((plugin) => plugin.events ?? {}));
}

function migrationsOf(plugins: Plugin[]): MigrationSet[] {
  return plugins.flatMap((plugin) => (plugin.migrations ? [{ plugin: plugin.name, folder: plugin.migrations }] : []));
}

async function prepareDataFolder(config: CoreConfig, writes: boolean): Promise<WriterLock | null> {
  makeDataFolder(config.data_dir);
  return writes && !isPostgres(config) ? takeWriterLock(config.data_dir) : null;
}

export function isPostgres(config: CoreConfig): boolean {
  return /^postgres(ql)?:/.test(config.database.url ?? '');
}

async function bringUpToDate(db: OpenDatabase, config: CoreConfig, sets: MigrationSet[], open: OpenOptions): Promise<MigrationName[]> {
  if (open.schema === 'any') return [];
  if (open.schema === 'migrate') return migrate(db, sets, { beforeFirst: async () => open.beforeMigrating?.(db), goingBack: goingBack(config, open) });
  const pending = await pendingMigrations(db, sets);
  if (pending.length > 0) throw new Failure(`The database is not up to date (${pending.length} migrations are missing): run bin/civic migrate`);
  return [];
}

function goingBack(config: CoreConfig, { restoreCommand }: OpenOptions): GoingBack {
  const file = resolve(config.database.url?.replace(/^sqlite:/, '') ?? join(config.data_dir, 'civic.db'));
  const aside = join(dirname(file), 'newer');
  return {
    backups: backupFolder(config),
    asideCommand: isPostgres(config) ? null : `mkdir ${shellWord(aside)} && mv ${shellWord(file)}* ${shellWord(aside)}`,
    restoreCommand: restoreCommand ?? ((folder) => `bin/civic restore ${shellWord(folder)}`),
  };
}

/** Where backups go unless told otherwise. */
export function backupFolder(config: CoreConfig): string {
  return config.backup.folder ?? join(config.data_dir, 'backups');
}

async function listen(server: Server, { http }: CoreConfig): Promise<void> {
  try {
    await server.start();
  } catch (error) {
    throw new Failure(listenFault(error as NodeJS.ErrnoException, http));
  }
}

function listenFault(error: NodeJS.ErrnoException, { host, port }: CoreConfig['http']): string {
  switch (error.code) {
    case 'EADDRINUSE': return `Port ${port} on ${host} is in use by another program: stop it, or choose another port with --port or http.port`;
    case 'EACCES': return `This user may not listen on port ${port}: choose one above 1023 with --port or http.port, and let a proxy take ${port}`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND': return `${host} is not an address of this machine: use 127.0.0.1, or 0.0.0.0 for all of them (--host or http.host)`;
    default: return `Listening on ${host}:${port} failed: ${error.message}`;
  }
}

function bounded(work: Promise<unknown>, milliseconds: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => { reject(new Error(`took longer than ${milliseconds / 1000} s`)); }, milliseconds);
  });
  return Promise.race([work, late]).finally(() => { clearTimeout(timer); });
}

function fail(message: string): never {
  throw new Error(message);
}
