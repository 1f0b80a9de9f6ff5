import { FetchError, newId, parseUrl, type Civic, type FetchResponse, type Reader } from 'civic';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Browser } from '../browser/browser.ts';
import { RenderError } from '../browser/error.ts';
import type { ReaderConfig } from '../config.ts';
import { contentByHash, hasContent, insertContent, pageByUrl, savePage, type PageRow } from './archive-store.ts';
import { insertFetch, lastFetch } from './fetches-store.ts';
import type { Hosts } from './hosts.ts';
import { Refusal } from './refusal.ts';
import { isOverloaded, retryAfterMs } from './retry.ts';
import type { BrowserRun, Content, Read, ReadReason, ReadRequest } from './types.ts';

const pack = promisify(gzip);
const unpack = promisify(gunzip);
const ACCEPT = 'text/html, application/xhtml+xml, text/calendar, application/rss+xml, application/atom+xml, application/feed+json, application/json;q=0.9, application/xml;q=0.9, application/pdf;q=0.9, */*;q=0.5';
const MOST_DETAIL = 500;
const MOST_VALIDATOR = 500;
const NO_VALIDATORS = { etag: null, last_modified: null };

type Result = Pick<Read, 'outcome' | 'reason' | 'detail' | 'status' | 'bytes' | 'final_url' | 'hops' | 'via' | 'retry_at'> & { content: Content | null; validators?: Pick<PageRow, 'etag' | 'last_modified'> };

/** The browser, and the check whether a page needs it. */
export interface Fallback {
  browser: Browser;
  isShell(url: string, content: Content): Promise<boolean>;
}

/** Returns the function that reads an address politely, archives what it finds, and records the attempt. Only aborting makes it throw. */
export function createRead(civic: Civic<ReaderConfig>, hosts: Hosts, { browser, isShell }: Fallback): (request: ReadRequest) => Promise<Read> {
  const { config, clock } = civic;

  async function request({ url, max_bytes, browser: run, signal }: ReadRequest, fragment: string): Promise<Result> {
    const known = await archivedPage(url);
    const visit = hosts.visit(signal);
    try {
      const response = await civic.fetch(url, {
        headers: { accept: ACCEPT, ...conditions(known) },
        max_bytes: Math.min(max_bytes ?? config.max_bytes, config.max_bytes),
        timeout_seconds: config.timeout_seconds,
        beforeRequest: visit.enter,
        ...(signal && { signal }),
      });
      await hosts.note(new URL(response.url).origin, { isOverloaded: isOverloaded(response.status), retryAfterMs: retryAfterMs(response.headers['retry-after'], clock.now()) });
      const result = await resultOf(response, known);
      return run && result.content && await isToRender(result.final_url, result.content, run) ? await rendered(result, result.content, { known, run, fragment, signal }) : result;
    } catch (error) {
      signal?.throwIfAborted();
      return failure(url, error);
    } finally {
      visit.leave();
    }
  }

  async function resultOf(response: FetchResponse, known: PageRow | undefined): Promise<Result> {
    const { status, hops, url: final_url } = response;
    const base = { status, hops, final_url, bytes: response.body.length, reason: null, detail: null, via: 'http' as const, retry_at: null };
    if (status === 304 && known) {
      const content = await archivedContent(civic.db.read, known.content_hash);
      if (content) return { ...base, outcome: 'unchanged', content, validators: known };
    }
    if (status < 200 || status >= 300 || status === 204) return { ...base, outcome: 'failed', reason: 'http_status', detail: `${new URL(final_url).host} responded with the status ${status}.`, content: null };
    return { ...base, ...found(response.body, response.headers['content-type'] ?? '', known), validators: validatorsOf(response) };
  }

  async function isToRender(url: string, content: Content, run: BrowserRun): Promise<boolean> {
    return run.renders < config.max_browser_renders_per_run && browser.isAvailable() && await isShell(url, content);
  }

  /** Returns what a page shows once its scripts ran. It has no validators: what scripts request may change while the page does not. */
  async function rendered(result: Result, content: Content, { known, run, fragment, signal }: { known: PageRow | undefined; run: BrowserRun; fragment: string; signal: AbortSignal | undefined }): Promise<Result> {
    run.renders++;
    const base = { ...result, via: 'browser' as const, validators: NO_VALIDATORS };
    try {
      const { url, html, bytes } = await browser.render({ ...content, url: result.final_url + fragment }, signal);
      return { ...base, ...found(Buffer.from(html), 'text/html; charset=utf-8', known), final_url: withoutFragment(url), bytes: result.bytes + bytes };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Refusal || error instanceof FetchError) throw error;
      const { reason, message } = error instanceof RenderError ? error : { reason: 'render_failed' as const, message: `The browser could not be used: ${(error as Error).message}` };
      return { ...base, outcome: 'failed', reason, detail: message.slice(0, MOST_DETAIL), content: null };
    }
  }

  /** Returns the last read of an address whose content is still there. */
  async function archivedPage(url: string): Promise<PageRow | undefined> {
    const page = await pageByUrl(civic.db.read, url);
    return page && await hasContent(civic.db.read, page.content_hash) ? page : undefined;
  }

  /** Returns a read that is still current for the caller, also one that failed; null when there is none. */
  async function readSince(url: string, since: string, contentSince: string): Promise<Read | null> {
    const page = await pageByUrl(civic.db.read, url);
    const content = page && page.read_at >= contentSince ? await archivedContent(civic.db.read, page.content_hash) : null;
    return content ? { id: newId(clock.now()), url, final_url: page!.final_url, hops: [], at: page!.read_at, outcome: 'unchanged', reason: null, detail: null, status: null, bytes: 0, milliseconds: 0, via: 'http', retry_at: null, content } : failedSince(url, since);
  }

  async function failedSince(url: string, since: string): Promise<Read | null> {
    const last = await lastFetch(civic.db.read, url, since);
    if (last?.outcome !== 'failed' && last?.outcome !== 'refused') return null;
    const { host: _host, purpose: _purpose, content_hash: _hash, ...attempt } = last;
    return { ...attempt, final_url: url, retry_at: null, content: null };
  }

  function failure(url: string, error: unknown): Result {
    const nothing = { status: null, hops: [], final_url: url, bytes: 0, via: 'http' as const, content: null };
    if (error instanceof Refusal) {
      const { reason, message, retryAt } = error;
      return { ...nothing, outcome: outcomeOf(reason), reason, detail: message, retry_at: retryAt === null ? null : new Date(retryAt).toISOString() };
    }
    if (!(error instanceof FetchError)) throw error;
    return { ...nothing, outcome: error.code === 'address_refused' || error.code === 'bad_url' ? 'refused' : 'failed', reason: error.code, detail: error.message.slice(0, MOST_DETAIL), retry_at: null };
  }

  async function store(requested: ReadRequest, read: Read, validators: Result['validators']): Promise<void> {
    const { content, id, url, at, outcome, reason, detail, status, bytes, milliseconds, via, hops, final_url } = read;
    const packed = content && outcome === 'read' ? await pack(content.body) : null;
    await civic.db.write(async (tx) => {
      if (content && packed) await insertContent(tx, { hash: content.hash, content_type: content.content_type, bytes: content.body.length, packed, stored_at: at });
      if (content) await savePage(tx, { url, final_url, content_hash: content.hash, content_type: content.content_type, read_at: at, etag: validators?.etag ?? null, last_modified: validators?.last_modified ?? null });
      await insertFetch(tx, { id, url, host: hostOf(url), purpose: requested.purpose, at, outcome, reason, detail, status, bytes, milliseconds, via, hops, content_hash: content?.hash ?? null });
    });
  }

  return async (requested) => {
    const at = clock.iso();
    const startedAt = performance.now();
    const url = withoutFragment(requested.url);
    const done = requested.since === undefined ? null : await readSince(url, requested.since, requested.content_since ?? requested.since);
    if (done) return done;
    const { validators, ...result } = await request({ ...requested, url }, parseUrl(requested.url)?.hash ?? '');
    const read: Read = { id: newId(clock.now()), url, at, milliseconds: Math.round(performance.now() - startedAt), ...result };
    await store(requested, read, validators);
    return read;
  };
}

/** Returns a content of the archive. */
export async function archivedContent(reader: Reader, hash: string): Promise<Content | null> {
  const row = await contentByHash(reader, hash);
  return row ? { hash, content_type: row.content_type, body: await unpack(row.packed) } : null;
}

function outcomeOf(reason: ReadReason): Read['outcome'] {
  if (reason === 'host_busy' || reason === 'host_rests' || reason === 'browser_busy') return 'put_off';
  return reason === 'unreachable' ? 'failed' : 'refused';
}

function found(body: Uint8Array, content_type: string, known: PageRow | undefined): Pick<Result, 'outcome'> & { content: Content } {
  const hash = createHash('sha256').update(body).digest('hex');
  return { outcome: hash === known?.content_hash ? 'unchanged' : 'read', content: { hash, content_type, body } };
}

function conditions(known: PageRow | undefined): Record<string, string> {
  return { ...(known?.etag && { 'if-none-match': known.etag }), ...(known?.last_modified && { 'if-modified-since': known.last_modified }) };
}

function validatorsOf({ headers }: FetchResponse): Pick<PageRow, 'etag' | 'last_modified'> {
  const short = (value: string | undefined) => (value !== undefined && value.length <= MOST_VALIDATOR ? value : null);
  return { etag: short(headers['etag']), last_modified: short(headers['last-modified']) };
}

function hostOf(url: string): string {
  return parseUrl(url)?.host ?? '';
}

function withoutFragment(text: string): string {
  const url = parseUrl(text);
  if (!url) return text;
  url.hash = '';
  return url.href;
}
