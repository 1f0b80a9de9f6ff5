import { lstatSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { call, optionsPage, program, variablePrefix } from '../program.ts';
import type { ConfigError, ConfigOption } from './types.ts';
import { fill, reasonOf, variable } from './variables.ts';
import { entryAt, keyText, mapAt, parseSource, placeOf, type Place, plainValue, type Source } from './yaml.ts';

export interface ReadOptions {
  /** What `--config` names. */
  file?: string;
  env: NodeJS.ProcessEnv;
  /** Options of the command line that set an option of the file, without their dashes: `port`. */
  args: Record<string, string>;
  /** The project root: where `config/` lies, and what relative paths in the file are relative to. */
  root: string;
  /** What relative paths of the command line and environment are relative to. */
  cwd?: string;
}

export interface NamedPlugin {
  name: string;
  enabled: boolean;
  /** A folder (absolute, or beginning with a dot and relative to the root) or an npm package. */
  from?: string;
  where: ConfigError['where'];
}

/** The file as it was found, before the options of plugins are known. */
export interface ConfigDocument extends Required<Omit<ReadOptions, 'file'>> {
  /** The file as errors name it; null when there is none and everything is a default. */
  file: string | null;
  /** Null when there is no file or it could not be understood. */
  source: Source | null;
  /** There is a file that could not be understood, so what it would have switched on is not known. */
  isBroken: boolean;
  errors: ConfigError[];
  plugins: NamedPlugin[];
  /** The line of a path, or of the nearest thing around it. */
  where(path: string): ConfigError['where'];
}

export function variableName(path: string): string {
  return `${variablePrefix()}${path.replaceAll('.', '_').toUpperCase()}`;
}

/** Every variable that sets an option. */
export function variableNames(path: string, option: ConfigOption): string[] {
  return option.env ? [variableName(path), option.env] : [variableName(path)];
}

function exists(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** Where the file is, and who said so; null when there is none. */
function findFile({ file, env, root, cwd }: ReadOptions & { cwd: string }): { path: string; where?: ConfigError['where'] } | null {
  if (file !== undefined) return { path: resolve(cwd, file), where: { argument: '--config' } };
  const variable = variableName('config');
  if (env[variable]) return { path: resolve(cwd, env[variable]), where: { variable } };
  const { own } = program();
  const path = (own ? [own.file(env)] : ['civic.yaml', 'civic.default.yaml'].map((name) => join(root, 'config', name))).find(exists);
  return path === undefined ? null : { path };
}

function readText(path: string): { text: string } | { problem: string; hint?: string } {
  try {
    const bytes = readFileSync(path);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? { problem: 'is not a text file' } : { text };
  } catch (error) {
    if (error instanceof TypeError) return { problem: 'is not a text file in UTF-8', hint: 'save it with the encoding UTF-8' };
    return { problem: reasonOf(error), hint: `write one with ${call('init')}, or name another file with --config` };
  }
}

/** The text of an option that decides what is loaded, read before anything is checked. */
function earlySetting(document: ConfigDocument, path: string[]): string | undefined {
  const { env, cwd, source } = document;
  const fromEnvironment = variable(variableName(path.join('.')), env, cwd)?.text;
  if (fromEnvironment) return fromEnvironment;
  const value = source && mapAt(source, path.slice(0, -1)) ? plainScalar(source, path, (text) => fill(text, env, cwd).text) : undefined;
  return value === undefined || value === null ? undefined : String(value);
}

function plainScalar(source: Source, path: string[], text: (value: string) => string): unknown {
  const entry = entryAt(source, path);
  if (!entry || mapAt(source, path)) return undefined;
  try {
    return plainValue(source, entry.value, text);
  } catch {
    return undefined;
  }
}

function namedPlugins(document: ConfigDocument): NamedPlugin[] {
  const { source, env } = document;
  const names = new Set(source ? (mapAt(source, ['plugins'])?.items ?? []).map((pair) => keyText(pair.key)) : []);
  const prefix = variablePrefix();
  for (const name of Object.keys(env)) {
    const plugin = /^PLUGINS_([A-Z][A-Z0-9]*)_ENABLED(_FILE)?$/.exec(name.startsWith(prefix) ? name.slice(prefix.length) : '')?.[1];
    if (plugin && env[name]) names.add(plugin.toLowerCase());
  }
  return [...names].map((name) => ({
    name,
    enabled: earlySetting(document, ['plugins', name, 'enabled']) !== 'false',
    from: earlySetting(document, ['plugins', name, 'from']),
    where: place(document, ['plugins', name], 'key').where,
  }));
}

/** Where a path stands in the file, or the nearest thing around it that does. */
export function place({ source, file, env }: ConfigDocument, path: (string | number)[], part: 'key' | 'value'): Place {
  const enabled = variableName(`plugins.${path[1]}.enabled`);
  for (let length = path.length; source && length > 0; length--) {
    const entry = entryAt(source, path.slice(0, length));
    if (entry) return placeOf(source, entry, length === path.length ? part : 'key');
  }
  if (path[0] === 'plugins' && env[enabled]) return { where: { variable: enabled } };
  return { where: file === null ? {} : { file } };
}

/** An error about a plugin as a whole, at the line that names it: what it needs, or why it cannot be loaded. */
export function pluginError(document: ConfigDocument, name: string, message: string, more: { hint?: string; read?: string } = {}): ConfigError {
  return { ...place(document, ['plugins', name], 'key'), path: `plugins.${name}`, message, read: 'docs/configuration.md#plugins', ...more };
}

/** Makes a document of a text, as if it had been read from the file `name`. */
export function readConfigText(text: string, name: string, options: ReadOptions): ConfigDocument {
  const document = emptyDocument(options, name);
  const { source, errors, isUsable } = parseSource(name, text);
  document.errors.push(...errors);
  if (isUsable) document.source = source;
  document.isBroken = !isUsable;
  document.plugins = namedPlugins(document);
  return document;
}

function emptyDocument({ env, args, root, cwd = process.cwd() }: ReadOptions, file: string | null): ConfigDocument {
  const document: ConfigDocument = { env, args, root, cwd, file, source: null, isBroken: false, errors: [], plugins: [], where: (path) => place(document, path.split('.'), 'key').where };
  return document;
}

/** Finds and parses the file. Never throws for what is in it: the mistakes are in `errors`. */
export function readConfigFile(options: ReadOptions): ConfigDocument {
  const cwd = options.cwd ?? process.cwd();
  const found = findFile({ ...options, cwd });
  const fromCwd = found && relative(cwd, found.path);
  const name = fromCwd && (fromCwd.startsWith('..') || isAbsolute(fromCwd)) ? found.path : fromCwd;
  const result = found && readText(found.path);
  if (result && 'text' in result) return readConfigText(result.text, name!, options);
  const document = emptyDocument(options, name);
  if (found && result) {
    document.isBroken = true;
    const message = `The config file ${name} ${result.problem}`;
    document.errors.push({ where: found.where ?? { file: name! }, path: '', message, hint: result.hint, read: optionsPage('the-file') });
  }
  document.plugins = namedPlugins(document);
  return document;
}
