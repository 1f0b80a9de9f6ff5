import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nearest } from '../config/nearest.ts';
import { bundledPlugins } from '../load.ts';
import { projectRoot } from '../root.ts';
import { createFormats, type Formats } from './format.ts';
import { readTextFile, type TextFault, type TextFile } from './file.ts';
import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from './language.ts';
import { messageParser, type Message, type ParseMessage } from './message.ts';

/** The texts of core and of all plugins that run, in one language, with the theme's in place of the kit's. */
export interface LanguageTexts {
  formats: Formats;
  parse: ParseMessage;
  /** By plugin, `core` among them, and by key. A text is parsed when it is first used. */
  owners: Map<string, Map<string, string | Message>>;
}

export interface Catalogue {
  languages: Record<Language, LanguageTexts>;
  faults: TextFault[];
}

export interface CatalogueOptions {
  /** The folder of the operator's theme. */
  theme: string;
  /** The folders of the plugins that run, by name. */
  folders: Record<string, string>;
  now(): number;
}

/** What keys begin with whose texts are in English in the code, and plain text in the catalogue. */
export const DECLARED = 'declared.';
const CORE_FOLDER = join(projectRoot, 'templates/texts');

/** The folders of texts, by owner. */
export function textFolders(folders: Record<string, string>): Record<string, string> {
  return { core: CORE_FOLDER, ...Object.fromEntries(Object.entries(folders).map(([plugin, folder]) => [plugin, join(folder, 'texts')])) };
}

/** Reads the texts of core, of the plugins and of the theme. A text that cannot be used is left out and reported. */
export async function readCatalogue({ theme, folders, now }: CatalogueOptions): Promise<Catalogue> {
  const faults: TextFault[] = [];
  const made: [Language, LanguageTexts][] = [];
  for (const language of LANGUAGES) {
    const formats = createFormats(language, now);
    const parse = await messageParser(language, formats);
    const owners = new Map<string, Map<string, string | Message>>();
    for (const [owner, folder] of Object.entries(textFolders(folders))) {
      const read = readTextFile(join(folder, `${language}.yaml`));
      faults.push(...read.faults);
      owners.set(owner, new Map([...read.texts].map(([key, { text }]) => [key, text])));
    }
    made.push([language, { formats, parse, owners }]);
  }
  const languages = Object.fromEntries(made) as Record<Language, LanguageTexts>;
  for (const language of LANGUAGES) faults.push(...addTheme(readTextFile(themeFile(theme, language)), languages, language));
  return { languages, faults };
}

/** Returns what is wrong with the texts of the theme, a sentence with file and line each. Reads nothing when it has none. */
export async function themeTextFaults(options: Omit<CatalogueOptions, 'now'>): Promise<string[]> {
  if (!LANGUAGES.some((language) => existsSync(themeFile(options.theme, language)))) return [];
  const { faults } = await readCatalogue({ ...options, now: Date.now });
  return faults.map(describeFault);
}

export function describeFault({ file, line, detail }: TextFault): string {
  return `${file}${line === undefined ? '' : `:${line}`}: ${detail}`;
}

function themeFile(theme: string, language: Language): string {
  return join(theme, `texts.${language}.yaml`);
}

/** Replaces texts by those of the theme, and returns what is wrong with the others. */
function addTheme({ file, texts, faults }: TextFile, languages: Catalogue['languages'], language: Language): TextFault[] {
  const { owners, parse } = languages[language];
  const found = [...faults];
  for (const [path, { text, line }] of texts) {
    const [owner = '', ...rest] = path.split('.');
    const key = rest.join('.');
    const ours = languages[DEFAULT_LANGUAGE].owners.get(owner);
    // The theme may keep texts of a plugin that is off.
    if (!ours && bundledPlugins().includes(owner)) continue;
    const fault = ours ? themeFault(text, key, ours, parse) : 'belongs to no plugin that runs';
    if (fault) found.push({ file, line, detail: `${path} ${fault}` });
    else owners.get(owner)!.set(key, text);
  }
  return found;
}

/** Returns why a text of the theme cannot be used; null for one that can. */
function themeFault(text: string, key: string, ours: Map<string, string | Message>, parse: ParseMessage): string | null {
  if (key.startsWith(DECLARED)) return null;
  const known = ours.get(key);
  if (known === undefined) {
    const near = nearest(key, ours.keys());
    return near ? `is no text of the kit: did you mean "${near}"?` : 'is no text of the kit';
  }
  try {
    const allowed = parse(String(known)).names;
    const other = [...parse(text).names].find((name) => !allowed.has(name));
    if (other === undefined) return null;
    return `uses "${other}", which the page does not give${allowed.size === 0 ? '' : `: there is ${[...allowed].join(', ')}`}`;
  } catch (error) {
    return `is not a valid message (${(error as Error).message})`;
  }
}
