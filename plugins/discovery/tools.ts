import { fitData, fitText, Joi, problem, quoteText, type Caller, type Resource, type Tool } from 'civic';
import { candidatesPage } from './candidates/store.ts';
import { shownCandidate } from './candidates/shown.ts';
import { candidate } from './candidates/schemas.ts';
import { ownerOf, type Discovery } from './context.ts';
import { foundRun, shownPage, shownRuns, type ShownRun } from './runs/runs.ts';
import { newRun, run } from './runs/schemas.ts';
import { startRun, type NewRun } from './runs/start.ts';
import { STATUSES, type Status } from './runs/store.ts';

const NEXT = {
  unknown_run: 'Call list_discovery_runs to get the ids of runs.',
  run_quota_spent: 'Tell the user that the runs of this month are used. Do not call it again.',
  workspace_forbidden: 'Ask the user to choose another workspace for this assistant.',
};
const MOST_CANDIDATES = 25;

/** Returns the tools with which assistants start runs and read what they found. Reviewers decide about candidates on pages and by API. */
export function discoveryTools(discovery: Discovery): Tool[] {
  const { civic } = discovery;
  return [
    {
      name: 'start_discovery_run',
      title: 'Start a discovery run',
      description: 'Starts a search for civic actors of a place that are not in the directory yet. It reads public pages in the background, beginning with seeds, and takes minutes. Then call get_discovery_run. Use the slugs of list_issue_areas or resolve_issue_areas.',
      readOnly: false,
      destructive: false,
      scope: 'discovery:write',
      plan: 'discovery',
      input: newRun,
      output: run,
      advice: NEXT,
      run: (input: NewRun, { caller }) => civic.db.write(async (tx) => {
        const started = await startRun(discovery, tx, memberOf(caller), input);
        const [data] = await shownRuns(discovery, tx, [started]);
        return { data: data!, text: `The run ${started.id} is started. Call get_discovery_run in a minute.` };
      }),
    },
    {
      name: 'get_discovery_run',
      title: 'Read a discovery run',
      description: 'Returns the progress of a discovery run and its best candidates with their sources. Candidates are not verified: name the source of each, and say that a reviewer has to accept it. Do not call it more than twice a minute.',
      readOnly: true,
      destructive: false,
      scope: 'discovery:read',
      input: Joi.object({ run_id: Joi.string().required().description('The id of the run, from start_discovery_run or list_discovery_runs') }),
      output: Joi.object({ run: run.required(), candidates: Joi.array().items(candidate).required(), total_candidates: Joi.number().integer().required() }).unknown(),
      advice: NEXT,
      run: ({ run_id }: { run_id: string }, { caller, maxBytes }) => civic.db.snapshot(async (tx) => {
        const row = await foundRun(tx, ownerOf(memberOf(caller), 'workspace'), run_id);
        const [shown] = await shownRuns(discovery, tx, [row]);
        const { rows, total } = await candidatesPage(tx, { run_key: row.key }, { after: null, limit: MOST_CANDIDATES });
        const candidates = rows.map(shownCandidate);
        const lines = candidates.map(({ type, name, decision, score, sources }) => `- ${quoteText(name)} (${type}, ${decision}, score ${score}): ${sources[0]?.url ?? ''}`);
        return { data: fitData({ run: shown!, total_candidates: total, candidates }, maxBytes), text: fitText([lineOf(shown!), ...lines]) };
      }),
    },
    {
      name: 'list_discovery_runs',
      title: 'List discovery runs',
      description: 'Returns the discovery runs of the user’s workspace, the latest first, also those of its watched sources.',
      readOnly: true,
      destructive: false,
      scope: 'discovery:read',
      input: Joi.object({ status: Joi.string().valid(...STATUSES).description('Only runs with this status'), limit: Joi.number().integer().min(1).max(50).default(10).description('How many runs') }),
      output: Joi.object({ data: Joi.array().items(run).required(), total: Joi.number().integer().required() }).unknown(),
      advice: NEXT,
      run: ({ status, limit }: { status?: Status; limit: number }, { caller, maxBytes }) => civic.db.snapshot(async (tx) => {
        const { data, total } = await shownPage(discovery, tx, { ...ownerOf(memberOf(caller), 'workspace'), ...(status && { status }) }, { before: null, limit });
        return { data: fitData({ total, data }, maxBytes), text: fitText(data.map(lineOf)) || 'The workspace has no discovery runs.' };
      }),
    },
  ];
}

export function discoveryResources(discovery: Discovery): Resource[] {
  const { civic } = discovery;
  return [{
    uri: 'civic://discovery-runs/{id}',
    name: 'discovery_run',
    title: 'Discovery run',
    description: 'One discovery run of the workspace with its progress and counts, as JSON.',
    scope: 'discovery:read',
    read: ({ id }, { caller }) => civic.db.snapshot(async (tx) => JSON.stringify((await shownRuns(discovery, tx, [await foundRun(tx, ownerOf(memberOf(caller), 'workspace'), id!)]))[0])),
  }];
}

function memberOf(caller: Caller | null): Caller & { workspace_id: string } {
  if (!caller?.workspace_id) throw problem('workspace_forbidden', { detail: 'The credential works in no workspace.' });
  return { ...caller, workspace_id: caller.workspace_id };
}

function lineOf({ id, location, status, progress, counts }: ShownRun): string {
  return `- ${quoteText(location)} [run ${id}]: ${status}, pages ${progress.done} of ${progress.total}, candidates ${counts.candidates}, waiting for a decision ${counts.actors_proposed}`;
}
