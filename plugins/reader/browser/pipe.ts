import type { Readable, Writable } from 'node:stream';
import { RenderError } from './error.ts';

/** A page can make the browser send messages without end. */
const MOST_MESSAGES = 20_000;
/** In bytes. The largest is the HTML of a page, of which some characters take six. */
const MOST_OF_ONE = 32_000_000;
const MOST_OF_ALL = 100_000_000;

export interface Message {
  method: string;
  params: Record<string, any>;
  sessionId?: string;
}

/** The DevTools protocol over a pipe: JSON, each message ended by NUL. */
export interface Pipe {
  send(method: string, params?: object, sessionId?: string): Promise<any>;
  /** Calls the listener with each event of the browser. */
  listen(listener: (message: Message) => void): void;
  /** Rejects all calls. */
  close(reason: Error): void;
  /** Rejects with the reason once the pipe is closed. */
  failed: Promise<never>;
}

export function createPipe(input: Writable, output: Readable): Pipe {
  const calls = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let listener: (message: Message) => void = () => {};
  let closed: Error | null = null;
  let reject!: (reason: Error) => void;
  const failed = new Promise<never>((_resolve, rejected) => { reject = rejected; });
  failed.catch(() => {});
  let messages = 0;
  let sent = 0;
  let parts: Buffer[] = [];
  let length = 0;
  let total = 0;

  function close(reason: Error): void {
    closed ??= reason;
    reject(closed);
    for (const call of calls.values()) call.reject(closed);
    calls.clear();
    parts = [];
    output.destroy();
  }

  /** Throws when a page took over the browser and sends what is no message. */
  function receive(text: string): void {
    const { id, result, error, method, params = {}, sessionId } = JSON.parse(text);
    if (typeof params !== 'object' || params === null) throw new TypeError('The message has no values');
    if (id === undefined) return listener({ method, params, sessionId });
    const call = calls.get(id);
    calls.delete(id);
    if (error) call?.reject(new RenderError('render_failed', `The browser refused a command: ${error.message}`));
    else call?.resolve(result);
  }

  function fail(message: string, cause?: unknown): void {
    close(new RenderError('render_failed', message, { cause }));
  }

  function onMessage(end: Buffer): void {
    const text = Buffer.concat([...parts, end]).toString();
    parts = [];
    length = 0;
    if (++messages > MOST_MESSAGES) return fail('The page kept the browser busy without end.');
    try {
      receive(text);
    } catch (cause) {
      fail('The browser sent a message that cannot be read.', cause);
    }
  }

  function onData(data: Buffer): void {
    total += data.length;
    let rest = data;
    for (let end = rest.indexOf(0); end >= 0 && !closed; end = rest.indexOf(0)) {
      onMessage(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
    }
    length += rest.length;
    if (length > MOST_OF_ONE || total > MOST_OF_ALL) fail('The page made the browser send more than it may.');
    else if (rest.length > 0 && !closed) parts.push(rest);
  }

  output.on('data', onData);
  const onEnd = () => fail('The browser ended by itself.');
  output.on('close', onEnd).on('error', onEnd);
  input.on('error', onEnd);

  return {
    send: (method, params = {}, sessionId) => new Promise((resolve, rejectCall) => {
      if (closed) return rejectCall(closed);
      const id = ++sent;
      calls.set(id, { resolve, reject: rejectCall });
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`);
    }),
    listen(next) { listener = next; },
    close,
    failed,
  };
}
