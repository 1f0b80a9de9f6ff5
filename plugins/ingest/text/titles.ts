import { findDates } from './dates.ts';
import { findTimes } from './times.ts';
import { withoutStatus } from './status.ts';

const LONGEST = 300;

/** Folds white space and removes tags, entities and marks at both ends. */
export function cleanTitle(title: string): string {
  const plain = title.slice(0, 5 * LONGEST).replaceAll(/\s+/g, ' ').replaceAll(/^[\s\-–—|:;,*•·>@/.]+|[\s\-–—|:;,*•·>@/(]+$/g, '').trim();
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST - 1).trimEnd()}…` : plain;
}

/** Removes the dates, times and words of a status from a title, because they are fields of their own. */
export function titleWithoutDates(title: string): string {
  const given = cleanTitle(title);
  const text = blank(given, findDates(given));
  const rest = blank(text, findTimes(text)).replaceAll(/\(\s*(?:\W\s*)?\)/g, ' ').replaceAll(/\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b,?/gi, ' ');
  const cleaned = cleanTitle(withoutStatus(cleanTitle(rest.replaceAll(/\s+(?:at|on|from|@|-|–|for|of)\s*$|^\s*(?:at|on|from|@)\s+/gi, ' '))));
  return /\p{L}{2}/u.test(cleaned) ? cleaned : given;
}

/** Replaces ranges of a text by spaces, so that the positions of the rest stay. */
export function blank(text: string, ranges: { start: number; end: number }[]): string {
  let rest = '';
  let at = 0;
  for (const { start, end } of ranges.toSorted((left, right) => left.start - right.start)) {
    if (end <= at) continue;
    rest += text.slice(at, Math.max(at, start)) + ' '.repeat(end - Math.max(at, start));
    at = end;
  }
  return rest + text.slice(at);
}

/** Returns the text of HTML in a field of JSON. It is shown as text, so that tags only need to be removed. */
export function plainText(html: string): string {
  if (!/[<&]/.test(html)) return html.trim();
  return html.slice(0, 20_000).replaceAll(/<(?:br|\/p|\/div|\/li)\b[^<>]{0,200}>/gi, '\n').replaceAll(/<[^<>]{0,2000}>/g, ' ')
    .replaceAll(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(amp|lt|gt|quot|apos|nbsp|ndash|mdash|rsquo|lsquo|rdquo|ldquo));/gi, (_, decimal?: string, hex?: string, name?: string) => {
      if (name) return NAMED[name.toLowerCase()] ?? ' ';
      const code = decimal ? Number(decimal) : Number.parseInt(hex!, 16);
      return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : ' ';
    }).replaceAll(/[ \t\u00a0]+/g, ' ').replaceAll(/ ?\n[ \n]*/g, '\n').trim();
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: '\'', nbsp: ' ', ndash: '–', mdash: '—', rsquo: '’', lsquo: '‘', rdquo: '”', ldquo: '“' };
