import { isId, lazily, type Caller, type Reader, type Tx } from 'civic';
import { checkOwner, editorOf, maySee } from '../access.ts';
import { isShown } from '../actors/choose.ts';
import { lockedRecords } from '../ledger/edit.ts';
import { differentBetween } from '../ledger/judgements-store.ts';
import { refused } from '../ledger/refused.ts';
import type { RecordRow } from '../ledger/rows.ts';
import type { Checked, DraftFault } from '../ledger/service.ts';
import { claimsOfRecords, recordsById, recordsOfActors, sourcesByKey, sourcesByUrl } from '../ledger/store.ts';
import { valueText } from '../ledger/value.ts';
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
  /** Returns drafts in their normal form, or what is wrong with each, as `POST /api/entities` does. */
  readDrafts(reader: Reader, drafts: ActorDraft[]): Promise<Checked[]>;
  /** Creates actors of the caller's workspace from drafts that `readDrafts` returned. Throws `unlisted_person`. Returns their ids. */
  createActors(tx: Tx, drafts: ActorDraft[], caller: Caller): Promise<string[]>;
  /** Makes an actor of the caller's workspace state exactly what a draft of `readDrafts` does: its other claims are retracted. Throws the problems of `PATCH /api/entities/{id}`. */
  restate(tx: Tx, id: string, draft: ActorDraft, caller: Caller): Promise<void>;
  /** Returns whether an actor belongs to the caller's workspace alone and was not published, merged, edited or deleted since a time. Locks it. */
  isUnchanged(tx: Tx, id: string, caller: Caller, since: string): Promise<boolean>;
  /** Returns the ids of sources by address, those of the workspace before public ones; addresses are those of drafts in their normal form. */
  sourceIds(reader: Reader, urls: string[], workspaceId: string): Promise<Map<string, string>>;
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

  async function createActors(tx: Tx, drafts: ActorDraft[], caller: Caller): Promise<string[]> {
    if (drafts.length === 0) return [];
    await countWrite(tx, caller, drafts.length);
    return (await ledger.apply(tx, drafts, discovered(caller))).map(({ id }) => id);
  }

  async function unchanged(tx: Tx, id: string, caller: Caller, since: string): Promise<RecordRow | null> {
    const isOwn = ({ visibility, workspace_id, key, actor_key, deleted_at }: RecordRow) => visibility === 'workspace' && workspace_id === caller.workspace_id && actor_key === key && deleted_at === null;
    const [known] = await recordsById(tx, [id]);
    if (!known || !isOwn(known)) return null;
    const [record] = await lockedRecords(tx, [id], civic.url, (one) => maySee(one, caller));
    const all = await recordsOfActors(tx, [record!.key]);
    return all.length === 1 && isOwn(record!) && record!.updated_at <= since ? record! : null;
  }

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
      const [id] = await createActors(tx, [checked!.draft], caller);
      return id!;
    },
    createActors,
    readDrafts: ledger.check,
    async restate(tx, id, draft, caller) {
      const [record] = await recordsById(tx, [id]);
      const claims = (await claimsOfRecords(tx, [record!.key])).filter(isShown);
      const urls = new Map((await sourcesByKey(tx, claims.map(({ source_key }) => source_key))).map(({ key, url }) => [key, url]));
      const cited = new Map(draft.sources.map(({ local_id, url }) => [local_id, url]));
      const stated = new Set(draft.claims.map(({ property, value, source_local_id }) => `${property} ${cited.get(source_local_id)} ${valueText(value)}`));
      const retract = claims.filter(({ property, value, source_key }) => !stated.has(`${property} ${urls.get(source_key)} ${value}`)).map((claim) => claim.id);
      await countWrite(tx, caller, 1);
      await ledger.patch(tx, id, { sources: draft.sources, add: draft.claims, retract, rank: [] }, discovered(caller));
    },
    isUnchanged: async (tx, id, caller, since) => await unchanged(tx, id, caller, since) !== null,
    async sourceIds(reader, urls, workspaceId) {
      const rows = [...await sourcesByUrl(reader, urls, null), ...await sourcesByUrl(reader, urls, workspaceId)];
      return new Map(rows.map(({ url, id }) => [url, id]));
    },
    async deleteUnchanged(tx, id, caller, since) {
      const [known] = await recordsById(tx, [id]);
      if (!known || known.deleted_at !== null) return true;
      const record = await unchanged(tx, id, caller, since);
      if (!record) return false;
      await ledger.remove(tx, record.id, discovered(caller), null);
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
