import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInstance, runCivic, type Instance } from '../../../test/support/civic.ts';
import { runCivicInProcess } from '../../../test/support/in-process.ts';
import { defaultPlugins } from '../../defaults.ts';
import { commandsOf } from '../composed.ts';
import { listCommands } from '../listing.ts';
import { OWN_COMMANDS, loadOwnCommands } from '../own.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** Reports every module that is loaded. */
const HOOKS = `import { writeSync } from 'node:fs';
export async function load(url, context, next) { writeSync(2, 'loaded ' + url + '\\n'); return next(url, context); }`;
const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

async function modulesOf(args: string[], env: Record<string, string> = {}): Promise<string[]> {
  const register = asUrl(`import { register } from 'node:module'; register(${JSON.stringify(asUrl(HOOKS))});`);
  const { code, stderr } = await runCivic(args, { through: [process.execPath, '--import', register], env });
  expect(code).to.equal(0);
  return [...stderr.matchAll(/^loaded (\S+)$/gm)].map((match) => match[1]!);
}

/** Returns the modules, with those inside files of the bundle: esbuild names each module before its code. */
const withBundled = (modules: string[]): string[] => modules.flatMap((url) => (
  url.includes('/dist/bundle/') ? [url, ...[...readFileSync(fileURLToPath(url), 'utf8').matchAll(/^\/\/ (node_modules\/\S+)$/gm)].map((match) => match[1]!)] : [url]));
const packages = (modules: string[]): string[] => [...new Set(withBundled(modules).flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []))].sort();

describe('bin/civic --version and --help', () => {
  let instance: Instance;
  let folder: string;
  before(() => {
    instance = createInstance();
    folder = join(instance.folder, 'greeter');
    mkdirSync(folder);
  });
  after(() => { instance.remove(); });

  const configure = (plugins: object): void => { writeFileSync(instance.configFile, JSON.stringify({ plugins })); };
  const help = async (run: typeof runCivicInProcess, ...words: string[]): Promise<string> => (await run([...words, '--help'], { env: { CIVIC_CONFIG: instance.configFile } })).stdout;
  function writePlugin(summary: string): void {
    writeFileSync(join(folder, 'index.js'), `import { definePlugin } from 'civic';
export default definePlugin({ name: 'greeter', summary: 'Greets', register(_server, civic) {
  civic.command({ name: 'greet', summary: '${summary}', needs: 'nothing', async run() { throw new TypeError('no voice'); } });
} });`);
  }

  it('load no plugin and no package that they do not need', async () => {
    configure({ directory: {}, accounts: {} });
    const env = { CIVIC_CONFIG: instance.configFile };
    expect(packages(await modulesOf(['--version'], env))).to.equal([]);
    for (const args of [['--help'], ['serve', '--help'], ['import', '--help'], ['help', 'key', 'create']]) {
      const modules = await modulesOf(args, env);
      expect(packages(modules), args.join(' ')).to.equal(['fastest-levenshtein', 'yaml']);
      expect(modules.filter((url) => /\/dist\/(plugins\/|bundle\/plugin-)/.test(url))).to.equal([]);
    }
  });

  it('describe the commands that the composition has', async () => {
    const composed = [...await loadOwnCommands(), ...(await commandsOf(defaultPlugins()))!];
    const described = await listCommands(join(import.meta.dirname, '../../../../config/civic.default.yaml'));
    const byName = (commands: { name: string }[]) => Object.fromEntries(commands.map((command) => [command.name, command]));
    const withoutCode = ({ name, summary, arguments: words, options, examples }: (typeof described)[number]) => JSON.parse(JSON.stringify({ name, summary, words, options, examples }));
    expect(byName(described.map(withoutCode))).to.equal(byName(composed.map(withoutCode)));
  });

  it('load each command of core by its own name', async () => {
    expect((await loadOwnCommands(OWN_COMMANDS)).map(({ name }) => name)).to.equal(OWN_COMMANDS.map(({ name }) => name));
  });

  it('follow the config file', async () => {
    configure({ directory: {} });
    expect(await help(runCivicInProcess)).to.contain(['  places import', '  events list']).and.to.not.contain('  account create');
    configure({ directory: { enabled: false }, accounts: {} });
    expect(await help(runCivicInProcess)).to.contain('  account create').and.to.not.contain('  places import');
    writeFileSync(instance.configFile, 'plugins: [');
    expect(await help(runCivicInProcess)).to.contain('  serve').and.to.not.contain('  account create');
  });

  it('show a plugin outside the tree as it is now', async () => {
    configure({ accounts: {}, greeter: { from: folder } });
    writePlugin('Say hello');
    expect(await help(runCivicInProcess)).to.match(/^ {2}greet +Say hello$/m).and.to.contain('  account create');
    expect(await help(runCivicInProcess, 'greet')).to.contain('Say hello').and.to.contain('--json');
    writePlugin('Say good evening');
    // In a new process, as this one keeps the plugin that it loaded.
    expect(await help(runCivic)).to.match(/^ {2}greet +Say good evening$/m);
  });

  it('keep the names of source files in stack traces', async () => {
    configure({ greeter: { from: folder } });
    writePlugin('Say hello');
    const { code, stderr } = await instance.civic('greet');
    expect(code).to.equal(1);
    expect(stderr).to.match(/^TypeError: no voice\n/).and.to.match(/^ +at .*greeter\/index\.js:3:\d+/m);
    expect(stderr).to.match(/\/core\/cli\/composed\.ts:\d+:\d+/).and.to.not.contain('/dist/');
  });
});
