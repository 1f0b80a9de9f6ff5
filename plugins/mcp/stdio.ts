import { lazily, type Caller, type Civic, type Command, type Vocabulary } from 'civic';
import { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createOffer } from './offer.ts';
import { load2026 } from './serve.ts';

const loadStdio = lazily(() => import('@modelcontextprotocol/server/stdio'));

const OPERATOR_ID = '00000000-0000-0000-0000-000000000000';

/** Serves an assistant on this machine over standard input and output, in either era. */
export function stdioCommand(civic: Civic<any>): Command {
  return {
    name: 'mcp stdio',
    summary: 'Serve an assistant on this machine, without sign-in',
    examples: ['bin/civic mcp stdio'],
    needs: 'server',
    // Tools read what the running server has in memory, so on SQLite it runs inside the server when one is up.
    writes: true,
    reads: true,
    async run({ terminal, input }) {
      const { serveStdio, StdioServerTransport } = await loadStdio();
      const { createServer } = await load2026();
      // Changes belong to an account, and there is none.
      const offer = createOffer(civic, ({ readOnly }) => readOnly);
      const call = { caller: operator(civic.vocabulary), signal: terminal.signal, requestId: 'stdio', refusal: null, json: null };
      const source = Readable.from(withEnds(input!), { objectMode: false });
      const serving = serveStdio(() => createServer(offer, call), { transport: new StdioServerTransport(source, linesTo(terminal.out)) });
      await finished(source, { signal: terminal.signal }).catch(() => undefined);
      await serving.close();
    },
  };
}

/** Returns a caller with every scope and plan: a user who runs commands can read the whole database anyway. */
function operator({ scopes, capabilities }: Vocabulary): Caller {
  return { account_id: OPERATOR_ID, via: 'token', scope: [...scopes.keys()], role: 'admin', plan: 'operator', capabilities: [...capabilities.keys()], workspace_id: null, workspace_role: null };
}

async function* withEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

function linesTo(print: (line: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      print(chunk.toString().trimEnd());
      done();
    },
  });
}
