import type { CommandCall } from 'civic';
import { slowness, stoppedClock, testServer, type TestServer, type TestServerOptions } from 'civic/testing';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import type { SignalDraft } from '../types.ts';
import { newPerson, runCommand, WIRE, type Person } from './people.ts';
import { openStream, type Stream } from './sse.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Parsed when it is JSON, else the text. */
  body: any;
  text: string;
}

export interface Asked {
  /** Whose key goes along. */
  as?: Person;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** A listening server with accounts, limits that nobody reaches, and a way to publish. */
export interface FirehoseKit extends TestServer {
  clock: ReturnType<typeof stoppedClock>;
  /** Has nothing but a key with Firehose and a workspace of its own. */
  reader: Person;
  /** Over a connection of its own. */
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
  /** What the reader is answered; anything but 200 throws. */
  snapshot(query: string, as?: Person): Promise<any>;
  stream(query: string, asked?: { as?: Person | null; headers?: Record<string, string> }): Promise<Stream>;
  /** Answers their ids once everybody can see them. */
  publish(...drafts: Partial<SignalDraft>[]): Promise<string[]>;
  withdraw(...ids: string[]): Promise<void>;
  /** Removes what retention no longer covers. */
  prune(): Promise<void>;
  run(command: string, options?: CommandCall['options'], positionals?: string[]): Promise<any>;
  /** An account of a plan and role, and a key of it. */
  person(account?: CommandCall['options'], key?: CommandCall['options']): Promise<Person>;
}

const MANY = 1_000_000;
const plenty = { requests_per_minute: MANY, requests_per_day: MANY, keys: 50, sessions: 50, streams: 200 };
const PLANS = { free: { requests_per_minute: MANY, requests_per_day: MANY }, team: plenty, small: { ...plenty, streams: 2 } };
const LIMITS = { anonymous: { reads_per_minute: MANY, writes_per_minute: MANY, requests_per_hour: MANY }, patience_ms: 10_000 };

export interface FirehoseKitOptions extends Pick<TestServerOptions, 'database' | 'plugins'> {
  /** The plugin's own section of the config. */
  firehose?: Record<string, unknown>;
}

export async function firehoseKit({ database, plugins = [], firehose = {} }: FirehoseKitOptions = {}): Promise<FirehoseKit> {
  const clock = stoppedClock('2026-03-01T12:00:00.000Z');
  const kit = await testServer({
    database, clock, listen: true,
    plugins: ['accounts', 'ratelimit', 'firehose', ...plugins],
    config: { jobs: { poll_seconds: 0.1 }, plugins: { firehose, wire: { from: WIRE }, ratelimit: LIMITS, accounts: { plans: PLANS } } },
  });
  let written = 0;

  const run: FirehoseKit['run'] = (name, options, positionals) => runCommand(kit, name, options, positionals);
  const person: FirehoseKit['person'] = (account, key) => newPerson(kit, account, key);
  const ask: FirehoseKit['ask'] = (method, path, asked = {}) => answerTo(kit.url + path, method, asked);

  /** On Postgres lines are numbered after their transaction. */
  async function write(body: { signals?: unknown[]; withdraw?: string[] }): Promise<string[]> {
    const { status, body: made, text } = await ask('POST', '/api/wire', { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    if (status !== 201) throw new Error(`POST /api/wire: ${text}`);
    written += (body.signals?.length ?? 0) + (body.withdraw?.length ?? 0);
    for (const end = performance.now() + 5000 * slowness; sequenceOf((await snapshot('limit=1')).last_event_id) < written;) {
      if (performance.now() > end) throw new Error(`The log does not reach ${written}`);
      await sleep(5);
    }
    return made.ids;
  }

  async function snapshot(query: string, as: Person = reader): Promise<any> {
    const { status, body, text } = await ask('GET', `/api/firehose?${query}`, { as });
    if (status !== 200) throw new Error(`GET /api/firehose?${query}: ${text}`);
    return body;
  }

  const reader = await person();
  return Object.assign(kit, {
    clock, reader, run, person, ask, snapshot,
    stream: (query: string, { as = reader, headers = {} }: { as?: Person | null; headers?: Record<string, string> } = {}) => openStream(`${kit.url}/api/firehose?${query}`, { ...keyOf(as), ...headers }),
    publish: (...drafts: Partial<SignalDraft>[]) => write({ signals: drafts.map(draft) }),
    async withdraw(...ids: string[]) { await write({ withdraw: ids }); },
    async prune() {
      const jobs = kit.composition.jobs.of('firehose');
      const id = await kit.db.write((tx) => jobs.enqueue(tx, 'firehose.prune', {}));
      while ((await jobs.byId(id))?.state !== 'completed') await sleep(10);
    },
  });
}

export function draft(given: Partial<SignalDraft>): SignalDraft {
  return { type: 'public_meeting', title: 'The council meets', source_class: 'government_agenda', evidence: [{ source_url: 'https://example.org/agenda' }], ...given };
}

/** The position in an event id. */
export function sequenceOf(eventId: string): number {
  return Number(/-(\d+)$/.exec(eventId)?.[1]);
}

export function titlesOf(signals: { title: string }[]): string[] {
  return signals.map(({ title }) => title);
}

/** The path and query of an absolute address. */
export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

export function keyOf(as: Person | null | undefined): Record<string, string> {
  return as ? { 'x-api-key': as.key } : {};
}

function answerTo(url: string, method: string, { as, headers = {}, body, signal }: Asked): Promise<Answer> {
  return new Promise((done, failed) => {
    const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const request = httpRequest(url, { method, headers: { ...keyOf(as), ...length, ...headers }, agent: false, signal }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => { pieces.push(piece); }).on('error', failed).on('end', () => {
        const bytes = Buffer.concat(pieces);
        const text = (response.headers['content-encoding'] === 'gzip' && bytes.length > 0 ? gunzipSync(bytes) : bytes).toString();
        const isJson = /[/+]json/.test(String(response.headers['content-type'] ?? ''));
        done({ status: response.statusCode!, headers: response.headers, body: isJson && text ? JSON.parse(text) : text, text });
      });
    });
    request.on('error', failed);
    request.end(body);
  });
}
