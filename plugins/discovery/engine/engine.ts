import { setTimeout as sleep } from 'node:timers/promises';
import { singleLine, type Tx } from 'civic';
import type { Document, Read } from 'civic/reader';
import { matchCandidates } from '../candidates/match.ts';
import { propose, type Finding } from '../candidates/propose.ts';
import type { Discovery } from '../context.ts';
import { DEFAULT_SCORE } from '../extract/extract.ts';
import type { FoundActor } from '../extract/types.ts';
import { updatePage, waitingPages, type PageRow } from '../runs/pages-store.ts';
import { refundRun } from '../runs/quota-store.ts';
import { monthOf, RUN_JOB, RUN_PRIORITY } from '../runs/start.ts';
import { lockedRun, runById, updateRun, type RunRow } from '../runs/store.ts';
import { findPages } from './find.ts';
import { findingsOf } from './findings.ts';
import { pageAt, pagesAfter } from './frontier.ts';
import { gapsOf } from './gaps.ts';
import { subjectsOf } from './queries.ts';
import { admit, change, isOpen, readAddress, RunEnded, type Place, type Reading, type RunJob } from './reading.ts';

export { isOpen } from './reading.ts';

/** How many pages are requested, parsed and stored for each that is requested: the network does not wait for the processor. */
const BUSY_FOR_EACH = 3;
const MOST_ATTEMPTS = 5;
const LONGEST_WAIT_MS = 5000;
/** A page of a host that asked for a longer pause is skipped at once. */
const MOST_PATIENCE_MS = MOST_ATTEMPTS * LONGEST_WAIT_MS;
/** Pages that a run reads before it waits behind other work. */
const SLICE = 20;

/**
 * Works on a run for one slice of pages, then waits behind other work, until the run is completed. All state is in tables, and each page is stored in one transaction
 * with what was found on it: after a kill another worker continues with the pages that wait. A page that the reader has archived since the run began is not requested again.
 */
export async function runDiscovery(discovery: Discovery, job: RunJob): Promise<void> {
  const { civic } = discovery;
  const run = await runById(civic.db.read, job.payload.run_id);
  if (!run || !isOpen(run)) return;
  const reading: Reading = {
    discovery, run: { ...run, started_at: run.started_at ?? civic.clock.iso() }, place: await placeOf(discovery, run), subjects: (JSON.parse(run.issue_areas) as string[]).map((slug) => ({ slug, terms: discovery.directory.issueTerms(slug) })),
    job, busy: new Map(), browser: { renders: run.renders ?? 0 },
  };
  try {
    if (run.phase === null || run.phase === 'find') await findPages(reading);
    if (await readSlice(reading) === 'more') return await change(reading, (tx) => continueLater(reading, tx));
    await change(reading, (tx) => updateRun(tx, run.key, { phase: 'match' }));
    await matchCandidates(discovery, run, job);
    await change(reading, async (tx) => updateRun(tx, run.key, { status: 'completed', completed_at: civic.clock.iso(), gaps: JSON.stringify(await gapsOf(tx, run, discovery.directory.issueName)) }));
  } catch (error) {
    // A worker that stops or lost the job leaves the run to the next one.
    job.signal.throwIfAborted();
    if (error instanceof RunEnded) return;
    civic.log.error({ err: error, run: run.id }, 'A discovery run failed');
    await job.write(async (tx) => {
      const current = await lockedRun(tx, run.id);
      if (current && isOpen(current)) await failRun(discovery, tx, current, { code: 'internal_error', detail: 'The run ended because of an error of the server. It does not count against the quota; start it again.' });
    });
  }
}

/** Ends an open run without success. It counts against the monthly quota only when it was cancelled after it had read pages. */
export async function failRun({ civic }: Discovery, tx: Tx, run: RunRow, error: { code: string; detail: string }): Promise<void> {
  await updateRun(tx, run.key, { status: 'failed', error_code: error.code, error_detail: error.detail, completed_at: civic.clock.iso() });
  const isUsed = error.code === 'cancelled' && run.sources_fetched > 0;
  if (run.workspace_id !== null && !isUsed) await refundRun(tx, run.workspace_id, monthOf(Date.parse(run.created_at)));
}

async function continueLater({ discovery: { civic }, run }: Reading, tx: Tx): Promise<void> {
  await updateRun(tx, run.key, { job_id: await civic.jobs.enqueue(tx, RUN_JOB, { run_id: run.id }, RUN_PRIORITY) });
}

async function placeOf({ civic, directory }: Discovery, { place_key }: RunRow): Promise<Place> {
  const place = place_key === null ? undefined : (await directory.places(civic.db.read, [place_key])).get(place_key);
  return place ? { key: place.place_key, name: place.name, state: place.state?.name ?? null } : null;
}

/** Reads pages, a few at once. Returns whether others wait. */
async function readSlice(reading: Reading): Promise<'more' | 'none'> {
  const { discovery, run, job, busy } = reading;
  const { pages_at_once: atOnce } = discovery.civic.config;
  const mostBusy = BUSY_FOR_EACH * atOnce;
  const requests = new Map<number, Promise<unknown>>();
  // A page can fail while no promise of it is awaited.
  const failures: unknown[] = [];
  const begin = (page: PageRow): void => {
    const request = readAddress(reading, page);
    requests.set(page.key, request.catch(() => undefined).finally(() => requests.delete(page.key)));
    busy.set(page.key, request.then((read) => usePage(reading, page, read)).catch((error: unknown) => { failures.push(error); }).finally(() => busy.delete(page.key)));
  };
  let begun = 0;
  try {
    for (;;) {
      job.signal.throwIfAborted();
      const waiting = (await waitingPages(discovery.civic.db.read, run.key, mostBusy + atOnce)).filter(({ key }) => !busy.has(key));
      if (failures.length > 0) throw failures[0];
      const next = waiting.slice(0, Math.min(atOnce - requests.size, mostBusy - busy.size, SLICE - begun));
      for (const page of next) begin(page);
      begun += next.length;
      if (busy.size === 0) return waiting.length > 0 ? 'more' : 'none';
      await Promise.race([...requests.values(), ...busy.values()]);
    }
  } finally {
    await Promise.allSettled(busy.values());
  }
}

/** Stores what a page names, and the pages that it leads to. */
async function usePage(reading: Reading, page: PageRow, read: Read): Promise<void> {
  const { discovery, job } = reading;
  const waitMs = Date.parse(read.retry_at ?? '') - discovery.civic.clock.now() || 0;
  if (read.outcome === 'put_off' && page.attempts + 1 < MOST_ATTEMPTS && waitMs <= MOST_PATIENCE_MS) {
    await change(reading, (tx) => updatePage(tx, page.key, { attempts: page.attempts + 1 }));
    await sleep(Math.min(LONGEST_WAIT_MS, Math.max(500, waitMs)), undefined, { signal: job.signal });
    return;
  }
  const parsed = read.content ? await parse(discovery, read, job.signal) : null;
  const understood = parsed?.document ? await understoodIn(reading, parsed.document, read) : [];
  const skipped = { state: 'skipped' as const, reason: parsed?.reason ?? read.reason, detail: parsed?.detail ?? read.detail };
  await change(reading, async (tx) => {
    await updateRun(tx, reading.run.key, { renders: reading.browser?.renders ?? 0 });
    if (parsed?.document) await store(reading, tx, page, read, { ...parsed, understood });
    else await updatePage(tx, page.key, skipped);
    await admit(reading, tx, parsed?.document ? pagesAfter(page, parsed.document) : []);
  }).catch(async (error: unknown) => {
    job.signal.throwIfAborted();
    if (error instanceof RunEnded) throw error;
    discovery.civic.log.error({ err: error, url: page.url }, 'What was found on a page could not be stored');
    await change(reading, (tx) => updatePage(tx, page.key, { state: 'skipped', reason: 'not_stored', detail: 'What was found on the page could not be stored. The log of the server has the reason.' }));
  });
}

/** Returns what other plugins know about a page of this form. One that fails leaves the page to the general extraction. */
async function understoodIn({ discovery, place, job }: Reading, document: Document, { content, at }: Read): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const read of discovery.understand) {
    try {
      findings.push(...await read({ document, content_hash: content!.hash, retrieved_at: at, place }));
    } catch (error) {
      job.signal.throwIfAborted();
      discovery.civic.log.warn({ err: error, url: document.url }, 'A page of a known form could not be read as such');
    }
  }
  return findings;
}

async function store({ discovery, run, place, subjects }: Reading, tx: Tx, page: PageRow, read: Read, { document, found, understood }: { document: Document; found: FoundActor[]; understood: Finding[] }): Promise<void> {
  const findings = [...understood, ...findingsOf(found.filter(({ score }) => score >= DEFAULT_SCORE), document, read, place)];
  const { hash } = read.content!;
  await updatePage(tx, page.key, {
    state: 'read', title: singleLine(document.title ?? '', 500) || page.title, content_hash: hash, retrieved_at: read.at, found: findings.length,
    issue_areas: JSON.stringify(subjectsOf(`${document.title ?? ''} ${document.text}`, subjects)),
  });
  if (pageAt(read.url)) await discovery.reader.index(tx, { workspace_id: run.workspace_id, url: read.url, content_hash: hash, read_at: read.at, document });
  if (findings.length === 0) return;
  await discovery.reader.keep(tx, [hash]);
  await propose(discovery, tx, run, findings);
}

type Parsed = { document: Document; found: FoundActor[]; reason: null; detail: null } | { document: null; reason: string; detail: string };

async function parse({ reader, extract }: Discovery, { final_url, content }: Read, signal: AbortSignal): Promise<Parsed> {
  try {
    const document = await reader.document({ url: final_url, content_type: content!.content_type, body: content!.body });
    if (document.login_wall) return { document: null, reason: 'login_wall', detail: 'The page asks for a sign-in.' };
    return { document, found: await extract(document, signal), reason: null, detail: null };
  } catch {
    signal.throwIfAborted();
    return { document: null, reason: 'not_understood', detail: 'The page could not be understood within the limits of time and memory.' };
  }
}
