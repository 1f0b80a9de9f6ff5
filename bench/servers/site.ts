import { definePlugin, type Caller } from 'civic';
import { compose } from '../../core/compose.ts';
import { describeErrors } from '../../core/config/report.ts';
import { createLogger } from '../../core/log.ts';
import { prepare } from '../../core/prepare.ts';
import type { TestServer } from '../../core/testing.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';
import wire from '../../test/plugins/wire/index.ts';
import { reportTo } from '../harness.ts';
import { unlimited } from './unlimited.ts';

/** The public site as it is served, with limits that a measurement does not reach, and an editor who may change public actors. */
const [, , folder, cacheMegabytes] = process.argv;
const MANY = 1_000_000;
const caller: Caller = {
  account_id: '01890000-0000-7000-8000-000000000001', via: 'key', scope: ['entities:write'], role: 'reviewer', plan: 'team', capabilities: [],
  workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member',
};
const editors = definePlugin({
  name: 'editors',
  summary: 'One editor',
  register(_server, civic) { civic.identify((request) => (request.headers['x-editor'] ? caller : null)); },
});
const settings = {
  data_dir: folder, http: { port: 0 }, log: { level: 'warn', access: 'warn', format: 'json' },
  plugins: {
    directory: { cache_megabytes: Number(cacheMegabytes) }, accounts: {}, ratelimit: unlimited, firehose: { anonymous: true, max_streams: MANY }, oauth: {}, mcp: {}, site: {},
    wire: {}, editors: {},
  },
};
const { config, plugins, errors } = await prepare({ env: {}, args: {}, text: JSON.stringify(settings), given: [wire as never, editors] });
if (errors.length > 0) throw new Error(describeErrors(errors, { color: false }));
const composition = await compose({ config, plugins, log: await createLogger(config.log) });
await composition.open({ writes: true, schema: 'migrate' });
const kit = { composition } as TestServer;
if (!await composition.db.read('accounts_people').first('id')) await runCommand(kit, 'account create', { name: 'Bench' }, []);
await composition.start();
await composition.listen();
// The first one waits for the counts of facets.
await composition.server.inject('/api/issue-areas');
process.on('disconnect', () => process.exit());
reportTo(composition.server.info.port as number);
