import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { INVALID_REQUEST, PARSE_ERROR } from './errors.ts';

/** The input and output of a client over stdio. */
export interface PendingRequests {
  /** Yields the lines that are messages. After the last line it waits until every request has its response: a client may close its side early. */
  received(lines: AsyncIterable<string>): AsyncGenerator<string>;
  /** Prints the messages of the server. */
  sent: Writable;
}

interface Message {
  id?: unknown;
  method?: unknown;
  params?: { requestId?: unknown };
}

interface RpcFault {
  code: number;
  message: string;
}

const LAST_RESPONSE_MS = 30_000;
/** The same limit as for the body of a request over HTTP. */
const MAX_CHARACTERS = 1024 * 1024;

export function createPendingRequests(print: (line: string) => void): PendingRequests {
  const pending = new Set<unknown>();
  let onLastResponse: (() => void) | null = null;

  function add(message: Message | null): void {
    if (message?.method === 'notifications/cancelled') remove(message.params?.requestId);
    else if (typeof message?.method === 'string' && message.id !== undefined) pending.add(message.id);
  }

  function remove(id: unknown): void {
    pending.delete(id);
    if (pending.size === 0) onLastResponse?.();
  }

  return {
    async* received(lines) {
      for await (const line of lines) {
        if (line.trim() === '') continue;
        const message = line.length > MAX_CHARACTERS ? undefined : parse(line);
        const fault = faultOf(line, message);
        if (fault) {
          print(JSON.stringify({ jsonrpc: '2.0', id: null, error: fault }));
          continue;
        }
        add(message as Message | null);
        yield `${line}\n`;
      }
      const lastResponse = new Promise<void>((done) => { onLastResponse = done; });
      if (pending.size > 0) await Promise.race([lastResponse, sleep(LAST_RESPONSE_MS, undefined, { ref: false })]);
    },
    sent: new Writable({
      write(chunk: Buffer, _encoding, done) {
        const line = chunk.toString().trimEnd();
        print(line);
        const message = parse(line) as Message | null | undefined;
        if (message?.method === undefined) remove(message?.id);
        done();
      },
    }),
  };
}

/** Returns the error of a line that is no message. The SDK ignores such lines, and the client would wait for a response. */
function faultOf(line: string, message: unknown): RpcFault | null {
  if (line.length > MAX_CHARACTERS) return { code: INVALID_REQUEST, message: `The line has more than ${MAX_CHARACTERS} characters` };
  if (message === undefined) return { code: PARSE_ERROR, message: 'The line is not JSON' };
  return Array.isArray(message) ? { code: INVALID_REQUEST, message: 'Batches are not accepted' } : null;
}

/** Returns undefined for text that is not JSON. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
