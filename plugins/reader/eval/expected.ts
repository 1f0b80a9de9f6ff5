import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Syntax } from '../types.ts';

/** The items that a page is known to have, in the form of the file that lists them. */
export interface Case {
  /** The page. */
  file: string;
  syntax: Syntax;
  /** A name of the kind of case: the syntax, or the folder of the microformats suite. */
  set: string;
  items: unknown[];
  /** The page has these items and no others, so that the case is found as a whole. */
  isWhole: boolean;
}

/** Names of microformats of version 1 count with those of version 2. */
const SETS: Record<string, string> = { hcard: 'h-card', hcalendar: 'h-event' };
const KEYS: Record<string, Syntax> = { 'microdata': 'microdata', 'json-ld': 'json-ld', 'opengraph': 'opengraph', 'microformat': 'microformats', 'rdfa': 'rdfa' };

/** Returns the cases of a folder: pages with a file of expected items beside them, as extruct and the microformats suite have them. */
export function casesIn(folder: string): Case[] {
  const pages = statSync(folder).isDirectory() ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html')).sort().map((name) => join(folder, name)) : [folder];
  return pages.flatMap((file) => ['.json', '.jsonld'].flatMap((extension) => {
    const expected = file.replace(/\.html$/, extension);
    return existsSync(expected) ? casesOf(file, JSON.parse(readFileSync(expected, 'utf8')), extension) : [];
  }));
}

function casesOf(file: string, expected: any, extension: string): Case[] {
  const list = (syntax: Syntax, items: unknown[]): Case[] => (items.length > 0 ? [{ file, syntax, set: syntax, items, isWhole: false }] : []);
  if (extension === '.jsonld') return list('json-ld', (Array.isArray(expected) ? expected : expected.items).flat());
  // Dublin Core is not read.
  if (Array.isArray(expected)) return expected[0]?.namespaces ? [] : list(syntaxOf(expected[0]), expected);
  if (Array.isArray(expected.items)) {
    const folder = basename(dirname(file));
    return [{ file, syntax: 'microformats', set: SETS[folder] ?? folder, items: expected.items, isWhole: true }];
  }
  return Object.entries(KEYS).flatMap(([key, syntax]) => list(syntax, Array.isArray(expected[key]) ? expected[key] : []));
}

function syntaxOf(item: any): Syntax {
  if (item?.namespace) return 'opengraph';
  if (Array.isArray(item?.type)) return 'microformats';
  return item?.properties || item?.value ? 'microdata' : 'rdfa';
}
