import type { Logger } from '../log.ts';
import { DECLARED, describeFault, readCatalogue, type Catalogue, type CatalogueOptions } from './catalogue.ts';
import type { Formats } from './format.ts';
import { DEFAULT_LANGUAGE, type Language } from './language.ts';
import { escapeHtml, type Message, type TextValues } from './message.ts';

/** The texts of one plugin in one language. */
export interface Texts extends Formats {
  /** Returns a text of the plugin, or of core when the key begins with `core.`, without elements and links. */
  (key: string, values?: TextValues): string;
  readonly language: Language;
  /** Returns the translation of a text that a plugin declares in English, such as `problems.not_found.title`, or the English one. */
  declared(plugin: string, path: string, english: string): string;
}

/** The texts of core and of all plugins that run. They are read when they are first needed. */
export interface AllTexts {
  load(): Promise<LoadedTexts>;
  of(plugin: string, language: Language): Promise<Texts>;
}

export interface LoadedTexts {
  /** Returns a text as HTML: values are escaped. */
  html(plugin: string, language: Language, key: string, values: TextValues): string;
  formats(language: Language): Formats;
  of(plugin: string, language: Language): Texts;
}

const MOST_REPORTED = 1000;

export function createTexts(options: CatalogueOptions & { log: Logger }): AllTexts {
  let loading: Promise<LoadedTexts> | undefined;
  const load = (): Promise<LoadedTexts> => (loading ??= readCatalogue(options).then((catalogue) => loadedTexts(catalogue, options.log)).catch((error: unknown) => {
    // The next page tries again.
    loading = undefined;
    throw error;
  }));
  return { load, of: async (plugin, language) => (await load()).of(plugin, language) };
}

function loadedTexts({ languages, faults }: Catalogue, log: Logger): LoadedTexts {
  const reported = new Set<string>();
  const known = new Map<string, Texts>();

  function report(what: string, err?: unknown): void {
    if (reported.has(what) || reported.size >= MOST_REPORTED) return;
    reported.add(what);
    log.warn({ err }, what);
  }
  for (const fault of faults) report(describeFault(fault));

  /** Returns the parsed text; null when the language lacks it, or it is no valid message. */
  function messageOf(owner: string, language: Language, key: string): Message | null {
    const { owners, parse } = languages[language];
    const texts = owners.get(owner);
    const found = texts?.get(key);
    if (found === undefined) return null;
    if (typeof found !== 'string') return found;
    try {
      const message = parse(found);
      texts!.set(key, message);
      return message;
    } catch (error) {
      texts!.delete(key);
      report(`The text ${owner}.${key} is not a valid message in ${language}`, error);
      return null;
    }
  }

  /** Writes a text in the language, else in English; null when there is none. */
  function write(owner: string, language: Language, key: string, how: (message: Message) => string): string | null {
    for (const one of language === DEFAULT_LANGUAGE ? [language] : [language, DEFAULT_LANGUAGE]) {
      const message = messageOf(owner, one, key);
      try {
        if (message) return how(message);
      } catch (error) {
        report(`The text ${owner}.${key} cannot be written in ${one}`, error);
      }
      report(`The text ${owner}.${key} is missing in ${one}`);
    }
    return null;
  }

  function textsOf(plugin: string, language: Language): Texts {
    const text = (key: string, values: TextValues = {}): string => write(...ownerAndKey(plugin, language, key), (message) => message.text(values)) ?? key;
    // Declared texts are plain text, in which braces are braces.
    const declared = (owner: string, path: string, english: string): string => (languages[language].owners.get(owner)?.get(DECLARED + path) as string | undefined) ?? english;
    return Object.assign(text, languages[language].formats, { language, declared });
  }

  return {
    html: (plugin, language, key, values) => write(...ownerAndKey(plugin, language, key), (message) => message.html(values)) ?? escapeHtml(key),
    formats: (language) => languages[language].formats,
    of(plugin, language) {
      const name = `${language} ${plugin}`;
      const texts = known.get(name) ?? textsOf(plugin, language);
      known.set(name, texts);
      return texts;
    },
  };
}

const CORE = 'core.';

function ownerAndKey(plugin: string, language: Language, key: string): [owner: string, language: Language, key: string] {
  return key.startsWith(CORE) ? ['core', language, key.slice(CORE.length)] : [plugin, language, key];
}
