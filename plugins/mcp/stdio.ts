import { lazily, type Caller, type Civic, type Command, type Vocabulary } from 'civic';
import { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { INVALID_REQUEST, PARSE_ERROR } from './errors.ts';
import { createOffer } from './offer.ts';
import { load2026 } from './serve.ts';

const loadStdio = lazily(() => import('@modelcontextprotocol/server/stdio'));

const OPERATOR_ID = '00000000-0000-0000-0000-000000000000';

/** Serves an assistant on this machine over standard input and output, in either era. */
export function stdioCommand(civic: Civic<any>): Command {
  return {
    name: 'mcp stdio',
    summary: 'Serve an assistant on this machine over standard input and output, without sign-in',
    examples: ['claude mcp add civic -- bin/civic mcp stdio'],
    needs: 'server',
    existing: true,
    // Tools read what the running server has in memory, so on SQLite it runs inside the server when one is up.
    writes: true,
    reads: true,
    async run({ terminal, input }) {
      const { serveStdio, StdioServerTransport } = await loadStdio();
      const { createServer } = await load2026();
      // Changes belong to an account, and there is none.
      const offer = createOffer(civic, ({ readOnly }) => readOnly);
      const call = { caller: operator(civic.vocabulary), signal: terminal.signal, requestId: 'stdio', refusal: null, json: null };
      terminal.err('Waiting for the messages of an assistant on standard input. docs/assistants.md shows how to connect one.');
      const requests = createPendingRequests(terminal.out);
      const source = Readable.from(requests.received(input!), { objectMode: false });
      const serving = serveStdio(() => createServer(offer, call), { transport: new StdioServerTransport(source, requests.sent) });
      await finished(source, { signal: terminal.signal }).catch(() => undefined);
      await serving.close();
    },
  };
}

/** Returns a caller with every scope and plan: a user who runs commands can read the whole database anyway. */
function operator({ scopes, capabilities }: Vocabulary): Caller {
  return { account_id: OPERATOR_ID, via: 'token', scope: [...scopes.keys()], role: 'admin', plan: 'operator', capabilities: [...capabilities.keys()], workspace_id: null, workspace_role: null };
}

const SETTLE_MS = 30_000;
/** As much as a request over HTTP can have. */
const MAX_CHARACTERS = 1024 * 1024;

/** Keeps the input open until every request has its response: a client may close its side after the last request. */
function createPendingRequests(print: (line: string) => void) {
  const pending = new Set<unknown>();
  let settled: (() => void) | null = null;

  function finish(id: unknown): void {
    pending.delete(id);
    if (pending.size === 0) settled?.();
  }

  /** Returns the error of a line that is no message. The SDK ignores such lines, so that their sender would wait for ever. */
  function note(line: string): { code: number; message: string } | null {
    const message = parsed(line);
    if (message === undefined) return { code: PARSE_ERROR, message: 'The line is not JSON' };
    if (Array.isArray(message)) return { code: INVALID_REQUEST, message: 'Batches are not accepted' };
    if (message?.method === 'notifications/cancelled') finish(message.params?.requestId);
    else if (typeof message?.method === 'string' && message.id !== undefined) pending.add(message.id);
    return null;
  }

  return {
    async* received(lines: AsyncIterable<string>): AsyncGenerator<string> {
      for await (const line of lines) {
        if (line.trim() === '') continue;
        const fault = line.length > MAX_CHARACTERS ? { code: INVALID_REQUEST, message: `The line has more than ${MAX_CHARACTERS} characters` } : note(line);
        if (fault === null) yield `${line}\n`;
        else print(JSON.stringify({ jsonrpc: '2.0', id: null, error: fault }));
      }
      if (pending.size > 0) await Promise.race([new Promise<void>((done) => { settled = done; }), sleep(SETTLE_MS, undefined, { ref: false })]);
    },
    sent: new Writable({
      write(chunk: Buffer, _encoding, done) {
        const line = chunk.toString().trimEnd();
        print(line);
        const message = parsed(line);
        if (message?.method === undefined) finish(message?.id);
        done();
      },
    }),
  };
}

interface Message {
  id?: unknown;
  method?: unknown;
  params?: { requestId?: unknown };
}

/** Returns undefined for text that is not JSON. */
function parsed(line: string): Message | null | undefined {
  try {
    return JSON.parse(line) as Message | null;
  } catch {
    return undefined;
  }
}
