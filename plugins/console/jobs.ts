import type { ServerRoute } from '@hapi/hapi';
import { formOptions, type EventsStatus, type JobRecord, type JobSchedule, type Texts } from 'civic';
import { go, noticeOf, PAGE, type Done } from './page.ts';
import { JOBS } from './paths.ts';
import type { Console } from './service.ts';

const MOST = 100;
const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];

export function jobRoutes({ civic, accounts }: Console): ServerRoute[] {
  const { pages } = accounts;
  const { jobs, events } = civic.operations;
  /** Returns the page to redirect to: the home for forms of the home, which send `from`. */
  const back = (payload: unknown): string => ((payload as { from?: unknown } | null)?.from === 'home' ? pages.consolePath : JOBS);

  return [
    {
      method: 'GET', path: JOBS, options: PAGE,
      handler: pages.administrator(async (_by, request, h) => {
        const t = await civic.texts(request.civic.language);
        const when = (at: string | null) => pages.when(at, t);
        const [status, failed, underway, schedules, delivered] = await Promise.all([jobs.status(), jobs.failed(MOST), jobs.underway(MOST), jobs.schedules(), events.status()]);
        return pages.showConsole(request, h, { path: JOBS, template: 'console/jobs', title: t('jobs.title') }, {
          status, notice: noticeOf(request, t),
          failed: failed.map((job) => shownJob(job, when)),
          underway: underway.map((job) => shownJob(job, when)),
          schedules: schedules.map((one) => ({ name: one.name, every: everyText(one, t), next: when(one.next_at) })),
          listeners: shownListeners(delivered),
        });
      }),
    },
    {
      method: 'POST', path: `${JOBS}/{id}/retry`, options: formOptions(),
      handler: pages.administrator(async ({ doer }, request, h) => {
        const id = String(request.params.id);
        const outcome = await civic.db.write(async (tx) => {
          const done = await jobs.retry(tx, id);
          if (done === 'retried') await accounts.record(tx, { kind: 'console_job_retried', by: doer, subject: id.toLowerCase() });
          return done;
        });
        return go(request, h, back(request.payload), outcome ?? 'not_failed');
      }),
    },
    {
      method: 'POST', path: `${JOBS}/{id}/discard`, options: formOptions(),
      handler: pages.administrator(async ({ doer }, request, h) => {
        const id = String(request.params.id);
        const name = await civic.db.write(async (tx) => {
          const discarded = await jobs.discard(tx, id);
          if (discarded !== null) await accounts.record(tx, { kind: 'console_job_discarded', by: doer, subject: id.toLowerCase(), detail: { name: discarded } });
          return discarded;
        });
        return go(request, h, back(request.payload), name === null ? 'not_failed' : 'discarded');
      }),
    },
    {
      method: 'POST', path: '/console/events/{plugin}/retry', options: formOptions(),
      handler: pages.administrator(async ({ doer }, request, h) => {
        const plugin = String(request.params.plugin);
        const retried = await events.retry(plugin);
        if (retried) await civic.db.write((tx) => accounts.record(tx, { kind: 'console_events_retried', by: doer, detail: { name: plugin } }));
        const done: Done = retried ? 'events_retried' : 'not_failed';
        return go(request, h, back(request.payload), done);
      }),
    },
  ];
}

/** Returns a job for a page, without its payload. */
function shownJob({ id, name, state, attempts, progress, error, run_at, finished_at }: JobRecord, when: (at: string | null) => unknown): object {
  const { done, total } = progress;
  return { id, name, attempts, error, isRunning: state === 'running', percent: total > 0 ? Math.floor((done / total) * 100) : null, run_at: when(run_at), finished_at: when(finished_at) };
}

/** Returns how far each running plugin has processed events. */
export function shownListeners({ plugins }: EventsStatus): object[] {
  return plugins.filter(({ state }) => state !== 'off').map((one) => ({ ...one, isStopped: one.state === 'stopped' }));
}

function everyText({ every_seconds: seconds }: JobSchedule, t: Texts): string {
  if (seconds % DAY === 0) return t('every.days', { count: seconds / DAY });
  if (seconds % HOUR === 0) return t('every.hours', { count: seconds / HOUR });
  return seconds % MINUTE === 0 ? t('every.minutes', { count: seconds / MINUTE }) : t('every.seconds', { count: seconds });
}
