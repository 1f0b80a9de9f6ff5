import type { ResponseObject } from '@hapi/hapi';
import type { Discovery } from '../context.ts';
import { runsIn } from '../runs/quota-store.ts';
import { shownPage, type ShownRun } from '../runs/runs.ts';
import { monthOf } from '../runs/start.ts';
import { DEPTHS } from '../runs/store.ts';
import type { RunPage } from './area.ts';
import { partOf } from './fields.ts';
import { issueGroups, type Refused } from './start.ts';
import { issueName } from './values.ts';

const AT_ONCE = 25;

/** Shows the runs of an area, and the form that starts one. */
export async function showRuns(discovery: Discovery, page: RunPage, { status = 200, ...refused }: Partial<Refused> = {}): Promise<ResponseObject> {
  const { request, t, owner } = page;
  const { after, links } = partOf(request, AT_ONCE, ['integer']);
  const { data, next } = await shownPage(discovery, discovery.civic.db.read, owner, { before: after && Number(after[0]), limit: AT_ONCE });
  return page.show({ template: 'discovery/runs', title: t('runs.title'), status }, {
    runs: data.map((run) => runOnPage(discovery, page, run)), ...links(next === null ? null : [next]),
    quota: await quotaOf(discovery, page), groups: await issueGroups(discovery, t, refused.given?.['issue_areas[]']),
    depths: DEPTHS.map((depth) => ({ depth, label: t(`depths.${depth}`), isChosen: depth === (refused.given?.['depth'] ?? 'standard') })), ...refused,
  });
}

/** Returns what pages show of a run, in the language of the page. */
export function runOnPage({ accounts, directory }: Discovery, { t }: RunPage, run: ShownRun): object {
  const { id, status, origin, location, issue_areas, depth, progress, counts, error, created_at, completed_at } = run;
  const isOpen = status === 'pending' || status === 'running';
  const when = (at: string | null) => accounts!.pages.when(at, t);
  return {
    id, location, counts, isOpen, state: status, stateText: t(`states.${error?.code === 'cancelled' ? 'cancelled' : status}`), isFailed: status === 'failed', failure: error && error.code !== 'cancelled' ? error.detail : null,
    isOfSource: origin.type === 'watched_source', originText: origin.type === 'request' ? null : t(`origins.${origin.type}`), issues: issue_areas.map((slug) => issueName(directory, slug, t)), depthText: t(`depths.${depth}`),
    created: when(created_at), completed: when(completed_at), progress: { ...progress, phases: PHASES.map((phase) => ({ phase, text: t(`phases.${phase}`), isNow: phase === (progress.phase ?? 'find') })) },
  };
}

const PHASES = ['find', 'read', 'match'];

interface Quota {
  used: number;
  most: number;
  isFull: boolean;
  /** Whether the plan has no runs at all. */
  isNone: boolean;
}

/** Returns how many runs of this month the workspace has used; null in the console, where there is no limit. */
async function quotaOf({ civic, accounts }: Discovery, { owner: { workspace_id }, caller: { plan } }: RunPage): Promise<Quota | null> {
  if (workspace_id === null) return null;
  const most = accounts!.limitOf(plan, 'discovery_runs');
  const used = await runsIn(civic.db.read, [workspace_id], monthOf(civic.clock.now()));
  return { used, most, isFull: used >= most, isNone: most === 0 };
}
