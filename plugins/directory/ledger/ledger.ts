import { afterCommit, type Civic, type Reader, type Tx } from 'civic';
import type { Cluster, Known } from '../actors/derive.ts';
import type { HalfLives } from '../actors/freshness.ts';
import { project, type Projected } from '../actors/project.ts';
import type { ActorModel } from '../actors/model.ts';
import { byWeight, isShown } from '../actors/choose.ts';
import { policedActor } from '../actors/detail.ts';
import { actorById, misplacedActors } from '../actors/read-store.ts';
import { rebuildActors } from '../actors/rebuild.ts';
import { walkActors } from '../actors/walk.ts';
import type { ActorChange, CoverageLoss } from '../events.ts';
import { chunksOf } from '../chunks.ts';
import { slugOfPlace } from '../places/keys.ts';
import type { Places } from '../places/service.ts';
import { hiddenClaims, withoutHiddenClaims } from '../policy/claims.ts';
import type { FieldPolicy } from '../policy/fields.ts';
import type { Taxonomy } from '../taxonomy/service.ts';
import type { ActorDraft, Applied, ClaimValue, Editor } from '../types.ts';
import { statementsOf } from '../unlisted/people.ts';
import { unlistedPerson, type Register } from '../unlisted/register.ts';
import { enterDrafts } from './apply.ts';
import { checkDrafts } from './check.ts';
import { createEdits, standAlone } from './edit.ts';
import { createHolds } from './holds.ts';
import { joinNew } from './join.ts';
import { loadClusters, type Loaded } from './load.ts';
import { notPublic } from './refused.ts';
import type { Ledger, Patch, SourceContent, UrlStatus } from './service.ts';
import { claimsOfRecords, eraseRecords, eraseUnusedSources, lockActors, originsUnder, placesOfSources, recordsById, recordsByKey, sourcesById, updateFlags, updateUrlStatus } from './store.ts';

export interface LedgerOptions {
  civic: Pick<Civic, 'clock' | 'emit' | 'url'> & { readonly db: Civic['db'] };
  places: Places;
  taxonomy(): Taxonomy;
  halfLives: HalfLives;
  /** Its version is that of the rows: it holds the policy, too. */
  model: ActorModel;
  policy: FieldPolicy;
  register: Pick<Register, 'isEmpty' | 'has'>;
  /** Told after each commit, before its writer goes on. */
  onProjected(projected: Projected): void;
}

const RELISTED_AT_ONCE = 500;
const NOTHING: Loaded = { clusters: [], sources: new Map() };

export function createLedger({ civic, places, taxonomy, halfLives, model, policy, register, onProjected }: LedgerOptions): Ledger {
  const edits = createEdits(civic);
  const holds = createHolds(civic.clock);

  async function knownFor(reader: Reader, clusters: Cluster[], sources: Known['sources']): Promise<Known> {
    const keys = new Set<string>();
    for (const { claims } of clusters) for (const claim of claims) if (claim.property === 'place') keys.add(JSON.parse(claim.value) as string);
    const found = [...(await places.byKeys(reader, [...keys])).values()];
    return { sources, places: new Map(found.map((place) => [place.place_key, { ...place, slug: slugOfPlace(place) }])), halfLives, now: civic.clock.iso() };
  }

  /** Derives actors, without what holds and the policy hide. */
  async function projectNow(tx: Tx, { fresh = NOTHING, changed = NOTHING }: { fresh?: Loaded; changed?: Loaded }): Promise<Projected> {
    const deriving = await holds.hide(tx, { fresh, changed });
    const known = await knownFor(tx, [...deriving.fresh.clusters, ...deriving.changed.clusters], new Map([...deriving.fresh.sources, ...deriving.changed.sources]));
    const shown = ({ clusters }: Loaded) => clusters.map((cluster) => withoutHiddenClaims(cluster, known, policy));
    const projected = await project(tx, { fresh: shown(deriving.fresh), changed: shown(deriving.changed) }, known, model);
    afterCommit(tx, () => onProjected(projected));
    return projected;
  }

  /** Locks the actors, then derives them from the ledger. */
  async function reproject(tx: Tx, keys: number[]): Promise<Projected> {
    await lockActors(tx, keys);
    return projectNow(tx, { changed: await loadClusters(tx, keys) });
  }

  /** Derives actors whose contacts were hidden or shown again. Neither is news about them: the event names no actor and no effect. */
  async function followHold(tx: Tx, keys: number[]): Promise<void> {
    await tell(tx, [], { ...await reproject(tx, keys), effects: [], lost: [] }, 'review');
  }

  async function namedLosses(tx: Tx, lost: Projected['lost']): Promise<CoverageLoss[]> {
    if (lost.length === 0) return [];
    const named = await places.byNumbers(tx, lost.map(({ place }) => place));
    return lost.flatMap(({ place, ...loss }) => (named.has(place) ? [{ place_key: named.get(place)!.place_key, ...loss }] : []));
  }

  /** Other nodes hear of it by this alone, so whatever was worked out again is told, also when no actor changed. */
  async function tell(tx: Tx, changes: ActorChange[], { rows, gone, places: touched, sources, effects, lost }: Projected, by: string): Promise<void> {
    await civic.emit(tx, 'directory.actors_changed', { by, actors: changes, effects, lost: await namedLosses(tx, lost), keys: [...rows.map(({ key }) => key), ...gone], places: [...touched], sources: [...sources] });
  }

  /** Reports that lists and sources changed, although no actor did. */
  async function announce(tx: Tx, touched: { places: number[]; sources: number[] }, by: string): Promise<void> {
    const projected: Projected = { rows: [], gone: [], places: new Set(touched.places), sources: new Set(touched.sources), effects: [], lost: [] };
    afterCommit(tx, () => onProjected(projected));
    await tell(tx, [], projected, by);
  }

  async function applyOnce(tx: Tx, drafts: ActorDraft[], editor: Editor, joins: boolean): Promise<Applied[]> {
    const { applied, created, changed, sources } = await enterDrafts(tx, drafts, editor, civic.clock);
    const joined = joins ? await joinNew(tx, created, editor, civic.clock.iso(), policy) : [];
    const touched = new Set(joined.flatMap(({ actor, into }) => [actor.key, into.key]));
    const clusters = created.map(({ cluster }) => cluster).filter(({ key }) => !touched.has(key));
    const again = [...new Set([...changed, ...joined.map(({ into }) => into.key)])];
    if (clusters.length + again.length === 0) return applied;
    const projected = await projectNow(tx, { fresh: { clusters, sources }, ...(again.length > 0 ? { changed: await loadClusters(tx, again) } : {}) });
    const into = new Map(joined.map((same) => [same.actor.id, same.into.id]));
    await tell(tx, applied.flatMap(({ id, action }): ActorChange[] => {
      if (into.has(id)) return [{ id, change: 'merged', into: into.get(id)! }];
      return action === 'unchanged' ? [] : [{ id, change: action }];
    }), projected, editor.kind);
    return applied.map((one) => (into.has(one.id) ? { ...one, joined_into: into.get(one.id)! } : one));
  }

  async function areUnlisted(reader: Reader, drafts: Pick<ActorDraft, 'type' | 'claims' | 'sources'>[]): Promise<boolean[]> {
    const people = drafts.filter(({ type }) => type === 'person');
    const known = await register.has(reader, people.map(statementsOf));
    return drafts.map((draft) => draft.type === 'person' && known[people.indexOf(draft)]!);
  }

  /** Rejects a change that leaves or makes a person of the register listed. */
  async function checkUnlisted(tx: Tx, id: string, { sources, add }: Pick<Patch, 'sources' | 'add'>): Promise<void> {
    if (await register.isEmpty(tx)) return;
    const [record] = await recordsById(tx, [id.toLowerCase()]);
    const { clusters: [cluster], sources: cited } = record ? await loadClusters(tx, [record.actor_key]) : NOTHING;
    const claims = (cluster?.claims ?? []).filter((claim) => isShown(claim) || cluster!.held!.has(claim.key));
    const [type] = claims.filter(({ property }) => property === 'type').sort(byWeight);
    const added = statementsOf({ sources, claims: add });
    if (type?.value !== '"person"' && !added.claims.some(({ property, value }) => property === 'type' && value === 'person')) return;
    const [isUnlisted] = await register.has(tx, [{
      claims: [...claims.map(({ property, value }) => ({ property, value: JSON.parse(value) as ClaimValue })), ...added.claims],
      urls: [...claims.map(({ source_key }) => cited.get(source_key)!.url), ...added.urls],
    }]);
    if (isUnlisted) throw unlistedPerson();
  }

  async function checkPolicy(tx: Tx, id: string, { sources, add }: Patch): Promise<void> {
    const actor = add.length > 0 ? await actorById(tx, id.toLowerCase()) : undefined;
    if (!actor) return;
    const [hidden] = await hiddenClaims(tx, [{ ...policedActor(actor), sources, claims: add }], policy);
    if (hidden!.length > 0) throw notPublic(hidden!.map(({ fault }) => ({ ...fault, pointer: fault.pointer.replace(/^\/claims/, '/add') })));
  }

  async function setUrlStatus(tx: Tx, sourceId: string, status: UrlStatus & Partial<SourceContent>, by: Editor['kind'] | 'check'): Promise<void> {
    const [row] = await sourcesById(tx, [sourceId]);
    await updateUrlStatus(tx, row!.key, status);
    // Responses with private sources are not cached.
    if (row!.workspace_id === null) await announce(tx, { places: await placesOfSources(tx, [row!.key]), sources: [row!.key] }, by);
  }

  /** Works out again what an edit touched. */
  async function follow(tx: Tx, keys: number[], changes: ActorChange[], editor: Editor): Promise<void> {
    if (keys.length === 0) return;
    await tell(tx, changes, await projectNow(tx, { changed: await loadClusters(tx, keys) }), editor.kind);
  }

  return {
    areUnlisted,
    check: (reader, drafts) => checkDrafts(reader, drafts, { places, taxonomy, policy, now: civic.clock.now() }),
    async apply(tx, drafts, editor, { joins = false } = {}) {
      if ((await areUnlisted(tx, drafts)).includes(true)) throw unlistedPerson();
      const applied: Applied[] = [];
      for (const round of roundsOf(drafts)) applied.push(...await applyOnce(tx, round, editor, joins));
      return applied;
    },
    async patch(tx, id, change, editor) {
      if (change.add.length > 0) await checkUnlisted(tx, id, change);
      await checkPolicy(tx, id, change);
      await follow(tx, await edits.patch(tx, id, change, editor), [{ id, change: 'updated' }], editor);
    },
    async publish(tx, id, editor) {
      await checkUnlisted(tx, id, { sources: [], add: [] });
      await follow(tx, await edits.publish(tx, id, editor), [{ id, change: 'published' }], editor);
    },
    async remove(tx, id, editor, reason) {
      await follow(tx, await edits.remove(tx, id, editor, reason), [{ id, change: 'deleted' }], editor);
    },
    async judge(tx, judgement, editor) {
      const keys = await edits.judge(tx, judgement, editor);
      await follow(tx, keys, [{ id: judgement.left_id, change: 'merged', into: judgement.right_id }], editor);
      return judgement.right_id;
    },
    async unjudge(tx, judgementId, editor) {
      const keys = await edits.unjudge(tx, judgementId, editor);
      const ids = (await recordsByKey(tx, keys)).map(({ id }) => id);
      await follow(tx, keys, ids.map((id) => ({ id, change: 'split' })), editor);
      return ids;
    },
    async erase(tx, originPrefix, limit) {
      const keys = (await originsUnder(tx, originPrefix, limit)).map(({ record_key }) => record_key);
      const records = await recordsByKey(tx, keys);
      const claims = await claimsOfRecords(tx, keys);
      const released = await holds.erase(tx, keys);
      await eraseRecords(tx, keys);
      await eraseUnusedSources(tx, [...new Set(claims.map(({ source_key }) => source_key))]);
      const actorKeys = [...released, ...records.map(({ actor_key }) => actor_key), ...await standAlone(tx, records.map(({ actor_key }) => actor_key))];
      await follow(tx, [...new Set(actorKeys)], records.map(({ id }) => ({ id, change: 'deleted' })), { kind: 'demo', account_id: null, workspace_id: null });
      return records.length;
    },
    walk: (reader, options) => walkActors(reader, options, { now: civic.clock.now(), url: civic.url, policy, model: model.version }),
    async setFlags(tx, { actors, sources }) {
      const records = await recordsById(tx, [...actors.keys()]);
      for (const { key, id } of records) await updateFlags(tx, 'directory_records', key, actors.get(id)!);
      const rows = await sourcesById(tx, [...sources.keys()]);
      for (const { key, id } of rows) await updateFlags(tx, 'directory_sources', key, sources.get(id)!);
      if (records.length > 0) await tell(tx, [], await reproject(tx, [...new Set(records.map(({ actor_key }) => actor_key))]), 'review');
      const shown = rows.filter(({ workspace_id }) => workspace_id === null).map(({ key }) => key);
      if (shown.length > 0) await announce(tx, { places: await placesOfSources(tx, shown), sources: shown }, 'review');
    },
    async holdContacts(tx, actorId, until) {
      const begun = await holds.begin(tx, actorId, until);
      if (!begun) return null;
      await followHold(tx, begun.actorKeys);
      return { id: begun.id, others: await holds.othersHeld(tx, begun.id) };
    },
    async endHold(tx, holdId) {
      const keys = await holds.end(tx, holdId);
      if (keys.length > 0) await followHold(tx, keys);
      return keys.length > 0;
    },
    async completeHold(tx, holdId) {
      const keys = await holds.complete(tx, holdId);
      if (keys.length > 0) await followHold(tx, keys);
    },
    setUrlStatus,
    async confirm(tx, source, seen, editor) {
      await setUrlStatus(tx, source.id, { url_status: 'ok', last_checked_at: civic.clock.iso() }, editor.kind);
      await follow(tx, await edits.confirm(tx, seen, editor), [...new Set(seen.map(({ entity_id }) => entity_id))].map((id) => ({ id, change: 'updated' })), editor);
    },
    async refresh(tx, actorKeys) {
      const projected = await reproject(tx, actorKeys);
      await tell(tx, projected.rows.map(({ id }) => ({ id, change: 'updated' })), projected, 'time');
    },
    async relist() {
      const misplaced = await misplacedActors(civic.db.read, civic.clock.iso());
      for (const keys of chunksOf(misplaced, RELISTED_AT_ONCE)) {
        await civic.db.write(async (tx) => { await tell(tx, [], await reproject(tx, keys), 'rebuild'); });
      }
      return misplaced.length;
    },
    rebuild: (run, which) => rebuildActors({
      db: civic.db,
      current: which === 'all' ? null : model.version,
      async reproject(tx, keys) { await tell(tx, [], await reproject(tx, keys), 'rebuild'); },
      announce: (tx, recounted) => announce(tx, recounted, 'rebuild'),
    }, run),
  };
}

/** Sets in which nothing is named twice, so that a later draft finds what an earlier one made. */
function roundsOf(drafts: ActorDraft[]): ActorDraft[][] {
  const rounds: ActorDraft[][] = [];
  let round: ActorDraft[] = [];
  let named = new Set<string>();
  for (const draft of drafts) {
    const names = [draft.id, draft.origin].filter((name) => name !== undefined);
    if (names.some((name) => named.has(name))) {
      rounds.push(round);
      round = [];
      named = new Set();
    }
    round.push(draft);
    for (const name of names) named.add(name);
  }
  return round.length > 0 ? [...rounds, round] : rounds;
}

