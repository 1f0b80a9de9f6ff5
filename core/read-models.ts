import { Failure } from './cli/command.ts';
import type { OpenDatabase } from './database/connect.ts';
import type { Database, Reader } from './database/types.ts';
import { SCHEDULE_KEY, type JobQueue, type JobRecord, type RunningJob } from './jobs.ts';
import type { Logger } from './log.ts';
import type { CheckResult, Progress } from './plugin.ts';
import { addModel, beginFilling, claimRebuild, finishRebuild, storedModel, storedModels, type StoredModel } from './read-models/store.ts';

/** Derived tables that are filled together. Core stores the version that filled them and rebuilds them when the code has another. */
export interface ReadModel {
  /** Unique in the plugin: lower-case letters, digits and `_`. */
  name: string;
  /** A whole number from 1 on. Raise it when the code derives other rows from the same data. */
  version: number;
  /** Tables of the plugin that its migrations created with `derived: true`. */
  tables: string[];
  /** Whether rows of another version can be served while a job replaces them. When absent, the start waits for the rebuild. */
  inBackground?: boolean;
  /** Whether rows follow from events: the read model is also rebuilt when the plugin was off and missed some. */
  followsEvents?: boolean;
  /**
   * Whether some rows are of another version: a node of another version may write them after the rebuild. Called by each start, by each
   * readiness check and every few minutes, so query an index.
   */
  hasOtherVersions?(reader: Reader): Promise<boolean>;
  /** Makes the tables hold exactly what follows from the source data, whatever rows they hold: none, some, or those of another version. */
  rebuild(run: Rebuild): Promise<void>;
}

/** One run of a rebuild. */
export interface Rebuild {
  /** The version of the rows: 0 when it is unknown or rows of several versions are mixed, null when the tables were never filled, such as after a restore. */
  from: number | null;
  /** `db.write`, which fails once another process or another version has taken the rebuild over. */
  write: Database['write'];
  /** Shown in the log, in readiness and by `doctor`. Await it: it fails when the process is asked to stop. */
  progress(done: number, total: number): Promise<void>;
}

type OwnedModel = ReadModel & { plugin: string };

export interface ReadModels {
  /** Called in `register`. */
  declare(plugin: string, model: ReadModel): void;
  /** Called after migrations: fills tables that are empty or cannot be served. `missed` names plugins that missed events. */
  fill(onProgress: Progress, missed?: string[]): Promise<void>;
  /** Called before jobs run: enqueues a job for each read model that has rows of another version. */
  start(): Promise<void>;
  check(): Promise<CheckResult>;
}

export interface ReadModelsOptions {
  db: () => OpenDatabase;
  jobs: JobQueue;
  log: Logger;
}

const NAME = /^[a-z][a-z0-9_]*$/;
const LOG_MS = 5000;
/** The interval in which a failed rebuild is retried, and rows that another node has written are found. */
const REPAIR_SECONDS = 300;

/** A process of another version has taken the rebuild over. */
class Superseded extends Error {}

export function createReadModels({ db, jobs, log }: ReadModelsOptions): ReadModels {
  const models: OwnedModel[] = [];

  function declare(plugin: string, model: ReadModel): void {
    const owned = { ...model, plugin };
    const fault = faultOf(owned, models);
    if (fault) throw new Error(fault);
    models.push(owned);
    // Only processes of this version know the job, so another version never runs it.
    if (model.inBackground) jobs.of(plugin).define({ name: jobName(owned), every_seconds: REPAIR_SECONDS, run: (job) => rebuildInBackground(owned, job) });
  }

  async function stored(model: OwnedModel): Promise<StoredModel> {
    return await storedModel(db().read, model) ?? db().write(async (tx) => {
      await addModel(tx, model);
      return (await storedModel(tx, model))!;
    });
  }

  async function isCurrent(model: OwnedModel, row: StoredModel): Promise<boolean> {
    return hasVersion(model, row) && !(await model.hasOtherVersions?.(db().read));
  }

  /** Whether the rows can be served without waiting for a rebuild. */
  async function canServe(model: OwnedModel, row: StoredModel): Promise<boolean> {
    return row.complete === 1 && (model.inBackground || await isCurrent(model, row));
  }

  async function fill(onProgress: Progress, missed: string[] = []): Promise<void> {
    for (const model of models) {
      const mustFollow = (model.followsEvents ?? false) && missed.includes(model.plugin);
      if (!mustFollow && await withName(model, async () => canServe(model, await stored(model)))) continue;
      await withName(model, () => db().exclusively(`read model ${model.plugin} ${model.name}`, () => fillOne(model, onProgress, mustFollow)));
    }
  }

  /** Runs on one node at a time. A node that waited finds the tables filled and returns. */
  async function fillOne(model: OwnedModel, onProgress: Progress, mustFollow: boolean): Promise<void> {
    const row = await stored(model);
    if (!mustFollow && await canServe(model, row)) return;
    await db().write((tx) => beginFilling(tx, model, model.version));
    const report = reporter(model, row);
    await model.rebuild({
      from: row.version,
      write: (fn) => db().write(fn, { long: true }),
      async progress(done, total) {
        report(done, total);
        onProgress(`${row.version === null ? 'Filling' : 'Rebuilding'} ${model.plugin} ${model.name}`, done, total);
      },
    });
    await db().write((tx) => finishRebuild(tx, model, model.version));
    report('done');
  }

  async function rebuildInBackground(model: OwnedModel, job: RunningJob): Promise<void> {
    const row = await stored(model);
    // The version that was started last rebuilds; two that run at the same time would undo each other's work.
    if (row.target !== model.version || await isCurrent(model, row)) return;
    const report = reporter(model, row);
    const write: Rebuild['write'] = (fn) => job.write(async (tx) => {
      const { target } = (await storedModel(tx, model))!;
      if (target !== model.version) throw new Superseded(`A start of another version wants version ${target} of ${model.plugin}/${model.name}`);
      return fn(tx);
    });
    try {
      await model.rebuild({
        from: row.version,
        write,
        async progress(done, total) {
          report(done, total);
          await job.progress(done, total);
        },
      });
      await write((tx) => finishRebuild(tx, model, model.version));
      report('done');
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
      log.warn({ plugin: model.plugin, read_model: model.name }, `${error.message}: this rebuild ends`);
    }
  }

  function reporter(model: OwnedModel, { version }: StoredModel): (done: number | 'done', total?: number) => void {
    const fields = { plugin: model.plugin, read_model: model.name, from: version, to: model.version };
    let loggedAt = performance.now();
    // Filling a new database is not logged as a rebuild.
    if (version !== null) log.info(fields, startText(model, version));
    return (done, total) => {
      if (done === 'done') {
        if (version !== null) log.info(fields, `Rebuilt the read model ${model.plugin}/${model.name}`);
      } else if (performance.now() - loggedAt > LOG_MS) {
        loggedAt = performance.now();
        log.info({ ...fields, done, total }, `Rebuilding the read model ${model.plugin}/${model.name}: ${done} of ${total}`);
      }
    };
  }

  async function start(): Promise<void> {
    for (const model of models) {
      if (!model.inBackground || await isCurrent(model, await stored(model))) continue;
      await db().write(async (tx) => {
        await claimRebuild(tx, model, model.version);
        // With the key of the schedule, so that one job at a time rebuilds.
        await jobs.of(model.plugin).enqueue(tx, jobName(model), {}, { unique_key: SCHEDULE_KEY });
      });
    }
  }

  async function check(): Promise<CheckResult> {
    const rows = await storedModels(db().read);
    const findings: string[] = [];
    let hasEmpty = false;
    let progress: CheckResult['progress'];
    for (const model of models) {
      const row = rows.find(({ plugin, name }) => plugin === model.plugin && name === model.name);
      if (row?.complete && await isCurrent(model, row)) continue;
      hasEmpty ||= !row?.complete;
      const job = model.inBackground ? await jobs.newest(jobName(model)) : null;
      if (isAdvancing(job)) progress = { done: job.progress.done, total: job.progress.total };
      findings.push(finding(model, row, job));
    }
    if (findings.length === 0) return { status: 'ok', detail: models.map(({ plugin, name, version }) => `${plugin}/${name} ${version}`).join(', ') || 'none' };
    return { status: hasEmpty ? 'failed' : 'warning', detail: findings.join('; '), fix: 'a running server rebuilds them, as its log shows; bin/civic serve starts one', ...(progress && { progress }) };
  }

  return { declare, fill, start, check };
}

function faultOf(model: OwnedModel, others: OwnedModel[]): string | null {
  const title = `The read model "${model.name}" of the plugin ${model.plugin}`;
  if (!NAME.test(model.name)) return `${title} needs another name: use lower-case letters, digits and _`;
  if (others.some(({ plugin, name }) => plugin === model.plugin && name === model.name)) return `${title} is declared twice`;
  if (!Number.isInteger(model.version) || model.version < 1) return `${title} has the version ${model.version}: use a whole number from 1 on`;
  const other = model.tables.find((table) => !table.startsWith(`${model.plugin}_`));
  if (other) return `${title} names the table ${other}: the tables of the plugin begin with ${model.plugin}_`;
  const taken = model.tables.find((table) => others.some(({ tables }) => tables.includes(table)));
  if (taken) return `${title} names the table ${taken} of another read model`;
  return model.tables.length === 0 ? `${title} names no tables` : null;
}

function jobName({ plugin, name, version }: OwnedModel): string {
  return `${plugin}.rebuild_${name}_${version}`;
}

/** Whether the stored version is that of the code, and no rebuild to another one has begun. */
function hasVersion({ version }: OwnedModel, row: StoredModel): boolean {
  return row.version === version && row.target === version;
}

function startText({ plugin, name, version }: OwnedModel, from: number): string {
  return `Rebuilding the read model ${plugin}/${name}: ${startReason(version, from)}`;
}

function startReason(version: number, from: number): string {
  if (from > version) return `a newer version of civic filled it (${from}, this one has ${version})`;
  if (from === version) return `some rows are not of version ${version}`;
  return from === 0 ? `version ${version} replaces rows of unknown versions` : `version ${version} replaces version ${from}`;
}

/** Whether the job is running and has reported its total. */
function isAdvancing(job: JobRecord | null): job is JobRecord {
  return job?.state === 'running' && job.progress.total > 0;
}

function finding(model: OwnedModel, row: StoredModel | undefined, job: JobRecord | null): string {
  const { version } = model;
  const title = `${model.plugin}/${model.name}`;
  if (!row?.complete) return `${title} is incomplete`;
  if (row.target !== version) return `${title} is rebuilt to version ${row.target} by another version of civic, and this one has version ${version}`;
  if (job?.state === 'running') return `${title} is being rebuilt${isAdvancing(job) ? `: ${job.progress.done.toLocaleString('en-US')} of ${job.progress.total.toLocaleString('en-US')}` : ''}`;
  const error = job?.error ? `; the last attempt failed: ${job.error}` : '';
  if (row.version === version) return `some rows of ${title} are not of version ${version} and wait for their rebuild${error}`;
  return `${title} is served from rows of ${row.version === 0 ? 'unknown versions' : `version ${row.version}`}, and version ${version} waits for its rebuild${error}`;
}

async function withName<T>({ plugin, name }: OwnedModel, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`The plugin ${plugin} failed to rebuild its read model ${name}: ${(error as Error).message}`, { cause: error });
  }
}
