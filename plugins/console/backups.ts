import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, Joi, pagePath, problem, type Backup, type JobRecord, type Texts } from 'civic';
import { BACKUP_JOB, BACKUP_REASON, enqueueBackup } from './backup-job.ts';
import { go, noticeOf, PAGE } from './page.ts';
import { BACKUPS } from './paths.ts';
import type { Console } from './service.ts';

const RECENT_MS = 10 * 60_000;
const MEGABYTE = 1_000_000;

/** The backups of this node, and the state of the last backup job. */
export interface BackupsState {
  all: object[];
  /** Present while a backup waits or runs. */
  running: { percent: number | null } | null;
  /** Why the last backup failed. */
  error: string | null;
  /** Whether another node wrote the last backup, to a folder of its own. */
  isElsewhere: boolean;
}

export function backupRoutes(console: Console): ServerRoute[] {
  const { civic, accounts } = console;
  const { pages } = accounts;
  const { backups } = civic.operations;

  async function listPage(request: Request, h: ResponseToolkit): Promise<ResponseObject> {
    const t = await civic.texts(request.civic.language);
    const list = await backups.list();
    const wanted = list.find(({ name }) => name === request.query.download)?.name;
    const response = pages.showConsole(request, h, { path: BACKUPS, template: 'console/backups', title: t('backups.title') }, {
      ...backupsState(list, await lastBackupJob(console), t, (at) => pages.when(at, t)),
      kept: civic.config.backups_kept,
      download: wanted,
      notice: wanted ? t('backups.downloading', { name: wanted }) : noticeOf(request, t),
    });
    // The header starts the download and leaves this page open.
    return wanted ? response.header('refresh', `0; url=${pagePath(request, filePath(wanted))}`) : response;
  }

  return [
    { method: 'GET', path: BACKUPS, options: PAGE, handler: pages.administrator((_by, request, h) => listPage(request, h)) },
    {
      method: 'POST', path: BACKUPS, options: formOptions(),
      handler: pages.administrator(async ({ doer }, request, h) => {
        const before = await lastBackupJob(console);
        const id = await civic.db.write(async (tx) => {
          const job = await enqueueBackup(console, tx);
          if (job !== before?.id) await accounts.record(tx, { kind: 'console_backup_started', by: doer, subject: job });
          return job;
        });
        return go(request, h, BACKUPS, id === before?.id ? 'backup_running' : 'backup_started');
      }),
    },
    {
      method: 'POST', path: `${BACKUPS}/{name}/download`, options: { ...formOptions(), validate: NAMED },
      handler: pages.confirmedAdministrator(async (_by, request, h) => {
        const name = String(request.params.name);
        if (!(await backups.list()).some((backup) => backup.name === name)) throw unknownBackup();
        return h.redirect(pagePath(request, `${BACKUPS}?${new URLSearchParams({ download: name })}`)).code(303).header('cache-control', 'no-store');
      }, { back: () => BACKUPS }),
    },
    {
      method: 'GET', path: `${BACKUPS}/{name}/file`, options: { ...PAGE, validate: NAMED },
      handler: pages.administrator(async ({ authenticated_at, doer }, request, h) => {
        const age = civic.clock.now() - authenticated_at;
        if (age < 0 || age >= RECENT_MS) return go(request, h, BACKUPS, 'confirm_again');
        const archive = await backups.archive(String(request.params.name));
        if (!archive) throw unknownBackup();
        if (request.method === 'get') await civic.db.write((tx) => accounts.record(tx, { kind: 'console_backup_downloaded', by: doer, detail: { name: archive.fileName } }));
        return h.response(archive.open()).type('application/x-tar').bytes(archive.bytes)
          .header('content-disposition', `attachment; filename="${archive.fileName}"`).header('cache-control', 'private, no-store');
      }),
    },
  ];
}

const NAMED = { params: Joi.object({ name: Joi.string().max(220) }) };

function unknownBackup(): Error {
  return problem('not_found', { detail: 'There is no backup of that name.' });
}

function filePath(name: string): string {
  return `${BACKUPS}/${encodeURIComponent(name)}/file`;
}

export function lastBackupJob({ civic }: Console): Promise<JobRecord | null> {
  return civic.operations.jobs.newest(BACKUP_JOB);
}

/** Returns what the pages show about backups. */
export function backupsState(list: Backup[], job: JobRecord | null, t: Texts, when: (at: string) => unknown): BackupsState {
  const isUnderway = job?.state === 'pending' || job?.state === 'running';
  const { done = 0, total = 0 } = job?.progress ?? {};
  return {
    all: list.map(({ name, created_at, version, rows, bytes }) => ({ name, at: when(created_at), date: t.formatTime(created_at), version, rows, size: sizeText(bytes, t), isOwn: name.endsWith(`-${BACKUP_REASON}`) })),
    running: isUnderway ? { percent: total > 0 ? Math.floor((done / total) * 100) : null } : null,
    error: job?.state === 'failed' ? job.error : null,
    isElsewhere: job?.state === 'completed' && !list.some(({ created_at, name }) => name.endsWith(`-${BACKUP_REASON}`) && created_at >= job.created_at),
  };
}

/** 0.3 MB; 1,204 MB */
function sizeText(bytes: number, t: Texts): string {
  const size = bytes / MEGABYTE;
  return t('backups.megabytes', { size: t.formatNumber(size < 10 ? Math.max(0.1, Math.round(size * 10) / 10) : Math.round(size)) });
}
