import type { ServerRoute } from '@hapi/hapi';
import { formOptions } from 'civic';
import type { Decisions } from '../candidates/decide.ts';
import type { Discovery } from '../context.ts';
import type { RunEvents } from '../runs/events.ts';
import { showArchived } from './archived.ts';
import { PAGE, type Area } from './area.ts';
import { showCandidate } from './candidate.ts';
import { actOnCandidate } from './decide.ts';
import { cancelFromForm, decideSelected, runOf, showRun, showSources } from './run.ts';
import { showRuns } from './runs.ts';
import { startFromForm } from './start.ts';

/** The pages of an area: its runs, one of them with its sources, and the review of its candidates. */
export function discoveryPages(discovery: Discovery, decisions: Decisions, events: RunEvents, { path, handler }: Area): ServerRoute[] {
  const run = `${path}/{run}`;
  const candidate = `${run}/candidates/{candidate}`;
  return [
    { method: 'GET', path, options: PAGE, handler: handler((page) => showRuns(discovery, page)) },
    {
      method: 'POST', path, options: formOptions(),
      handler: handler(async (page) => {
        const started = await startFromForm(discovery, page);
        return 'given' in started ? showRuns(discovery, page, started) : started;
      }),
    },
    { method: 'GET', path: run, options: PAGE, handler: handler((page) => showRun(discovery, page)) },
    { method: 'POST', path: `${run}/cancel`, options: formOptions(), handler: handler((page) => cancelFromForm(discovery, page)) },
    { method: 'GET', path: `${run}/events`, options: { plugins: { civic: { internal: true, rate: 'stream' } } }, handler: handler(async (page) => events.open(page.request, page.h, await runOf(discovery, page), page.caller)) },
    { method: 'GET', path: `${run}/sources`, options: PAGE, handler: handler((page) => showSources(discovery, page)) },
    { method: 'POST', path: `${run}/candidates`, options: formOptions(), handler: handler((page) => decideSelected(discovery, decisions, page)) },
    { method: 'GET', path: candidate, options: PAGE, handler: handler((page) => showCandidate(discovery, page)) },
    { method: 'POST', path: candidate, options: formOptions(), handler: handler((page) => actOnCandidate(discovery, decisions, page)) },
    { method: 'GET', path: `${candidate}/archived/{source}`, options: PAGE, handler: handler((page) => showArchived(discovery, page)) },
  ];
}
