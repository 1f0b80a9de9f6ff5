import convict from 'convict';
import { resolve } from 'node:path';
import { checkVariables, takeFromEnvironment } from './environment.ts';
import { checkSection } from './file.ts';
import { isOption, isRequired, optionsOf } from './format.ts';
import { fragmentProblems } from './fragment.ts';
import { type ConfigDocument, place, pluginError, variableName } from './load.ts';
import { nearest } from './nearest.ts';
import { ARGUMENTS, coreOptions, pluginOptions, workOut } from './options.ts';
import { type Check, fail, take } from './take.ts';
import type { ConfigError, ConfigFragment, CoreConfig, Origin } from './types.ts';
import { mapAt, printable } from './yaml.ts';

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

// Convict keeps what it is given: values are read and checked here, where their line is known.
convict.addFormat({ name: 'checked', validate: () => {}, coerce: (value: unknown) => value });

function forConvict(fragment: ConfigFragment): object {
  const entries = Object.entries(fragment).map(([name, entry]) => {
    return [name, isOption(entry) ? { doc: entry.doc, format: 'checked', default: entry.default, sensitive: entry.sensitive } : forConvict(entry)];
  });
  return Object.fromEntries(entries);
}

function checkPluginNames(check: Check): void {
  const { document, available } = check;
  for (const { name, enabled, from } of document.plugins) {
    if (!enabled || from || available.includes(name)) continue;
    const near = nearest(name, available);
    fail(check, `plugins.${printable(name)}`, place(document, ['plugins', name], 'key'), {
      message: `There is no plugin called ${printable(name)}`,
      hint: near ? `did you mean ${near}?` : `${available.length > 0 ? `the kit has ${available.join(', ')}; ` : ''}say where another one is with from:, or write it with bin/civic plugin new`,
    });
  }
}

function takeArguments(check: Check): void {
  for (const [name, text] of Object.entries(check.document.args)) {
    const path = ARGUMENTS[name];
    if (!path) throw new Error(`--${name} sets no option of the config`);
    const where = { argument: `--${name}` };
    const origin: Origin = { kind: 'argument', where: where.argument };
    take(check, path, check.options.get(path)!, { value: text, isText: true, isHidden: false, origin, place: () => ({ where }) });
  }
}

/** An option without a default must be given, unless it is not sure that its plugin is to run at all. */
function checkRequired(check: Check, path: string): void {
  const enabled = path.replace(/^(plugins\.\w+)\..*/, '$1.enabled');
  const isDoubtful = check.given.has(enabled) && check.origins.get(enabled)?.kind === 'default';
  if (check.given.has(path) || isDoubtful) return;
  const steps = path.split('.');
  const hint = `write ${steps.pop()}: beneath it, or set ${variableName(path)}`;
  fail(check, path, place(check.document, steps, 'key'), { message: `${path} is required`, hint });
}

function useDefaults(check: Check): void {
  for (const [path, option] of check.options) {
    if (check.origins.has(path)) continue;
    check.origins.set(path, { kind: 'default', where: 'default' });
    if (option.format === 'path' && typeof option.default === 'string') check.merged.set(path, resolve(check.document.root, option.default));
    if (isRequired(option)) checkRequired(check, path);
  }
}

/**
 * Checks everything that was given against the options of core and of the plugins in `fragments`, and merges it:
 * default, file, environment, command line. `available` names the plugins that could be switched on without `from`.
 */
export function checkConfig(document: ConfigDocument, fragments: Map<string, ConfigFragment | undefined>, available: string[] = [...fragments.keys()]): CheckedConfig {
  const checked = checkSchema(document, { ...wholeSchema(document, fragments), available });
  workOut(checked.config);
  return checked;
}

/** Checks everything that was given against the options of a program that has none of core and of plugins. */
export function checkOptions(document: ConfigDocument, schema: ConfigFragment): CheckedConfig {
  return checkSchema({ ...document, plugins: [] }, { schema, loaded: new Set(), faults: [], available: [] });
}

function checkSchema(document: ConfigDocument, { schema, loaded, faults, available }: Pick<Check, 'schema' | 'loaded' | 'available'> & { faults: ConfigError[] }): CheckedConfig {
  const merged = convict(forConvict(schema) as convict.Schema<Record<string, unknown>>, { env: {}, args: [] });
  const options = new Map(optionsOf(schema));
  const check: Check = { document, schema, loaded, available, options, merged, origins: new Map(), errors: [...document.errors, ...faults], given: new Set(), used: new Set() };
  const map = document.source && mapAt(document.source, []);
  if (map) checkSection(check, map, schema, '');
  checkPluginNames(check);
  for (const [path, option] of options) takeFromEnvironment(check, path, option);
  takeArguments(check);
  checkVariables(check);
  useDefaults(check);
  const config = merged.getProperties() as unknown as CoreConfig;
  return { config, origins: check.origins, errors: check.errors, schema };
}

/** Core's options, and a section for each named plugin: with its own options when it is on and they are sound. */
function wholeSchema(document: ConfigDocument, fragments: Map<string, ConfigFragment | undefined>): Pick<Check, 'schema' | 'loaded'> & { faults: ConfigError[] } {
  const named = document.plugins.filter(({ name }) => /^[a-z][a-z0-9]*$/.test(name));
  const loaded = new Set<string>();
  const faults: ConfigError[] = [];
  for (const { name } of named.filter(({ name, enabled }) => enabled && fragments.has(name))) {
    const problems = fragmentProblems(fragments.get(name) ?? {});
    faults.push(...problems.map((problem) => pluginError(document, name, `The plugin ${name} declares its options wrongly: ${problem}`)));
    if (problems.length === 0) loaded.add(name);
  }
  const sections = named.map(({ name }) => [name, loaded.has(name) ? { ...pluginOptions, ...fragments.get(name) } : pluginOptions]);
  return { schema: { ...coreOptions, plugins: Object.fromEntries(sections) }, loaded, faults };
}
