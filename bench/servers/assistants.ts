import { definePlugin, type Caller } from 'civic';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTerminal } from '../../core/cli/terminal.ts';
import { compose } from '../../core/compose.ts';
import { createLogger } from '../../core/log.ts';
import { prepare } from '../../core/prepare.ts';
import { reportTo } from '../harness.ts';

const caller: Caller = { account_id: '01890000-0000-7000-8000-000000000001', via: 'token', scope: ['directory:read'], role: 'user', plan: 'team', capabilities: [], workspace_id: null, workspace_role: null };

/** Stands in for an authorization server: any token is that of one caller. */
const tokens = definePlugin({
  name: 'tokens',
  summary: 'One caller',
  register(_server, civic) { civic.identify((request) => (request.headers['authorization'] ? caller : null)); },
});

/** The directory with the invented region, and the same reads as tools. */
const settings = { data_dir: mkdtempSync(join(tmpdir(), 'civic-bench-')), demo: true, http: { port: 0 }, log: { level: 'warn', access: 'warn', format: 'json' }, plugins: { directory: {}, mcp: {}, tokens: {} } };
const { config, plugins } = await prepare({ env: {}, args: {}, text: JSON.stringify(settings), given: [tokens] });
const composition = await compose({ config, plugins, log: await createLogger(config.log) });
await composition.open({ writes: true, schema: 'migrate' });
await composition.start();
const terminal = createTerminal({ out: () => undefined, err: () => undefined, isTerminal: false, color: false }, { json: true, signal: new AbortController().signal });
await composition.commands.find(({ name }) => name === 'demo load')!.run({ terminal, positionals: [], options: {}, cwd: process.cwd() });
await composition.listen();
reportTo(composition.server.info.port as number);
