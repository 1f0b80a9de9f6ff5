import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openDatabase } from '../database/connect.ts';
import { migrate } from '../database/migrate.ts';
import { bundledPlugins, LoadFailure, loadPlugin, loadPluginAt } from '../load.ts';
import { createLogger } from '../log.ts';
import type { Plugin } from '../plugin.ts';
import { projectRoot } from '../root.ts';
import { testServer } from '../testing.ts';
import { contractFaults } from './contract.ts';
import { textFaults, textSourcesOf } from './texts.ts';

export interface ContractResult {
  name: string;
  faults: string[];
}

/** Checks a plugin against the contract: reads its files, registers, starts and stops it, and runs its tests. */
export async function checkPlugin(folder: string, { tests }: { tests: boolean }): Promise<ContractResult[]> {
  let plugin: Plugin;
  try {
    plugin = await loadPluginAt(compiled(folder), dirname(folder));
  } catch (error) {
    if (!(error instanceof LoadFailure)) throw error;
    return [{ name: 'the plugin can be loaded', faults: [error.message] }];
  }
  const { plugins: withNeeds, missing } = await withItsNeeds(plugin, dirname(folder));
  if (missing.length > 0) return [{ name: 'the plugins in its needs are found', faults: missing }];
  const results: ContractResult[] = [
    { name: `${plugin.name} can be loaded: ${plugin.summary}`, faults: [] },
    { name: 'its files follow the contract', faults: contractFaults(plugin, folder, await tablesOfOthers(plugin, withNeeds)) },
    { name: 'its texts are complete in every language', faults: await textFaults(textSourcesOf(plugin, folder)) },
    { name: 'it registers without a database, and its contracts can be generated', faults: await faultsOf(() => generateContracts(withNeeds)) },
    { name: 'it starts with only its needs, stops, and starts again', faults: await faultsOf(() => startTwice(withNeeds)) },
  ];
  if (tests && existsSync(join(folder, 'test'))) results.push({ name: 'its own tests pass', faults: testFaults(folder) });
  return results;
}

/** Returns the folder to load the plugin from: a plugin of the kit is TypeScript, so its compiled folder in `dist`. */
function compiled(folder: string): string {
  const other = join(projectRoot, 'dist', relative(projectRoot, folder));
  return !existsSync(join(folder, 'index.js')) && existsSync(join(other, 'index.js')) ? other : folder;
}

async function faultsOf(work: () => Promise<void>): Promise<string[]> {
  try {
    await work();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Returns the plugin and all plugins that it needs, also indirectly, from the kit or from the folder `beside`. Plugins in `uses` stay off. */
async function withItsNeeds(plugin: Plugin, beside: string): Promise<{ plugins: Plugin[]; missing: string[] }> {
  const found = new Map([[plugin.name, plugin]]);
  const missing: string[] = [];
  for (const one of found.values()) {
    for (const need of one.needs ?? []) {
      if (found.has(need)) continue;
      const isThere = bundledPlugins().includes(need) || existsSync(join(beside, need));
      if (isThere) found.set(need, await loadPlugin(need, bundledPlugins().includes(need) ? undefined : join(beside, need), projectRoot));
      else missing.push(`${one.name} needs the plugin ${need}, which is neither in the kit nor at ${join(beside, need)}`);
    }
  }
  return { plugins: [...found.values()], missing };
}

/** Returns every table of core and of the kit's other plugins: a plugin's SQL must name none of them. Creates empty tables and starts nothing. */
async function tablesOfOthers(plugin: Plugin, withNeeds: Plugin[]): Promise<string[]> {
  const others = bundledPlugins().filter((name) => name !== plugin.name && !withNeeds.some((need) => need.name === name));
  const isNeeded = (await Promise.all(others.map((name) => loadPlugin(name, undefined, projectRoot)))).some(({ needs }) => needs?.includes(plugin.name));
  const kit = await testServer({ plugins: [...withNeeds.filter((need) => isNeeded || need !== plugin), ...others], open: false });
  const dataDir = mkdtempSync(join(tmpdir(), 'civic-tables-'));
  const log = await createLogger({ level: 'silent', access: 'warn', format: 'json' });
  const db = await openDatabase({ url: null, dataDir, pool: 1, log });
  try {
    await migrate(db, kit.composition.migrations);
    return (await db.read('core_tables').select('name').whereNot({ plugin: plugin.name })).map((row: { name: string }) => row.name);
  } finally {
    await db.close();
    rmSync(dataDir, { recursive: true, force: true });
    await kit.close();
  }
}

/** Generates the contracts, which otherwise happens at the first request for them. */
async function generateContracts(plugins: Plugin[]): Promise<void> {
  const { composition, close } = await testServer({ plugins, open: false });
  try {
    composition.openApi();
    composition.asyncApi();
  } finally {
    await close();
  }
}

/** Starts, stops and starts the plugins again on the same database, as a restart does. */
async function startTwice(plugins: Plugin[]): Promise<void> {
  const first = await testServer({ plugins });
  try {
    const unstopped = await first.composition.stop();
    if (unstopped.length > 0) throw new Error(unstopped.join('\n'));
    await (await testServer({ plugins, config: { data_dir: first.composition.config.data_dir } })).close();
  } finally {
    await first.close();
  }
}

/** Runs the plugin's tests with Node's test runner; `civic` resolves to this kit. */
function testFaults(folder: string): string[] {
  const hook = `data:text/javascript,import{registerResolve}from${JSON.stringify(pathToFileURL(join(import.meta.dirname, '../hooks.js')).href)};registerResolve();`;
  const files = testFiles(`${folder}/test`);
  if (files.length === 0) return ['test/ holds no .js file'];
  const run = spawnSync(process.execPath, ['--import', hook, '--test', ...files], { encoding: 'utf8' });
  return run.status === 0 ? [] : [run.stdout.trimEnd() || run.stderr.trimEnd()];
}

/** Returns the test files. Node 20 finds them in a folder by itself; newer versions do not. */
function testFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[cm]?js$/.test(name)).map((name) => join(folder, name));
}
