import { Joi, type JobKind, type RunningJob, type Tx } from 'civic';
import type { Console } from './service.ts';

export const BACKUP_JOB = 'console.backup';
/** The suffix of the names of backups that the console creates. */
export const BACKUP_REASON = 'console';
const ONE_AT_A_TIME = 'backup';
const PROGRESS_MS = 500;

/** Returns the job that writes a backup. It is not retried: a retry would fill a full disk again. */
export function backupJob({ civic }: Console): JobKind {
  const { backups } = civic.operations;

  async function deleteOld(): Promise<void> {
    const { backups_kept } = civic.config;
    const own = (await backups.list()).filter(({ name }) => name.endsWith(`-${BACKUP_REASON}`));
    if (backups_kept > 0) for (const { name } of own.slice(backups_kept)) await backups.remove(name);
  }

  return {
    name: BACKUP_JOB,
    payload: Joi.object({}),
    max_attempts: 1,
    async run(job) {
      await reporting(job, (onProgress) => backups.create(BACKUP_REASON, { signal: job.signal, onProgress }));
      await deleteOld();
    },
  };
}

/** Runs `work` and stores its progress every half second. */
async function reporting(job: RunningJob, work: (onProgress: (done: number, total: number) => void) => Promise<unknown>): Promise<void> {
  let latest: [done: number, total: number] | null = null;
  const timer = setInterval(() => {
    // `progress` throws when the job must stop; `work` then ends through the signal of the job.
    if (latest) void job.progress(...latest).catch(() => undefined);
  }, PROGRESS_MS).unref();
  try {
    await work((done, total) => { latest = [done, total]; });
  } finally {
    clearInterval(timer);
  }
}

/** Enqueues a backup. Returns the id of the new job, or of the backup job that already waits or runs. */
export async function enqueueBackup({ civic }: Console, tx: Tx): Promise<string> {
  return civic.jobs.enqueue(tx, BACKUP_JOB, {}, { unique_key: ONE_AT_A_TIME });
}
