import { request as httpRequest } from 'node:http';
import { until } from '../../../core/test/wait.ts';
import type { SignalDraft } from '../../../plugins/firehose/types.ts';
import type { Asker } from './askers.ts';
import { createNodes, type Nodes, type Where } from './nodes.ts';
import { keyHeader, seqOf } from './snapshots.ts';
import { openEvents, openSocket, type Connection, type Ending, type Frame } from './streams.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

/** Running servers and the few things that tests of single promises do with them. */
export interface Stand {
  world: World;
  nodes: Nodes;
  url(node?: number): string;
  /** So many small signals, or these. Answers their ids. */
  publish(signals: number | Partial<SignalDraft>[], node?: number): Promise<string[]>;
  session(asker: Asker, query?: object): Promise<string>;
}

const AT_ONCE = 250;
const BODY_BYTES = 800_000;

/** As many of the first as one request may carry. */
function takeBatch<T>(drafts: T[]): T[] {
  let count = 0;
  for (let size = 0; count < Math.min(AT_ONCE, drafts.length) && size < BODY_BYTES; count++) size += JSON.stringify(drafts[count]).length;
  return drafts.splice(0, count);
}

export interface StandOptions extends WorldOptions {
  nodes?: number;
  /** Where each start of a server runs; without it all run here, where none can be killed. */
  where?: (start: number) => Where;
}

/** Servers that run until `close`, which fails when one of them was in trouble. */
export async function openStand(options: StandOptions): Promise<Stand & { close(): Promise<void> }> {
  const world = await createWorld(options);
  const nodes = createNodes(world.instance, options.nodes ?? 1, options.where ?? (() => 'here'));
  const url = (node = 0): string => nodes.all()[node]!.url;
  async function post(path: string, body: object, headers: Record<string, string>, node = 0): Promise<any> {
    const answer = await fetch(`${url(node)}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }
  await nodes.start();
  return {
    world, nodes, url,
    async publish(given, node) {
      const signals = typeof given === 'number' ? Array.from({ length: given }, () => ({})) : given;
      const ids: string[] = [];
      const drafts = signals.map((signal) => ({ type: 'vote', title: 'A vote', source_class: 'news', evidence: [{ source_url: 'https://example.org/' }], ...signal }));
      for (let batch; (batch = takeBatch(drafts)).length > 0;) ids.push(...(await post('/api/wire', { signals: batch }, {}, node)).ids);
      return ids;
    },
    session: async (asker, query = {}) => (await post('/api/firehose/sessions', { query }, keyHeader(asker))).id,
    async close() {
      await nodes.stop();
      world.remove();
      if (nodes.faults.length > 0) throw new Error(nodes.faults.join('\n'));
    },
  };
}

export async function withStand<T>(options: StandOptions, fn: (stand: Stand) => Promise<T>): Promise<T> {
  const stand = await openStand(options);
  try {
    const result = await fn(stand);
    await stand.close();
    return result;
  } finally {
    await stand.nodes.kill();
    stand.world.remove();
  }
}

/** A stream that is listened to. */
export interface Tail {
  connection: Connection;
  ready: Frame | null;
  signals: Frame[];
  /** The last id that it was given. */
  lastId: string | null;
  status: number | null;
  ended: Ending | null;
  /** Waits for so many signals. */
  until(count: number, milliseconds?: number): Promise<void>;
  untilReady(): Promise<void>;
  untilEnded(milliseconds?: number): Promise<void>;
}

export function tail(url: string, asker: Asker, { last, isSocket = false }: { last?: string | null; isSocket?: boolean } = {}): Tail {
  const headers = { ...keyHeader(asker), ...(typeof last === 'string' && { 'last-event-id': last }) };
  const one: Tail = {
    connection: undefined as never, ready: null, signals: [], lastId: last ?? null, status: null, ended: null,
    until: (count, milliseconds) => until(() => one.signals.length >= count, milliseconds),
    untilReady: () => until(() => one.ready !== null || one.ended !== null),
    untilEnded: (milliseconds) => until(() => one.ended !== null, milliseconds),
  };
  const opening = {
    url, headers,
    onOpen: (status: number) => { one.status = status; },
    onFrame(frame: Frame) {
      if (frame.id !== null) one.lastId = frame.id;
      else if (isSocket) one.lastId = frame.data.event_id;
      if (frame.event === 'firehose.ready') one.ready = frame;
      if (frame.event === 'firehose.signal') one.signals.push(frame);
    },
  };
  one.connection = isSocket ? openSocket(opening) : openEvents(opening);
  void one.connection.closed.then((ending) => { one.ended = ending; });
  return one;
}

/** Why these are not the signals from one number to another, without holes; null when they are. */
export function gapIn({ signals }: Tail, first: number, last: number): string | null {
  const seqs = signals.map(({ data }) => seqOf(data.event_id));
  const wrong = seqs.findIndex((seq, index) => seq !== first + index);
  if (wrong >= 0) return `${seqs[wrong]} came in the place of ${first + wrong}`;
  return seqs.length === last - first + 1 ? null : `${seqs.length} came, of ${last - first + 1}`;
}

export interface Waited {
  status: number;
  milliseconds: number;
  body: string;
  headers: Record<string, unknown>;
}

/** A request on a connection of its own, as `fetch` would share a few. */
export function ask(url: string, headers: Record<string, string>): Promise<Waited> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { agent: false, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => { body += chunk; });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, body, headers: response.headers, milliseconds: performance.now() - started }));
    });
    request.on('error', reject);
    request.end();
  });
}
