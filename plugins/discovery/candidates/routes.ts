import type { Request, ServerRoute } from '@hapi/hapi';
import { Joi, listResponse, pageOf, type Tx } from 'civic';
import { ownerOf, type Discovery, type RunVisibility } from '../context.ts';
import { callerOf, ownerOfRequest, paging, problems, reading, visibilityQuery, writing } from '../runs/routes.ts';
import { foundRun, RUNS } from '../runs/runs.ts';
import type { RunRow } from '../runs/store.ts';
import { foundCandidate, type CandidateChange, type Decisions, type NewDecision } from './decide.ts';
import { candidate, candidateChange, candidateList, decidedCandidate, newDecision } from './schemas.ts';
import { shownCandidate } from './shown.ts';
import { candidatesPage, DECISIONS, type Decision } from './store.ts';

const runParams = Joi.object({ id: Joi.string().max(100).description('The id of the run') });
const params = runParams.keys({ cid: Joi.string().max(100).description('The id of the candidate') });
const ofRun = [...problems, 'unknown_run'];
const ofCandidate = [...ofRun, 'unknown_candidate'];

export function candidateRoutes({ civic }: Discovery, decisions: Decisions): ServerRoute[] {
  const runOf = (reader: Parameters<typeof foundRun>[0], request: Request): Promise<RunRow> => foundRun(reader, ownerOfRequest(request), String(request.params.id));
  const cidOf = (request: Request): string => String(request.params.cid);
  const changing = <T>(request: Request, work: (tx: Tx, run: RunRow) => Promise<T>): Promise<T> => civic.db.write(async (tx) => work(tx, await runOf(tx, request)));

  return [
    {
      method: 'GET',
      path: `${RUNS}/{id}/candidates`,
      options: {
        description: 'The candidates of a run, the highest score first',
        notes: 'Each with its claims, the passage of each claim, and the known actor that it may be.',
        auth: reading,
        validate: { query: visibilityQuery.keys({ ...paging, decision: Joi.string().valid(...DECISIONS) }), params: runParams },
        plugins: { civic: { problems: [...ofRun, 'invalid_cursor'] } },
        response: { schema: candidateList, sample: 0 },
      },
      async handler(request, h) {
        const page = pageOf(request, ['number', 'integer']);
        const { decision, visibility } = page.query as { decision?: Decision; visibility: RunVisibility };
        const run = await foundRun(civic.db.read, ownerOf(callerOf(request), visibility), String(request.params.id));
        const after = page.after && { score: Number(page.after[0]), key: Number(page.after[1]) };
        const { rows, total } = await candidatesPage(civic.db.read, { run_key: run.key, ...(decision && { decision }) }, { after, limit: page.limit + 1 });
        const shown = rows.slice(0, page.limit);
        const last = shown.at(-1);
        return listResponse(request, h, page, { data: shown.map(shownCandidate), total, next: rows.length > page.limit ? [Number(last!.score), Number(last!.key)] : null });
      },
    },
    {
      method: 'GET',
      path: `${RUNS}/{id}/candidates/{cid}`,
      options: {
        description: 'One candidate',
        notes: 'A candidate of another workspace is 404.',
        auth: reading,
        validate: { query: visibilityQuery, params },
        plugins: { civic: { problems: ofCandidate } },
        response: { schema: candidate, sample: 0 },
      },
      async handler(request) {
        const run = await runOf(civic.db.read, request);
        return shownCandidate(await foundCandidate(civic.db.read, run, cidOf(request)));
      },
    },
    {
      method: 'PATCH',
      path: `${RUNS}/{id}/candidates/{cid}`,
      options: {
        description: 'Correct a candidate before it is decided',
        notes: 'For reviewers of the workspace. Values that a person gives have the method `manual`.',
        auth: writing,
        validate: { query: visibilityQuery, params, payload: candidateChange },
        plugins: { civic: { problems: [...ofCandidate, 'candidate_decided', 'unlisted_person'] } },
        response: { schema: candidate, sample: 0 },
      },
      handler: (request) => changing(request, async (tx, run) => shownCandidate(await decisions.change(tx, run, cidOf(request), request.payload as CandidateChange, callerOf(request)))),
    },
    {
      method: 'POST',
      path: `${RUNS}/{id}/candidates/{cid}/decision`,
      options: {
        description: 'Accept, reject or merge a candidate',
        notes: 'For reviewers of the workspace. Accepting creates an actor of the workspace; nothing becomes public. A rejection is remembered in later runs.',
        auth: writing,
        validate: { query: visibilityQuery, params, payload: newDecision },
        plugins: { civic: { problems: [...ofCandidate, 'candidate_decided', 'unknown_actor', 'unlisted_person', 'field_policy'] } },
        response: { schema: decidedCandidate, sample: 0 },
      },
      handler: (request) => changing(request, async (tx, run) => {
        const { candidate: decided, warnings } = await decisions.decide(tx, run, cidOf(request), request.payload as NewDecision, callerOf(request));
        return { ...shownCandidate(decided), warnings };
      }),
    },
    {
      method: 'DELETE',
      path: `${RUNS}/{id}/candidates/{cid}/decision`,
      options: {
        description: 'Undo a decision',
        notes: 'The candidate waits again. An actor that the decision created is deleted, and claims that it added are retracted. It is 409 when the actor was changed since.',
        auth: writing,
        validate: { query: visibilityQuery, params },
        plugins: { civic: { problems: [...ofCandidate, 'candidate_pending', 'actor_changed', 'unknown_actor'] } },
        response: { schema: candidate, sample: 0 },
      },
      handler: (request) => changing(request, async (tx, run) => shownCandidate(await decisions.undo(tx, run, cidOf(request), callerOf(request)))),
    },
  ];
}
