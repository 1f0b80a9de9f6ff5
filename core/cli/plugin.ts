import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { bundledPlugins, LoadFailure, loadPlugin } from '../load.ts';
import { nameFault, type Plugin } from '../plugin.ts';
import { prepare } from '../prepare.ts';
import { projectRoot } from '../root.ts';
import { Failure, Misuse, shellWord, type Command } from './command.ts';
import { settingsOf } from './settings.ts';
import { switchOn, type SwitchOn } from './switch-on.ts';
import { table } from './terminal.ts';

interface Listed {
  name: string;
  state: 'on' | 'off' | 'broken';
  summary: string;
  needs: string[];
  uses: string[];
}

export const pluginList: Command = {
  name: 'plugin list',
  summary: 'List the plugins of the kit and of the config file',
  needs: 'nothing',
  async run({ terminal, options }) {
    const prepared = await prepare(settingsOf(options));
    const on = prepared.plugins.map((plugin) => listed(plugin, 'on'));
    const named = new Set(on.map((one) => one.name));
    const off = await Promise.all(bundledPlugins().filter((name) => !named.has(name)).map(offOrBroken));
    const all = [...on, ...off];
    terminal.print(all, () => (all.length === 0 ? 'There are no plugins: bin/civic plugin new <name> writes one.' : words(all, terminal.style)));
  },
};

function listed(plugin: Plugin, state: Listed['state']): Listed {
  return { name: plugin.name, state, summary: plugin.summary, needs: plugin.needs ?? [], uses: plugin.uses ?? [] };
}

async function offOrBroken(name: string): Promise<Listed> {
  try {
    return listed(await loadPlugin(name, undefined, projectRoot), 'off');
  } catch (error) {
    if (!(error instanceof LoadFailure)) throw error;
    return { name, state: 'broken', summary: error.message, needs: [], uses: [] };
  }
}

function words(all: Listed[], style: (style: 'green' | 'dim' | 'red', text: string) => string): string {
  const colours = { on: 'green', off: 'dim', broken: 'red' } as const;
  const rows = all.map((one) => [one.name, one.state, one.summary + (one.needs.length ? ` (needs ${one.needs.join(', ')})` : '')]);
  return table(rows).split('\n').map((line, i) => style(colours[all[i]!.state], line)).join('\n');
}

export const pluginNew: Command = {
  name: 'plugin new',
  summary: 'Write a working plugin: a route, a table, an option and a passing test',
  arguments: '<name>',
  options: [{ name: 'in', value: 'folder', summary: 'The folder to write it into (default: plugins)' }],
  examples: ['bin/civic plugin new hello', 'bin/civic plugin new hello --in ../my-plugins'],
  needs: 'nothing',
  async run({ terminal, positionals, options }) {
    const name = positionals[0]!;
    const fault = nameFault(name);
    if (fault) throw new Misuse(fault);
    const parent = resolve((options.in as string | undefined) ?? join(projectRoot, 'plugins'));
    const folder = join(parent, name);
    if (existsSync(folder)) throw new Failure(`${folder} exists already: choose another name`);
    if (bundledPlugins().includes(name)) throw new Failure(`The kit has a plugin "${name}" already: choose another name`);
    const isInside = parent === join(projectRoot, 'plugins');
    writeFromTemplate(name, folder);
    writeManifests(name, folder, isInside);
    const shown = relative(process.cwd(), folder) || folder;
    const { document } = await prepare(settingsOf(options));
    const config = switchOn(name, isInside ? null : folder, document);
    terminal.print({ name, folder, config }, () => nextSteps(name, shown, config));
  },
};

/** The template is a plugin called hello; its name is replaced in files and file names. */
function writeFromTemplate(name: string, folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  cpSync(join(projectRoot, 'templates/plugin'), folder, { recursive: true });
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replaceAll('hello', name).replaceAll('HelloGreeting', `${name[0]!.toUpperCase()}${name.slice(1)}Greeting`));
    renameSync(path, join(entry.parentPath, basename(path).replaceAll('hello', name)));
  }
}

/** Tells editors where the types are. Outside the kit's tree it is a package of its own, so that it can be published as it is. */
function writeManifests(name: string, folder: string, isInside: boolean): void {
  const write = (file: string, value: unknown): void => { writeFileSync(join(folder, file), `${JSON.stringify(value, null, 2)}\n`); };
  write('tsconfig.json', { extends: relative(realpathSync(folder), join(projectRoot, 'templates/plugin.tsconfig.json')) });
  if (!isInside) write('package.json', { name: `civic-plugin-${name}`, version: '0.1.0', type: 'module', exports: './index.js' });
}

function nextSteps(name: string, folder: string, { instruction, lines }: SwitchOn): string {
  return [
    `Wrote the plugin ${name} to ${folder}. To switch it on:`,
    '',
    instruction,
    '',
    ...lines,
    '',
    'Then check the plugin and the config file, and start the server again:',
    '',
    `  bin/civic plugin check ${shellWord(folder)}`,
    '  bin/civic config check',
    '  bin/civic serve',
  ].join('\n');
}

export const pluginCheck: Command = {
  name: 'plugin check',
  summary: 'Check a plugin against the plugin contract, and run its tests',
  arguments: '<path>',
  options: [{ name: 'no-test', summary: "Skip the plugin's own tests" }],
  examples: ['bin/civic plugin check plugins/hello'],
  needs: 'nothing',
  async run({ terminal, positionals, options }) {
    const folder = resolve(positionals[0]!);
    if (!existsSync(folder)) throw new Failure(`${folder} does not exist: name the folder of a plugin, such as plugins/directory`);
    const { checkPlugin } = await import('./check.ts');
    const results = await checkPlugin(folder, { tests: !options['no-test'] });
    const isFine = results.every((result) => result.faults.length === 0);
    terminal.print({ ok: isFine, results }, () => results.map((result) => resultWords(result, terminal.style)).join('\n'));
    if (!isFine) throw new Failure('The plugin breaks the contract: docs/writing-plugins.md describes it');
  },
};

function resultWords({ name, faults }: { name: string; faults: string[] }, style: (style: 'green' | 'red', text: string) => string): string {
  if (faults.length === 0) return `${style('green', '✓')} ${name}`;
  return [`${style('red', '✗')} ${name}`, ...faults.map((fault) => `    ${fault}`)].join('\n');
}
