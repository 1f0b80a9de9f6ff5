import type { Document, Range } from 'civic/reader';
import type { Line } from './lines.ts';
import { foldName, foldWords, type TextIndex, urlOf } from './text.ts';
import { LABEL_WORDS } from './words/labels.ts';

/** Names by which a page states whose it is. */
export interface Identity {
  /** Parts of the title, as folded names. */
  titles: Set<string>;
  /** All folded words of the title and of the name of the site, with blanks around. */
  stated: string;
  /** The folded name of the site. */
  site: string | null;
  /** The labels of hosts of the page, its addresses of e-mail and its web sites, such as `cityofexample`. */
  hosts: Set<string>;
  /** The beginnings of these labels, of at least four letters. */
  hostStarts: Set<string>;
  /** Names with a passage in the text. */
  visible: { name: string; range: Range; feature: 'title' | 'site_name' }[];
}

const SEPARATOR = /\s+[-–—/:•·~]+\s*|\s*(?:[|»«]|::|—|: )\s*|\s+[-–—]+$/u;
const BEFORE = /^\W*(?:(?:home(?: ?page)?|welcome to(?: the)?|contact(?: us)?(?: at)?|about(?: us)?|visit|the official (?:web ?)?site (?:of|for)|official (?:web ?)?site (?:of|for)|bienvenidos a|inicio|contacto)\b[\s,:]*)+/i;
const AFTER = /[\s,:]*\b(?:home ?page|home|contact(?: us)?|about(?: us)?|official (?:web ?)?site|web ?site|inicio|contacto)\W*$/i;
const FREE_MAIL = new Set(['gmail', 'yahoo', 'hotmail', 'aol', 'outlook', 'icloud', 'comcast', 'msn', 'facebook', 'twitter', 'instagram', 'linkedin', 'youtube', 'google', 'pinterest', 'flickr', 'vimeo', 'tumblr', 'yelp', 'tripadvisor', 'wordpress', 'blogspot', 'addthis', 'example', 'adobe', 'microsoft', 'apple', 'paypal', 'constantcontact', 'mailchimp', 'eventbrite', 'x', 'bit', 'goo']);

/** Reads by which names a page states whose it is: its title, the name of its site and its hosts. */
export function identityOf(document: Document, lines: Line[], index: TextIndex): Identity {
  const parts = titleParts(document.title ?? '');
  const visible: Identity['visible'] = [];
  for (const [names, feature] of [[parts, 'title'], [document.site_name ? titleParts(document.site_name) : [], 'site_name']] as const) {
    for (const name of names) {
      const range = index.find(name);
      if (range) visible.push({ name, range, feature });
    }
  }
  const hosts = hostLabels(document, lines);
  return {
    titles: new Set(parts.map(foldName)), stated: ` ${foldName(`${document.title ?? ''} ${document.site_name ?? ''}`)} `, site: document.site_name ? foldName(document.site_name) : null,
    hosts, hostStarts: new Set([...hosts].flatMap(startsOf)), visible,
  };
}

/** Splits a title into parts that can be names: `Contact us | City of Example, Texas` has `City of Example, Texas` and `City of Example`. */
function titleParts(title: string): string[] {
  const parts: string[] = [];
  for (const part of title.slice(0, 300).split(SEPARATOR)) {
    const name = (part ?? '').replace(BEFORE, '').replace(AFTER, '').replace(/[™®]/g, '').trim();
    for (const one of [name, name.split(/[,(]/)[0]!.trim()]) if (one.length >= 2 && !isLabel(one) && !parts.includes(one)) parts.push(one);
  }
  return parts.slice(0, 12);
}

/** Returns the beginnings of a text of at least four letters. */
export function startsOf(text: string): string[] {
  return Array.from({ length: Math.max(0, Math.min(text.length, 63) - 3) }, (_, more) => text.slice(0, more + 4));
}

/** Whether a text has only words of navigation and forms. */
function isLabel(text: string): boolean {
  return foldWords(text).every((word) => LABEL_WORDS.has(word) || /^\d+$/.test(word));
}

function hostLabels({ url, canonical_url: canonical, links }: Document, lines: Line[]): Set<string> {
  const labels = new Set<string>();
  const add = (host: string) => {
    const names = host.toLowerCase().replace(/^www\d?\./, '').split('.');
    const label = names.length > 1 ? names.at(-2)! : names[0]!;
    const name = /^(?:co|com|org|gov|edu|ac|net)$/.test(label) && names.length > 2 ? names.at(-3)! : label;
    if (name.length >= 2 && !FREE_MAIL.has(name) && labels.size < 500) labels.add(name.replaceAll('-', ''));
  };
  for (const address of [url, canonical]) if (address) add(hostOf(address));
  for (const { url: address } of links.slice(0, 2000)) {
    if (address.startsWith('mailto:')) add(address.slice(7).split('?')[0]!.split('@')[1] ?? '');
    else add(hostOf(address));
  }
  for (const { text } of lines) for (const [, host] of text.matchAll(/(?:@|\bwww\.)((?:[\w-]{1,63}\.){1,4}[a-z]{2,10})\b/gi)) add(host!);
  return labels;
}

function hostOf(address: string): string {
  return urlOf(address)?.hostname ?? '';
}
