import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DECLARED } from '../texts/catalogue.ts';
import { readTextFile, type TextFile } from '../texts/file.ts';
import { createFormats } from '../texts/format.ts';
import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from '../texts/language.ts';
import { messageParser, type Message } from '../texts/message.ts';
import type { Plugin } from '../plugin.ts';
import { textOutside, usesInCode, usesInTemplate, type TextUses } from './text-uses.ts';

export interface TextSources {
  /** The folder of `en.yaml` and `es.yaml`. */
  texts: string;
  /** The folder of templates, with those below it. */
  templates: string;
  /** Files of code. */
  code: string[];
  /** The paths of texts that are declared in English: `problems.not_found.title`. */
  declared: string[];
  /** Only for core: the keys of core that plugins use. */
  usedByOthers?: string[];
}

/** Returns what is wrong with the texts of a plugin or of core, a sentence each. Without `en.yaml` its templates are not converted, and only declared texts are checked. */
export async function textFaults(sources: TextSources): Promise<string[]> {
  const files = Object.fromEntries(LANGUAGES.map((language) => [language, readTextFile(join(sources.texts, `${language}.yaml`))])) as Record<Language, TextFile>;
  const read = Object.values(files).flatMap((file) => file.faults.map(({ line, detail }) => `texts/${nameOf(file)}:${line ?? 1}: ${detail}`));
  const messages = await parsedMessages(files);
  if (!existsSync(files[DEFAULT_LANGUAGE].file)) return [...read, ...messages.faults, ...declaredFaults(files, sources.declared)];
  const uses = usesOf(sources);
  return [
    ...read, ...messages.faults, ...uses.faults,
    ...languageFaults(messages.parsed), ...declaredFaults(files, sources.declared),
    ...useFaults(messages.parsed[DEFAULT_LANGUAGE], sources.usedByOthers ? usesOfCore(uses, sources.usedByOthers) : ownUses(uses)),
    ...outsideFaults(sources),
  ];
}

/** Returns the sources of a plugin's texts. */
export function textSourcesOf(plugin: Plugin, folder: string): TextSources {
  return { texts: join(folder, 'texts'), templates: join(folder, 'templates'), code: filesIn(folder, /(?<!\.d)\.[cm]?[jt]s$/), declared: declaredPaths(plugin) };
}

/** Returns the paths of the texts that a plugin declares. */
function declaredPaths({ summary, reference, problems = {}, scopes = {}, capabilities = {}, limits = {}, rates = {}, declaredTexts }: Plugin): string[] {
  const labels = Object.entries({ scopes, capabilities, limits, rates }).flatMap(([category, kinds]) => Object.keys(kinds).map((name) => `${category}.${name}`));
  const hints = Object.keys(scopes).filter((name) => scopes[name]!.hint !== undefined).map((name) => `hints.${name}`);
  return [...(summary ? ['summary'] : []), ...referencePaths(reference), ...problemPaths(Object.keys(problems)), ...labels, ...hints, ...declaredTexts?.() ?? []];
}

function referencePaths(reference: Plugin['reference']): string[] {
  return reference ? ['reference.title', ...Object.keys(reference.sections ?? {}).map((name) => `reference.sections.${name}`)] : [];
}

export function problemPaths(codes: string[]): string[] {
  return codes.flatMap((code) => [`problems.${code}.title`, `problems.${code}.advice`]);
}

export function filesIn(folder: string, pattern: RegExp): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => pattern.test(file) && !file.split('/').some((part) => part === 'test' || part === 'node_modules'))
    .map((file) => join(folder, file));
}

function nameOf({ file }: TextFile): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

type Parsed = Record<Language, Map<string, Message>>;

async function parsedMessages(files: Record<Language, TextFile>): Promise<{ parsed: Parsed; faults: string[] }> {
  const faults: string[] = [];
  const parsed = {} as Parsed;
  for (const language of LANGUAGES) {
    const parse = await messageParser(language, createFormats(language, Date.now));
    parsed[language] = new Map();
    for (const [key, { text, line }] of files[language].texts) {
      if (key.startsWith(DECLARED)) continue;
      try {
        parsed[language].set(key, parse(text));
      } catch (error) {
        faults.push(`texts/${language}.yaml:${line}: ${key} is not a valid message (${(error as Error).message})`);
      }
    }
  }
  return { parsed, faults };
}

/** All languages have the same keys, and each text the same values. */
function languageFaults(parsed: Parsed): string[] {
  const english = parsed[DEFAULT_LANGUAGE];
  return LANGUAGES.filter((language) => language !== DEFAULT_LANGUAGE).flatMap((language) => {
    const other = parsed[language];
    const missing = [...english.keys()].filter((key) => !other.has(key)).map((key) => `texts/${language}.yaml lacks ${key}`);
    const more = [...other.keys()].filter((key) => !english.has(key)).map((key) => `texts/${language}.yaml has ${key}, which texts/${DEFAULT_LANGUAGE}.yaml lacks`);
    const differing = [...english].filter(([key, { names }]) => other.has(key) && sorted(names) !== sorted(other.get(key)!.names))
      .map(([key, { names }]) => `${key} has the values (${sorted(names)}) in ${DEFAULT_LANGUAGE} and (${sorted(other.get(key)!.names)}) in ${language}`);
    return [...missing, ...more, ...differing];
  });
}

function sorted(names: ReadonlySet<string>): string {
  return [...names].sort().join(', ');
}

function declaredFaults(files: Record<Language, TextFile>, declared: string[]): string[] {
  return LANGUAGES.flatMap((language) => {
    const { texts } = files[language];
    const given = [...texts.keys()].filter((key) => key.startsWith(DECLARED)).map((key) => key.slice(DECLARED.length));
    if (language === DEFAULT_LANGUAGE) return given.map((path) => `texts/${language}.yaml has ${DECLARED}${path}, which is English in the declaration`);
    const missing = texts.size === 0 ? [] : declared.filter((path) => !given.includes(path)).map((path) => `texts/${language}.yaml lacks ${DECLARED}${path}`);
    return [...missing, ...given.filter((path) => !declared.includes(path)).map((path) => `texts/${language}.yaml has ${DECLARED}${path}, which is not declared`)];
  });
}

/** Where texts are used, with the name of the file before each fault. */
function usesOf({ templates, code }: TextSources): TextUses {
  const all = [
    ...filesIn(templates, /\.html$/).map((file) => ({ file, ...usesInTemplate(readFileSync(file, 'utf8')) })),
    ...code.map((file) => ({ file, ...usesInCode(readFileSync(file, 'utf8')) })),
  ];
  return {
    keys: all.flatMap(({ keys }) => keys),
    prefixes: all.flatMap(({ prefixes }) => prefixes),
    mentioned: all.flatMap(({ mentioned }) => mentioned),
    faults: all.flatMap(({ file, faults }) => faults.map((fault) => `${relative(templates, file)}: ${fault}`)),
  };
}

/** Returns the keys of core that the templates and the code use. */
export function coreKeysUsed(sources: TextSources): string[] {
  return usesOf(sources).keys.map(({ key }) => key).filter(isOfCore);
}

const CORE = 'core.';

function isOfCore(key: string): boolean {
  return key.startsWith(CORE);
}

/** What a plugin uses of its own texts. */
function ownUses({ keys, prefixes, mentioned, faults }: TextUses): TextUses {
  return { keys: keys.filter(({ key }) => !isOfCore(key)), prefixes: prefixes.filter((prefix) => !isOfCore(prefix)), mentioned, faults };
}

/** What core and the plugins use of core's texts. Core names them with and without `core.` in front. */
function usesOfCore({ keys, prefixes, mentioned, faults }: TextUses, usedByOthers: string[]): TextUses {
  const own = (key: string): string => (isOfCore(key) ? key.slice(CORE.length) : key);
  return { keys: keys.map((use) => ({ ...use, key: own(use.key) })), prefixes: prefixes.map(own), mentioned: [...mentioned, ...usedByOthers].map(own), faults };
}

function useFaults(messages: Map<string, Message>, { keys, prefixes, mentioned }: TextUses): string[] {
  const used = new Set([...keys.map(({ key }) => key), ...mentioned]);
  const faults = keys.flatMap(({ key, values, isInAttribute }) => {
    const message = messages.get(key);
    if (!message) return [`the text ${key} is used, but not in the catalogue`];
    const absent = values === null ? [] : [...message.names].filter((name) => !values.includes(name));
    return [
      ...absent.map((name) => `the text ${key} has the value ${name}, which a template does not give`),
      ...(isInAttribute && message.hasMarkup ? [`the text ${key} has elements or links, but is used in an attribute`] : []),
    ];
  });
  return [
    ...new Set(faults),
    ...prefixes.filter((prefix) => ![...messages.keys()].some((key) => key.startsWith(prefix))).map((prefix) => `no text begins with ${prefix}`),
    ...[...messages.keys()].filter((key) => !used.has(key) && !prefixes.some((prefix) => key.startsWith(prefix))).map((key) => `the text ${key} is not used`),
  ];
}

function outsideFaults({ templates }: TextSources): string[] {
  return filesIn(templates, /\.html$/)
    .flatMap((file) => textOutside(readFileSync(file, 'utf8')).map((text) => `${relative(templates, file)} has text outside the catalogue: ${text.slice(0, 60)}`));
}
