import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';
import { createInstance } from '../support/civic.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const example = join(projectRoot, 'docs/examples/herons');

describe('The types of civic', () => {
  it('fit a plugin outside the tree, with the services of other plugins and its own event', () => {
    const { stdout } = spawnSync(process.execPath, [join(projectRoot, 'node_modules/typescript/bin/tsc'), '-p', example], { encoding: 'utf8' });
    expect(stdout).to.equal('');
  });
});

describe('bin/civic', () => {
  let outside: string;
  let herons: string;
  before(() => {
    outside = mkdtempSync(join(tmpdir(), 'civic-outside-'));
    herons = join(outside, 'herons');
    cpSync(example, herons, { recursive: true });
  });
  after(() => { rmSync(outside, { recursive: true }); });

  it('checks the plugin, lists it with its command, and describes other commands as without it', async () => {
    const built = createInstance({ plugins: { accounts: {} } });
    const instance = createInstance({ plugins: { accounts: { plans: { visitor: {} }, default_plan: 'visitor' }, firehose: {}, herons: { from: herons } } });
    try {
      const check = await instance.civicInProcess('plugin', 'check', herons);
      expect([check.code, check.stderr]).to.equal([0, '']);
      expect((await instance.civicInProcess('plugin', 'list')).stdout).to.contain('herons');
      // A plugin outside the tree makes the kit compose the commands; without it their description is the one of the build.
      for (const command of [['key', 'create'], ['account', 'create'], ['account', 'set-plan']]) {
        expect((await instance.civicInProcess(...command, '--help')).stdout).to.equal((await built.civicInProcess(...command, '--help')).stdout);
      }
      expect((await instance.civicInProcess('herons', 'report', '--help')).stdout).to.contain('Print how many herons were counted at each site');
    } finally {
      instance.remove();
      built.remove();
    }
  });
});
