import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure, shellWord } from './cli/command.ts';
import { registerResolve } from './hooks.ts';
import { definePlugin, type Plugin } from './plugin.ts';
import { program, type Program } from './program.ts';
import { isBundle, projectRoot } from './root.ts';

/** Why a plugin could not be loaded, in words for the person who named it. */
export class LoadFailure extends Error {}

/** The names of the plugins of the kit's own folder, compiled or plain JavaScript, that this program can run. */
export function bundledPlugins(): string[] {
  const names = ['dist/plugins', 'plugins'].flatMap((folder) => foldersWith('index.js', join(projectRoot, folder)));
  const ofOthers = new Set(pluginsWithProgram().filter((name) => name !== program().name));
  return [...new Set(names)].filter((name) => !ofOthers.has(name)).sort();
}

/** The names of the plugins that are for a program of their own name. */
export function pluginsWithProgram(): string[] {
  return foldersWith('program.js', join(projectRoot, 'dist/plugins'));
}

/** Loads the program of a plugin. */
export async function loadProgram(name: string): Promise<Program> {
  const { program } = await import(pathToFileURL(join(DIST, 'plugins', name, 'program.js')).href) as { program: Program };
  return program;
}

function foldersWith(file: string, folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => existsSync(join(folder, name, file)));
}

/**
 * Loads a plugin by name from the kit's own folder, or from a path or npm package.
 * Paths are relative to `base`.
 */
export async function loadPlugin(name: string, from: string | undefined, base: string): Promise<Plugin> {
  const file = from === undefined ? bundledFile(name) : outsideFile(from, base);
  const plugin = await importPlugin(file);
  if (plugin.name !== name) {
    throw new LoadFailure(`${from ?? file} is the plugin "${plugin.name}", not "${name}": name the section "${plugin.name}"`);
  }
  return plugin;
}

/** Loads whatever plugin lies at a path or in a package, under its own name. */
export async function loadPluginAt(from: string, base: string): Promise<Plugin> {
  return importPlugin(outsideFile(from, base));
}

// Of those that were loaded from elsewhere.
const folders = new WeakMap<Plugin, string>();

/** Where a plugin's templates and assets lie: beside its index file, or in the kit's own tree, where it was compiled from. */
export function folderOfPlugin(plugin: Plugin): string {
  return folders.get(plugin) ?? join(projectRoot, 'plugins', plugin.name);
}

const DIST = join(projectRoot, 'dist');

function bundledFile(name: string): string {
  const compiled = isBundle ? join(DIST, 'bundle', `plugin-${name}.js`) : join(DIST, 'plugins', name, 'index.js');
  if (existsSync(compiled)) return compiled;
  const plain = join(projectRoot, 'plugins', name, 'index.js');
  if (!existsSync(plain)) throw new LoadFailure(`There is no plugin "${name}" in this kit`);
  letPluginsImportCivic();
  return plain;
}

function outsideFile(from: string, base: string): string {
  letPluginsImportCivic();
  return from.startsWith('.') || isAbsolute(from) ? fileAtPath(resolve(base, from)) : fileOfPackage(from, base);
}

function fileAtPath(path: string): string {
  if (!existsSync(path)) throw new LoadFailure(`${path} does not exist; a path in "from" is relative to the folder of the kit`);
  if (!statSync(path).isDirectory()) return path;
  const index = join(path, 'index.js');
  if (!existsSync(index)) throw new LoadFailure(`The folder ${path} has no index.js`);
  return index;
}

function fileOfPackage(name: string, base: string): string {
  for (const folder of [base, projectRoot].flatMap(withParents)) {
    const home = join(folder, 'node_modules', name);
    if (!existsSync(join(home, 'package.json'))) continue;
    const entry = entryOf(readPackage(join(home, 'package.json')));
    if (entry === undefined) throw new LoadFailure(`The package "${name}" offers nothing to import`);
    return join(home, entry);
  }
  throw new LoadFailure(`The package "${name}" is not installed: npm install ${name}`);
}

function withParents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

type Exports = string | null | { [condition: string]: Exports };

interface PackageManifest {
  exports?: Exports;
  main?: string;
}

function readPackage(file: string): PackageManifest {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new LoadFailure(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** The file a package means by its own name when imported; `require.resolve` would miss packages that only offer `import`. */
function entryOf(manifest: PackageManifest): string | undefined {
  const { exports, main } = manifest;
  if (exports === undefined) return main ?? 'index.js';
  return targetOf(typeof exports === 'object' && exports && '.' in exports ? exports['.'] : exports);
}

const CONDITIONS = ['node', 'import', 'default'];

/** The first condition that is ours decides; each may hold further ones. */
function targetOf(entry: Exports | undefined): string | undefined {
  if (typeof entry !== 'object' || entry === null) return entry ?? undefined;
  return Object.entries(entry).filter(([condition]) => CONDITIONS.includes(condition)).map(([, inner]) => targetOf(inner)).find((file) => file !== undefined);
}

async function importPlugin(file: string): Promise<Plugin> {
  try {
    const module = await import(pathToFileURL(file).href) as { default?: Partial<Plugin> };
    const plugin = module.default;
    if (!plugin || typeof plugin.register !== 'function' || typeof plugin.name !== 'string') {
      throw new LoadFailure(`${file} has no plugin as its default export: export default definePlugin({ … })`);
    }
    // One that was made without it is held to the same rules.
    const made = definePlugin(plugin as Plugin);
    if (!file.startsWith(join(DIST, '/'))) folders.set(made, dirname(file));
    return made;
  } catch (error) {
    if (error instanceof LoadFailure) throw error;
    if (['EMFILE', 'ENFILE'].includes(String((error as NodeJS.ErrnoException).code))) throw new Failure('There are too few file descriptors to start: raise the limit, for example with ulimit -n 65536 or LimitNOFILE= of systemd', { cause: error });
    throw new LoadFailure(loadFault(file, error as NodeJS.ErrnoException), { cause: error });
  }
}

/** Node's own words, and what they mean for a plugin. */
function loadFault(file: string, { code, name, message }: NodeJS.ErrnoException): string {
  if (code === 'ERR_PACKAGE_PATH_NOT_EXPORTED' && message.includes(projectRoot)) return `${file} cannot be loaded: it imports the inside of civic, of which only "civic" and "civic/testing" are open`;
  if (code === 'MODULE_NOT_FOUND' && message.includes("'civic'")) return `${file} cannot be loaded: it calls require('civic'), but a plugin is an ES module: import { definePlugin } from 'civic'`;
  // Node keeps the line of a syntax error to itself.
  const where = name === 'SyntaxError' && !message.includes('export named') ? `; node --check ${shellWord(file)} shows where` : '';
  return `${file} cannot be loaded: ${message.split('\n')[0]}${where}`;
}

let isHookRegistered = false;

/** A plugin that is not in the bundle finds no `civic`, or the single modules beside the bundle; a resolve hook gives it this one. */
function letPluginsImportCivic(): void {
  if (isHookRegistered) return;
  isHookRegistered = true;
  registerResolve();
}
