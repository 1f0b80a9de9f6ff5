import { connect, type Socket } from 'node:net';
import { Pool } from 'undici';
import type { Subject } from './subjects.ts';
import { MARK } from './signals.ts';

/** Open streams of one server: read as fast as possible, and counted. */
export interface Streams {
  received(): number;
  bytes(): number;
  /** Resolves when so many signals have arrived in all. */
  until(count: number): Promise<void>;
  close(): void;
}

const OPENED_AT_ONCE = 100;
const GIVE_UP_MS = 120_000;
const NEEDLE = Buffer.from(MARK);
const HALF = NEEDLE[0]!;
/** Every read is looked at before the next one, so one buffer does for all. */
const buffer = Buffer.allocUnsafe(1 << 18);

export async function openStreams(subject: Subject, count: number, headers: Record<string, string> = {}): Promise<Streams> {
  const sockets: Socket[] = [];
  let received = 0;
  let bytes = 0;
  let waiting: { count: number; resolve(): void; reject(error: Error): void } | null = null;
  let isClosed = false;

  function take(signals: number, length: number): void {
    received += signals;
    bytes += length;
    if (waiting && received >= waiting.count) waiting.resolve();
  }
  function lost(): void {
    if (!isClosed) waiting?.reject(new Error(`${subject.name} ended a stream`));
  }

  let next = 0;
  await Promise.all(Array.from({ length: Math.min(OPENED_AT_ONCE, count) }, async () => {
    while (next < count) sockets.push(await openCounted(subject, requestOf(subject, next++, headers), take, lost));
  }));
  return {
    received: () => received,
    bytes: () => bytes,
    until: (wanted) => new Promise((resolve, reject) => {
      if (received >= wanted) return resolve();
      const giveUp = setTimeout(() => waiting!.reject(new Error(`${subject.name}: ${received} of ${wanted} signals arrived`)), GIVE_UP_MS);
      const done = (settle: () => void) => {
        clearTimeout(giveUp);
        waiting = null;
        settle();
      };
      waiting = { count: wanted, resolve: () => done(resolve), reject: (error) => done(() => reject(error)) };
    }),
    close() {
      isClosed = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

export function requestOf(subject: Subject, subscriber: number, headers: Record<string, string>): string {
  const { path, headers: own } = subject.subscribe(subscriber);
  const lines = Object.entries({ Host: '127.0.0.1', Accept: 'text/event-stream', ...own, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Resolves with the first event. */
function openCounted(subject: Subject, request: string, take: (signals: number, bytes: number) => void, lost: () => void): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let start: string | null = '';
    let isHalf = false;
    const read = (length: number): boolean => {
      const chunk = buffer.subarray(0, length);
      if (start !== null) {
        start += chunk.toString('latin1');
        if (!'HTTP/1.1 200'.startsWith(start.slice(0, 12))) reject(new Error(`${subject.name} answered ${start}`));
        if (start.includes('\n\n')) {
          start = null;
          resolve(socket);
        }
      }
      let signals = 0;
      let from = 0;
      if (isHalf && chunk[0] === HALF) signals = from = 1;
      for (let at = chunk.indexOf(NEEDLE, from); at !== -1; at = chunk.indexOf(NEEDLE, from)) {
        signals++;
        from = at + 2;
      }
      isHalf = from < length && chunk[length - 1] === HALF;
      take(signals, length);
      return true;
    };
    const socket = connect({ port: subject.port, host: '127.0.0.1', onread: { buffer, callback: read } }, () => socket.write(request));
    socket.on('error', reject);
    socket.on('close', () => {
      reject(new Error(`${subject.name} ended a stream`));
      lost();
    });
  });
}

/** Posts signals over so many connections, each one after the answer to the last. */
export async function withPublisher<T>(subject: Subject, connections: number, use: (publish: (body?: string) => Promise<void>) => Promise<T>): Promise<T> {
  const pool = new Pool(`http://127.0.0.1:${subject.port}`, { connections, pipelining: 1 });
  const { path, contentType, body: usual } = subject.publish;
  try {
    return await use(async (body = usual) => {
      const answer = await pool.request({ method: 'POST', path, body, headers: { 'content-type': contentType } });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${subject.name} answered ${answer.statusCode} to a signal: ${text}`);
    });
  } finally {
    await pool.destroy();
  }
}

/** The text of a stream, until it holds what is looked for. */
export function textUntil(subject: Subject, request: string, pattern: RegExp, onReady: () => void): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = '';
    let isReady = false;
    const socket = connect(subject.port, '127.0.0.1', () => socket.write(request));
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (!isReady && text.includes('\n\n')) {
        isReady = true;
        onReady();
      }
      const found = pattern.exec(text);
      if (!found) return;
      resolve(found);
      socket.destroy();
    });
    socket.on('close', () => reject(new Error(`${subject.name} ended a stream: ${text}`)));
  });
}
