import { exceededHeaders, isId, newId, problem, singleLine, type Caller, type Reader, type Tx } from 'civic';
import { adapterOf } from '../adapters/adapters.ts';
import type { Row } from '../adapters/types.ts';
import type { Ingest } from '../context.ts';
import { READ_JOB, schedule } from '../reads/run.ts';
import { readsPage, setAsideRows, type ReadRow } from '../reads/store.ts';
import { addressName } from './names.ts';
import { probe, type Probe } from './recognise.ts';
import { shownSource, type ShownSource } from './shown.ts';
import { addToTotal, deleteSource, insertSource, lockAddresses, lockedSource, sourceById, sourceByUrl, sourcesPage, totalOf, updateSource, type SourceFilter, type SourceRow, type State } from './store.ts';

/** Whose sources are meant: those of a workspace, or the operator's, whose signals are public. */
export interface Owner {
  workspace_id: string | null;
  account_id: string | null;
  /** How many sources there may be. */
  most: number;
  plan: string | null;
}

export interface SourceInput {
  url: string;
  name?: string;
  platform?: string;
  place?: string | null;
  issues?: string[];
  tags?: string[];
  cadence_seconds?: number | null;
  source_class?: SourceRow['source_class'];
}

export type SourceChanges = Partial<Omit<SourceInput, 'platform'>> & { state?: State; ignored?: string[] };

/** The state of a source that was not read yet. */
const UNREAD = { platform: null, health: 'new' as const, fault: null, fault_detail: null, failing_since: null, failures: 0, row_count: 0, last_success_at: null, applied_hash: null, applied_at: null, via: null, last_changes: null, change_bits: null, has_left_out: null };
/** A plan that is full may have room after an hour, when a source was deleted. */
const RETRY_MS = 3600_000;
const LONGEST_NAME = 200;
const AT_ONCE = 500;
const MOST_IGNORED = 200;
const MOST_NEAR = 3;

/** Runs a change in a transaction, which a page lets check the access of its visitor first. */
export type Write = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>;

export type Sources = ReturnType<typeof createSources>;

/** What is done with watched sources, by API, command line and console. */
export function createSources(ingest: Ingest) {
  const { civic, directory, accounts } = ingest;

  /** Returns whose sources a caller works with. The operator's require the role of a reviewer. */
  function ownerOf(caller: Caller, visibility: 'workspace' | 'public'): Owner {
    if (visibility === 'public') {
      if (caller.role === 'user') throw problem('permission_required', { detail: 'Sources whose signals are public are the operator’s: only reviewers and administrators of this instance work with them.' });
      return { workspace_id: null, account_id: caller.account_id, most: Infinity, plan: null };
    }
    if (caller.workspace_id === null) throw problem('workspace_forbidden', { detail: 'Choose a workspace: the credential works in none.' });
    return { workspace_id: caller.workspace_id, account_id: caller.account_id, most: accounts?.limitOf(caller.plan, 'source_watches') ?? Infinity, plan: caller.plan };
  }

  async function found(reader: Reader, owner: Owner, id: string): Promise<SourceRow> {
    const row = isId(id) ? await sourceById(reader, id.toLowerCase()) : undefined;
    if (!row || row.workspace_id !== owner.workspace_id) throw unknown(id);
    return row;
  }

  async function locked(tx: Tx, owner: Owner, id: string): Promise<SourceRow> {
    const row = isId(id) ? await lockedSource(tx, id.toLowerCase()) : undefined;
    if (!row || row.workspace_id !== owner.workspace_id) throw unknown(id);
    return row;
  }

  async function placeKey(reader: Reader, given: string | null | undefined): Promise<string | null> {
    if (given === null || given === undefined) return null;
    const key = await directory.placeKey(reader, given);
    if (key !== null) return key;
    const { candidates } = await directory.resolvePlace(reader, given);
    const near = candidates.slice(0, MOST_NEAR).map(({ place_key }) => place_key);
    throw problem('invalid_request', { errors: [{ pointer: '/place', detail: `"${singleLine(given, 100)}" is the key of no place; ${near.length > 0 ? `the nearest are ${near.join('; ')}` : '/api/places?query= finds places by name'}` }] });
  }

  /** Returns the change of a place. Rows of another time zone are read again at once, and compared as such. */
  async function placeChange(tx: Tx, row: SourceRow, place_key: string | null): Promise<Partial<SourceRow>> {
    const isOther = await ingest.timeZone(tx, row) !== await ingest.timeZone(tx, { place_key });
    return { place_key, ...(isOther && { applied_hash: null, applied_at: null }) };
  }

  function checkIssues(issues: string[]): void {
    const unknownIssue = issues.find((slug) => directory.issueName(slug) === null);
    if (unknownIssue !== undefined) throw problem('invalid_request', { errors: [{ pointer: '/issues', detail: `"${singleLine(unknownIssue, 100)}" is no issue area; /api/issue-areas lists them` }] });
  }

  /** Reads an address before anything is stored. */
  async function test(input: Pick<SourceInput, 'url' | 'platform' | 'place'>): Promise<Probe> {
    const place_key = await placeKey(civic.db.read, input.place);
    return probe(ingest, { url: input.url, adapter: input.platform ? adapterOf(input.platform) : null, time_zone: await ingest.timeZone(civic.db.read, { place_key }) });
  }

  async function insert(tx: Tx, owner: Owner, input: SourceInput, recognised: Pick<Probe, 'url' | 'title'> & { platform: string | null }, readAt: string): Promise<SourceRow> {
    const { issues = [], tags = [], cadence_seconds = null, source_class = null } = input;
    const place_key = await placeKey(tx, input.place);
    checkIssues(issues);
    await lockAddresses(tx, owner.workspace_id);
    await refuseWatched(tx, owner, recognised.url, null);
    await take(tx, owner);
    const at = civic.clock.iso();
    const row = await insertSource(tx, {
      id: newId(civic.clock.now()), workspace_id: owner.workspace_id, url: recognised.url, given_url: input.url === recognised.url ? null : input.url, name: (input.name ?? recognised.title ?? addressName(recognised.url)).slice(0, LONGEST_NAME), platform: recognised.platform,
      place_key, issues: JSON.stringify(issues), tags: JSON.stringify(tags), cadence_seconds, source_class, state: 'active', health: 'new', fault: null, fault_detail: null, failing_since: null, failures: 0,
      row_count: 0, last_read_at: null, last_success_at: null, last_change_at: null, applied_hash: null, applied_at: null, ignored: '[]', via: null, last_changes: null, change_bits: null, has_left_out: null, reminded_at: null, created_at: at, updated_at: at, created_by: owner.account_id,
    });
    await setFirstRead(tx, row, readAt);
    return row;
  }

  /** Throws when another source watches the address. */
  async function refuseWatched(reader: Reader, { workspace_id }: Owner, url: string, id: string | null): Promise<void> {
    const known = await sourceByUrl(reader, workspace_id, url, id);
    if (known) throw problem('source_watched', { detail: `${url} is watched as “${known.name}”, with the id ${known.id}.`, extra: { source_id: known.id } });
  }

  /** Takes one of the places that the plan has. */
  async function take(tx: Tx, { workspace_id, most, plan }: Owner): Promise<void> {
    if (workspace_id === null) return;
    const total = await addToTotal(tx, workspace_id, 1);
    if (total > most) throw full({ most, plan });
  }

  function full({ most, plan }: Pick<Owner, 'most' | 'plan'>) {
    return problem('too_many_sources', { detail: `The plan ${plan} has ${most === 0 ? 'no watched sources' : `${most} watched sources, and all are in use`}.`, headers: exceededHeaders({ limit: most, resetAt: civic.clock.now() + RETRY_MS, now: civic.clock.now() }) });
  }

  async function setFirstRead(tx: Tx, source: SourceRow, at: string): Promise<void> {
    await civic.jobs.setDue(tx, READ_JOB, source.id, { at, every_seconds: ingest.cadence(source) });
  }

  async function shown(reader: Reader, rows: SourceRow[]): Promise<ShownSource[]> {
    const next = await civic.jobs.dueTimes(reader, READ_JOB, rows.map(({ id }) => id));
    return rows.map((row) => shownSource(row, row.state === 'active' ? next.get(row.id) ?? null : null));
  }

  /** Reads an address before it is watched. Throws when it cannot be read. */
  async function recognise(input: Pick<SourceInput, 'url' | 'platform' | 'place'>): Promise<Probe & { platform: string }> {
    const tested = await test(input);
    if (tested.fault) throw problem('source_unreadable', { detail: tested.fault.detail });
    return { ...tested, platform: tested.adapter!.name };
  }

  /** Changes a source. `recognised` is what its new address was recognised as; without it, its next read does. */
  async function update(tx: Tx, owner: Owner, id: string, changes: SourceChanges, recognised?: Pick<Probe, 'url' | 'title'> & { platform: string }): Promise<ShownSource> {
    const row = await locked(tx, owner, id);
    if (changes.issues) checkIssues(changes.issues);
    const { place, issues, tags, ignored, url: given = row.url, ...plain } = changes;
    const url = recognised?.url ?? given;
    const isOther = url !== row.url;
    if (isOther) {
      await lockAddresses(tx, owner.workspace_id);
      await refuseWatched(tx, owner, url, row.id);
      await setAsideRows(tx, row.key, row.url, civic.clock.iso());
    }
    const next = await updateSource(tx, row.key, {
      ...(isOther && { ...UNREAD, url, given_url: given === url ? null : given, platform: recognised?.platform ?? null, ...(row.name === addressName(row.url) && { name: (recognised?.title ?? addressName(url)).slice(0, LONGEST_NAME) }) }),
      ...plain, updated_at: civic.clock.iso(),
      ...(place !== undefined && await placeChange(tx, row, await placeKey(tx, place))),
      ...(issues && { issues: JSON.stringify(issues) }), ...(tags && { tags: JSON.stringify(tags) }), ...(ignored && { ignored: JSON.stringify(ignored) }),
    });
    await reschedule(tx, row, next);
    await reportChange(tx, row);
    return (await shown(tx, [next]))[0]!;
  }

  return {
    ownerOf, test, found, shown, update,
    /** Adds a source. Without a test its first read recognises it. */
    async create(owner: Owner, input: SourceInput, { test: isTested, write = civic.db.write }: { test: boolean; write?: Write }): Promise<{ source: ShownSource; rows: Row[] }> {
      if (owner.workspace_id !== null && await totalOf(civic.db.read, owner.workspace_id) >= owner.most) throw full(owner);
      const tested = isTested ? await recognise(input) : null;
      const recognised = tested ?? { url: input.url, title: null, platform: input.platform ?? null };
      const source = await write(async (tx) => (await shown(tx, [await insert(tx, owner, input, recognised, civic.clock.iso())]))[0]!);
      return { source, rows: tested?.rows ?? [] };
    },
    /** Adds a source of a list, which is first read at a time of its own. Returns the one that watches the address already, if there is one. */
    async addListed(tx: Tx, owner: Owner, input: SourceInput, readAt: string): Promise<{ id: string; isNew: boolean }> {
      await lockAddresses(tx, owner.workspace_id);
      const known = await sourceByUrl(tx, owner.workspace_id, input.url);
      const { id } = known ?? await insert(tx, owner, input, { url: input.url, title: null, platform: input.platform ?? null }, readAt);
      return { id, isNew: known === undefined };
    },
    /** Returns all sources, the latest first. */
    async all(reader: Reader, filter: SourceFilter): Promise<ShownSource[]> {
      const found: ShownSource[] = [];
      for (let before: number | null = null; ;) {
        const { rows } = await sourcesPage(reader, filter, { before, limit: AT_ONCE });
        found.push(...await shown(reader, rows));
        if (rows.length < AT_ONCE) return found;
        before = Number(rows.at(-1)!.key);
      }
    },
    async page(reader: Reader, filter: SourceFilter, { before, limit }: { before: number | null; limit: number }) {
      const { rows, total } = await sourcesPage(reader, filter, { before, limit: limit + 1 });
      const page = rows.slice(0, limit);
      return { sources: await shown(reader, page), total, next: rows.length > limit ? Number(page.at(-1)!.key) : null };
    },
    /** Changes a source. Another address is read first, unless it is not to be tested. */
    async change(owner: Owner, id: string, changes: SourceChanges, { test: isTested, write = civic.db.write }: { test: boolean; write?: Write }): Promise<ShownSource> {
      const row = await found(civic.db.read, owner, id);
      if (!isTested || changes.url === undefined || changes.url === row.url) return write((tx) => update(tx, owner, id, changes));
      await refuseWatched(civic.db.read, owner, changes.url, row.id);
      const recognised = await recognise({ url: changes.url, place: changes.place === undefined ? row.place_key : changes.place });
      return write((tx) => update(tx, owner, id, changes, recognised));
    },
    /** Adds a passage to those whose changes are not reported, or removes it. */
    async ignore(tx: Tx, owner: Owner, id: string, passage: string, isIgnored: boolean): Promise<void> {
      const row = await locked(tx, owner, id);
      const others = (JSON.parse(row.ignored) as string[]).filter((one) => one !== passage);
      const ignored = isIgnored ? [...others, passage].slice(-MOST_IGNORED) : others;
      await updateSource(tx, row.key, { ignored: JSON.stringify(ignored), updated_at: civic.clock.iso() });
    },
    async remove(tx: Tx, owner: Owner, id: string): Promise<void> {
      const row = await locked(tx, owner, id);
      await civic.jobs.removeDue(tx, READ_JOB, row.id);
      await ingest.discovery?.forget(tx, row.id);
      await deleteSource(tx, row.key);
      await reportChange(tx, row);
      if (row.workspace_id !== null) await addToTotal(tx, row.workspace_id, -1);
    },
    history: (reader: Reader, source: SourceRow, page: { before: number | null; limit: number }): Promise<{ rows: ReadRow[]; total: number }> => readsPage(reader, source.key, page),
  };

  /** Lets each node forget cached calendars and pages: what they list of a public source may have changed. */
  async function reportChange(tx: Tx, { id, workspace_id }: SourceRow): Promise<void> {
    if (workspace_id === null) await civic.emit(tx, 'ingest.source_changed', { id });
  }

  async function reschedule(tx: Tx, before: SourceRow, after: SourceRow): Promise<void> {
    if (after.state === 'paused') return civic.jobs.removeDue(tx, READ_JOB, after.id);
    if (before.state === 'paused' || before.url !== after.url || (before.applied_at !== null && after.applied_at === null)) return setFirstRead(tx, after, civic.clock.iso());
    if (ingest.cadence(before) !== ingest.cadence(after)) await schedule(ingest, tx, after, ingest.cadence(after));
  }
}

function unknown(id: string) {
  return problem('unknown_watched_source', { detail: `No watched source here has the id ${singleLine(id, 100)}.` });
}
