import { dialectOf, newId, reserveKeys, type Clock, type Tx } from 'civic';
import type { Cluster } from '../actors/derive.ts';
import type { ActorDraft, Applied, Editor } from '../types.ts';
import { claimRow, identityOf, seenAgain, type NewClaim } from './claims.ts';
import { groupBy } from './group.ts';
import { forgetHeld, withoutHolds } from './holds-store.ts';
import { givenId, knownOrigins, storedOrigin } from './origins.ts';
import { ownerOf, ownerOfDraft } from './owner.ts';
import type { ChangeDetail, ClaimRow, RecordRow, SourceRow } from './rows.ts';
import { actorSlug } from './slug.ts';
import { citationKey, enterSources, type CitedSources } from './sources.ts';
import { claimsOfRecords, insertChanges, insertClaims, insertOrigins, insertRecords, lockToChange, recordKeysByOrigin, recordsById, recordsByKey, replaceClaims, updateRecords } from './store.ts';

/** What entering a set of drafts came to. */
export interface Entered {
  applied: Applied[];
  /** Whole, without looking them up again, each with the draft it was made from. */
  created: { cluster: Cluster; draft: ActorDraft }[];
  sources: Map<number, SourceRow>;
  /** Keys of actors that were there and changed. */
  changed: number[];
}

/** Enters drafts of which no two are about the same record. */
export async function enterDrafts(tx: Tx, given: ActorDraft[], editor: Editor, clock: Clock): Promise<Entered> {
  const now = clock.iso();
  const drafts = await withFreeIds(tx, given, editor);
  const known = await lockedRecords(tx, drafts, editor);
  const owners = drafts.map((draft, index) => (known[index] ? ownerOf(known[index]) : ownerOfDraft(draft, editor)));
  const cited = await enterSources(tx, drafts.flatMap(({ sources }, index) => sources.map((draft) => ({ draft, owner: owners[index]! }))), now);
  const fresh = drafts.filter((_, index) => !known[index]);
  const created = await createRecords(tx, fresh, cited, editor, now);
  const live = drafts.flatMap((draft, index) => (known[index] && known[index].deleted_at === null ? [{ draft, record: known[index] }] : []));
  const changed = await addToRecords(tx, live, cited, editor, now);
  const changedKeys = new Set(changed.map(({ key }) => key));
  let next = 0;
  const applied = known.map((record): Applied => {
    if (!record) return { id: created[next++]!.records[0]!.id, action: 'created' };
    return { id: record.id, action: changedKeys.has(record.key) ? 'updated' : 'unchanged' };
  });
  const sources = new Map([...cited.values()].map((source) => [source.key, source]));
  return { applied, created: created.map((cluster, index) => ({ cluster, draft: fresh[index]! })), sources, changed: [...new Set(changed.map(({ actor_key }) => actor_key))] };
}

/** Whether an editor's drafts may be about a record: a public one, or one of the editor's workspace. */
const isWithin = (record: RecordRow, { workspace_id }: Editor): boolean => ownerOf(record) === null || record.workspace_id === workspace_id;

/** Assigns new ids to drafts whose id belongs to another workspace's record; later imports find the new record by its origin. */
async function withFreeIds(tx: Tx, drafts: ActorDraft[], editor: Editor): Promise<ActorDraft[]> {
  const foreign = new Set((await recordsById(tx, drafts.flatMap(({ id }) => id ?? []))).filter((record) => !isWithin(record, editor)).map(({ id }) => id));
  if (foreign.size === 0) return drafts;
  return drafts.map((draft) => (draft.id && foreign.has(draft.id) ? { ...draft, id: undefined, origin: draft.origin ?? givenId(draft.id) } : draft));
}

/** Returns the known records, locked until the transaction ends. */
async function lockedRecords(tx: Tx, drafts: ActorDraft[], editor: Editor): Promise<(RecordRow | undefined)[]> {
  const known = await knownRecords(tx, drafts, editor);
  const keys = known.flatMap((record) => record?.actor_key ?? []);
  if (keys.length === 0 || dialectOf(tx) === 'sqlite') return known;
  await lockToChange(tx, keys);
  return knownRecords(tx, drafts, editor);
}

/** Returns the record of each draft, by its id or origin, and prefers a record of the editor's workspace to a public one; undefined for new records. */
async function knownRecords(tx: Tx, drafts: ActorDraft[], editor: Editor): Promise<(RecordRow | undefined)[]> {
  const origins = drafts.map((draft) => (draft.origin ? knownOrigins(draft.origin, ownerOfDraft(draft, editor)) : []));
  const keys = await recordKeysByOrigin(tx, [...new Set(origins.flat())]);
  const byKey = new Map((await recordsByKey(tx, [...new Set(keys.values())])).filter((row) => isWithin(row, editor)).map((row) => [row.key, row]));
  const byId = new Map((await recordsById(tx, drafts.flatMap(({ id }) => id ?? []))).map((row) => [row.id, row]));
  return drafts.map(({ id }, index) => (id && byId.get(id)) || origins[index]!.map((origin) => byKey.get(keys.get(origin)!)).find((row) => row !== undefined));
}

function claimsOf(draft: ActorDraft, record: RecordRow, cited: CitedSources): NewClaim[] {
  const urls = new Map(draft.sources.map(({ local_id, url }) => [local_id, url]));
  return draft.claims.map((claim) => {
    const source = cited.get(citationKey(ownerOf(record), urls.get(claim.source_local_id)!))!;
    return { draft: claim, record_key: record.key, source_key: source.key, retrieved_at: source.retrieved_at };
  });
}

async function createRecords(tx: Tx, drafts: ActorDraft[], cited: CitedSources, editor: Editor, now: string): Promise<Cluster[]> {
  const keys = await reserveKeys(tx, 'directory_records', drafts.length);
  const claimKeys = await reserveKeys(tx, 'directory_claims', drafts.reduce((sum, { claims }) => sum + claims.length, 0));
  const changeKeys = await reserveKeys(tx, 'directory_changes', drafts.length);
  let nextClaim = 0;
  const clusters = drafts.map((draft, index): Cluster => {
    const record = recordRow(keys[index]!, draft, editor, now);
    const seen = new Set<string>();
    const claims: ClaimRow[] = [];
    for (const claim of claimsOf(draft, record, cited)) {
      const row = claimRow(claimKeys[nextClaim++]!, claim, editor);
      if (seen.has(identityOf(row))) continue;
      seen.add(identityOf(row));
      claims.push(row);
    }
    return { key: record.key, version: changeKeys[index]!, records: [record], claims };
  });
  await insertRecords(tx, clusters.map(({ records }) => records[0]!));
  await insertClaims(tx, clusters.flatMap(({ claims }) => claims));
  await insertOrigins(tx, drafts.flatMap((draft, index) => (draft.origin ? [{ origin: storedOrigin(draft.origin, ownerOfDraft(draft, editor)), record_key: keys[index]! }] : [])));
  await insertChanges(tx, clusters.map(({ key, version, claims }) => ({
    key: version, record_key: key, at: now, action: 'created', by_kind: editor.kind, account_id: editor.account_id, detail: JSON.stringify({ added: claims.map(({ id }) => id) } satisfies ChangeDetail),
  })));
  return clusters;
}

function recordRow(key: number, draft: ActorDraft, editor: Editor, now: string): RecordRow {
  const id = draft.id ?? newId();
  const name = draft.claims.find(({ property }) => property === 'name')!.value as string;
  const visibility = draft.visibility ?? 'public';
  return {
    key, id, actor_key: key, slug: actorSlug(name, id), visibility, workspace_id: editor.workspace_id,
    created_at: draft.created_at ?? now, updated_at: draft.updated_at ?? now, deleted_at: null,
  };
}

/** Further claims for records that are there. Answers those that changed. */
async function addToRecords(tx: Tx, live: { draft: ActorDraft; record: RecordRow }[], cited: CitedSources, editor: Editor, now: string): Promise<RecordRow[]> {
  if (live.length === 0) return [];
  // Those that a hold hides are hidden again when the actor is derived.
  const present = groupBy(await withoutHolds(tx, await claimsOfRecords(tx, live.map(({ record }) => record.key))), ({ record_key }) => record_key);
  const added: NewClaim[] = [];
  const again: ClaimRow[] = [];
  for (const { draft, record } of live) {
    const own = present.get(record.key) ?? [];
    const byId = new Map(own.map((row) => [row.id, row]));
    const byIdentity = new Map(own.map((row) => [identityOf(row), row]));
    for (const claim of claimsOf(draft, record, cited)) {
      const row = claimRow(0, claim, editor);
      const same = byId.get(row.id) ?? byIdentity.get(identityOf(row));
      if (!same) {
        added.push(claim);
        byIdentity.set(identityOf(row), row);
      } else if (same.key !== 0) {
        const after = seenAgain(same, row, claim.draft);
        if (after !== same) again.push(after);
      }
    }
  }
  const keys = await reserveKeys(tx, 'directory_claims', added.length);
  const rows = added.map((claim, index) => claimRow(keys[index]!, claim, editor));
  await insertClaims(tx, rows);
  await replaceClaims(tx, again);
  // The end of a hold would show what the import hides.
  await forgetHeld(tx, again.filter(({ status }) => status === 'hidden').map(({ key }) => key));
  const details = new Map<number, Required<Pick<ChangeDetail, 'added' | 'seen_again'>>>();
  const detailOf = (key: number) => details.get(key) ?? details.set(key, { added: [], seen_again: [] }).get(key)!;
  for (const row of rows) detailOf(row.record_key).added.push(row.id);
  for (const row of again) detailOf(row.record_key).seen_again.push(row.id);
  const changed = live.map(({ record }) => record).filter(({ key }) => details.has(key));
  await noteChanges(tx, changed.map((record) => ({ record, detail: details.get(record.key)! })), editor, now);
  return changed;
}

async function noteChanges(tx: Tx, changes: { record: RecordRow; detail: ChangeDetail }[], editor: Editor, now: string): Promise<void> {
  await updateRecords(tx, changes.map(({ record }) => record.key), { updated_at: now });
  await insertChanges(tx, changes.map(({ record, detail }) => ({
    record_key: record.key, at: now, action: 'updated', by_kind: editor.kind, account_id: editor.account_id, detail: JSON.stringify(detail),
  })));
}
