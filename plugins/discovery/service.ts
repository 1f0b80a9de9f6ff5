import { newId, type Reader, type Tx } from 'civic';
import { MATCH_JOB } from './candidates/match.ts';
import { propose, type Finding } from './candidates/propose.ts';
import { deletePending } from './candidates/store.ts';
import type { Discovery, FindAddresses, UnderstandPage } from './context.ts';
import { proposedRuns, type ProposedRun } from './proposals/proposals.ts';
import { createResearch, type Research } from './research.ts';
import { deleteRun, insertRun, lockedRunOf, updateRun, type RunRow } from './runs/store.ts';

export type { Finding } from './candidates/propose.ts';
export type { ShownCandidate } from './candidates/shown.ts';
export type { Research, Researcher, RunPage } from './research.ts';
export type { ShownRun } from './runs/runs.ts';

/** What findings come from, such as a watched source. Each origin has one run. */
export interface Origin {
  type: Exclude<RunRow['origin'], 'request' | 'schedule' | 'sync'>;
  id: string;
  /** Null for the operator's. */
  workspace_id: string | null;
  account_id: string | null;
  /** What people call it. */
  location: string;
  place_key: string | null;
  issue_areas: string[];
}

/** The service of this plugin for other plugins. */
export interface DiscoveryService {
  /** Proposes actors that a plugin met, as candidates of the run of the origin, which is created when there is none. Reviewers decide about them. */
  propose(tx: Tx, origin: Origin, findings: Finding[]): Promise<void>;
  /** Adds a function that names pages with which runs about a place begin, besides their seeds; called in `register`. */
  addresses(find: FindAddresses): void;
  /** Adds a function that reads pages of a known form before the general extraction; called in `register`. */
  understand(read: UnderstandPage): void;
  /** Returns runs that gaps of the directory suggest, places with most actors first. Reviewers start them. */
  proposedRuns(reader: Reader): Promise<ProposedRun[]>;
  /** Deletes the run of an origin that is gone, with the candidates that wait. Decided ones, and then the run, stay: rejections are remembered. */
  forget(tx: Tx, originId: string): Promise<void>;
  /** Runs, candidates and decisions of a person who needs no account, without HTTP. */
  research: Research;
}

declare module 'civic' {
  interface Services { discovery: DiscoveryService }
}

export function discoveryService(discovery: Discovery): DiscoveryService {
  const { civic } = discovery;

  async function runOf(tx: Tx, origin: Origin): Promise<RunRow> {
    const at = civic.clock.iso();
    const current = { location: origin.location, place_key: origin.place_key, issue_areas: JSON.stringify(origin.issue_areas), completed_at: at };
    const known = await lockedRunOf(tx, origin.id);
    if (known) {
      await updateRun(tx, known.key, current);
      return { ...known, ...current };
    }
    return insertRun(tx, {
      ...current, id: newId(civic.clock.now()), workspace_id: origin.workspace_id, account_id: origin.account_id, origin: origin.type, origin_id: origin.id, status: 'completed', depth: 'standard',
      phase: null, done: 0, total: 0, queries: 0, sources_found: 0, sources_fetched: 0, sources_skipped: 0, candidates: 0, duplicates: 0, error_code: null, error_detail: null, job_id: null,
      created_at: at, started_at: at,
    });
  }

  return {
    research: createResearch(discovery),
    async propose(tx, origin, findings) {
      if (findings.length === 0) return;
      const run = await runOf(tx, origin);
      await propose(discovery, tx, run, findings);
      await civic.jobs.enqueue(tx, MATCH_JOB, { run_id: run.id }, { unique_key: run.id });
    },
    addresses(find) { discovery.addresses.push(find); },
    understand(read) { discovery.understand.push(read); },
    proposedRuns: (reader) => proposedRuns(discovery, reader),
    async forget(tx, originId) {
      const run = await lockedRunOf(tx, originId);
      if (run && !await deletePending(tx, run.key)) await deleteRun(tx, run.key);
    },
  };
}
