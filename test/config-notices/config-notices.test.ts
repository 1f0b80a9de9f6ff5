import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parse } from 'yaml';
import type { Command } from '../../core/cli/command.ts';
import { configCheck } from '../../core/cli/config.ts';
import { exitCodeOf } from '../../core/cli/exit.ts';
import { init } from '../../core/cli/init.ts';
import { pluginNew } from '../../core/cli/plugin.ts';
import { switchOn } from '../../core/cli/switch-on.ts';
import { createTerminal } from '../../core/cli/terminal.ts';
import { readConfigFile } from '../../core/config/load.ts';
import { projectRoot } from '../../core/root.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/*
 * A case is <name>.yaml, a config file, and <name>.txt, the exact text that `config check` and then `plugin new` print for it;
 * no-config-file.txt has no file. CIVIC_UPDATE_GOLDEN=1 rewrites the texts; read the difference before you commit it.
 */
const folder = join(projectRoot, 'test/config-notices');

interface Ended {
  code: number;
  output: string;
}

/** Runs a command in this process: the texts are many, and a process for each takes seconds. */
async function run(command: Command, options: Record<string, string | boolean>, ...positionals: string[]): Promise<Ended> {
  let output = '';
  const write = (text: string): void => { output += text; };
  const terminal = createTerminal({ out: write, err: write, isTerminal: false, color: false }, { json: options.json === true, signal: new AbortController().signal });
  const code = await exitCodeOf(() => command.run({ terminal, positionals, options, cwd: process.cwd() }), terminal);
  return { code, output };
}

describe('What the command line prints about plugins that are on and off', () => {
  let plugins: string;
  before(() => { plugins = mkdtempSync(join(tmpdir(), 'civic-notices-')); });
  after(() => { rmSync(plugins, { recursive: true, force: true }); });

  async function textOf(name: string): Promise<string> {
    const file = join(folder, `${name}.yaml`);
    const config: { config?: string } = existsSync(file) ? { config: relative(process.cwd(), file) } : {};
    const parent = join(plugins, name);
    const checked = await run(configCheck, { ...config });
    const written = await run(pluginNew, { in: parent, ...config }, 'greeter');
    const text = [checked, written].map(({ code, output }) => `${output}(exit code ${code})\n`).join('\n----\n\n');
    return text.replaceAll(relative(process.cwd(), parent), parent).replaceAll(parent, '/plugins');
  }

  const names = readdirSync(folder).filter((file) => file.endsWith('.txt')).map((file) => file.slice(0, -4));

  it('has a text for every config file here', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.yaml')).map((file) => file.slice(0, -5));
    expect(names).to.include(files);
    expect(names).to.include('no-config-file');
  });

  for (const name of names) {
    // A developer's own config/civic.yaml would take part.
    it(name.replaceAll('-', ' '), { skip: name === 'no-config-file' && existsSync(join(projectRoot, 'config/civic.yaml')) }, async () => {
      const text = await textOf(name);
      const golden = join(folder, `${name}.txt`);
      if (process.env.CIVIC_UPDATE_GOLDEN) writeFileSync(golden, text);
      expect(text).to.equal(readFileSync(golden, 'utf8'));
    });
  }

  it('includes both as data with --json', async () => {
    const { code, output } = await run(configCheck, { json: true, config: join(folder, 'two-of-the-defaults.yaml') });
    expect(code).to.equal(0);
    expect(JSON.parse(output)).to.equal({
      ok: true,
      errors: [],
      on: ['directory', 'firehose'],
      off: [
        { name: 'accounts', warning: 'Without it, users cannot sign in and the API rejects every write.' },
        { name: 'console' }, { name: 'discovery' }, { name: 'flags' }, { name: 'ingest' }, { name: 'mcp' }, { name: 'oauth' },
        { name: 'ratelimit', warning: "Without it, one client can use all of the server's capacity." },
        { name: 'reader' },
        { name: 'site' },
        { name: 'workspaces' },
      ],
    });
  });
});

describe('The lines that plugin new prints', () => {
  let home: string;
  before(() => { home = mkdtempSync(join(tmpdir(), 'civic-lines-')); });
  after(() => { rmSync(home, { recursive: true, force: true }); });

  /** Follows the instruction as a reader would. */
  function follow(text: string, { instruction, lines }: { instruction: string; lines: string[] }): string {
    const rows = text.trimEnd().split('\n');
    const at = Number(/on line (\d+)/.exec(instruction)?.[1]);
    if (instruction.startsWith('There is no config file')) return lines.join('\n');
    if (instruction.startsWith('Add at the end')) return [...rows, ...lines].join('\n');
    if (instruction.includes('replace "plugins: {}"')) return rows.with(at - 1, lines.join('\n')).join('\n');
    return rows.toSpliced(at, 0, ...lines).join('\n');
  }

  for (const name of ['no-config-file', 'two-of-the-defaults', 'no-plugins-section', 'plugins-section-empty', 'plugins-section-empty-braces', 'written-as-json']) {
    it(`switch the plugin on and no other plugin off: ${name.replaceAll('-', ' ')}`, async () => {
      const original = join(folder, `${name}.yaml`);
      const text = existsSync(original) ? readFileSync(original, 'utf8') : readFileSync(join(projectRoot, 'config/civic.default.yaml'), 'utf8');
      const file = join(home, `${name}.yaml`);
      const parent = join(home, name);
      const { output } = await run(pluginNew, { in: parent, json: true, config: existsSync(original) ? original : join(projectRoot, 'config/civic.default.yaml') }, 'greeter');
      writeFileSync(file, follow(text, JSON.parse(output).config));
      const checked = JSON.parse((await run(configCheck, { json: true, config: file })).output);
      const before = Object.keys((parse(text) as { plugins?: object }).plugins ?? {});
      expect(checked).to.include({ ok: true, errors: [] });
      expect(checked.on.toSorted()).to.equal([...before, 'greeter'].toSorted());
    });
  }

  it('need no path for a plugin inside the kit', () => {
    const document = readConfigFile({ file: join(folder, 'two-of-the-defaults.yaml'), env: {}, args: {}, root: projectRoot });
    expect(switchOn('greeter', null, document).lines).to.equal(['    greeter:']);
  });
});

describe('bin/civic init', () => {
  let home: string;
  before(() => { home = mkdtempSync(join(tmpdir(), 'civic-init-')); });
  after(() => { rmSync(home, { recursive: true, force: true }); });

  it('comments every option out and keeps the default plugins on', async () => {
    const file = join(home, 'civic.yaml');
    expect((await run(init, { config: file })).code).to.equal(0);
    const text = readFileSync(file, 'utf8');
    const defaults = parse(readFileSync(join(projectRoot, 'config/civic.default.yaml'), 'utf8')) as { plugins: object };
    expect(parse(text)).to.equal(defaults);
    const uncommented = parse(text.replaceAll(/^( *)#(\w+:)/gm, '$1$2')) as { plugins: Record<string, object> };
    const example = parse(readFileSync(join(projectRoot, 'config/civic.example.yaml'), 'utf8')) as { plugins: Record<string, object> };
    expect({ ...uncommented, plugins: null }).to.equal({ ...example, plugins: null });
    expect(Object.keys(uncommented.plugins).toSorted()).to.equal(Object.keys(defaults.plugins).toSorted());
    // The example also has the rate classes of plugins that are not among the defaults.
    for (const [name, options] of Object.entries(uncommented.plugins)) expect(example.plugins[name], name).to.include(options);
  });
});
