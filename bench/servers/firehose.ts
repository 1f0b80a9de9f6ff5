import { compose } from '../../core/compose.ts';
import { describeErrors } from '../../core/config/report.ts';
import { createLogger } from '../../core/log.ts';
import { prepare } from '../../core/prepare.ts';
import type { TestServer } from '../../core/testing.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';
import wire from '../../test/plugins/wire/index.ts';
import { unlimited } from './unlimited.ts';

/** Civic as it is served, with limits that a measurement does not reach, an API key, and a route to publish through. */
const [, , folder] = process.argv;
const MANY = 1_000_000;
const plan = { price: '0', requests_per_minute: MANY * 1000, requests_per_day: MANY * 1000, keys: 1, streams: MANY, sessions: MANY };
const settings = {
  data_dir: folder, http: { port: 0 }, log: { level: 'warn', access: 'warn', format: 'json' },
  plugins: { accounts: { plans: { bench: plan }, default_plan: 'bench' }, ratelimit: unlimited, firehose: { max_streams: MANY }, wire: {} },
};
const { config, plugins, errors } = await prepare({ env: {}, args: {}, text: JSON.stringify(settings), given: [wire as never] });
if (errors.length > 0) throw new Error(describeErrors(errors, { color: false }));
const composition = await compose({ config, plugins, log: await createLogger(config.log) });
await composition.open({ writes: true, schema: 'migrate' });
const kit = { composition } as TestServer;
const account = await runCommand(kit, 'account create', { name: 'Bench' }, []);
const { key } = await runCommand(kit, 'key create', { account: account.id }, []);
await composition.start();
await composition.listen();

process.on('disconnect', () => process.exit());
process.on('message', () => {
  globalThis.gc?.();
  process.send!({});
});
process.send!({ port: composition.server.info.port, key });
