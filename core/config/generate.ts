import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { Failure } from '../cli/command.ts';
import type { Plugin } from '../plugin.ts';
import { expected, isOption, isRequired, optionsOf, schemaOf } from './format.ts';
import { variableName } from './load.ts';
import { nearestPath } from './nearest.ts';
import { coreOptions, pluginOptions } from './options.ts';
import type { ConfigFragment, ConfigOption } from './types.ts';

/** What is needed of a plugin to document its section. */
export type Documented = Pick<Plugin, 'name' | 'summary' | 'config'>;

const asYaml = (value: unknown): string => stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();
const sectionOf = ({ config }: Documented): ConfigFragment => ({ ...pluginOptions, ...config });

function exampleLines(fragment: ConfigFragment, indent: string): string[] {
  return Object.entries(fragment).flatMap(([name, entry]) => {
    if (!isOption(entry)) return ['', `${indent}${name}:`, ...exampleLines(entry, `${indent}  `)];
    const value = isRequired(entry) ? ' # required' : ` ${asYaml(entry.default)}`;
    return [`${indent}# ${entry.doc}`, `${indent}${name}:${value}`];
  });
}

/** A file with every option, its default and one sentence. Plugins are in it switched off. */
export function exampleYaml(plugins: Documented[]): string {
  const sections = plugins.flatMap((plugin) => ['', `  # ${plugin.summary}`, `  ${plugin.name}:`, '    enabled: false', ...exampleLines(plugin.config ?? {}, '    ')]);
  return [
    '# yaml-language-server: $schema=./civic.schema.json',
    '# Every option with its default. Generated: copy the lines you change to config/civic.yaml.',
    '# docs/configuration.md explains how they are read.',
    '',
    ...exampleLines(coreOptions, ''),
    '',
    '# Plugins are switched on by naming them here; the options of each stand beneath its name.',
    ...(sections.length > 0 ? ['plugins:', ...sections] : ['plugins: {}']),
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
  const known = plugins.map((plugin) => [plugin.name, { description: plugin.summary, ...sectionSchema(sectionOf(plugin)) }]);
  const others = { ...sectionSchema(pluginOptions), additionalProperties: true };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Civic',
    ...sectionSchema(coreOptions, { plugins: { type: ['object', 'null'], properties: Object.fromEntries(known), additionalProperties: others } }),
    $defs: { variable: { type: 'string', pattern: '^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$', description: 'Filled from an environment variable.' } },
  };
}

function helpLines(path: string, option: ConfigOption): string[] {
  const variables = [variableName(path), ...(option.env ? [option.env] : [])].join(' or ');
  const fallback = isRequired(option) ? 'required' : `default ${asYaml(option.default)}`;
  return [path, `  ${option.doc}`, `  ${expected(schemaOf(option).describe())}; ${fallback}${option.sensitive ? '; secret' : ''}`, `  environment: ${variables}`];
}

/** What `civic config help [path]` prints: one option, a section, or all of them. */
export function helpFor(path: string | undefined, plugins: Documented[]): string {
  const options = optionsOf({ ...coreOptions, plugins: Object.fromEntries(plugins.map((plugin) => [plugin.name, sectionOf(plugin)])) });
  const wanted = path ? options.filter(([name]) => name === path || name.startsWith(`${path}.`)) : options;
  if (wanted.length > 0) return wanted.map(([name, option]) => helpLines(name, option).join('\n')).join('\n\n');
  const steps = path!.split('.');
  const near = nearestPath(steps.pop()!, steps.join('.'), options.map(([name]) => name));
  throw new Failure(`There is no option ${path}${near ? `. Did you mean ${near}?` : ''}`);
}

/** The options of a section as a Markdown table. */
export function optionTable(fragment: ConfigFragment, prefix: string): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  const rows = optionsOf(fragment, prefix).map(([path, option]) => {
    const fallback = isRequired(option) ? '**required**' : `\`${asYaml(option.default)}\``;
    const variables = [variableName(path), ...(option.env ? [option.env] : [])].map((name) => `\`${name}\``).join(', ');
    const words = expected(schemaOf(option).describe());
    return `| \`${path}\` | ${cell(option.doc)} Must be ${cell(words)}.${option.sensitive ? ' A secret.' : ''} | ${cell(fallback)} | ${variables} |`;
  });
  return ['| Option | Meaning | Default | Environment |', '|---|---|---|---|', ...rows].join('\n');
}

/** Fills the tables of a page between `<!-- options: http -->` and `<!-- end -->`. */
export function fillTables(page: string): string {
  const basics = Object.fromEntries(Object.entries(coreOptions).filter(([, entry]) => isOption(entry)));
  return page.replace(/(<!-- options: (\w+) -->\n)[^]*?(<!-- end -->)/g, (_, open: string, name: string, close: string) => {
    const table = name === 'basics' ? optionTable(basics, '') : name === 'plugins' ? optionTable(pluginOptions, 'plugins.<name>.') : optionTable(coreOptions[name] as ConfigFragment, `${name}.`);
    return `${open}${table}\n${close}`;
  });
}

/** Every generated file of the configuration, by its path under the root. */
export function generatedFiles(plugins: Documented[], root: string): Map<string, string> {
  const page = 'docs/configuration.md';
  return new Map([
    ['config/civic.example.yaml', exampleYaml(plugins)],
    ['config/civic.schema.json', `${JSON.stringify(jsonSchema(plugins), null, 2)}\n`],
    [page, fillTables(readFileSync(join(root, page), 'utf8'))],
  ]);
}
