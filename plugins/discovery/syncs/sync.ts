import { EXTERNAL_SKEW_MS, exceededHeaders, newId, problem, singleLine, type Caller, type Tx } from 'civic';
import type { RecordLinks, WorkspacesService } from 'civic/workspaces';
import { MATCH_JOB } from '../candidates/match.ts';
import { sentHashes } from '../candidates/store.ts';
import type { Discovery } from '../context.ts';
import { addReadPages, pageCounts, type ReadPage } from '../runs/pages-store.ts';
import { shownRuns } from '../runs/runs.ts';
import { monthOf, nextMonth } from '../runs/start.ts';
import { lockedRunOf, updateRun, type RunRow } from '../runs/store.ts';
import type { Bundle } from './bundle.ts';
import { checkedEntries, type CheckedEntry } from './drafts.ts';
import { createSaving, fingerprintOf, sentHashOf, type MatchedEntry } from './save.ts';
import type { EntryLink, Receipt, SyncHeader } from './schemas.ts';
import { addSynced, insertRunOnce, openPart, partOf, runOfOrigin, savePart, type PartRow } from './store.ts';

/** What is stored about a run of a local tool. */
export interface SyncRecord {
  local_run_id: string;
  tool: SyncHeader['tool'];
  visibility: 'workspace' | 'public';
  links: RecordLinks;
}

/** A caller who works in a workspace. */
type Member = Caller & { workspace_id: string };

/** New and changed entries of a workspace in a month, so that one workspace cannot fill the disk. A run counts as one more. */
const MOST_SYNCED = 20_000;
/** A transaction stores as many entries as fit in a fraction of a second. */
const ENTRIES_AT_ONCE = 25;
const CLAIMS_AT_ONCE = 250;

/** A part of a run that a request stores. */
interface Opened {
  run: RunRow;
  part: number;
  hash: string;
  /** The same for requests with the same body, unless another body was stored between them. */
  token: string;
}

export interface Synced {
  receipt: Receipt;
  isNew: boolean;
}

/** Stores bundles of local tools. Each step can be repeated: a bundle that was stored in part is completed when it is sent again. */
export function createSyncs(discovery: Discovery, workspaces: WorkspacesService | null) {
  const { civic, directory } = discovery;
  const { save } = createSaving(discovery);

  function checkHeader({ issue_areas, started_at, completed_at }: SyncHeader): void {
    const latest = civic.clock.now() + EXTERNAL_SKEW_MS;
    const errors = [
      ...issue_areas.flatMap((slug, at) => (directory.issueName(slug) === null ? [{ pointer: `/issue_areas/${at}`, detail: `"${singleLine(slug, 100)}" is no issue area; /api/issue-areas lists them` }] : [])),
      ...Object.entries({ started_at, completed_at }).flatMap(([name, value]) => (value !== null && Date.parse(value) > latest ? [{ pointer: `/${name}`, detail: 'is in the future' }] : [])),
    ];
    if (errors.length > 0) throw problem('invalid_request', { detail: `${errors[0]!.pointer} ${errors[0]!.detail}`, errors });
  }

  async function checkLinks(caller: Member, links: RecordLinks, entries: number): Promise<void> {
    if (!hasLinks(links)) return;
    if (!workspaces) throw problem('invalid_request', { detail: 'links: this instance has no briefs, lists and coverage targets.', errors: [{ pointer: '/links', detail: 'this instance has no briefs, lists and coverage targets' }] });
    if (!caller.scope.includes('workspace:write')) throw problem('insufficient_scope', { detail: 'links change records of the workspace: they need the scope workspace:write.', extra: { scopes: ['workspace:write'] } });
    await workspaces.checkLinks(civic.db.read, caller, links, entries);
  }

  /** Throws before anything is stored when the bundle does not fit. */
  async function openRun(tx: Tx, caller: Member, { header, hash }: Bundle, entries: CheckedEntry[], placeKey: string | null): Promise<Opened> {
    const origin_id = originOf(caller, header);
    const now = civic.clock.now();
    const at = civic.clock.iso();
    const current = {
      location: header.location, place_key: placeKey, issue_areas: JSON.stringify(header.issue_areas), sync: JSON.stringify(recordOf(caller, header)),
      started_at: timeOf(header.started_at) ?? at, completed_at: timeOf(header.completed_at) ?? at,
    };
    const isNew = await insertRunOnce(tx, {
      ...current, id: newId(now), workspace_id: caller.workspace_id, account_id: caller.account_id, origin: 'sync', origin_id, status: 'completed', depth: 'standard', phase: null, done: 0, total: 0,
      queries: 0, sources_found: 0, sources_fetched: 0, sources_skipped: 0, candidates: 0, duplicates: 0, error_code: null, error_detail: null, job_id: null, created_at: at,
    });
    const run = (await lockedRunOf(tx, origin_id))!;
    const sent = await sentHashes(tx, run.key, entries.map(fingerprintOf));
    const changed = entries.filter((entry) => sent.get(fingerprintOf(entry)) !== sentHashOf(entry));
    const used = await addSynced(tx, caller.workspace_id, monthOf(now), isNew ? 1 : 0);
    if (used + changed.length > MOST_SYNCED) {
      throw problem('sync_limit', { detail: `Syncs of a workspace store up to ${MOST_SYNCED} new or changed entries a month.`, headers: exceededHeaders({ limit: MOST_SYNCED, resetAt: nextMonth(now), now }) });
    }
    await updateRun(tx, run.key, current);
    return { run, part: header.part, hash, token: await opened(tx, run, header.part, hash) };
  }

  /** Takes over a part from requests with other bodies. Returns the token of this body. */
  async function opened(tx: Tx, run: RunRow, part: number, hash: string): Promise<string> {
    const known = await partOf(tx, run.key, part);
    if (known?.hash === hash || known?.hash.startsWith(`${hash} `)) return known.hash;
    const token = `${hash} ${newId(civic.clock.now())}`;
    await openPart(tx, { run_key: run.key, part, hash: token, synced_at: civic.clock.iso() });
    return token;
  }

  /** Locks the run. Throws when a request with another body took over the part: the stored entries would be a mixture of both. */
  async function lockedPart(tx: Tx, { run, part, hash, token }: Opened): Promise<PartRow> {
    await lockedRunOf(tx, run.origin_id!);
    const known = await partOf(tx, run.key, part);
    if (!known) throw problem('sync_replaced', { detail: 'The run was deleted while the bundle was being stored.' });
    if (known.hash !== token && known.hash !== hash) throw problem('sync_replaced', { detail: `Another bundle with part ${part} of this run arrived.` });
    return known;
  }

  /** Compares new entries with known actors before the transaction, because it takes longer than storing them. */
  async function matched(caller: Member, run: RunRow, entries: CheckedEntry[]): Promise<MatchedEntry[]> {
    const known = await sentHashes(civic.db.read, run.key, entries.map(fingerprintOf));
    const result: MatchedEntry[] = [];
    for (const entry of entries) {
      const [best] = known.has(fingerprintOf(entry)) ? [] : await directory.matchesOf(civic.db.read, entry.draft, caller.workspace_id);
      result.push({ ...entry, match: best?.isCertain ? best : null });
    }
    return result;
  }

  async function saveEntries(caller: Member, part: Opened, entries: CheckedEntry[]): Promise<EntryLink[]> {
    const links: EntryLink[] = [];
    for (const some of batchesOf(entries)) {
      const batch = await matched(caller, part.run, some);
      const saved = await civic.db.write(async (tx) => {
        await lockedPart(tx, part);
        const result = await save(tx, part.run, batch, caller);
        await addSynced(tx, caller.workspace_id, monthOf(civic.clock.now()), result.stored);
        return result.links;
      });
      links.push(...saved);
    }
    return links;
  }

  /** Records that the part is complete. Of requests with the same part at the same time one is the first. */
  async function complete(tx: Tx, caller: Member, part: Opened, { header, hash }: Bundle, entries: CheckedEntry[], links: EntryLink[]): Promise<Synced> {
    const { run } = part;
    const known = await lockedPart(tx, part);
    if (known.hash === hash) return { receipt: { ...JSON.parse(known.receipt) as Receipt, duplicate: true }, isNew: false };
    const sources = new Map(entries.flatMap(({ draft }) => draft.sources).map((source) => [source.local_id, source]));
    const sourceIds = await directory.sourceIds(tx, [...sources.values()].map(({ url }) => url), caller.workspace_id);
    await addReadPages(tx, run.key, pagesOf(entries));
    const { read } = await pageCounts(tx, run.key);
    await updateRun(tx, run.key, { sources_found: read, sources_fetched: read });
    const entity_ids = [...new Set(links.flatMap(({ entity_id }) => entity_id ?? []))];
    if (hasLinks(header.links)) await workspaces!.link(tx, caller, header.links, { entity_ids, run_id: run.id });
    if (links.some(({ action }) => action === 'held')) await civic.jobs.enqueue(tx, MATCH_JOB, { run_id: run.id }, { unique_key: run.id });
    const [shown] = await shownRuns(discovery, tx, [run]);
    const source_links = [...sources.values()].flatMap(({ local_id, url }) => (sourceIds.has(url) ? [{ local_id, source_id: sourceIds.get(url)! }] : []));
    const receipt: Receipt = {
      run_id: run.id, duplicate: false, visibility: recordOf(caller, header).visibility, review_state: shown!.review_state,
      entry_links: links.map((link) => heldBack(link, caller, header)), source_links, workspace_links: linksOf(header.links), entries_persisted: links.length, sources_persisted: source_links.length,
    };
    await savePart(tx, { run_key: run.key, part: header.part, hash, receipt: JSON.stringify(receipt), synced_at: civic.clock.iso() });
    return { receipt, isNew: known.receipt === 'null' };
  }

  return async function sync(caller: Member, bundle: Bundle): Promise<Synced> {
    const { header, hash } = bundle;
    const before = await runOfOrigin(civic.db.read, originOf(caller, header));
    const known = before && await partOf(civic.db.read, before.key, header.part);
    if (known?.hash === hash) return { receipt: { ...JSON.parse(known.receipt) as Receipt, duplicate: true }, isNew: false };
    checkHeader(header);
    const { place } = header.location === '' ? { place: null } : await directory.resolvePlace(civic.db.read, header.location);
    const placeKey = place?.place_key ?? null;
    const entries = await checkedEntries(discovery, civic.db.read, bundle, placeKey);
    await checkLinks(caller, header.links, entries.length);
    const part = await civic.db.write((tx) => openRun(tx, caller, bundle, entries, placeKey));
    const links = await saveEntries(caller, part, entries);
    return civic.db.write((tx) => complete(tx, caller, part, bundle, entries, links));
  };
}

/** Local ids of runs are unique in a workspace only. */
function originOf({ workspace_id }: Member, { local_run_id }: SyncHeader): string {
  return `${workspace_id} ${local_run_id}`;
}

function recordOf({ role }: Caller, { local_run_id, tool, visibility, links }: SyncHeader): SyncRecord {
  return { local_run_id, tool, visibility: role === 'user' ? 'workspace' : visibility, links };
}

/** Who may not publish gets private actors, and a reviewer decides whether they become public. */
function heldBack(link: EntryLink, { role }: Caller, { visibility }: SyncHeader): EntryLink {
  return visibility === 'public' && role === 'user' && link.action !== 'matched' ? { ...link, action: 'held' } : link;
}

function hasLinks(links: RecordLinks): boolean {
  return Object.values(links).some((id) => typeof id === 'string');
}

function linksOf({ brief_id, list_id, coverage_target_id }: RecordLinks): Receipt['workspace_links'] {
  const ids = (id: string | null | undefined) => (id ? [id.toLowerCase()] : []);
  return { briefs: ids(brief_id), lists: ids(list_id), coverage_targets: ids(coverage_target_id) };
}

/** Returns the pages that entries cite, with how many of them do. */
function pagesOf(entries: CheckedEntry[]): ReadPage[] {
  const pages = new Map<string, ReadPage>();
  for (const { url, title = null, content_hash = null, retrieved_at = null } of entries.flatMap(({ draft }) => draft.sources)) {
    pages.set(url, { url, title, content_hash, retrieved_at, found: 1 + (pages.get(url)?.found ?? 0) });
  }
  return [...pages.values()];
}

function timeOf(text: string | null): string | null {
  return text === null ? null : new Date(text).toISOString();
}

function batchesOf(entries: CheckedEntry[]): CheckedEntry[][] {
  const batches: CheckedEntry[][] = [];
  let claims = Infinity;
  for (const entry of entries) {
    claims += entry.draft.claims.length;
    if (claims > CLAIMS_AT_ONCE || batches.at(-1)!.length === ENTRIES_AT_ONCE) {
      batches.push([]);
      claims = entry.draft.claims.length;
    }
    batches.at(-1)!.push(entry);
  }
  return batches;
}
