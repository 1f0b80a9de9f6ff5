import { expect } from '@hapi/code';
import type { Plugin } from 'civic';
import { slowness, testServer, type TestServer, type TestServerOptions } from 'civic/testing';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import firehose from '../index.ts';
import type { Signal, SignalDraft } from '../types.ts';
import { WIRE } from './people.ts';

export const draft = (title: string, more: Partial<SignalDraft> = {}): SignalDraft => ({ type: 'vote', title, source_class: 'government_record', evidence: [{ source_url: 'https://example.org/minutes' }], ...more });

export async function until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = performance.now() + 60_000 * slowness; !(await condition());) {
    if (performance.now() > end) throw new Error(`Waited in vain: ${what}`);
    await sleep(20);
  }
}

/** Instances of one test, each on a database of its own, and what all of them logged. */
export interface Instances {
  lines: Record<string, any>[];
  instance(relay: { url: string; api_key?: string } | null, config?: object, plugins?: Plugin[]): Promise<TestServer>;
  /** Closes them and the servers that stood in for others. */
  close(): Promise<void>;
}

export function createInstances(database: TestServerOptions['database']): Instances {
  const open: TestServer[] = [];
  const lines: Record<string, any>[] = [];
  return {
    lines,
    async instance(relay, config = {}, plugins = []) {
      const kit = await testServer({
        plugins: [firehose, ...plugins], database, listen: true,
        log: pino({ base: null }, { write: (line: string) => { lines.push(JSON.parse(line)); } }),
        config: {
          metrics: { enabled: true },
          http: { port: 0, fetch: { allow_private_addresses: true } },
          plugins: { firehose: { anonymous: true, ...(relay && { relay }) }, wire: { from: WIRE } },
          ...config,
        },
      });
      open.push(kit);
      return kit;
    },
    async close() {
      for (const kit of open.splice(0).reverse()) await kit.close();
      for (const server of fronts.splice(0)) server.close();
      lines.length = 0;
    },
  };
}

export async function publish(kit: TestServer, body: { signals?: SignalDraft[]; withdraw?: string[] }): Promise<string[]> {
  const answer = await kit.request('POST', '/api/wire', { payload: body });
  expect(answer.status, answer.text).to.equal(201);
  return answer.body.ids;
}

export async function signalsOf(kit: TestServer): Promise<Signal[]> {
  const answer = await kit.request('GET', '/api/firehose?visibility=public&limit=200');
  return answer.body.signals;
}

export const titlesOf = async (kit: TestServer): Promise<string[]> => (await signalsOf(kit)).map(({ title }) => title).sort();

export async function lineCount(kit: TestServer): Promise<number> {
  return Number((await kit.request('GET', '/api/firehose?visibility=public&limit=1')).body.last_event_id.split('-')[1]);
}

/** Waits until each of these relays has read all that the instance it follows has published: nothing is still on its way. */
export async function settled(...followed: [relay: TestServer, origin: TestServer][]): Promise<void> {
  const origins = followed.map(([, origin]) => origin);
  await until('the end of the logs', async () => {
    const positions = await Promise.all(followed.map(async ([relay]) => Number((await relay.db.read('firehose_relay').first('event_id')).event_id.split('-')[1])));
    const heads = await Promise.all(origins.map(lineCount));
    // On Postgres entries are numbered after their transaction.
    const unnumbered = await Promise.all(origins.map((origin) => origin.db.read('firehose_outbox').first('key')));
    return [heads, await Promise.all(origins.map(lineCount))].every((counts) => counts.join() === positions.join()) && unnumbered.every((row) => !row);
  });
}

export const byId = (a: Signal, b: Signal): number => (a.id < b.id ? -1 : 1);
const fronts: Server[] = [];

/** Stands where an instance will be: keeps requests waiting until it knows whether to respond with a status or to lead to another address. */
export async function frontDoor(): Promise<{ url: string; lead(to: string): void; answer(status: number): void }> {
  type Reply = (request: IncomingMessage, response: ServerResponse) => void;
  let know!: (reply: Reply) => void;
  let reply = new Promise<Reply>((resolve) => { know = resolve; });
  const decide = (next: Reply) => {
    know(next);
    reply = Promise.resolve(next);
  };
  const server = createServer(async (request, response) => { (await reply)(request, response); });
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  fronts.push(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead: (to) => decide((request, response) => response.writeHead(307, { location: to + request.url }).end()),
    answer: (status) => decide((_request, response) => response.writeHead(status, { 'content-type': 'application/problem+json' }).end('{"detail":"Said so."}')),
  };
}

/** Responds like an instance, with the responses of the test. */
export async function liar(): Promise<{ url: string; say(...messages: object[]): void; write(...events: string[]): void }> {
  const streams: ServerResponse[] = [];
  let said = '';
  let seq = 0;
  const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event('firehose.ready', { resume: { status: 'complete' }, last_event_id: 'liar-0' }) + said);
    streams.push(response);
  });
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  fronts.push(server);
  const write = (...events: string[]) => {
    const text = events.join('');
    said += text;
    for (const stream of streams) stream.write(text);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    say(...messages) {
      write(...messages.map((message) => event('firehose.signal', { event_id: `liar-${++seq}`, ...message })));
    },
    write,
  };
}
