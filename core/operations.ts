import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { backupFolder } from './boot.ts';
import type { OwnedCheck } from './civic.ts';
import { addressChecks, folderChecks } from './cli/checks.ts';
import type { ComposeOptions } from './compose.ts';
import { showConfig } from './config/report.ts';
import { createMask } from './config/secrets.ts';
import { archiveOf, type Archive } from './database/archive.ts';
import { createBackup } from './database/backup.ts';
import { backupName, backupNamed, deleteBackup, deletePartialBackups, listBackups, type Backup } from './database/backups.ts';
import type { OpenDatabase } from './database/connect.ts';
import type { EventBus, EventsStatus, ResumedDelivery } from './events.ts';
import { runCheck } from './http/health.ts';
import type { JobOperations, JobQueue, JobRecord } from './jobs.ts';
import { bundledPlugins, folderOfPlugin } from './load.ts';
import type { CheckResult, Plugin } from './plugin.ts';
import { projectRoot, version } from './root.ts';

/** What operators read and do, across all plugins. Secrets are masked in every text. */
export interface Operations {
  /** The plugins that run, in order, then those of the kit that are off. */
  plugins(): PluginState[];
  /** Runs the readiness checks, the checks with `quick`, and the quick ones of core. */
  checks(): Promise<CheckFinding[]>;
  jobs: JobOperations;
  events: EventOperations;
  backups: BackupOperations;
  /** Masks secrets in a text, such as the message of an error. */
  mask(text: string): string;
}

export interface PluginState {
  name: string;
  isOn: boolean;
  /** Null for a plugin that is off, because it is not loaded. */
  summary: string | null;
  /** The version of the kit; for a plugin outside the kit that of its `package.json`, or null. */
  version: string | null;
}

export interface CheckFinding extends CheckResult {
  plugin: string;
  name: string;
  /** Whether `/health/ready` depends on the check. */
  isReadiness: boolean;
}

export interface EventOperations {
  /** How far each plugin has processed events, and what stopped it. */
  status(): Promise<EventsStatus>;
  /** Retries the event that stopped a plugin. Null when nothing stopped it. */
  retry(plugin: string): Promise<ResumedDelivery | null>;
}

/** Backups in the backup folder of this node. */
export interface BackupOperations {
  /** The newest first. */
  list(): Promise<Backup[]>;
  /** Writes a backup whose name ends in `reason`. First deletes partial backups that an interruption left with the same reason. */
  create(reason: string, options: { signal: AbortSignal; onProgress(done: number, total: number): void }): Promise<Backup>;
  /** Returns a backup as one tar file; null when no backup has that name. */
  archive(name: string): Promise<Archive | null>;
  remove(name: string): Promise<void>;
}

interface Parts {
  checks(): OwnedCheck[];
  events(): EventBus;
  jobs: JobQueue;
  db(): OpenDatabase;
}

export function createOperations({ config, plugins, origins, schema, clock }: Pick<ComposeOptions, 'config' | 'plugins' | 'origins' | 'schema' | 'clock'>, { checks, events, jobs, db }: Parts): Operations {
  const mask = createMask(config, schema);
  const masked = (text: string | null): string | null => text === null ? null : mask(text);
  const maskedJobs = (found: JobRecord[]): JobRecord[] => found.map((job) => ({ ...job, error: masked(job.error) }));
  const ofCore = [...folderChecks(config), ...addressChecks(config)].map((check): OwnedCheck => ({ ...check, plugin: 'core' }));
  const folder = backupFolder(config);

  async function finding(check: OwnedCheck): Promise<CheckFinding> {
    const { name, result } = await runCheck(check);
    return { ...result, detail: mask(result.detail), fix: result.fix && mask(result.fix), plugin: check.plugin, name, isReadiness: check.readiness === true };
  }

  return {
    mask,
    plugins: () => [...plugins.map(stateOf), ...offPlugins(plugins)],
    checks: () => Promise.all([...checks().filter(({ readiness, quick }) => readiness || quick), ...ofCore].map(finding)),
    jobs: {
      ...jobs.operations,
      status: jobs.status,
      newest: async (name) => maskedJobs([await jobs.newest(name)].filter((job) => job !== null))[0] ?? null,
      failed: async (limit) => maskedJobs(await jobs.operations.failed(limit)),
      underway: async (limit) => maskedJobs(await jobs.operations.underway(limit)),
    },
    events: {
      async status() {
        const status = await events().status();
        return { ...status, plugins: status.plugins.map((one) => ({ ...one, error: masked(one.error) })) };
      },
      retry: (plugin) => events().retry(plugin),
    },
    backups: {
      list: () => listBackups(folder),
      async create(reason, { signal, onProgress }) {
        await deletePartialBackups(folder, reason);
        const name = backupName(reason);
        const text = schema && origins && showConfig(config, origins, schema, { origin: false, color: false });
        await createBackup(db(), join(folder, name), { config: text, clock, signal, onProgress });
        return (await backupNamed(folder, name))!;
      },
      archive: (name) => archiveOf(folder, name),
      remove: (name) => deleteBackup(folder, name),
    },
  };
}

function stateOf(plugin: Plugin): PluginState {
  return { name: plugin.name, isOn: true, summary: plugin.summary, version: versionOf(plugin) };
}

function offPlugins(on: Plugin[]): PluginState[] {
  const names = new Set(on.map(({ name }) => name));
  return bundledPlugins().filter((name) => !names.has(name)).map((name) => ({ name, isOn: false, summary: null, version }));
}

function versionOf(plugin: Plugin): string | null {
  const folder = folderOfPlugin(plugin);
  if (folder === join(projectRoot, 'plugins', plugin.name)) return version;
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version?: string }).version ?? null;
  } catch {
    return null;
  }
}
