import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkPlugin } from '../../core/cli/check.ts';
import { contractFaults } from '../../core/cli/contract.ts';
import { bundledPlugins, loadPluginAt, pluginsWithProgram } from '../../core/load.ts';
import type { Plugin } from '../../core/plugin.ts';
import { projectRoot } from '../../core/root.ts';

export const notQuick = 'it checks every plugin in turn';
export const lab = Lab.script();
const { describe, it } = lab;

async function faultsOf(files: Record<string, string>, foreignTables: string[] = []): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'civic-plugin-'));
  try {
    for (const [name, text] of Object.entries({ 'README.md': '# odd', ...files })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return contractFaults(await loadPluginAt(folder, folder), folder, foreignTables);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const odd = (more = '') => `import { definePlugin } from 'civic';\nexport default definePlugin({ name: 'odd', summary: 'Odd', ${more} register() {} });\n`;

describe('The contract', () => {
  for (const folder of [...[...bundledPlugins(), ...pluginsWithProgram()].map((name) => `plugins/${name}`), 'test/plugins/notes', 'test/plugins/pulse', 'templates/plugin']) {
    it(`is kept by ${folder}, which starts alone with its needs`, async () => {
      const results = await checkPlugin(join(projectRoot, folder), { tests: false });
      expect(results.flatMap((result) => result.faults)).to.equal([]);
      expect(results).to.have.length(5);
    });
  }

  it('lets a plugin that keeps to itself pass', async () => {
    expect(await faultsOf({ 'index.js': odd() })).to.equal([]);
  });

  it('refuses imports of core below its door and of anything outside the plugin', async () => {
    const faults = await faultsOf({
      'index.js': odd(),
      'deep.js': "import { compose } from 'civic/core/compose.js';\nexport { compose };\n",
      'outside.js': "import '../flags/store.js';\n",
      'later.js': "await import('../../core/index.js');\n",
    });
    expect(faults).to.equal([
      'deep.js imports civic/core/compose.js: only "civic" and "civic/testing" are open',
      'later.js imports ../../core/index.js, which lies outside the plugin',
      'outside.js imports ../flags/store.js, which lies outside the plugin',
    ]);
  });

  it('allows the types of another plugin, which leave nothing behind', async () => {
    expect(await faultsOf({ 'index.js': odd(), 'types.ts': "import type {} from 'civic/directory';\n" })).to.equal([]);
  });

  it('refuses SQL that names the table of another plugin', async () => {
    const faults = await faultsOf({ 'index.js': odd(), 'store.js': "export const rows = (read) => read('flags_flags').select();\n" }, ['flags_flags']);
    expect(faults).to.equal(['store.js names the table flags_flags of another plugin: ask its service']);
  });

  it('rejects a problem code that no plugin registered', async () => {
    const faults = await faultsOf({ 'index.js': odd(), 'routes.js': "throw problem('unheard_of');\n" });
    expect(faults).to.equal(['routes.js throws the problem "unheard_of", which is not among its problems']);
  });

  it('refuses options without a doc and events without the plugin\'s name', async () => {
    const faults = await faultsOf({ 'index.js': odd("config: { size: { format: Number, default: 1 } }, events: { 'flags.raised': { summary: '', version: 1 } },") });
    expect(faults).to.equal(['size has no doc', 'The event flags.raised must be called odd.…']);
  });

  it('asks for a README', async () => {
    expect(await faultsOf({ 'index.js': odd(), 'README.md': '' })).to.equal([]);
    const folder = mkdtempSync(join(tmpdir(), 'civic-plugin-'));
    writeFileSync(join(folder, 'index.js'), odd());
    const faults = contractFaults({ name: 'odd', summary: 'Odd', register: () => undefined } as Plugin, folder, []);
    rmSync(folder, { recursive: true });
    expect(faults).to.equal(['README.md is missing: say what the plugin does, in a few lines']);
  });
});
