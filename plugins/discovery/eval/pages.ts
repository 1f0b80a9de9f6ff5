import { charsetOf, Failure } from 'civic';
import { Parser } from 'htmlparser2';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export type MarkedType = 'person' | 'organization';

/** A page whose names were marked by hand. */
export interface MarkedPage {
  file: string;
  /** The page without the marks. */
  html: string;
  names: Record<MarkedType, string[]>;
}

const TYPES: Record<string, MarkedType> = { PER: 'person', ORG: 'organization' };
/** Elements whose content continues a line. */
const INLINE = new Set(['a', 'abbr', 'b', 'bdi', 'cite', 'em', 'font', 'i', 'mark', 'small', 'span', 'strong', 'sub', 'sup', 'u']);

/** Reads the marked pages of a folder, in the order of their names. */
export function markedPages(folder: string): MarkedPage[] {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new Failure(`No folder is at ${folder}`);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.html?$/i.test(file)).toSorted();
  const pages = files.map((file) => markedPage(file, readFileSync(join(folder, file))));
  if (!pages.some(({ names }) => names.person.length + names.organization.length > 0)) throw new Failure(`${folder} has no page with marked names: <span wa-type="PER"> or <span wa-type="ORG">`);
  return pages;
}

export function markedPage(file: string, body: Uint8Array): MarkedPage {
  const marked = new TextDecoder(charsetOf(body, 'text/html')).decode(body);
  return { file, html: withoutMarks(marked), names: namesIn(marked) };
}

/** Three of five pages are for tuning, the others only for measuring, by the hash of their names. */
export function splitOf(file: string): 'train' | 'test' {
  return createHash('sha256').update(`civic ${file}`).digest().readUInt32BE(0) % 5 < 3 ? 'train' : 'test';
}

const TAG = /<wa-title\b[\s\S]*?<\/wa-title\s*>|<\/?wa-color\b[^>]*>|<(\/?)span\b((?:"[^"]*"|'[^']*'|[^'">])*)>/gi;

/** Removes the marks and what the tool for marking adds, so that the extractor sees the page as it was. */
function withoutMarks(html: string): string {
  const open: boolean[] = [];
  return html.replace(TAG, (whole: string, slash: string | undefined, attributes: string | undefined) => {
    if (attributes === undefined) return '';
    if (slash) return open.pop() ? '' : whole;
    const isMark = /\swa-type\s*=/i.test(attributes);
    if (!attributes.endsWith('/')) open.push(isMark);
    return isMark ? '' : whole;
  });
}

/** Returns the names of each type, each once. A name that is marked in parts has the same `wa-id` in each. */
function namesIn(html: string): MarkedPage['names'] {
  const found = new Map<string, { type: MarkedType; text: string }>();
  const open: (string | null)[] = [];
  const parser = new Parser({
    onopentag(tag, attributes) {
      const type = TYPES[attributes['wa-type'] ?? ''];
      if (tag === 'span') open.push(type ? `${type} ${attributes['wa-id'] ?? found.size}` : null);
      // A name goes on after a line break or in the next element.
      if (!INLINE.has(tag)) for (const name of found.values()) name.text += ' ';
      const key = open.at(-1);
      if (tag === 'span' && key && type && !found.has(key)) found.set(key, { type, text: '' });
    },
    ontext(text) {
      for (const key of open) if (key) found.get(key)!.text += text;
    },
    onclosetag(tag) {
      if (tag === 'span') open.pop();
      else if (!INLINE.has(tag)) for (const name of found.values()) name.text += ' ';
    },
  });
  parser.end(html);
  const names: MarkedPage['names'] = { person: [], organization: [] };
  for (const { type, text } of found.values()) {
    const name = text.replaceAll(/\s+/g, ' ').trim();
    if (name && !names[type].includes(name)) names[type].push(name);
  }
  return names;
}
