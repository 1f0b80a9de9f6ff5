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

export interface ContractResult {
  name: string;
  faults: string[];
}

/** The contract, held against one plugin: read, registered, started, stopped, tested. */
export async function checkPlugin(folder: string, { tests }: { tests: boolean }): Promise<ContractResult[]> {
  let plugin: Plugin;
  try {
    plugin = await loadPluginAt(compiled(folder), dirname(folder));
  } catch (error) {
    if (!(error instanceof LoadFailure)) throw error;
    return [{ name: 'it can be loaded', faults: [error.message] }];
  }
  const { plugins: withNeeds, missing } = await withItsNeeds(plugin, dirname(folder));
  if (missing.length > 0) return [{ name: 'what it needs is there', faults: missing }];
  const results: ContractResult[] = [
    { name: `${plugin.name} can be loaded: ${plugin.summary}`, faults: [] },
    { name: 'its files keep to themselves', faults: contractFaults(plugin, folder, await tablesOfOthers(plugin, withNeeds)) },
    { name: 'it registers without a database', faults: await faultsOf(async () => { await (await testServer({ plugins: withNeeds, open: false })).close(); }) },
    { name: 'it starts alone with its needs, stops, and starts again', faults: await faultsOf(() => startTwice(withNeeds)) },
  ];
  if (tests && existsSync(join(folder, 'test'))) results.push({ name: 'its own tests pass', faults: testFaults(folder) });
  return results;
}

/** A plugin of the kit is written in TypeScript: its files are read where they are, its module where it was compiled to. */
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

/** The plugin and, in turn, everything it needs, from the kit or from beside it; plugins it only uses stay off. */
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
  const kit = await testServer({ plugins: [...withNeeds.filter((need) => need !== plugin), ...others], open: false });
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

/** The second start runs on what the first one left, as after a restart. */
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

/** The plugin's tests run by Node's own runner, with `civic` meaning this kit. */
function testFaults(folder: string): string[] {
  const hook = `data:text/javascript,import{registerResolve}from${JSON.stringify(pathToFileURL(join(import.meta.dirname, '../hooks.js')).href)};registerResolve();`;
  const files = testFiles(`${folder}/test`);
  if (files.length === 0) return ['test/ holds no .js file'];
  const run = spawnSync(process.execPath, ['--import', hook, '--test', ...files], { encoding: 'utf8' });
  return run.status === 0 ? [] : [run.stdout.trimEnd() || run.stderr.trimEnd()];
}

/** What Node 20 would find in the folder by itself; later ones do not look into folders. */
function testFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[cm]?js$/.test(name)).map((name) => join(folder, name));
}
