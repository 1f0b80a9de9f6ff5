import { createAssistant } from './assistant/registry.ts';
import { systemClock } from './clock.ts';
import type { Kernel, OwnedCheck } from './civic.ts';
import { Failure } from './cli/command.ts';
import type { ComposeOptions } from './compose.ts';
import type { OpenDatabase } from './database/connect.ts';
import { createEvents } from './events.ts';
import { createFetch } from './http/fetch.ts';
import { createLive } from './http/live.ts';
import { createServer } from './http/server.ts';
import { httpState } from './http/state.ts';
import { createJobs } from './jobs.ts';
import { createExamples } from './pages/examples/registry.ts';
import type { EventKind, Metric, Plugin } from './plugin.ts';
import { createOperations } from './operations.ts';
import { createReadModels } from './read-models.ts';
import { version } from './root.ts';
import { vocabularyOf } from './vocabulary.ts';

/** Makes what all plugins share. Nothing is opened: the database is there once it is migrated. */
export function createKernel(options: ComposeOptions): Kernel {
  const { config, log, clock = systemClock, role = 'all' } = options;
  const gates: Kernel['gates'] = { resolvers: [], admit: [] };
  const vocabulary = vocabularyOf(options.plugins);
  const checks: OwnedCheck[] = [];
  const metrics: Metric[] = [];
  const db = (): OpenDatabase => openDatabaseOf(kernel);
  const server = createServer({ config, version, log, gates, paths: vocabulary.paths, checks: () => checks, metrics: () => metrics, idempotency: { db, clock }, validateResponses: options.strict ?? false });
  const jobs = createJobs({ db, log, clock, role, concurrency: config.jobs.concurrency, networkConcurrency: config.jobs.network_concurrency, pollSeconds: config.jobs.poll_seconds });
  const operations = createOperations(options, { checks: () => checks, events: () => kernel.events, jobs, db });
  const kernel: Kernel = {
    config, log, clock, gates, checks, metrics, server, vocabulary,
    pluginNames: new Set(options.plugins.map((plugin) => plugin.name)),
    instance: { name: config.name, version, public_url: config.public_url, data_dir: config.data_dir, user_agent: config.http.fetch.user_agent, demo: config.demo },
    fetch: createFetch({
      allowPrivateAddresses: config.http.fetch.allow_private_addresses,
      timeoutSeconds: config.http.fetch.timeout_seconds,
      maxBytes: config.http.fetch.max_bytes,
      maxRedirects: config.http.fetch.max_redirects,
      userAgent: config.http.fetch.user_agent,
      log,
    }),
    events: createEvents({ db, log, clock, kinds: eventsOf(options.plugins), retentionDays: config.events.retention_days, delivers: role !== 'web' }),
    jobs,
    operations,
    readModels: createReadModels({ db, jobs, log }),
    assistant: createAssistant({ gates, vocabulary, strict: options.strict ?? false, readOnly: (where, fn) => db().readOnly(where, fn) }),
    live: createLive(server, httpState(server).upgrades),
    examples: createExamples(),
    services: new Map(),
    commands: new Map(),
    whenComposed: [],
    pages: null,
    db: null,
    isRegistering: true,
  };
  return kernel;
}

export function openDatabaseOf(kernel: Kernel): OpenDatabase {
  if (!kernel.db) throw new Error('The database is not open yet');
  return kernel.db;
}

function eventsOf(plugins: Plugin[]): Record<string, EventKind> {
  const kinds: Record<string, EventKind> = {};
  for (const plugin of plugins) {
    for (const [name, kind] of Object.entries(plugin.events ?? {})) {
      if (!name.startsWith(`${plugin.name}.`)) throw new Failure(`The plugin ${plugin.name} cannot declare the event "${name}": its events begin with "${plugin.name}."`);
      kinds[name] = kind;
    }
  }
  return kinds;
}
