import { singleLine, writableText, type RunningJob, type Tx } from 'civic';
import type { Document } from 'civic/reader';
import { adapterOf } from '../adapters/adapters.ts';
import type { Adapter, Row } from '../adapters/types.ts';
import type { Ingest } from '../context.ts';
import { placeRule } from '../signals/rules.ts';
import type { SignalContext } from '../signals/drafts.ts';
import { NOT_RECOGNISED, NOTHING_FOUND, probe } from '../sources/recognise.ts';
import { classOf } from '../sources/class.ts';
import { addressName } from '../sources/names.ts';
import { nextBits } from '../sources/notices.ts';
import { lockedSource, sourceById, updateSource, type SourceRow, type Via } from '../sources/store.ts';
import { compareRows, completed, hashOf, type Change, type KnownRow } from './compare.ts';
import { actorsIn, type ActorContext } from './actors.ts';
import { publicUrl } from './clean.ts';
import { MOST_ROWS, readRows, textOf, type LeftOut, type SourceRead } from './documents.ts';
import { rowsFault, type Fault, type KnownState } from './fault.ts';
import { markedRows, pairGone, type GoneRow } from './gone.ts';
import { shownChanges } from './last.ts';
import { withoutLines } from './lines.ts';
import { pruneRows } from './prune.ts';
import { publish } from './publish.ts';
import { goneRowsOf, insertRead, rowsOf, setDoubted, type ReadRow, type StoredRow } from './store.ts';

export const READ_JOB = 'ingest.read';
const LONGEST_BACKOFF_SECONDS = 86_400;
const DAY_MS = 24 * 3600_000;
const RECENT_MS = DAY_MS;
const LONGEST_NAME = 200;
const MOST_READS = 5;
const NOT_STORED: Fault = { code: 'not_stored', detail: 'What was read could not be stored. The log of the server has the reason.' };

interface Known {
  /** By key, with those that were gone. */
  stored: Map<string, StoredRow>;
  /** The rows that were gone or are marked as cancelled, by the keys of those in this read that continue them. */
  gone: Map<string, GoneRow>;
  /** Whether a row of this read is marked as cancelled beside the one that continues it. */
  isSuperseded(row: Row): boolean;
  rows: Map<string, KnownRow>;
  state: KnownState;
}

type ReadJob = Pick<RunningJob<{ key: string }>, 'payload' | 'signal' | 'write'>;

/** Reads a source. One that gets another address or place meanwhile is read again at once: the time that the change set has passed while this job ran. */
export async function runRead(ingest: Ingest, job: ReadJob): Promise<void> {
  for (let reads = 0; reads < MOST_READS && !(await readOnce(ingest, job)); reads++) job.signal.throwIfAborted();
}

/** Finds what changed, publishes it, and stores the rows and the record of the read in one transaction. Returns false, and stores nothing, when the source has another address or place by then. */
async function readOnce(ingest: Ingest, { payload, signal, write }: ReadJob): Promise<boolean> {
  const { civic } = ingest;
  const source = await sourceById(civic.db.read, payload.key);
  if (!source || source.state !== 'active') return true;
  let isCurrent = true;
  const startedAt = performance.now();
  const time_zone = await ingest.timeZone(civic.db.read, source);
  const { adapter, url, title } = await platformOf(ingest, source, time_zone);
  const result = await readRows(ingest, { url, adapter, time_zone, signal, known_hash: adapter.opensMore ? null : appliedHash(source, civic.clock.now()) });
  const milliseconds = Math.round(performance.now() - startedAt);
  /** Stores something about the source, unless it was changed while it was read. */
  const change = (work: (tx: Tx, current: SourceRow) => Promise<void>) => write(async (tx) => {
    const current = await lockedSource(tx, source.id);
    isCurrent = !current || (current.url === source.url && current.place_key === source.place_key);
    if (current?.state === 'active' && isCurrent) await work(tx, current);
  });
  await change(async (tx, current) => {
    const recognised = current.platform === null && adapter !== NOT_RECOGNISED ? await updateSource(tx, current.key, { platform: adapter.name, url, name: nameOf(current, title), ...(url !== current.url && { given_url: current.url }) }) : current;
    await store(ingest, tx, recognised, { ...result, fault: result.fault ?? (adapter === NOT_RECOGNISED ? NOTHING_FOUND : null) }, { time_zone, milliseconds });
  }).catch(async (error: unknown) => {
    signal.throwIfAborted();
    civic.log.error({ err: error, source: source.id }, 'What was read of a watched source could not be stored');
    await change((tx, current) => noteFault(ingest, tx, current, NOT_STORED));
  });
  return isCurrent;
}

/** Returns the hash of the content whose rows are stored; null when they should be read again, as recurring meetings need each day. */
function appliedHash({ health, applied_hash, applied_at }: SourceRow, now: number): string | null {
  return health === 'healthy' && applied_at !== null && now - Date.parse(applied_at) < RECENT_MS ? applied_hash : null;
}

/** Whether the rows of a source are those of another time zone: a change of its place deleted what is known of the content they are from. */
function isShifted({ last_success_at, applied_at }: SourceRow): boolean {
  return last_success_at !== null && applied_at === null;
}

/** Returns the adapter of a source. One that was added without a test is recognised by its first read. */
async function platformOf(ingest: Ingest, source: SourceRow, time_zone: string): Promise<{ adapter: Adapter; url: string; title: string | null }> {
  if (source.platform !== null) return { adapter: adapterOf(source.platform), url: source.url, title: null };
  const { adapter, url, title } = await probe(ingest, { url: source.url, adapter: null, time_zone });
  return { adapter: adapter ?? NOT_RECOGNISED, url, title };
}

/** Returns the title of the page for a source that was added without a name, which has its address until then. */
function nameOf({ name, url }: SourceRow, title: string | null): string {
  const found = singleLine(writableText(title ?? ''), LONGEST_NAME).trim();
  return found !== '' && name === addressName(url) ? found : name;
}

async function store(ingest: Ingest, tx: Tx, source: SourceRow, result: SourceRead, { time_zone, milliseconds }: { time_zone: string; milliseconds: number }): Promise<void> {
  const { read, document } = result;
  const at = ingest.civic.clock.iso();
  const record = { source_key: source.key, fetch_id: read.id, at, milliseconds, content_hash: read.content?.hash ?? null, via: read.via, rows: 0, added: 0, changed: 0, gone: 0, signals: 0 };
  if (read.outcome === 'put_off') {
    await insertRead(tx, { ...record, outcome: 'put_off', detail: read.detail });
    return putOff(ingest, tx, source, read.retry_at);
  }
  const known = document && !result.fault ? await knownRows(tx, source, result.rows) : null;
  const fault = result.fault ?? (known && rowsFault(result.rows, known.state, ingest.civic.clock.now()));
  if (fault) {
    if (known && fault.code === 'few_rows') await doubtMissing(tx, source, result.rows, known);
    await insertRead(tx, { ...record, outcome: read.outcome === 'refused' ? 'refused' : 'failed', detail: fault.detail });
    return noteFault(ingest, tx, source, fault, read.via);
  }
  const { isDoubtful, ...counts } = known ? await applyRows(ingest, tx, source, { ...result, known }, time_zone) : { rows: source.row_count, added: 0, changed: 0, gone: 0, signals: 0, isDoubtful: false };
  await insertRead(tx, { ...record, ...counts, outcome: counts.added + counts.changed + counts.gone > 0 ? 'read' : 'unchanged', detail: null });
  await noteSuccess(ingest, tx, source, counts, read.via);
  // Feeds and data are left out, and addresses with a secret are not shown to others.
  if (publicUrl(read.url) === read.url) await ingest.reader.index(tx, { workspace_id: source.workspace_id, url: read.url, content_hash: read.content!.hash, read_at: read.at, ...(document && { document }) });
  // What is doubted is decided by the next read, also when it brings the same content.
  if (document) await updateSource(tx, source.key, { applied_hash: isDoubtful ? null : read.content!.hash, applied_at: at, has_left_out: isCut(document, result.rows) || result.leftOut.length > 0 });
}

/** Whether a part of the document or of its rows is left out, so that what is missing is unknown. */
function isCut({ truncated }: Document, rows: Row[]): boolean {
  return truncated || rows.length >= MOST_ROWS;
}

function isLeftOut(row: Row, leftOut: LeftOut[]): boolean {
  return row.kind === 'meeting' && leftOut.some(({ keys, after }) => row.key.startsWith(keys) && row.start! > after);
}

type Counts = Pick<ReadRow, 'rows' | 'added' | 'changed' | 'gone' | 'signals'>;

async function applyRows(ingest: Ingest, tx: Tx, source: SourceRow, { read, document, rows: given, opened, leftOut, known }: SourceRead & { known: Known }, time_zone: string): Promise<Counts & { isDoubtful: boolean }> {
  const now = ingest.civic.clock.now();
  const adapter = adapterOf(source.platform!);
  const ignored = JSON.parse(source.ignored) as string[];
  const formerRow = (key: string) => known.rows.get(key)?.row ?? known.gone.get(key)?.row;
  const rows = given.map((row) => withoutIgnored(completed(row, formerRow(row.key)), ignored));
  const comparison = compareRows(known.rows, rows.filter((row) => !known.isSuperseded(row)), {
    now, isComplete: Boolean(adapter.isComplete) && !isCut(document!, given), isLeftOut: (row) => isLeftOut(row, leftOut), hasNoEnd: Boolean(adapter.hasNoEnd), wasDoubted: known.state.wasDoubted, isShifted: isShifted(source), gone: known.gone,
  });
  const context: SignalContext = {
    source: { url: read.final_url, name: source.name, source_class: classOf(source), place_keys: source.place_key === null ? [] : [source.place_key], issues: JSON.parse(source.issues), tags: JSON.parse(source.tags), workspace_id: source.workspace_id },
    isFirst: source.last_success_at === null, last_read: source.last_success_at === null ? -Infinity : Date.parse(source.last_success_at), known_since: now - ingest.civic.config.read_days * DAY_MS, now, time_zone, notice: await placeRule(ingest, tx, source.place_key),
    content_hash: read.content!.hash, text: textOf(document!), opened,
  };
  const signals = await publish(ingest, tx, source, { ...comparison, stored: known.stored, superseded: rows.filter(known.isSuperseded), given }, context);
  await pruneRows(tx, source.key, { stored: [...known.stored.values()].filter(({ gone_at }) => gone_at === null), read: rows, at: ingest.civic.clock.iso(), before: new Date(context.known_since).toISOString() });
  const page = { url: read.final_url, content_hash: context.content_hash, text: context.text };
  await proposeActors(ingest, tx, source, comparison.changes, { documents: [page, ...opened], retrieved_at: read.at, isGovernment: context.source.source_class.startsWith('government') });
  // What a first read lists is no change.
  if (!context.isFirst && comparison.changes.length > 0) await updateSource(tx, source.key, { last_changes: JSON.stringify(shownChanges(comparison.changes)) });
  return { rows: rows.length, signals, ...countsOf(comparison.changes), isDoubtful: comparison.doubted.length > 0 };
}

/** Proposes the people and bodies that new and changed rows name as candidates: reviewers decide whether they become actors. */
async function proposeActors(ingest: Ingest, tx: Tx, source: SourceRow, changes: Change[], { documents, retrieved_at, isGovernment }: Pick<ActorContext, 'documents' | 'retrieved_at'> & { isGovernment: boolean }): Promise<void> {
  if (!ingest.discovery) return;
  const { id, name, place_key, workspace_id } = source;
  const place = place_key === null ? null : (await ingest.directory.places(tx, [place_key])).get(place_key) ?? null;
  const findings = actorsIn(changes.filter(({ type }) => type !== 'gone').map(({ row }) => row), { source: { name, place: place && { key: place.place_key, name: place.name }, isGovernment }, documents, retrieved_at });
  if (findings.length === 0) return;
  await ingest.reader.keep(tx, [...new Set(findings.flatMap(({ sources }) => sources.flatMap(({ content_hash }) => content_hash ?? [])))]);
  await ingest.discovery.propose(tx, { type: 'watched_source', id, workspace_id, account_id: source.created_by, location: name, place_key, issue_areas: JSON.parse(source.issues) }, findings);
}

function withoutIgnored(row: Row, ignored: string[]): Row {
  return row.kind === 'page' ? { ...row, text: withoutLines(row.text, ignored) } : row;
}

async function knownRows(tx: Tx, source: SourceRow, read: Row[]): Promise<Known> {
  const ignored = JSON.parse(source.ignored) as string[];
  const present = await rowsOf(tx, source.key);
  const rows = new Map(present.map(({ row_key, hash, data }) => {
    const row = withoutIgnored(JSON.parse(data) as Row, ignored);
    return [row_key, { hash: row.kind === 'page' ? hashOf(row) : hash, row }];
  }));
  const added = read.filter(({ key }) => !rows.has(key));
  const gone = await goneRowsOf(tx, source.key, { keys: added.map(({ key }) => key), starts: added.flatMap((row) => (row.kind === 'meeting' ? row.start ?? [] : [])) });
  const stored = new Map([...gone, ...present].map((row) => [row.row_key, row]));
  const state = { rowCount: source.row_count, fault: source.fault, rows: [...rows.values()].map(({ row }) => row), wasDoubted: ({ key }: Row) => Boolean(stored.get(key)?.is_doubted) };
  const listed = new Set(read.map(({ key }) => key));
  // Starts of another time zone are not those of the same meetings.
  const marked = added.length === 0 || isShifted(source) ? [] : markedRows(present, read);
  const pairs = pairGone([...marked, ...gone], added, { url: source.url, isListed: (key) => listed.has(key) });
  const continued = new Set([...pairs.values()].filter(({ isMarked }) => isMarked).map(({ row }) => row.key));
  for (const key of continued) rows.delete(key);
  return { stored, rows, gone: pairs, isSuperseded: ({ key }) => continued.has(key), state };
}

/** Lets the next read decide about all rows that are missing, also when it brings the content that was applied last. */
async function doubtMissing(tx: Tx, source: SourceRow, rows: Row[], { rows: known }: Known): Promise<void> {
  const read = new Set(rows.map(({ key }) => key));
  await setDoubted(tx, source.key, [...known.keys()].filter((key) => !read.has(key)));
  await updateSource(tx, source.key, { applied_hash: null });
}

function countsOf(changes: Change[]): Pick<Counts, 'added' | 'changed' | 'gone'> {
  const count = (type: Change['type']) => changes.filter((change) => change.type === type).length;
  return { added: count('added') + count('returned'), changed: count('changed'), gone: count('gone') };
}

async function noteSuccess(ingest: Ingest, tx: Tx, source: SourceRow, { rows, added, changed, gone }: Counts, via: Via): Promise<void> {
  const at = ingest.civic.clock.iso();
  await updateSource(tx, source.key, {
    health: 'healthy', fault: null, fault_detail: null, failing_since: null, failures: 0, via, change_bits: nextBits(source.change_bits, source.last_success_at !== null && added + changed + gone > 0), row_count: rows, last_read_at: at, last_success_at: at,
    ...(added + changed + gone > 0 && { last_change_at: at }),
  });
  // A failure had made the times rarer.
  if (source.failures > 0) await schedule(ingest, tx, source, ingest.cadence(source));
}

/** A source that fails is read more rarely, and counts as failing after some failures in a row. */
async function noteFault(ingest: Ingest, tx: Tx, source: SourceRow, fault: Fault, via = source.via): Promise<void> {
  const at = ingest.civic.clock.iso();
  const failures = Number(source.failures) + 1;
  const isFailing = source.health === 'failing' || failures >= ingest.civic.config.failing_after;
  await updateSource(tx, source.key, {
    failures, via, fault: fault.code, fault_detail: fault.detail, last_read_at: at,
    ...(isFailing && { health: 'failing' as const, failing_since: source.failing_since ?? at }),
  });
  const cadence = ingest.cadence(source);
  await schedule(ingest, tx, source, Math.max(cadence, Math.min(LONGEST_BACKOFF_SECONDS, cadence * 2 ** Math.min(failures - 1, 10))));
}

async function putOff(ingest: Ingest, tx: Tx, source: SourceRow, retryAt: string | null): Promise<void> {
  const { clock, jobs } = ingest.civic;
  const wait = Math.max(1, Math.ceil((Date.parse(retryAt ?? '') - clock.now()) / 1000) || 60);
  await updateSource(tx, source.key, { last_read_at: clock.iso() });
  const cadence = ingest.cadence(source);
  if (wait < cadence) await jobs.setDue(tx, READ_JOB, source.id, { at: new Date(clock.now() + wait * 1000).toISOString(), every_seconds: cadence });
}

/** Sets the next read of a source after so many seconds, and further ones at that distance. */
export async function schedule(ingest: Ingest, tx: Tx, source: Pick<SourceRow, 'id'>, seconds: number): Promise<void> {
  const { clock, jobs } = ingest.civic;
  await jobs.setDue(tx, READ_JOB, source.id, { at: new Date(clock.now() + seconds * 1000).toISOString(), every_seconds: seconds });
}
