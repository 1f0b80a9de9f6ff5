import type convict from 'convict';
import { resolve } from 'node:path';
import { explain, fullPath } from './explain.ts';
import { fromText, isOption, JOI_OPTIONS, schemaOf } from './format.ts';
import { program } from '../program.ts';
import type { ConfigDocument } from './load.ts';
import type { ConfigError, ConfigFragment, ConfigOption, Origin } from './types.ts';
import type { Place, Step } from './yaml.ts';

/** A check under way. */
export interface Check {
  document: ConfigDocument;
  /** Plugins whose options are known. */
  loaded: Set<string>;
  /** Names of plugins that could be switched on. */
  available: string[];
  /** The options of core and of every named plugin, nested and by path. */
  schema: ConfigFragment;
  options: Map<string, ConfigOption>;
  origins: Map<string, Origin>;
  errors: ConfigError[];
  /** Takes values in the order in which they win. */
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

function readMore({ schema, loaded, document }: Check, path: string): string {
  const { own } = program();
  if (own) return own.docs;
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
    const words = explain({ path, option, schema: joi.describe(), detail, outside, isHidden });
    fail(check, fullPath(path, detail.path), given.place(detail.path, part), words);
  }
}
