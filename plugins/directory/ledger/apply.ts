import { dialectOf, newId, reserveKeys, type Clock, type Tx } from 'civic';
import type { Cluster } from '../actors/derive.ts';
import type { ActorDraft, Applied, Editor } from '../types.ts';
import { claimRow, identityOf, seenAgain, type NewClaim } from './claims.ts';
import { groupBy } from './group.ts';
import type { ChangeDetail, ClaimRow, RecordRow, SourceRow } from './rows.ts';
import { actorSlug } from './slug.ts';
import { enterSources } from './sources.ts';
import { claimsOfRecords, insertChanges, insertClaims, insertOrigins, insertRecords, lockActors, recordKeysByOrigin, recordsById, recordsByKey, replaceClaims, updateRecords } from './store.ts';

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
export async function enterDrafts(tx: Tx, drafts: ActorDraft[], editor: Editor, clock: Clock): Promise<Entered> {
  const now = clock.iso();
  const byUrl = await enterSources(tx, drafts.flatMap(({ sources, visibility }) => sources.map((draft) => ({ draft, isPrivate: visibility === 'workspace' }))), now);
  const known = await lockedRecords(tx, drafts);
  const fresh = drafts.filter((_, index) => !known[index]);
  const created = await createRecords(tx, fresh, byUrl, editor, now);
  const live = drafts.flatMap((draft, index) => (known[index] && known[index].deleted_at === null ? [{ draft, record: known[index] }] : []));
  const changed = await addToRecords(tx, live, byUrl, editor, now);
  const changedKeys = new Set(changed.map(({ key }) => key));
  let next = 0;
  const applied = known.map((record): Applied => {
    if (!record) return { id: created[next++]!.records[0]!.id, action: 'created' };
    return { id: record.id, action: changedKeys.has(record.key) ? 'updated' : 'unchanged' };
  });
  const sources = new Map([...byUrl.values()].map((source) => [source.key, source]));
  return { applied, created: created.map((cluster, index) => ({ cluster, draft: fresh[index]! })), sources, changed: [...new Set(changed.map(({ actor_key }) => actor_key))] };
}

/** The same, and nobody else changes them meanwhile. */
async function lockedRecords(tx: Tx, drafts: ActorDraft[]): Promise<(RecordRow | undefined)[]> {
  const known = await knownRecords(tx, drafts);
  const keys = known.flatMap((record) => record?.actor_key ?? []);
  if (keys.length === 0 || dialectOf(tx) === 'sqlite') return known;
  await lockActors(tx, keys);
  return knownRecords(tx, drafts);
}

/** The record each draft is about, by its id or its origin; undefined for new ones. */
async function knownRecords(tx: Tx, drafts: ActorDraft[]): Promise<(RecordRow | undefined)[]> {
  const keys = await recordKeysByOrigin(tx, drafts.flatMap(({ origin }) => origin ?? []));
  const byKey = new Map((await recordsByKey(tx, [...keys.values()])).map((row) => [row.key, row]));
  const byId = new Map((await recordsById(tx, drafts.flatMap(({ id }) => id ?? []))).map((row) => [row.id, row]));
  return drafts.map(({ id, origin }) => (id && byId.get(id)) || (origin && byKey.get(keys.get(origin)!)) || undefined);
}

function claimsOf(draft: ActorDraft, recordKey: number, byUrl: Map<string, SourceRow>): NewClaim[] {
  const urls = new Map(draft.sources.map(({ local_id, url }) => [local_id, url]));
  return draft.claims.map((claim) => {
    const source = byUrl.get(urls.get(claim.source_local_id)!)!;
    return { draft: claim, record_key: recordKey, source_key: source.key, retrieved_at: source.retrieved_at };
  });
}

async function createRecords(tx: Tx, drafts: ActorDraft[], byUrl: Map<string, SourceRow>, editor: Editor, now: string): Promise<Cluster[]> {
  const keys = await reserveKeys(tx, 'directory_records', drafts.length);
  const claimKeys = await reserveKeys(tx, 'directory_claims', drafts.reduce((sum, { claims }) => sum + claims.length, 0));
  const changeKeys = await reserveKeys(tx, 'directory_changes', drafts.length);
  let nextClaim = 0;
  const clusters = drafts.map((draft, index): Cluster => {
    const record = recordRow(keys[index]!, draft, editor, now);
    const seen = new Set<string>();
    const claims: ClaimRow[] = [];
    for (const claim of claimsOf(draft, record.key, byUrl)) {
      const row = claimRow(claimKeys[nextClaim++]!, claim, editor);
      if (seen.has(identityOf(row))) continue;
      seen.add(identityOf(row));
      claims.push(row);
    }
    return { key: record.key, version: changeKeys[index]!, records: [record], claims };
  });
  await insertRecords(tx, clusters.map(({ records }) => records[0]!));
  await insertClaims(tx, clusters.flatMap(({ claims }) => claims));
  await insertOrigins(tx, drafts.flatMap(({ origin }, index) => (origin ? [{ origin, record_key: keys[index]! }] : [])));
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
async function addToRecords(tx: Tx, live: { draft: ActorDraft; record: RecordRow }[], byUrl: Map<string, SourceRow>, editor: Editor, now: string): Promise<RecordRow[]> {
  if (live.length === 0) return [];
  const present = groupBy(await claimsOfRecords(tx, live.map(({ record }) => record.key)), ({ record_key }) => record_key);
  const added: NewClaim[] = [];
  const again: ClaimRow[] = [];
  for (const { draft, record } of live) {
    const own = present.get(record.key) ?? [];
    const byId = new Map(own.map((row) => [row.id, row]));
    const byIdentity = new Map(own.map((row) => [identityOf(row), row]));
    for (const claim of claimsOf(draft, record.key, byUrl)) {
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
