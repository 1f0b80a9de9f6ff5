import { isId, lazily, type Caller, type Reader, type Tx } from 'civic';
import { checkOwner, editorOf, maySee } from '../access.ts';
import { lockedRecords } from '../ledger/edit.ts';
import { differentBetween } from '../ledger/judgements-store.ts';
import { refused } from '../ledger/refused.ts';
import type { DraftFault } from '../ledger/service.ts';
import { recordsById, recordsOfActors } from '../ledger/store.ts';
import type { Explained } from '../matching/weights.ts';
import type { Directory } from '../service.ts';
import type { Actor, ActorDraft, Editor } from '../types.ts';

const loadFind = lazily(() => import('../matching/find.ts'));
const loadProfile = lazily(() => import('../matching/profile.ts'));

/** What a plugin that collects actors needs: to check drafts, to compare them with known actors, and to enter those that a person accepted. */
export interface CandidateWrites {
  /** Returns drafts in their normal form, without the claims that are not valid; null for a draft without a valid name or source. */
  checkDrafts(reader: Reader, drafts: ActorDraft[]): Promise<(ActorDraft | null)[]>;
  /** Returns the actors that a checked draft may be about, the surest first: public ones, and those of the workspace. */
  matchesOf(reader: Reader, draft: ActorDraft, workspaceId: string | null): Promise<ActorMatch[]>;
  /** Returns the reason of a judgement that two actors are different; null when there is none. */
  judgedDifferent(reader: Reader, id: string, otherId: string): Promise<{ reason: string | null } | null>;
  /** Creates an actor of the caller's workspace. Throws the problems of `POST /api/entities`. Returns its id. */
  createActor(tx: Tx, draft: ActorDraft, caller: Caller): Promise<string>;
  /** Deletes an actor of the caller's workspace that was not changed since a time. Returns false, and deletes nothing, when the actor was published, merged or edited; true also when the actor is gone already. */
  deleteUnchanged(tx: Tx, id: string, caller: Caller, since: string): Promise<boolean>;
}

/** A known actor that may be the one of a draft. */
export interface ActorMatch {
  entity_id: string;
  name: string;
  /** The probability that both are one actor. */
  score: number;
  /** Whether the evidence is enough to merge them without a review. */
  isCertain: boolean;
  /** What agrees, with both values: sentences for a reviewer. */
  reasons: string[];
}

const MOST_REASONS = 10;
const LEVELS: Record<string, string> = { exact: 'agree', close: 'agree closely', partial: 'agree in part' };

export function offeredCandidates({ civic, ledger, policy, countWrite }: Directory): CandidateWrites {
  const discovered = (caller: Caller): Editor => ({ ...editorOf(caller), kind: 'discovery' });

  return {
    async checkDrafts(reader, drafts) {
      const first = await ledger.check(reader, drafts);
      const trimmed = drafts.map((draft, at) => ('faults' in first[at]! ? withoutFaults(draft, first[at].faults) : draft));
      const checked = await ledger.check(reader, trimmed);
      return checked.map((one) => ('faults' in one ? null : one.draft));
    },
    async matchesOf(reader, draft, workspaceId) {
      const [{ findDuplicates }, { profileOfDraft }] = await Promise.all([loadFind(), loadProfile()]);
      const found = await findDuplicates(reader, profileOfDraft(draft), workspaceId, policy);
      return found.map(({ actor, verdict }) => ({
        entity_id: actor.id, name: (JSON.parse(actor.body) as Actor).name, score: Math.round(1000 * verdict.probability) / 1000, isCertain: verdict.zone === 'match',
        reasons: [...verdict.explanation.flatMap(reasonOf), ...(verdict.rule === null ? [] : [verdict.rule])].slice(0, MOST_REASONS),
      }));
    },
    async judgedDifferent(reader, id, otherId) {
      const [one, other] = await Promise.all([id, otherId].map((each) => keysOf(reader, each)));
      const judgement = one!.length > 0 && other!.length > 0 ? await differentBetween(reader, one!, other!) : undefined;
      return judgement ? { reason: judgement.reason } : null;
    },
    async createActor(tx, draft, caller) {
      checkOwner('workspace', caller, { pointer: '/decision' });
      const [checked] = await ledger.check(tx, [{ ...draft, visibility: 'workspace' }]);
      if ('faults' in checked!) throw refused(checked.faults);
      await countWrite(tx, caller);
      const [applied] = await ledger.apply(tx, [checked!.draft], discovered(caller));
      return applied!.id;
    },
    async deleteUnchanged(tx, id, caller, since) {
      const [known] = await recordsById(tx, [id]);
      if (!known || known.deleted_at !== null) return true;
      const isOwn = known.visibility === 'workspace' && known.workspace_id === caller.workspace_id && known.actor_key === known.key;
      if (!isOwn) return false;
      const [record] = await lockedRecords(tx, [id], civic.url, (one) => maySee(one, caller));
      const all = await recordsOfActors(tx, [record!.key]);
      if (all.length > 1 || record!.visibility !== 'workspace' || record!.updated_at > since) return false;
      await ledger.remove(tx, record!.id, discovered(caller), null);
      return true;
    },
  };
}

async function keysOf(reader: Reader, id: string): Promise<number[]> {
  const [record] = isId(id) ? await recordsById(reader, [id.toLowerCase()]) : [];
  return record ? (await recordsOfActors(reader, [record.actor_key])).map(({ key }) => key) : [];
}

function withoutFaults(draft: ActorDraft, faults: DraftFault[]): ActorDraft {
  const faulty = new Set(faults.flatMap(({ pointer }) => /^\/claims\/(\d+)/.exec(pointer)?.[1] ?? []).map(Number));
  return { ...draft, claims: draft.claims.filter((_, at) => !faulty.has(at)) };
}

function reasonOf({ field, level, left, right }: Explained): string[] {
  const agreement = LEVELS[level];
  if (agreement === undefined || left === null || right === null) return [];
  const label = field.replace('_', ' ');
  return [left === right ? `The same ${label}: ${left}` : `${label[0]!.toUpperCase()}${label.slice(1)}: “${left}” and “${right}” ${agreement}`];
}
