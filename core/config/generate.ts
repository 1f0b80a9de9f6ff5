import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { Failure } from '../cli/command.ts';
import { configOf, type Plugin } from '../plugin.ts';
import { call } from '../program.ts';
import { vocabularyOf, type Declarations, type OffDeclarations } from '../vocabulary.ts';
import { expected, isOption, isRequired, optionsOf, schemaOf } from './format.ts';
import { variableNames } from './load.ts';
import { nearestPath, sectionsOf } from './nearest.ts';
import { coreOptions, pluginOptions } from './options.ts';
import type { ConfigFragment, ConfigOption } from './types.ts';

/** What is needed of a plugin to document its section. */
export type Documented = Pick<Plugin, 'name' | 'summary' | 'recommended' | 'limits' | 'rates'> & { config?: ConfigFragment };

/** Returns what is documented of plugins that run together. */
export function documented(plugins: Plugin[]): Documented[] {
  const vocabulary = vocabularyOf(plugins);
  return plugins.map((plugin) => ({ name: plugin.name, summary: plugin.summary, recommended: plugin.recommended, limits: plugin.limits, rates: plugin.rates, config: configOf(plugin, vocabulary) }));
}

const SCHEMA_FILE = 'config/civic.schema.json';
/** The keyword of the schema that holds a plugin's `recommended`: core reads it there without loading a plugin that is off. */
const RECOMMENDED = 'x-recommended';
/** The keyword that holds a plugin's limits and rate classes, for the same reason. */
const DECLARES = 'x-declares';

const asYaml = (value: unknown): string => stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();

function exampleLines(fragment: ConfigFragment, indent = ''): string[] {
  return Object.entries(fragment).flatMap(([name, entry]) => {
    if (!isOption(entry)) return ['', `${indent}${name}:`, ...exampleLines(entry, `${indent}  `)];
    const value = isRequired(entry) ? ' # required' : ` ${asYaml(entry.default)}`;
    return [`${indent}# ${entry.doc}`, `${indent}${name}:${value}`];
  });
}

function examplePlugin({ name, summary, config = {} }: Documented): string[] {
  return ['', `  # ${summary}`, `  ${name}:`, '    enabled: true', ...exampleLines(config, '    ')];
}

/** A file with every option of core and of these plugins, its default and one sentence. */
export function exampleYaml(plugins: Documented[]): string {
  return [
    '# yaml-language-server: $schema=./civic.schema.json',
    '# Every option with its default: keep the lines you change. docs/configuration.md explains how they are read.',
    '',
    ...exampleLines(coreOptions),
    '',
    '# A plugin runs when its name stands here; its options stand beneath its name. To switch one off, remove its name,',
    '# or write "enabled: false" beneath it.',
    ...(plugins.length > 0 ? ['plugins:', ...plugins.flatMap(examplePlugin)] : ['plugins: {}']),
    '',
  ].join('\n');
}

interface JsonSchema { [key: string]: unknown }

function optionSchema(option: ConfigOption): JsonSchema {
  const schema = schemaOf(option)['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) as JsonSchema;
  return { description: option.doc, ...(isRequired(option) || option.sensitive ? {} : { default: option.default }), anyOf: [schema, { $ref: '#/$defs/variable' }] };
}

function sectionSchema(fragment: ConfigFragment, more: JsonSchema = {}): JsonSchema {
  const properties = Object.entries(fragment).map(([name, entry]) => [name, isOption(entry) ? optionSchema(entry) : sectionSchema(entry)]);
  return { type: ['object', 'null'], additionalProperties: false, properties: { ...Object.fromEntries(properties), ...more } };
}

/** A JSON Schema of the file, for editors. Sections of plugins it does not know are open. */
export function jsonSchema(plugins: Documented[]): JsonSchema {
  const known = plugins.map(({ name, summary, recommended, limits, rates, config }) => [name, { description: summary, ...(recommended ? { [RECOMMENDED]: recommended } : {}), ...(limits ?? rates ? { [DECLARES]: { limits, rates } } : {}), ...sectionSchema({ ...pluginOptions, ...config }) }]);
  const others = { ...sectionSchema(pluginOptions), additionalProperties: true };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Civic',
    ...sectionSchema(coreOptions, { plugins: { type: ['object', 'null'], properties: Object.fromEntries(known), additionalProperties: others } }),
    $defs: { variable: { type: 'string', pattern: '^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$', description: 'Filled from an environment variable.' } },
  };
}

function pluginSections(root: string): [name: string, section: JsonSchema][] {
  const { properties } = JSON.parse(readFileSync(join(root, SCHEMA_FILE), 'utf8')) as { properties: { plugins: { properties: Record<string, JsonSchema> } } };
  return Object.entries(properties.plugins.properties);
}

export function isOfKit(root: string, plugin: string): boolean {
  return pluginSections(root).some(([name]) => name === plugin);
}

/** Returns the limits and rate classes of the kit's plugins that are not among these, from the generated schema of the kit. */
export function offDeclarations(root: string, on: string[]): OffDeclarations {
  const off = pluginSections(root).filter(([name]) => !on.includes(name));
  return vocabularyOf(off.map(([name, section]) => ({ name, ...(section[DECLARES] as Declarations | undefined) }) as Plugin));
}

/** Returns, by plugin, why it is recommended, from the generated schema of the kit. */
export function recommendedPlugins(root: string): Map<string, string> {
  const reasons = pluginSections(root).map(([name, section]) => [name, section[RECOMMENDED]] as [string, string | undefined]);
  return new Map(reasons.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function optionHelp([path, option]: [string, ConfigOption]): string {
  const fallback = isRequired(option) ? 'required' : `default ${asYaml(option.default)}`;
  const form = `${expected(schemaOf(option).describe())}; ${fallback}${option.sensitive ? '; secret' : ''}`;
  return [path, `  ${option.doc}`, `  ${form}`, `  environment: ${variableNames(path, option).join(' or ')}`].join('\n');
}

/** The options of core and of these plugins. */
function optionsOfKit(plugins: Documented[]): ConfigFragment {
  const sections = plugins.map(({ name, config }) => [name, { ...pluginOptions, ...config }]);
  return { ...coreOptions, plugins: Object.fromEntries(sections) };
}

/** Returns the options that a path names: one, those of a section, or all. Throws a failure that names the nearest one. */
export function wantedOptions(path: string | undefined, schema: ConfigFragment): [string, ConfigOption][] {
  const options = optionsOf(schema);
  if (path === undefined) return options;
  const wanted = options.filter(([name]) => name === path || name.startsWith(`${path}.`));
  if (wanted.length > 0) return wanted;
  const steps = path.split('.');
  const paths = options.map(([name]) => name);
  const near = nearestPath(steps.pop()!, steps.join('.'), [...paths, ...sectionsOf(paths)]);
  throw new Failure(`There is no option ${path}${near ? `. Did you mean ${near}?` : `: ${call('config help')} lists them all`}`);
}

/** Explains options as text: those of core and of these plugins, or of another schema. */
export function helpFor(path: string | undefined, plugins: Documented[], schema = optionsOfKit(plugins)): string {
  return wantedOptions(path, schema).map(optionHelp).join('\n\n');
}

/** The same as data, for `--json`. */
export function optionsFor(path: string | undefined, plugins: Documented[], schema = optionsOfKit(plugins)): object[] {
  return wantedOptions(path, schema).map(([name, option]) => ({
    path: name,
    doc: option.doc,
    expects: expected(schemaOf(option).describe()),
    required: isRequired(option),
    ...(isRequired(option) ? {} : { default: option.default }),
    secret: option.sensitive ?? false,
    environment: variableNames(name, option),
  }));
}

/** The options of a section as a Markdown table. */
export function optionTable(fragment: ConfigFragment, prefix: string): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  const rows = optionsOf(fragment, prefix).map(([path, option]) => {
    const fallback = isRequired(option) ? '**required**' : `\`${asYaml(option.default)}\``;
    const variables = variableNames(path, option).map((name) => `\`${name}\``).join(', ');
    const words = expected(schemaOf(option).describe());
    return `| \`${path}\` | ${cell(option.doc)} Must be ${cell(words)}.${option.sensitive ? ' A secret.' : ''} | ${cell(fallback)} | ${variables} |`;
  });
  return ['| Option | Meaning | Default | Environment |', '|---|---|---|---|', ...rows].join('\n');
}

function tableOf(name: string): string {
  if (name === 'basics') return optionTable(Object.fromEntries(Object.entries(coreOptions).filter(([, entry]) => isOption(entry))), '');
  return name === 'plugins' ? optionTable(pluginOptions, 'plugins.<name>.') : optionTable(coreOptions[name] as ConfigFragment, `${name}.`);
}

/** Fills the tables of a page between `<!-- options: http -->` and `<!-- end -->`. */
export function fillTables(page: string): string {
  return page.replace(/(<!-- options: (\w+) -->\n)[^]*?(<!-- end -->)/g, (_, open: string, name: string, close: string) => `${open}${tableOf(name)}\n${close}`);
}

/** Every generated file of the configuration, by its path under the root. */
export function generatedFiles(plugins: Documented[], root: string): Map<string, string> {
  const page = 'docs/configuration.md';
  return new Map([
    ['config/civic.example.yaml', exampleYaml(plugins)],
    [SCHEMA_FILE, `${JSON.stringify(jsonSchema(plugins), null, 2)}\n`],
    [page, fillTables(readFileSync(join(root, page), 'utf8'))],
  ]);
}
