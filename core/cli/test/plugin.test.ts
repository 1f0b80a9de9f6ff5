import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInstance, runCivic } from '../../../test/support/civic.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('bin/civic plugin new', () => {
  let folder: string;
  before(() => { folder = mkdtempSync(join(tmpdir(), 'civic-plugins-')); });
  after(() => { rmSync(folder, { recursive: true, force: true }); });

  it('writes a plugin that keeps the contract and passes its own tests untouched, outside the tree too', async () => {
    const made = await runCivic(['plugin', 'new', 'greeter', '--in', folder]);
    expect(made.code).to.equal(0);
    expect(made.stdout).to.contain(['plugins:\n  greeter:\n    from: ', 'bin/civic plugin check']);
    const checked = await runCivic(['plugin', 'check', join(folder, 'greeter')]);
    expect(checked.stdout).to.contain(['✓ greeter can be loaded', '✓ it starts alone with its needs', '✓ its own tests pass']);
    expect(checked.code).to.equal(0);
  });

  it('writes one that serves', async () => {
    const instance = createInstance({ plugins: { greeter: { from: join(folder, 'greeter'), word: 'Good morning' } } });
    const served = await instance.serve();
    const answer = await fetch(`${served.url}/api/greeter`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Ada"}' });
    expect(await answer.json()).to.include({ text: 'Good morning, Ada!' });
    expect(await served.stop()).to.equal(0);
    instance.remove();
  });

  it('never writes over one that exists, and refuses a name that cannot be one', async () => {
    const again = await runCivic(['plugin', 'new', 'greeter', '--in', folder]);
    expect(again.code).to.equal(1);
    expect(again.stderr).to.contain('exists already');
    const odd = await runCivic(['plugin', 'new', 'My-Plugin', '--in', folder]);
    expect(odd.code).to.equal(2);
    expect(odd.stderr).to.contain('use lower-case letters and digits');
  });
});

describe('bin/civic plugin check', () => {
  it('says what is wrong with a plugin, and ends with exit code 1', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-plugin-'));
    writeFileSync(join(folder, 'index.js'), `
      import { definePlugin } from 'civic';
      export default definePlugin({ name: 'odd', summary: 'Odd', register(server) {
        server.route({ method: 'GET', path: '/api/odd', handler: () => 'odd' });
      } });
    `);
    const { code, stdout, stderr } = await runCivic(['plugin', 'check', folder]);
    rmSync(folder, { recursive: true });
    expect(code).to.equal(1);
    expect(stdout).to.contain(['README.md is missing', 'GET /api/odd (odd): has no description']);
    expect(stderr).to.contain('does not keep the contract');
  });

  it('says so when there is no plugin', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-plugin-'));
    const { code, stdout } = await runCivic(['plugin', 'check', folder]);
    rmSync(folder, { recursive: true });
    expect(code).to.equal(1);
    expect(stdout).to.contain('has no index.js');
  });
});
