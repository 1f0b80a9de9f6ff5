import { definePlugin, type Caller } from 'civic';
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

/** The directory in a filled data folder, and the same reads as tools. */
const settings = { data_dir: process.argv[2], http: { port: 0 }, log: { level: 'warn', access: 'warn', format: 'json' }, plugins: { directory: {}, mcp: {}, tokens: {} } };
const { config, plugins } = await prepare({ env: {}, args: {}, text: JSON.stringify(settings), given: [tokens] });
const composition = await compose({ config, plugins, log: await createLogger(config.log) });
await composition.open({ writes: true, schema: 'migrate' });
await composition.start();
await composition.listen();
reportTo(composition.server.info.port as number);
