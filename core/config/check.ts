import convict from 'convict';
import { resolve } from 'node:path';
import { checkVariables, takeFromEnvironment } from './environment.ts';
import { explain, fullPath } from './explain.ts';
import { checkSection } from './file.ts';
import { fromText, isOption, isRequired, JOI_OPTIONS, optionsOf, schemaOf } from './format.ts';
import { fragmentProblems } from './fragment.ts';
import { type ConfigDocument, place, pluginError, variableName } from './load.ts';
import { nearest } from './nearest.ts';
import { ARGUMENTS, coreOptions, pluginOptions, workOut } from './options.ts';
import type { ConfigError, ConfigFragment, ConfigOption, CoreConfig, Origin } from './types.ts';
import { mapAt, type Place, printable, type Step } from './yaml.ts';

export interface CheckedConfig {
  /** With errors, as much of it as was right. */
  config: CoreConfig;
  /** By path, for every option. */
  origins: Map<string, Origin>;
  /** Those of the document too. */
  errors: ConfigError[];
  /** The options of core and of every named plugin. */
  schema: ConfigFragment;
}

/** A check under way. */
export interface Check extends CheckedConfig {
  document: ConfigDocument;
  /** Plugins whose options are known. */
  loaded: Set<string>;
  /** Names of plugins that could be switched on. */
  available: string[];
  options: Map<string, ConfigOption>;
  merged: convict.Config<Record<string, unknown>>;
  /** Paths that were given a value, right or wrong. */
  given: Set<string>;
  /** Variables the file itself asks for. */
  used: Set<string>;
}

/** A value on its way in. */
export interface Given {
  value: unknown;
  /** Whether `value` is text that stands for something else, as in a variable. */
  isText: boolean;
  isHidden: boolean;
  origin: Origin;
  place(path: Step[], part: 'key' | 'value'): Place;
}

// Convict keeps what it is given: values are read and checked here, where their line is known.
convict.addFormat({ name: 'checked', validate: () => {}, coerce: (value: unknown) => value });

function forConvict(fragment: ConfigFragment): object {
  return Object.fromEntries(Object.entries(fragment).map(([name, entry]) => [name, isOption(entry) ? { doc: entry.doc, format: 'checked', default: entry.default, sensitive: entry.sensitive } : forConvict(entry)]));
}

function readMore({ schema, loaded, document }: Check, path: string): string {
  const [section = '', plugin = ''] = path.split('.');
  const page = 'docs/configuration.md';
  if (section !== 'plugins') return `${page}#${schema[section] && !isOption(schema[section]) ? section : 'basics'}`;
  if (!loaded.has(plugin)) return `${page}#plugins`;
  return document.plugins.some(({ name, from }) => name === plugin && from) ? `bin/civic config help plugins.${plugin}` : `plugins/${plugin}/README.md`;
}

export function fail(check: Check, path: string, at: Place, words: { message: string; hint?: string }): void {
  check.errors.push({ ...at, path, ...words, read: readMore(check, path) });
}

/** Takes a value in when it is right, and says what is wrong with it when it is not. */
export function take(check: Check, path: string, option: ConfigOption, given: Given): void {
  const { root, cwd } = check.document;
  const joi = schemaOf(option);
  check.given.add(path);
  const { value, error } = joi.validate(given.isText ? fromText(joi.describe(), String(given.value)) : given.value, JOI_OPTIONS);
  if (!error) {
    const base = ['file', 'default'].includes(given.origin.kind) ? root : cwd;
    check.merged.set(path, option.format === 'path' && value !== null ? resolve(base, value) : value);
    check.origins.set(path, given.origin);
    return;
  }
  const outside = given.origin.kind === 'file' ? undefined : given.origin.where;
  const isHidden = given.isHidden || option.sensitive === true;
  for (const found of option.sensitive ? error.details.slice(0, 1) : error.details) {
    const detail = option.sensitive ? { ...found, path: [] } : found;
    const part = option.sensitive || detail.type === 'object.unknown' ? 'key' : 'value';
    fail(check, fullPath(path, detail.path), given.place(detail.path, part), explain({ path, option, schema: joi.describe(), detail, outside, isHidden }));
  }
}

function checkPluginNames(check: Check): void {
  const { document, available } = check;
  for (const { name, enabled, from } of document.plugins) {
    if (!enabled || from || available.includes(name)) continue;
    const near = nearest(name, available);
    fail(check, `plugins.${printable(name)}`, place(document, ['plugins', name], 'key'), {
      message: `There is no plugin called ${printable(name)}`,
      hint: near ? `did you mean ${near}?` : `${available.length > 0 ? `the kit has ${available.join(', ')}; ` : ''}say where another one is with from:`,
    });
  }
}

function takeArguments(check: Check): void {
  for (const [name, text] of Object.entries(check.document.args)) {
    const path = ARGUMENTS[name];
    if (!path) throw new Error(`--${name} sets no option of the config`);
    const where = { argument: `--${name}` };
    take(check, path, check.options.get(path)!, { value: text, isText: true, isHidden: false, origin: { kind: 'argument', where: where.argument }, place: () => ({ where }) });
  }
}

function finish(check: Check): CheckedConfig {
  const { config, origins, document, options, merged } = check;
  for (const [path, option] of options) {
    if (origins.has(path)) continue;
    origins.set(path, { kind: 'default', where: 'default' });
    if (option.format === 'path' && typeof option.default === 'string') merged.set(path, resolve(document.root, option.default));
    const enabled = path.replace(/^(plugins\.\w+)\..*/, '$1.enabled');
    const isDoubtful = check.given.has(enabled) && origins.get(enabled)?.kind === 'default';
    if (!isRequired(option) || check.given.has(path) || isDoubtful) continue;
    fail(check, path, place(document, path.split('.').slice(0, -1), 'key'), { message: `${path} is required`, hint: `write ${path.slice(path.lastIndexOf('.') + 1)}: beneath it, or set ${variableName(path)}` });
  }
  Object.assign(config, merged.getProperties());
  workOut(config);
  return { config, origins, errors: check.errors, schema: check.schema };
}

/**
 * Checks everything that was given against the options of core and of the plugins in `fragments`, and merges it:
 * default, file, environment, command line. `available` names the plugins that could be switched on without `from`.
 */
export function checkConfig(document: ConfigDocument, fragments: Map<string, ConfigFragment | undefined>, available: string[] = [...fragments.keys()]): CheckedConfig {
  const named = document.plugins.filter(({ name }) => /^[a-z][a-z0-9]*$/.test(name));
  const loaded = new Set(named.filter(({ name, enabled }) => enabled && fragments.has(name)).map(({ name }) => name));
  const faults = [...loaded].flatMap((name) => fragmentProblems(fragments.get(name) ?? {}).map((problem) => pluginError(document, name, `The plugin ${name} declares its options wrongly: ${problem}`)));
  for (const { path } of faults) loaded.delete(path.slice('plugins.'.length));
  const sections = named.map(({ name }) => [name, loaded.has(name) ? { ...pluginOptions, ...fragments.get(name) } : pluginOptions] as const);
  const schema: ConfigFragment = { ...coreOptions, plugins: Object.fromEntries(sections) };
  const merged = convict(forConvict(schema) as convict.Schema<Record<string, unknown>>, { env: {}, args: [] });
  const check: Check = { document, loaded, available, schema, merged, options: new Map(optionsOf(schema)), config: {} as CoreConfig, origins: new Map(), errors: [...document.errors, ...faults], given: new Set(), used: new Set() };
  const map = document.source && mapAt(document.source, []);
  if (map) checkSection(check, map, schema, '');
  checkPluginNames(check);
  for (const [path, option] of check.options) takeFromEnvironment(check, path, option);
  takeArguments(check);
  checkVariables(check);
  return finish(check);
}
