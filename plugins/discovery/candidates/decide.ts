import { isId, problem, problemOf, singleLine, type Caller, type Reader, type Tx } from 'civic';
import type { ActorDraft, ClaimDraft, DoneEdit, KnownActor, SourceDraft } from 'civic/directory';
import { checkMayDecide, type Discovery } from '../context.ts';
import type { RunRow } from '../runs/store.ts';
import { MATCH_JOB } from './match.ts';
import { nameOf } from './propose.ts';
import { atPlace } from './place.ts';
import { candidateById, lockedCandidate, updateCandidate, type CandidateRow } from './store.ts';

export interface NewDecision {
  decision: 'accept' | 'reject' | 'merge';
  into?: string;
  note?: string | null;
}

export interface CandidateChange {
  type?: ActorDraft['type'];
  name?: string;
  claims?: ClaimDraft[];
}

/** A candidate after a decision, and what the reviewer should know about it. */
export interface Decided {
  candidate: CandidateRow;
  warnings: string[];
}

/** What reverts a decision. */
export type Done = { created: string } | { edit: DoneEdit } | { linked: string };

export type Decisions = ReturnType<typeof createDecisions>;

/** What reviewers do with candidates, by API and pages. */
export function createDecisions({ civic, directory }: Discovery) {
  async function locked(tx: Tx, run: RunRow, id: string): Promise<CandidateRow> {
    const row = isId(id) ? await lockedCandidate(tx, run.key, id.toLowerCase()) : undefined;
    if (!row) throw unknownCandidate(id);
    return row;
  }

  async function knownActor(tx: Tx, id: string, caller: Caller): Promise<KnownActor> {
    const [actor] = isId(id) ? await directory.actors(tx, [id.toLowerCase()]) : [];
    if (!actor || (actor.visibility !== 'public' && actor.workspace_id !== caller.workspace_id)) throw problem('unknown_actor', { detail: `No actor has the id ${singleLine(id, 100)}.` });
    return actor;
  }

  /** Adds the claims of a candidate to a known actor. A caller who may not change public actors links the candidate only. */
  async function merge(tx: Tx, candidate: CandidateRow, into: string, caller: Caller): Promise<{ entity_id: string; done: Done }> {
    const actor = await knownActor(tx, into, caller);
    if (actor.visibility === 'public' && caller.role === 'user') return { entity_id: actor.id, done: { linked: actor.id } };
    const { claims, sources } = draftOf(candidate);
    const add = claims.filter(({ property }) => property !== 'type');
    try {
      return { entity_id: actor.id, done: { edit: await directory.edit(tx, { kind: 'change', id: actor.id, sources, add, retract: [] }, caller) } };
    } catch (error) {
      // The actor states all of it already.
      if (problemOf(error)?.code === 'nothing_changed') return { entity_id: actor.id, done: { linked: actor.id } };
      throw error;
    }
  }

  /** Names the actors that the candidate resembles as much, and that were judged to be others than the one it is merged into. */
  async function contradictions(tx: Tx, candidate: CandidateRow, entityId: string): Promise<string[]> {
    const alike = (await directory.matchesOf(tx, draftOf(candidate), candidate.workspace_id)).filter(({ entity_id, isCertain }) => entity_id !== entityId && isCertain);
    const warnings: string[] = [];
    for (const { entity_id, name } of alike) {
      const judged = await directory.judgedDifferent(tx, entity_id, entityId);
      if (judged) warnings.push(`The candidate also matches “${name}” (${entity_id}), which was judged to be a different actor${judged.reason === null ? '' : `: ${judged.reason}`}.`);
    }
    return warnings;
  }

  async function checkListed(tx: Tx, run: RunRow, draft: ActorDraft): Promise<void> {
    const [isUnlisted] = await directory.areUnlisted(tx, [atPlace(draft, run.place_key)]);
    if (isUnlisted) throw problem('unlisted_person', { detail: 'The register of people who asked not to be listed has this person.' });
  }

  async function outcomeOf(tx: Tx, candidate: CandidateRow, { decision, into }: NewDecision, caller: Caller): Promise<Pick<CandidateRow, 'decision' | 'entity_id'> & { done: Done | null; warnings: string[] }> {
    if (decision === 'reject') return { decision: 'rejected', entity_id: null, done: null, warnings: [] };
    if (decision === 'accept') {
      const created = await directory.createActor(tx, draftOf(candidate), caller);
      return { decision: 'accepted', entity_id: created, done: { created }, warnings: [] };
    }
    const merged = await merge(tx, candidate, into!, caller);
    return { decision: 'merged', ...merged, warnings: await contradictions(tx, candidate, merged.entity_id) };
  }

  return {
    async decide(tx: Tx, run: RunRow, id: string, given: NewDecision, caller: Caller): Promise<Decided> {
      checkMayDecide(caller, run);
      const candidate = await locked(tx, run, id);
      if (candidate.decision !== 'pending') throw problem('candidate_decided', { detail: `The candidate “${candidate.name}” is ${candidate.decision}.` });
      if (given.decision !== 'reject') await checkListed(tx, run, draftOf(candidate));
      const { warnings, done, ...outcome } = await outcomeOf(tx, candidate, given, caller);
      const at = civic.clock.iso();
      const changed = await updateCandidate(tx, candidate.key, { ...outcome, done: done && JSON.stringify(done), note: given.note ?? null, decided_at: at, decided_by: caller.account_id, updated_at: at });
      return { candidate: changed, warnings };
    },
    /** Reverts a decision: the candidate waits again, and what the decision created or added is gone. An actor that was changed since stays. */
    async undo(tx: Tx, run: RunRow, id: string, caller: Caller): Promise<CandidateRow> {
      checkMayDecide(caller, run);
      const candidate = await locked(tx, run, id);
      if (candidate.decision === 'pending') throw problem('candidate_pending', { detail: `The candidate “${candidate.name}” waits for a decision.` });
      const done = candidate.done === null ? null : JSON.parse(candidate.done) as Done;
      if (done && 'edit' in done) await directory.undoEdit(tx, done.edit, caller);
      if (done && 'created' in done && !await directory.deleteUnchanged(tx, done.created, caller, candidate.decided_at!)) throw problem('actor_changed', { detail: `The actor “${candidate.name}” was published, merged or edited since it was accepted.` });
      return updateCandidate(tx, candidate.key, { decision: 'pending', decided_at: null, decided_by: null, note: null, entity_id: null, done: null, updated_at: civic.clock.iso() });
    },
    /** Corrects a pending candidate, and compares it again. What a person states has the method `manual`. */
    async change(tx: Tx, run: RunRow, id: string, change: CandidateChange, caller: Caller): Promise<CandidateRow> {
      checkMayDecide(caller, run);
      const candidate = await locked(tx, run, id);
      if (candidate.decision !== 'pending') throw problem('candidate_decided', { detail: `The candidate “${candidate.name}” is ${candidate.decision}.` });
      const before = draftOf(candidate);
      const draft = { ...before, type: change.type ?? before.type, claims: renamed(change.claims ? stated(change.claims, before.claims) : before.claims, change.name) };
      const [checked] = await directory.checkDrafts(tx, [draft]);
      const count = (claims: ClaimDraft[]) => claims.filter(({ property }) => property !== 'type').length;
      if (!checked || count(checked.claims) < count(draft.claims)) throw problem('invalid_request', { errors: [{ pointer: '/claims', detail: 'a name and valid values are required, and each claim names a source of the candidate' }] });
      await checkListed(tx, run, checked);
      await civic.jobs.enqueue(tx, MATCH_JOB, { run_id: run.id }, { unique_key: run.id });
      return updateCandidate(tx, candidate.key, { type: checked.type, name: nameOf(checked.claims), claims: JSON.stringify(checked.claims), matched_at: null, updated_at: civic.clock.iso() });
    },
  };
}

/** Returns a candidate of a run. Throws `unknown_candidate`. */
export async function foundCandidate(reader: Reader, run: RunRow, id: string): Promise<CandidateRow> {
  const row = isId(id) ? await candidateById(reader, run.key, id.toLowerCase()) : undefined;
  if (!row) throw unknownCandidate(id);
  return row;
}

function unknownCandidate(id: string): Error {
  return problem('unknown_candidate', { detail: `The run has no candidate with the id ${singleLine(id, 100)}.` });
}

function draftOf({ type, claims, sources }: CandidateRow): ActorDraft {
  return { type, visibility: 'workspace', claims: JSON.parse(claims) as ClaimDraft[], sources: JSON.parse(sources) as SourceDraft[] };
}

/** Claims that a person gave as they were found keep their method and passage. Others have none: the archived page need not state them. */
function stated(given: ClaimDraft[], before: ClaimDraft[]): ClaimDraft[] {
  return given.map((claim) => before.find((one) => one.property === claim.property && one.source_local_id === claim.source_local_id && JSON.stringify(one.value) === JSON.stringify(claim.value)) ?? { ...claim, excerpt: null, locator: null, method: 'manual' as const });
}

/** A corrected name has no passage: the page has the other one. */
function renamed(claims: ClaimDraft[], name: string | undefined): ClaimDraft[] {
  const at = claims.findIndex(({ property }) => property === 'name');
  if (name === undefined || at < 0 || claims[at]!.value === name) return claims;
  return claims.with(at, { ...claims[at]!, value: name, excerpt: null, locator: null, method: 'manual' });
}
