import type { CommandCall } from 'civic';
import { slowness, testServer, type TestResponse, type TestServer, type TestServerOptions } from 'civic/testing';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { WebSocket, type ClientOptions } from 'ws';
import type { SignalDraft } from '../types.ts';
import { newPerson, runCommand, WIRE, type Person } from './people.ts';

export const SUBPROTOCOL = 'service.firehose.v1';
/** What ends within it was ended because of a cause, and not by its age. */
const SOON_MS = 5000 * slowness;

/** A listening server with accounts, and those who read. */
export interface ReadersKit extends TestServer {
  run(name: string, options?: CommandCall['options'], positionals?: string[]): Promise<any>;
  person(options?: CommandCall['options'], key?: CommandCall['options']): Promise<Person>;
  as(person: Pick<Person, 'key'>, method: string, path: string, options?: { payload?: unknown; headers?: Record<string, string> }): Promise<TestResponse>;
  /** Makes a session and answers its record. */
  session(person: Pick<Person, 'key'>, payload?: unknown): Promise<any>;
  ticket(person: Pick<Person, 'key'>, sessionId: string): Promise<string>;
  /** Publishes signals with these titles, or votes that say more. */
  publish(...signals: (string | Partial<SignalDraft>)[]): Promise<void>;
}

export async function readersKit(options: TestServerOptions = {}): Promise<ReadersKit> {
  const { config = {}, plugins = [], ...more } = options;
  const kit = await testServer({ listen: true, ...more, plugins: ['accounts', 'firehose', ...plugins], config: { ...config, jobs: { poll_seconds: 0.1 }, plugins: { ...config.plugins, wire: { from: WIRE } } } });
  const as: ReadersKit['as'] = ({ key }, method, path, { payload, headers = {} } = {}) => kit.request(method, path, { payload, headers: { 'x-api-key': key, ...headers } });
  const made = (answer: TestResponse) => {
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body;
  };
  return Object.assign(kit, {
    as,
    run: (name: string, given?: CommandCall['options'], positionals?: string[]) => runCommand(kit, name, given, positionals),
    person: (given?: CommandCall['options'], key?: CommandCall['options']) => newPerson(kit, given, key),
    session: async (person: Pick<Person, 'key'>, payload: unknown = {}) => made(await as(person, 'POST', '/api/firehose/sessions', { payload })),
    ticket: async (person: Pick<Person, 'key'>, id: string) => made(await as(person, 'POST', `/api/firehose/sessions/${id}/tickets`)).ticket,
    async publish(...signals: (string | Partial<SignalDraft>)[]) {
      const vote = { type: 'vote', title: 'A vote', source_class: 'news', evidence: [{ source_url: 'https://example.org/minutes' }] };
      made(await kit.request('POST', '/api/wire', { payload: { signals: signals.map((signal) => ({ ...vote, ...(typeof signal === 'string' ? { title: signal } : signal) })) } }));
    },
  });
}

/** Something that is read message by message. */
export interface Reading {
  messages: any[];
  /** Waits until this many messages of a type are there, and answers those. */
  has(count: number, type?: string): Promise<any[]>;
  /** The close code and reason, or the end of a stream. */
  ended: Promise<{ code: number; reason: string }>;
  close(): void;
}

export interface SocketReading extends Reading {
  client: WebSocket;
  /** Of the 101 answer. */
  headers: IncomingMessage['headers'];
}

const PATIENCE_MS = 10_000 * slowness;

function collect(): Pick<Reading, 'messages' | 'has'> & { take(message: any): void } {
  const messages: any[] = [];
  let notice: () => void = () => undefined;
  return {
    messages,
    take(message) {
      messages.push(message);
      notice();
    },
    async has(count, type = 'firehose.signal') {
      const found = () => messages.filter((message) => message.type === type);
      const deadline = performance.now() + PATIENCE_MS;
      while (found().length < count) {
        if (performance.now() > deadline) throw new Error(`${found().length} of ${count} ${type} came: ${JSON.stringify(messages).slice(0, 2000)}`);
        await Promise.race([new Promise<void>((resolve) => { notice = resolve; }), new Promise((resolve) => { setTimeout(resolve, 100); })]);
      }
      return found();
    },
  };
}

/** Opens a session's socket; a refused handshake rejects with its problem. */
export async function openSocket(kit: TestServer, id: string, options: ClientOptions & { query?: string; protocols?: string[] } = {}): Promise<SocketReading> {
  const { query = '', protocols = [SUBPROTOCOL], ...more } = options;
  const client = new WebSocket(`${kit.url.replace('http', 'ws')}/api/firehose/sessions/${id}/socket${query}`, protocols, more);
  const { take, ...collected } = collect();
  let headers: IncomingMessage['headers'] = {};
  client.on('upgrade', (answer: IncomingMessage) => { headers = answer.headers; });
  client.on('message', (data) => take(JSON.parse(String(data))));
  const ended = new Promise<{ code: number; reason: string }>((resolve) => { client.on('close', (code, reason) => resolve({ code, reason: String(reason) })); });
  await new Promise<void>((resolve, reject) => {
    client.on('open', resolve);
    client.on('error', reject);
    client.on('unexpected-response', (_request, answer: IncomingMessage) => void textOf(answer).then((text) => reject(Object.assign(new Error(text), { status: answer.statusCode, headers: answer.headers, body: JSON.parse(text) }))));
  });
  client.on('error', () => undefined);
  return { ...collected, client, headers, ended, close: () => client.close() };
}

export interface Refused {
  status: number;
  code: string;
  detail: string;
  headers: IncomingMessage['headers'];
}

/** How a handshake is refused. */
export async function refusal(opening: Promise<SocketReading>): Promise<Refused> {
  try {
    (await opening).client.terminate();
  } catch (error) {
    const { status, body, headers } = error as { status: number; body: any; headers: IncomingMessage['headers'] };
    return { status, code: body.code, detail: body.detail, headers };
  }
  throw new Error('The socket was opened');
}

export interface StreamReading extends Reading {
  status: number;
  headers: IncomingMessage['headers'];
  /** The last `id:` that came. */
  lastId(): string | null;
  /** Of a refused one. */
  problem: any;
}

/** Reads a stream of events as a browser does. */
export async function openEvents(kit: TestServer, path: string, headers: Record<string, string> = {}): Promise<StreamReading> {
  const request = get(kit.url + path, { headers: { accept: 'text/event-stream', ...headers } });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const { take, ...collected } = collect();
  const status = answer.statusCode!;
  const isStream = String(answer.headers['content-type']).startsWith('text/event-stream');
  const problem = isStream ? null : JSON.parse(await textOf(answer) || 'null');
  let lastId: string | null = null;
  let text = '';
  answer.on('error', () => undefined);
  if (isStream) {
    answer.setEncoding('utf8').on('data', (chunk: string) => {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        const fields = new Map(block.split('\n').map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
        lastId = fields.get('id') ?? lastId;
        if (fields.has('data')) take(JSON.parse(fields.get('data')!));
      }
    });
  }
  const ended = new Promise<{ code: number; reason: string }>((resolve) => { answer.on('close', () => resolve({ code: 0, reason: '' })); });
  request.on('error', () => undefined);
  return { ...collected, status, headers: answer.headers, problem, ended, lastId: () => lastId, close: () => request.destroy() };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

export function titles(messages: { signal: { title: string } }[]): string[] {
  return messages.map(({ signal }) => signal.title);
}

/** Fails when the promise takes longer than a cause needs to have its effect. */
export async function soon<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => { timer = setTimeout(() => reject(new Error('It took too long')), SOON_MS); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
