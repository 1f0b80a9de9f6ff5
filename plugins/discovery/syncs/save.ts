import { newId, problemOf, type Caller, type Tx } from 'civic';
import type { ActorMatch, KnownActor } from 'civic/directory';
import { createHash } from 'node:crypto';
import { nameOf } from '../candidates/propose.ts';
import type { Done } from '../candidates/decide.ts';
import { candidatesOfRun, insertCandidates, updateCandidate, type CandidateRow } from '../candidates/store.ts';
import type { Discovery } from '../context.ts';
import { addToCounts, type RunRow } from '../runs/store.ts';
import type { CheckedEntry } from './drafts.ts';
import type { EntryLink } from './schemas.ts';

/** An entry with the known actor that it certainly is, if there is one. */
export interface MatchedEntry extends CheckedEntry {
  match: ActorMatch | null;
}

/** Entries are candidates of their run, known by the ids of the local tool. */
export const fingerprintOf = ({ local_id }: CheckedEntry): string => `local ${local_id}`;

/** The hash of what a local tool sends of an entry. */
export const sentHashOf = (entry: CheckedEntry): string => hashOf(contentOf(entry));

/** Stores some entries of a run, whose row the transaction has locked. Entries that the run has are updated; those that are stored as they are stay. */
export function createSaving({ civic, directory }: Discovery) {
  async function merged(tx: Tx, { draft }: CheckedEntry, actor: KnownActor, caller: Caller): Promise<Done> {
    // Nothing is published by a sync.
    if (actor.visibility === 'public') return { linked: actor.id };
    const add = draft.claims.filter(({ property }) => property !== 'type');
    try {
      return { edit: await directory.edit(tx, { kind: 'change', id: actor.id, sources: draft.sources, add, retract: [] }, caller) };
    } catch (error) {
      // The actor states all of it already.
      if (problemOf(error)?.code === 'nothing_changed') return { linked: actor.id };
      throw error;
    }
  }

  async function actorsOf(tx: Tx, ids: (string | null | undefined)[]): Promise<Map<string, KnownActor>> {
    const found = await directory.actors(tx, [...new Set(ids.flatMap((id) => id ?? []))]);
    return new Map(found.map((actor) => [actor.id, actor]));
  }

  /** Creates the actors of new entries, or adds their claims to the actors that they are. */
  async function enter(tx: Tx, run: RunRow, entries: MatchedEntry[], caller: Caller): Promise<EntryLink[]> {
    const actors = await actorsOf(tx, entries.map(({ match }) => match?.entity_id));
    const ids = await directory.createActors(tx, entries.filter(({ match }) => !match || !actors.has(match.entity_id)).map(({ draft }) => draft), caller);
    const links: EntryLink[] = [];
    const rows: Omit<CandidateRow, 'key'>[] = [];
    for (const entry of entries) {
      const actor = entry.match ? actors.get(entry.match.entity_id) : undefined;
      const id = actor?.id ?? ids.shift()!;
      const done: Done = actor ? await merged(tx, entry, actor, caller) : { created: id };
      rows.push(candidateOf(run, entry, { entity_id: id, done, decision: actor ? 'merged' : 'accepted', decided_by: caller.account_id }));
      links.push({ local_id: entry.local_id, entity_id: id, action: actor ? 'matched' : 'created', visibility: actor?.visibility ?? 'workspace' });
    }
    await insertCandidates(tx, rows);
    await addToCounts(tx, run.key, { candidates: rows.length });
    return links;
  }

  function candidateOf(run: RunRow, entry: MatchedEntry, { done, ...decision }: Pick<CandidateRow, 'entity_id' | 'decision' | 'decided_by'> & { done: Done }): Omit<CandidateRow, 'key'> {
    const at = civic.clock.iso();
    const { match, draft } = entry;
    return {
      id: newId(civic.clock.now()), run_key: run.key, workspace_id: run.workspace_id, fingerprint: fingerprintOf(entry), ...contentOf(entry), score: 1,
      match: match && JSON.stringify({ entity_id: match.entity_id, name: match.name, score: match.score, reasons: match.reasons }), matched_at: at,
      ...decision, done: JSON.stringify(done), note: null, sent_hash: sentHashOf(entry), sent_at: at, decided_at: at, created_at: at, updated_at: at, type: draft.type,
    };
  }

  /** Lets a reviewer decide about the changed entry. */
  async function hold(tx: Tx, candidate: CandidateRow, entry: CheckedEntry): Promise<void> {
    const waiting = { decision: 'pending' as const, decided_at: null, decided_by: null, entity_id: null, done: null, match: null, matched_at: null };
    const at = civic.clock.iso();
    await updateCandidate(tx, candidate.key, { ...contentOf(entry), ...waiting, sent_hash: sentHashOf(entry), sent_at: at, updated_at: at });
  }

  /** Changes what the run added to an actor. Returns null, and changes nothing, when others changed the actor since. */
  async function restate(tx: Tx, candidate: CandidateRow, entry: CheckedEntry, actor: KnownActor, caller: Caller): Promise<Done | null> {
    const done = JSON.parse(candidate.done!) as Done;
    if (!('linked' in done) && !await directory.isUnchanged(tx, actor.id, caller, candidate.decided_at!)) return null;
    if ('created' in done) {
      await directory.restate(tx, actor.id, entry.draft, caller);
      return done;
    }
    if ('edit' in done) await directory.undoEdit(tx, done.edit, caller);
    return merged(tx, entry, actor, caller);
  }

  /** Updates an entry that the run has. A decision that a person made here since is not overwritten: the entry then waits for another. */
  async function update(tx: Tx, candidate: CandidateRow, entry: CheckedEntry, actor: KnownActor | undefined, caller: Caller): Promise<EntryLink> {
    const link = { local_id: entry.local_id, entity_id: actor?.id ?? null, visibility: actor?.visibility ?? 'workspace' as const };
    const sent_hash = sentHashOf(entry);
    const changed = { ...link, action: candidate.decision === 'merged' ? 'matched' as const : 'updated' as const };
    const held = { ...link, action: 'held' as const };
    if (sent_hash === candidate.sent_hash || candidate.decision === 'rejected') return actor ? changed : held;
    // The correction of a reviewer is nowhere else: the tool sends its change again after the decision.
    if (candidate.decision === 'pending' && hashOf(candidate) !== candidate.sent_hash) return held;
    const isDecidedHere = candidate.decided_at !== candidate.sent_at;
    const done = actor && !isDecidedHere ? await restate(tx, candidate, entry, actor, caller) : null;
    if (!done) {
      await hold(tx, candidate, entry);
      return held;
    }
    const at = civic.clock.iso();
    await updateCandidate(tx, candidate.key, { ...contentOf(entry), done: JSON.stringify(done), sent_hash, sent_at: at, decided_at: at, decided_by: caller.account_id, updated_at: at });
    return changed;
  }

  return {
    /** Returns also how many entries were new or changed. */
    async save(tx: Tx, run: RunRow, entries: MatchedEntry[], caller: Caller): Promise<{ links: EntryLink[]; stored: number }> {
      const known = await candidatesOfRun(tx, run.key, entries.map(fingerprintOf));
      const actors = await actorsOf(tx, [...known.values()].map(({ entity_id }) => entity_id));
      const fresh = entries.filter((entry) => !known.has(fingerprintOf(entry)));
      const links = new Map((await enter(tx, run, fresh, caller)).map((link) => [link.local_id, link]));
      for (const entry of entries) {
        const candidate = known.get(fingerprintOf(entry));
        if (candidate) links.set(entry.local_id, await update(tx, candidate, entry, actors.get(candidate.entity_id ?? ''), caller));
      }
      const stored = entries.filter((entry) => known.get(fingerprintOf(entry))?.sent_hash !== sentHashOf(entry)).length;
      return { links: entries.map(({ local_id }) => links.get(local_id)!), stored };
    },
  };
}

function contentOf({ draft }: CheckedEntry): Pick<CandidateRow, 'type' | 'name' | 'claims' | 'sources'> {
  return { type: draft.type, name: nameOf(draft.claims), claims: JSON.stringify(draft.claims), sources: JSON.stringify(draft.sources) };
}

/** Returns the same hash for the same content, in whatever order its members are. */
function hashOf({ type, claims, sources }: Pick<CandidateRow, 'type' | 'claims' | 'sources'>): string {
  const content = JSON.stringify({ type, claims: JSON.parse(claims) as unknown, sources: JSON.parse(sources) as unknown }, sorted);
  return createHash('sha256').update(content).digest('hex');
}

function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
