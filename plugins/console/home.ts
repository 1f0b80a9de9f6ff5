import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import type { CheckFinding, LoadedPart, PluginState, Texts } from 'civic';
import { activityPlots, SPANS, type Span } from './activity.ts';
import { attentionEntries, FAILED_SHOWN } from './attention.ts';
import { backupsState, lastBackupJob } from './backups.ts';
import { shownListeners } from './jobs.ts';
import { noticeOf } from './page.ts';
import type { Console } from './service.ts';

const EVENTS_SHOWN = 5;

/** Returns the handler of the home of the console. */
export function createHome(console: Console): (request: Request, h: ResponseToolkit) => Promise<ResponseObject> {
  const { civic, accounts } = console;
  const { operations } = civic;
  return async (request, h) => {
    const t = await civic.texts(request.civic.language);
    const span = spanOf(request.query.span);
    const [checks, events, failedJobs, status, backups, job, plots, totals, recent, sections] = await Promise.all([
      operations.checks(), operations.events.status(), operations.jobs.failed(FAILED_SHOWN + 1), operations.jobs.status(), operations.backups.list(), lastBackupJob(console),
      activityPlots(console, span, t), accounts.totals(civic.db.read), accounts.recentEvents(request.civic.language, EVENTS_SHOWN), sectionsOf(console, request),
    ]);
    const attention = await attentionEntries(console, { checks, events, failedJobs, backups, lastBackupJob: job }, t);
    return accounts.pages.showConsole(request, h, { path: accounts.pages.consolePath, template: 'console/home', title: t('home.title') }, {
      notice: noticeOf(request, t), attention, plots, totals, recent, sections, status,
      spans: SPANS.map((one) => ({ span: one, label: t(`activity.${one}`), isHere: one === span })),
      backups: { count: backups.length, ...backupsState(backups.slice(0, 1), job, t, (at) => accounts.pages.when(at, t)) },
      listeners: shownListeners(events),
      plugins: operations.plugins().toSorted((a, b) => (a.name < b.name ? -1 : 1)).map((plugin) => shownPlugin(plugin, checks, t)),
    });
  };
}

function spanOf(given: unknown): Span {
  return SPANS.find((span) => span === given) ?? SPANS[0];
}

function shownPlugin({ name, isOn, summary, version }: PluginState, checks: CheckFinding[], t: Texts): object {
  const failing = checks.filter(({ plugin, isReadiness, status }) => plugin === name && isReadiness && status === 'failed');
  const state = !isOn ? 'off' : failing.length > 0 ? 'not_ready' : 'ready';
  return { name, version, state, summary: summary && t.declared(name, 'summary', summary), failing: failing.map((check) => check.name).join(', ') };
}

/** Returns the sections of other plugins. When one of them cannot be loaded, returns a notice instead of all. */
async function sectionsOf({ civic }: Console, request: Request): Promise<LoadedPart[]> {
  try {
    return await civic.pages.parts('console.sections', request);
  } catch (error) {
    civic.log.error({ err: error }, 'The sections of other plugins could not be loaded for the console');
    return [{ partial: 'console/missing', context: {} }];
  }
}
