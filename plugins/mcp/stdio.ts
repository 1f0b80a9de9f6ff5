import { lazily, type Caller, type Civic, type Command, type Vocabulary } from 'civic';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createOffer } from './offer.ts';
import { createPendingRequests } from './pending.ts';
import { load2026 } from './serve.ts';

const loadStdio = lazily(() => import('@modelcontextprotocol/server/stdio'));

const OPERATOR_ID = '00000000-0000-0000-0000-000000000000';

/** Returns the command that serves an assistant on this machine over standard input and output, in both eras. */
export function stdioCommand(civic: Civic<any>): Command {
  return {
    name: 'mcp stdio',
    summary: 'Serve an assistant on this machine over standard input and output, without sign-in',
    examples: ['claude mcp add civic -- bin/civic mcp stdio'],
    needs: 'server',
    existing: true,
    // On SQLite the command runs inside a running server, because tools read data that the server has in memory.
    writes: true,
    reads: true,
    async run({ terminal, input }) {
      const { serveStdio, StdioServerTransport } = await loadStdio();
      const { createServer } = await load2026();
      // Only tools that read: changes belong to an account, and the operator has none.
      const offer = createOffer(civic, ({ readOnly }) => readOnly);
      const call = { caller: operator(civic.vocabulary), signal: terminal.signal, requestId: 'stdio', refusal: null, json: null, insertsJson: false };
      terminal.err('Waiting for the messages of an assistant on standard input. docs/assistants.md shows how to connect one.');
      const requests = createPendingRequests(terminal.out);
      const source = Readable.from(requests.received(input!), { objectMode: false });
      const serving = serveStdio(() => createServer(offer, call), { transport: new StdioServerTransport(source, requests.sent) });
      await finished(source, { signal: terminal.signal }).catch(() => undefined);
      await serving.close();
    },
  };
}

/** Returns a caller with every scope and capability: a user who runs commands can read the whole database anyway. */
function operator({ scopes, capabilities }: Vocabulary): Caller {
  return {
    account_id: OPERATOR_ID, via: 'token', scope: [...scopes.keys()], role: 'admin', plan: 'operator', capabilities: [...capabilities.keys()],
    workspace_id: null, workspace_role: null,
  };
}
