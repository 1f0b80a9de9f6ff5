import type { Backup, CheckFinding, EventsStatus, JobRecord, Language, Texts } from 'civic';
import { BACKUP_JOB } from './backup-job.ts';
import { BACKUPS, JOBS } from './paths.ts';
import type { AttentionEntry, AttentionSource, Console } from './service.ts';

/** How many failed jobs the home of the console lists. */
export const FAILED_SHOWN = 5;
const DAY_MS = 86_400_000;
/** The checks whose findings `eventEntries` and `jobEntries` show, with buttons. */
const SHOWN_OTHERWISE = new Set(['core events', 'core jobs']);

export interface Findings {
  checks: CheckFinding[];
  events: EventsStatus;
  /** At most `FAILED_SHOWN` + 1; the last one only indicates that there are more. */
  failedJobs: JobRecord[];
  backups: Backup[];
  lastBackupJob: JobRecord | null;
}

/** Returns the entries of "Needs attention", the urgent ones first. */
export async function attentionEntries({ civic, attention }: Console, findings: Findings, t: Texts): Promise<AttentionEntry[]> {
  const entries = [
    ...checkEntries(findings.checks, t),
    ...eventEntries(findings.events, t),
    ...jobEntries(findings.failedJobs, t),
    ...backupEntries(findings, { days: civic.config.backup_days, now: civic.clock.now() }, t),
    ...(await Promise.all(attention.map((source) => entriesOf(source, civic.operations.mask, t)))).flat(),
  ];
  return entries.toSorted((a, b) => Number(b.isUrgent ?? false) - Number(a.isUrgent ?? false));
}

function checkEntries(checks: CheckFinding[], t: Texts): AttentionEntry[] {
  return checks.filter(({ status, plugin, name }) => status !== 'ok' && !SHOWN_OTHERWISE.has(`${plugin} ${name}`)).map(({ plugin, name, status, detail, fix, isReadiness }) => ({
    title: t(isReadiness && status === 'failed' ? 'attention.not_ready' : 'attention.check', { plugin, name }),
    detail,
    language: 'en',
    advice: fix,
    isUrgent: status === 'failed',
  }));
}

function eventEntries({ plugins }: EventsStatus, t: Texts): AttentionEntry[] {
  return plugins.filter(({ state }) => state === 'stopped').map(({ plugin, failed_seq, error }) => ({
    title: t('attention.events', { plugin, seq: failed_seq }),
    detail: error ?? undefined,
    language: 'en',
    isUrgent: true,
    actions: [{ label: t('actions.retry'), path: `/console/events/${plugin}/retry` }],
  }));
}

function jobEntries(jobs: JobRecord[], t: Texts): AttentionEntry[] {
  const shown = jobs.slice(0, FAILED_SHOWN).map(({ id, name, error }): AttentionEntry => ({
    title: name === BACKUP_JOB ? t('attention.backup_failed') : t('attention.job', { name }),
    detail: error ?? undefined,
    language: 'en',
    isUrgent: true,
    actions: [{ label: t('actions.retry'), path: `${JOBS}/${id}/retry` }, { label: t('actions.discard'), path: `${JOBS}/${id}/discard` }],
  }));
  if (jobs.length <= FAILED_SHOWN) return shown;
  return [...shown, { title: t('attention.more_jobs'), link: { label: t('jobs.all'), path: JOBS } }];
}

function backupEntries({ backups: [newest], lastBackupJob }: Findings, { days, now }: { days: number; now: number }, t: Texts): AttentionEntry[] {
  const isUnderway = lastBackupJob?.state === 'pending' || lastBackupJob?.state === 'running';
  const age = newest ? Math.floor((now - Date.parse(newest.created_at)) / DAY_MS) : null;
  if (days === 0 || isUnderway || (age !== null && age < days)) return [];
  const title = age === null ? t('attention.no_backup') : t('attention.old_backup', { days: age });
  return [{ title, detail: t('attention.backup_why'), actions: [{ label: t('actions.back_up'), path: BACKUPS }] }];
}

/** Returns the entries of a plugin. When `load` throws, returns an entry with the error: the console has to work while a plugin fails. */
async function entriesOf({ plugin, load }: AttentionSource, mask: (text: string) => string, t: Texts): Promise<AttentionEntry[]> {
  try {
    return await load(t.language as Language);
  } catch (error) {
    return [{ title: t('attention.unknown', { plugin }), detail: mask((error as Error).message), language: 'en', isUrgent: true }];
  }
}
