import { problem, type Caller, type Reader, type Tx } from 'civic';
import { createDecisions, foundCandidate, type CandidateChange, type NewDecision } from './candidates/decide.ts';
import { matchOf } from './candidates/match.ts';
import { shownCandidate, type ShownCandidate } from './candidates/shown.ts';
import { candidatesPage, updateCandidate, type Decision } from './candidates/store.ts';
import type { Discovery } from './context.ts';
import { isOpen } from './engine/engine.ts';
import { pagesPage, type PageRow } from './runs/pages-store.ts';
import { foundRun, shownPage, shownRuns, type ShownRun } from './runs/runs.ts';
import { newRun } from './runs/schemas.ts';
import { RUN_JOB, RUN_PRIORITY, startRun, type NewRun } from './runs/start.ts';
import { lockedRun, updateRun } from './runs/store.ts';

/** A person who researches without HTTP, such as on a machine of their own. Needs no account. */
export type Researcher = Caller & { workspace_id: string };

export type RunPage = Pick<PageRow, 'url' | 'state' | 'reason' | 'detail' | 'title' | 'retrieved_at' | 'found'>;

/** What the routes do, as functions. They throw the same problems. */
export interface Research {
  start(tx: Tx, person: Researcher, run: Pick<NewRun, 'location' | 'issue_areas'> & Partial<NewRun>): Promise<ShownRun>;
  /** Makes sure that an open run has a job; throws `run_ended` for any other. */
  resume(tx: Tx, person: Researcher, id: string): Promise<ShownRun>;
  run(reader: Reader, person: Researcher, id: string): Promise<ShownRun>;
  /** The latest first. */
  runs(reader: Reader, person: Researcher, limit: number): Promise<ShownRun[]>;
  pages(reader: Reader, person: Researcher, runId: string): Promise<RunPage[]>;
  /** The highest score first. */
  candidates(reader: Reader, person: Researcher, runId: string, decision?: Decision): Promise<ShownCandidate[]>;
  candidate(reader: Reader, person: Researcher, runId: string, id: string): Promise<ShownCandidate>;
  decide(tx: Tx, person: Researcher, runId: string, id: string, decision: NewDecision): Promise<{ candidate: ShownCandidate; warnings: string[] }>;
  undo(tx: Tx, person: Researcher, runId: string, id: string): Promise<ShownCandidate>;
  /** Corrects a pending candidate, and compares it with known actors again. */
  change(tx: Tx, person: Researcher, runId: string, id: string, change: CandidateChange): Promise<ShownCandidate>;
}

/** Of one run: it has no more pages and candidates than this. */
const MOST = 10_000;

export function createResearch(discovery: Discovery): Research {
  const { civic } = discovery;
  const decisions = createDecisions(discovery);
  const shown = async (reader: Reader, row: Parameters<typeof shownRuns>[2][number]): Promise<ShownRun> => (await shownRuns(discovery, reader, [row]))[0]!;

  return {
    async start(tx, person, given) {
      const { value, error } = newRun.validate(given, { abortEarly: false, errors: { label: false } });
      if (error) throw problem('invalid_request', { errors: error.details.map(({ path, message }) => ({ pointer: `/${path.join('/')}`, detail: message })) });
      return shown(tx, await startRun(discovery, tx, person, value as NewRun));
    },
    async resume(tx, person, id) {
      const row = (await lockedRun(tx, (await foundRun(tx, person, id)).id))!;
      if (!isOpen(row)) throw problem('run_ended', { detail: `The run is ${row.status}.` });
      const job = row.job_id === null ? null : await civic.jobs.byId(row.job_id);
      if (job?.state !== 'pending' && job?.state !== 'running') await updateRun(tx, row.key, { job_id: await civic.jobs.enqueue(tx, RUN_JOB, { run_id: row.id }, RUN_PRIORITY) });
      return shown(tx, row);
    },
    run: async (reader, person, id) => shown(reader, await foundRun(reader, person, id)),
    runs: async (reader, person, limit) => (await shownPage(discovery, reader, { workspace_id: person.workspace_id }, { before: null, limit })).data,
    async pages(reader, person, runId) {
      const { rows } = await pagesPage(reader, (await foundRun(reader, person, runId)).key, { after: null, limit: MOST });
      return rows.map(({ url, state, reason, detail, title, retrieved_at, found }) => ({ url, state, reason, detail, title, retrieved_at, found }));
    },
    async candidates(reader, person, runId, decision) {
      const run = await foundRun(reader, person, runId);
      return (await candidatesPage(reader, { run_key: run.key, ...(decision && { decision }) }, { after: null, limit: MOST })).rows.map(shownCandidate);
    },
    candidate: async (reader, person, runId, id) => shownCandidate(await foundCandidate(reader, await foundRun(reader, person, runId), id)),
    async decide(tx, person, runId, id, decision) {
      const { candidate, warnings } = await decisions.decide(tx, await foundRun(tx, person, runId), id, decision, person);
      return { candidate: shownCandidate(candidate), warnings };
    },
    undo: async (tx, person, runId, id) => shownCandidate(await decisions.undo(tx, await foundRun(tx, person, runId), id, person)),
    async change(tx, person, runId, id, change) {
      const run = await foundRun(tx, person, runId);
      const changed = await decisions.change(tx, run, id, change, person);
      const match = await matchOf(discovery, tx, changed, run);
      return shownCandidate(await updateCandidate(tx, changed.key, { match: match && JSON.stringify(match), matched_at: civic.clock.iso() }));
    },
  };
}
