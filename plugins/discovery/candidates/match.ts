import type { JobKind, Reader, RunningJob } from 'civic';
import type { ActorMatch } from 'civic/directory';
import type { Discovery } from '../context.ts';
import { runById, type RunRow } from '../runs/store.ts';
import { atPlace } from './place.ts';
import { lockedCandidate, unmatched, updateCandidate, type CandidateRow } from './store.ts';

export const MATCH_JOB = 'discovery.match';
const AT_ONCE = 50;

/** What is stored about the known actor that a candidate may be. */
export type Match = Pick<ActorMatch, 'entity_id' | 'name' | 'score' | 'reasons'>;

/** Compares the new candidates of the run of an origin. A job of its own, because comparing hundreds would keep other writers waiting. */
export function matchJob(discovery: Discovery): JobKind<{ run_id: string }> {
  return {
    name: MATCH_JOB,
    async run(job) {
      const run = await runById(discovery.civic.db.read, job.payload.run_id);
      if (run) await matchCandidates(discovery, run, job);
    },
  };
}

/** Compares all candidates of a run that were not compared yet with known actors. */
export async function matchCandidates(discovery: Discovery, run: RunRow, { signal, write }: Pick<RunningJob, 'signal' | 'write'>): Promise<void> {
  const { civic } = discovery;
  for (;;) {
    const waiting = await unmatched(civic.db.read, run.key, AT_ONCE);
    if (waiting.length === 0) return;
    for (const candidate of waiting) {
      signal.throwIfAborted();
      const match = await matchOf(discovery, civic.db.read, candidate, run);
      await write(async (tx) => {
        const current = await lockedCandidate(tx, run.key, candidate.id);
        // Further claims that were found meanwhile are compared in the next round.
        if (current?.claims === candidate.claims) await updateCandidate(tx, candidate.key, { match: match && JSON.stringify(match), matched_at: civic.clock.iso() });
      });
    }
  }
}

/** Returns the known actor that a candidate most likely is; null when there is none. */
export async function matchOf({ directory }: Discovery, reader: Reader, { type, claims, sources, workspace_id }: CandidateRow, { place_key }: Pick<RunRow, 'place_key'>): Promise<Match | null> {
  const [best] = await directory.matchesOf(reader, atPlace({ type, claims: JSON.parse(claims), sources: JSON.parse(sources) }, place_key), workspace_id);
  return best ? { entity_id: best.entity_id, name: best.name, score: best.score, reasons: best.reasons } : null;
}
