import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pino from 'pino';
import { compose } from '../compose.ts';
import { folderOfPlugin, loadPlugin } from '../load.ts';
import { prepare } from '../prepare.ts';
import { definePlugin } from '../plugin.ts';
import type * as civic from '../index.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const source = (name: string) => `import * as civic from 'civic';\nexport default Object.defineProperty(civic.definePlugin({ name: '${name}', summary: 'Here', register() {} }), 'civic', { value: civic });\n`;

describe('Loading a plugin', () => {
  let folder: string;
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'civic-load-'));
    write('folder/index.js', source('here'));
    write('folder/package.json', '{ "type": "module" }');
    write('file.mjs', source('here'));
    write('node_modules/civic-plugin-new/package.json', '{ "type": "module", "exports": { ".": { "import": "./lib/plugin.js" } } }');
    write('node_modules/civic-plugin-new/lib/plugin.js', source('here'));
    write('node_modules/@town/civic-plugin-old/package.json', '{ "type": "module", "main": "plugin.js" }');
    write('node_modules/@town/civic-plugin-old/plugin.js', source('here'));
    write('node_modules/civic-plugin-typed/package.json', '{ "type": "module", "exports": { ".": { "types": "./lib/plugin.d.ts", "import": { "types": "./lib/plugin.d.ts", "default": "./lib/plugin.js" } } } }');
    write('node_modules/civic-plugin-typed/lib/plugin.js', source('here'));
    write('node_modules/civic-plugin-broken/package.json', '{ "type": ');
    write('node_modules/civic-plugin-closed/package.json', '{ "exports": { "./other": "./other.js" } }');
    write('paged/package.json', '{ "type": "module" }');
    write('paged/index.js', "import { definePlugin } from 'civic';\nexport default definePlugin({ name: 'paged', summary: 'Has a page', paths: { '/paged': { audience: 'people' } }, register(server) { server.route({ method: 'GET', path: '/paged', options: { plugins: { civic: { internal: true } } }, handler: (_request, h) => h.view('paged/hello', { name: 'you' }) }); } });\n");
    write('paged/templates/hello.html', '<p>From outside, {{name}}</p>');
    write('plain.mjs', 'export default { name: "My-Plugin", summary: "x", register() {} };\n');
    write('mute.mjs', 'export default { name: "here", register() {} };\n');
    write('throws/index.mjs', '');
    write('empty.mjs', 'export default {};\n');
    write('broken.mjs', 'throw new Error("no such luck");\n');
    write('syntax.mjs', 'export default {\n  name: "here" summary: "Here",\n};\n');
    write('required.cjs', "require('civic');\n");
    write('deep.mjs', "import 'civic/core/log.js';\n");
    const declares = (members: string): string => `import { definePlugin } from 'civic';\nexport default definePlugin({ summary: 'Here', ${members} });\n`;
    write('typo.mjs', declares("name: 'here', need: ['there'], register() {}"));
    write('idle.mjs', declares("name: 'here'"));
    write('core.mjs', declares("name: 'core', register() {}"));
    write('needy.mjs', "import 'a-package-nobody-has';\n");
  });
  after(() => { rmSync(folder, { recursive: true, force: true }); });

  it('shows the pages of one that lies outside the tree', async () => {
    expect(folderOfPlugin(await loadPlugin('paged', './paged', folder))).to.equal(join(folder, 'paged'));
    const { config, plugins, errors } = await prepare({ env: {}, args: {}, text: JSON.stringify({ data_dir: join(folder, 'data'), plugins: { paged: { from: join(folder, 'paged') } } }) });
    expect(errors).to.equal([]);
    const { server } = await compose({ config, plugins, log: pino({ level: 'silent' }) });
    expect((await server.inject('/paged')).payload).to.contain('From outside, you');
  });

  for (const from of ['./folder', './folder/index.js', './file.mjs', 'civic-plugin-new', 'civic-plugin-typed', '@town/civic-plugin-old']) {
    it(`works the same way from ${from}, on this very civic`, async () => {
      const plugin = await loadPlugin('here', from, folder);
      expect(plugin).to.include({ name: 'here', summary: 'Here' });
      expect((plugin as unknown as { civic: typeof civic }).civic.definePlugin).to.shallow.equal(definePlugin);
    });
  }

  it('reports too few file descriptors as such, and not as a mistake of the configuration', async () => {
    write('emfile.mjs', "throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });\n");
    const text = JSON.stringify({ data_dir: join(folder, 'data'), plugins: { here: { from: join(folder, 'emfile.mjs') } } });
    await expect(prepare({ env: {}, args: {}, text })).to.reject(/^There are too few file descriptors to start: raise the limit/);
  });

  it('works from an absolute path', async () => {
    expect((await loadPlugin('here', join(folder, 'folder'), '/')).name).to.equal('here');
  });

  for (const [from, message] of [
    ['./nowhere', /nowhere does not exist; a path in "from" is relative to the folder of the kit$/],
    ['./syntax.mjs', /syntax\.mjs cannot be loaded: Unexpected identifier 'summary'; node --check .*syntax\.mjs shows where$/],
    ['./required.cjs', /required\.cjs cannot be loaded: it calls require\('civic'\), but a plugin is an ES module/],
    ['./deep.mjs', /deep\.mjs cannot be loaded: it imports the inside of civic, of which only "civic" and "civic\/testing" are open/],
    ['./typo.mjs', /typo\.mjs cannot be loaded: The plugin here has a member "need", which is not known: did you mean "needs"\?/],
    ['./idle.mjs', /idle\.mjs cannot be loaded: The plugin here has no register\(server, civic\)/],
    ['./core.mjs', /core\.mjs cannot be loaded: "core" cannot name a plugin/],
    ['./throws', /has no index\.js$/],
    ['./empty.mjs', /has no plugin as its default export: export default definePlugin/],
    ['./broken.mjs', /broken\.mjs cannot be loaded: no such luck$/],
    ['./needy.mjs', /cannot be loaded: Cannot find package 'a-package-nobody-has'/],
    ['./plain.mjs', /plain\.mjs cannot be loaded: "My-Plugin" cannot name a plugin/],
    ['./mute.mjs', /mute\.mjs cannot be loaded: The plugin here has no summary/],
    ['civic-plugin-broken', /civic-plugin-broken.*package\.json cannot be read: /],
    ['civic-plugin-closed', /^The package "civic-plugin-closed" offers nothing to import/],
    ['civic-plugin-absent', /^The package "civic-plugin-absent" is not installed: npm install civic-plugin-absent$/],
  ] as const) {
    it(`says what is wrong with ${from}`, async () => {
      await expect(loadPlugin('here', from, folder)).to.reject(message);
    });
  }

  it('says so when the plugin has another name than its section', async () => {
    await expect(loadPlugin('there', './folder', folder)).to.reject(/is the plugin "here", not "there": name the section "here"/);
  });

  it('says so when the kit has no plugin of that name', async () => {
    await expect(loadPlugin('nonesuch', undefined, folder)).to.reject('There is no plugin "nonesuch" in this kit');
  });
});

describe('definePlugin', () => {
  it('refuses names that cannot prefix a table, and plugins that do not say what they are for', () => {
    for (const name of ['', 'My', 'my-plugin', '7up', 'my_plugin', 'core']) expect(() => definePlugin({ name, summary: 'x', register: () => undefined })).to.throw(/cannot name a plugin/);
    expect(() => definePlugin({ name: 'mute', summary: '', register: () => undefined })).to.throw('The plugin mute has no summary');
  });

  it('refuses problem codes that are not snake_case', () => {
    expect(() => definePlugin({ name: 'odd', summary: 'x', problems: { 'not-snake': { status: 400, title: 'x', advice: 'x' } }, register: () => undefined })).to.throw(/not snake_case/);
  });
});
