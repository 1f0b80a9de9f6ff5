import { dirname, resolve } from 'node:path';
import { checkConfig, checkOptions, type CheckedConfig } from './config/check.ts';
import { isOfKit, offDeclarations } from './config/generate.ts';
import { pluginError, readConfigFile, readConfigText, variableName, type ConfigDocument } from './config/load.ts';
import type { ConfigError, ConfigFragment, CoreConfig, Origin } from './config/types.ts';
import { bundledPlugins, LoadFailure, loadPlugin } from './load.ts';
import { orderPlugins, type OrderFault } from './order.ts';
import { configOf, type Plugin } from './plugin.ts';
import { program, type OwnConfig } from './program.ts';
import { projectRoot } from './root.ts';
import { sharedNames, undeclaredReferences, vocabularyOf, type Category } from './vocabulary.ts';

/** Where the configuration comes from. */
export interface Settings {
  env: NodeJS.ProcessEnv;
  /** Options of the command line that stand for one of the file: `{ port: '9000' }`. */
  args: Record<string, string>;
  /** What `--config` names. */
  file?: string;
  /** A config file that is in no file. */
  text?: string;
  /** Plugins already in hand; others are loaded as the file says. */
  given?: Plugin[];
}

/** The configuration, checked, and the plugins it names, in order. */
export interface Prepared {
  document: ConfigDocument;
  config: CoreConfig;
  origins: Map<string, Origin>;
  /** The options of core and of every named plugin. */
  schema: ConfigFragment;
  /** What the config file can state, which differs from the above for a program with options of its own. */
  stated: Pick<CheckedConfig, 'config' | 'origins' | 'schema'>;
  plugins: Plugin[];
  errors: ConfigError[];
}

/** The phases check and order: every fault of the config file at once, nothing opened. */
export async function prepare(settings: Settings): Promise<Prepared> {
  const { own } = program();
  return own ? prepareOwn(own, settings) : prepareKit(settings);
}

/** Checks the config file of a program with options of its own, and then the configuration of the kit that it means. */
async function prepareOwn(own: OwnConfig, { env, args, file, text }: Settings): Promise<Prepared> {
  const { options, kit } = await own.load();
  const path = file ?? (env[variableName('config')] || own.file(env));
  const reading = { env, args, file, root: dirname(resolve(path)) };
  const document = text === undefined ? readConfigFile(reading) : readConfigText(text, path, reading);
  const { errors, ...stated } = checkOptions(document, options(env));
  const prepared = await prepareKit({ env: {}, args: {}, text: JSON.stringify(kit(stated.config as never)) });
  return { ...prepared, document, stated, errors: [...errors, ...prepared.errors] };
}

async function prepareKit(settings: Settings): Promise<Prepared> {
  const { env, args, file, text } = settings;
  const options = { env, args, file, root: projectRoot };
  const document = text === undefined ? readConfigFile(options) : readConfigText(text, 'civic.yaml', options);
  const given = new Map((settings.given ?? []).map((plugin) => [plugin.name, plugin]));
  const loaded = await loadNamed(document, given);
  const vocabulary = vocabularyOf(loaded.plugins);
  const off = loaded.plugins.some(({ config }) => typeof config === 'function') ? offDeclarations(projectRoot, loaded.plugins.map(({ name }) => name)) : undefined;
  const fragments = new Map(loaded.plugins.map((plugin) => [plugin.name, configOf(plugin, vocabulary, off)]));
  const checked = checkConfig(document, fragments, [...bundledPlugins(), ...given.keys()]);
  const ordered = orderPlugins(loaded.plugins);
  return {
    document,
    config: checked.config,
    origins: checked.origins,
    schema: checked.schema,
    stated: checked,
    plugins: ordered.plugins,
    errors: [...checked.errors.map((error) => mentioningOff(error, loaded.plugins, document)), ...loaded.errors, ...ordered.faults.map((fault) => orderError(fault, document)), ...sharedCodes(ordered.plugins, document), ...sharedDeclarations(ordered.plugins, document), ...undeclaredReferences(ordered.plugins).map(({ plugin, fault }) => pluginError(document, plugin, `${plugin}: ${fault}`))],
  };
}

async function loadNamed(document: ConfigDocument, given: Map<string, Plugin>): Promise<{ plugins: Plugin[]; errors: ConfigError[] }> {
  const bundled = new Set(bundledPlugins());
  const plugins: Plugin[] = [];
  const errors: ConfigError[] = [];
  for (const { name, enabled, from } of document.plugins) {
    const isUnknown = from === undefined && !bundled.has(name) && !given.has(name);
    // The check of the file tells about names it does not know, with the nearest one.
    if (!enabled || isUnknown) continue;
    try {
      plugins.push(given.get(name) ?? await loadPlugin(name, from, projectRoot));
    } catch (error) {
      if (!(error instanceof LoadFailure)) throw error;
      errors.push(pluginError(document, name, error.message));
    }
  }
  return { plugins, errors };
}

/** Adds to the error about an unknown limit or rate class that a plugin outside the kit may declare it: while such a plugin is off, its names are not known. */
function mentioningOff(error: ConfigError, plugins: Plugin[], document: ConfigDocument): ConfigError {
  const isOfDeclarations = plugins.some(({ name, config }) => typeof config === 'function' && error.path.startsWith(`plugins.${name}.`));
  if (!isOfDeclarations || !error.message.endsWith(' is not known')) return error;
  const off = document.plugins.filter(({ name, enabled }) => !enabled && !isOfKit(projectRoot, name)).map(({ name }) => name);
  if (off.length === 0) return error;
  return { ...error, hint: [error.hint?.replace(/([^?])$/, '$1.'), `If it belongs to ${off.join(' or ')}, which is off, comment it out`].filter(Boolean).join(' ') };
}

function orderError(fault: OrderFault, document: ConfigDocument): ConfigError {
  if (fault.kind === 'missing') {
    return pluginError(document, fault.plugin, `${fault.plugin} needs the plugin ${fault.need}, which is not on`, { hint: `add "${fault.need}:" under "plugins:"` });
  }
  const circle = [...fault.plugins, fault.plugins[0]].join(' → ');
  return pluginError(document, fault.plugins[0]!, `these plugins wait for each other: ${circle}`, { hint: 'one of them must not need or use the next' });
}

/** A problem code is a promise to clients, so it has one owner. */
function sharedCodes(plugins: Plugin[], document: ConfigDocument): ConfigError[] {
  const owners = new Map<string, string>();
  const errors: ConfigError[] = [];
  for (const plugin of plugins) {
    for (const code of Object.keys(plugin.problems ?? {})) {
      const owner = owners.get(code);
      if (owner) errors.push(pluginError(document, plugin.name, `${plugin.name} and ${owner} both have the problem code "${code}"`, { hint: 'switch one of them off, or rename the code in one' }));
      owners.set(code, plugin.name);
    }
  }
  return errors;
}

const SINGULAR: Record<Category, string> = { scopes: 'scope', capabilities: 'capability', limits: 'limit', rates: 'rate class', paths: 'path', slots: 'page slot' };

/** Scopes, paths and the like are stored in keys and links, so each has one owner. */
function sharedDeclarations(plugins: Plugin[], document: ConfigDocument): ConfigError[] {
  return sharedNames(plugins).map(({ category, name, plugins: [owner, other] }) => pluginError(document, other, `${other} and ${owner} both declare the ${SINGULAR[category]} "${name}"`, { hint: 'switch one of them off, or rename it in one' }));
}
