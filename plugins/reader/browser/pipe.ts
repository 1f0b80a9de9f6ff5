import type { Readable, Writable } from 'node:stream';
import { RenderError } from './error.ts';

/** A page can make the browser send messages without end. */
const MOST_MESSAGES = 20_000;
const MOST_LENGTH = 64_000_000;

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
}

export function createPipe(input: Writable, output: Readable): Pipe {
  const calls = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let listener: (message: Message) => void = () => {};
  let closed: Error | null = null;
  let messages = 0;
  let sent = 0;
  let parts: Buffer[] = [];
  let length = 0;

  function close(reason: Error): void {
    closed ??= reason;
    for (const { reject } of calls.values()) reject(closed);
    calls.clear();
    parts = [];
    output.destroy();
  }

  function receive(text: string): void {
    if (++messages > MOST_MESSAGES) return close(new RenderError('render_failed', 'The page kept the browser busy without end.'));
    const { id, result, error, ...event } = JSON.parse(text);
    if (id === undefined) return listener({ params: {}, ...event });
    const call = calls.get(id);
    calls.delete(id);
    if (error) call?.reject(new RenderError('render_failed', `The browser refused a command: ${error.message}`));
    else call?.resolve(result);
  }

  output.on('data', (data: Buffer) => {
    let rest = data;
    for (let end = rest.indexOf(0); end >= 0 && !closed; end = rest.indexOf(0)) {
      const text = Buffer.concat([...parts, rest.subarray(0, end)]).toString();
      parts = [];
      length = 0;
      rest = rest.subarray(end + 1);
      receive(text);
    }
    length += rest.length;
    if (length > MOST_LENGTH) close(new RenderError('too_large', 'The page is larger than a browser may return.'));
    else if (rest.length > 0) parts.push(rest);
  });
  const onEnd = () => close(new RenderError('render_failed', 'The browser ended by itself.'));
  output.on('close', onEnd).on('error', onEnd);
  input.on('error', onEnd);

  return {
    send: (method, params = {}, sessionId) => new Promise((resolve, reject) => {
      if (closed) return reject(closed);
      const id = ++sent;
      calls.set(id, { resolve, reject });
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`);
    }),
    listen(next) { listener = next; },
    close,
  };
}
