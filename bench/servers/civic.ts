import { definePlugin, Joi } from 'civic';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compose } from '../../core/compose.ts';
import { createLogger } from '../../core/log.ts';
import { prepare } from '../../core/prepare.ts';
import { payload, reportTo } from '../harness.ts';
import { unlimited } from './unlimited.ts';

const [, , size, access, limited] = process.argv;
const body = payload(size as 'small' | 'list');

const bench = definePlugin({
  name: 'bench',
  summary: 'One route plain, and one with a checked query',
  paths: { '/bench': { audience: 'programs' } },
  register(server) {
    server.route({ method: 'GET', path: '/bench', handler: () => body });
    server.route({
      method: 'GET',
      path: '/api/bench',
      options: { description: 'The payload', validate: { query: Joi.object({}) }, response: { schema: Joi.object().unknown() } },
      handler: () => body,
    });
  },
});

const settings = { data_dir: mkdtempSync(join(tmpdir(), 'civic-bench-')), http: { port: 0 }, log: { level: 'info', access, format: 'json' }, plugins: { bench: {}, ...(limited && { ratelimit: unlimited }) } };
const { config, plugins } = await prepare({ env: {}, args: {}, text: JSON.stringify(settings), given: [bench] });
const log = await createLogger(config.log);
const composition = await compose({ config, plugins, log });
await composition.open({ writes: true, schema: 'migrate' });
await composition.start();
await composition.listen();
reportTo(composition.server.info.port as number);
