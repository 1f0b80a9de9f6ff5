import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledPlugins } from '../../core/load.ts';
import { projectRoot } from '../../core/root.ts';
import { runCivic, type Ended } from '../support/civic.ts';
import { copyKit } from '../support/kit.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

const BUNDLE = join(projectRoot, 'dist/bundle');
/** Reports modules, and packages that the bundle has, that are loaded from anywhere else. */
const HOOKS = `export async function load(url, context, next) {
  const isOurs = url.includes('/dist/') && !/node_modules|dist\\/bundle/.test(url);
  if (isOurs || /node_modules\\/(@hapi\\/hapi|joi|knex|yaml)\\//.test(url)) process._rawDebug('single module ' + url);
  return next(url, context);
}`;
const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** esbuild names each module before its code. */
function modulesIn(file: string): string[] {
  const names = [...readFileSync(join(BUNDLE, file), 'utf8').matchAll(/^\/\/ ((?:dist|node_modules)\/\S+\.m?js)$/gm)].map((match) => match[1]!);
  return [...new Set(names)];
}

describe('The bundle that bin/civic runs', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'civic-bundle-'));
    mkdirSync(join(folder, 'greeter'));
    writeFileSync(join(folder, 'civic.json'), JSON.stringify({ plugins: { directory: {}, accounts: {}, greeter: { from: join(folder, 'greeter') } } }));
    writeFileSync(join(folder, 'greeter/index.js'), `import { definePlugin } from 'civic';
export default definePlugin({ name: 'greeter', summary: 'Greets', register(_server, civic) {
  civic.command({ name: 'greet', summary: 'Greet', needs: 'nothing', async run({ terminal }) { terminal.print({ said: 'hello' }, () => 'hello'); } });
} });`);
  });
  after(() => { rmSync(folder, { recursive: true, force: true }); });

  it('has every plugin, and each module once', () => {
    const files = readdirSync(BUNDLE).filter((file) => file.endsWith('.js'));
    expect(files).to.include(['main.js', 'index.js', 'resolve.js', ...bundledPlugins().map((name) => `plugin-${name}.js`)]);
    const modules = files.flatMap(modulesIn);
    expect(modules).to.include(['dist/core/compose.js', 'dist/plugins/directory/index.js', 'node_modules/@hapi/hapi/lib/server.js', 'node_modules/knex/lib/client.js', 'node_modules/oidc-provider/lib/provider.js', 'node_modules/@modelcontextprotocol/server/dist/index.mjs', 'node_modules/@modelcontextprotocol/sdk/dist/esm/server/index.js', 'node_modules/@simplewebauthn/server/esm/registration/verifyRegistrationResponse.js']);
    expect(modules.filter((name, index) => modules.indexOf(name) !== index)).to.equal([]);
  });

  it('loads no package of its own with import(), which would have no named exports', () => {
    const files = readdirSync(BUNDLE).filter((file) => file.endsWith('.js'));
    expect(files.filter((file) => /^export default require_/m.test(readFileSync(join(BUNDLE, file), 'utf8')))).to.equal([]);
  });

  it('is all of Civic in a process, also for plugins outside the tree', async () => {
    const register = asUrl(`import { register } from 'node:module'; register(${JSON.stringify(asUrl(HOOKS))});`);
    const { code, stdout, stderr } = await runCivic(['greet'], { through: [process.execPath, '--no-deprecation', '--import', register], env: { CIVIC_CONFIG: join(folder, 'civic.json') } });
    expect([code, stdout, stderr]).to.equal([0, 'hello\n', '']);
  });

  it('starts threads, whose modules are beside it', async () => {
    writeFileSync(join(folder, 'page.html'), '<script type="application/ld+json">{"@type":"Event","name":"Hearing"}</script>');
    writeFileSync(join(folder, 'page.jsonld'), '[{"@type":"Event","name":"Hearing"}]');
    writeFileSync(join(folder, 'reader.json'), JSON.stringify({ plugins: { reader: {} } }));
    const { code, stdout, stderr } = await runCivic(['eval', 'structured', folder], { env: { CIVIC_CONFIG: join(folder, 'reader.json') } });
    expect([code, stderr]).to.equal([0, '']);
    expect(stdout).to.contain('1 of 1 (100.00 %)');
  });
});

describe('The bundle of another folder, with a plugin in JavaScript among its plugins', () => {
  let folder: string;
  let root: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'civic-bundle-'));
    root = join(folder, 'my kit (ä)');
    copyKit(root);
    writeFileSync(join(folder, 'civic.json'), JSON.stringify({ plugins: { greeter: {} } }));
    mkdirSync(join(root, 'plugins/greeter'));
    writeFileSync(join(root, 'plugins/greeter/index.js'), `import { definePlugin, Failure } from 'civic';
export default definePlugin({ name: 'greeter', summary: 'Greets', register(_server, civic) {
  civic.command({ name: 'greet nobody', summary: 'Greet', needs: 'nothing', async run() { throw new Failure('Nobody is there'); } });
  civic.command({ name: 'greet wrongly', summary: 'Greet', needs: 'nothing', async run() { throw new Error('Oh no'); } });
} });`);
  });
  after(() => { rmSync(folder, { recursive: true, force: true }); });

  const civic = (...args: string[]): Promise<Ended> => runCivic(args, { root, env: { CIVIC_CONFIG: join(folder, 'civic.json') } });

  it('gives the plugin the civic that runs, not a second one', async () => {
    expect(await civic('greet', 'nobody')).to.equal({ code: 1, stdout: '', stderr: 'Nobody is there\n' });
  });

  it('names source files in stack traces', async () => {
    const { stderr } = await civic('greet', 'wrongly');
    expect(stderr).to.contain(`${root}/core/cli/composed.ts:`).and.to.not.contain('/dist/');
  });

  it('is removed when it could be written only in part, and the single modules run', async () => {
    rmSync(join(root, 'dist/bundle'), { recursive: true });
    mkdirSync(join(root, 'dist/bundle/index.js'), { recursive: true });
    const built = spawnSync(process.execPath, [join(root, 'dist/core/build.js'), join(projectRoot, 'dist')], { encoding: 'utf8' });
    expect(built.stderr).to.contain('dist/ is not bundled');
    expect(built.status).to.equal(0);
    expect(existsSync(join(root, 'dist/bundle'))).to.be.false();
    expect(await civic('greet', 'nobody')).to.equal({ code: 1, stdout: '', stderr: 'Nobody is there\n' });
  });
});
