/** Code is no text, and messages of programs are marked as English. */
const HIDDEN = /<!--[^]*?-->|<(script|style|code|pre|svg|datalist)\b[^]*?<\/\1>|<(p|span)\b[^>]* lang="en"[^]*?<\/\2>/g;
const READ_ALOUD = /\s(?:alt|aria-label|placeholder|title|label|data-[a-z]+-text)="([^"]*)"/g;

/** Returns the lines of three words and more that a page shows alike in both languages: what was not translated. Code is no text. */
export function untranslated(english: string, spanish: string, allowed: (string | RegExp)[] = []): string[] {
  const translated = new Set(linesOf(english));
  const isAllowed = (line: string): boolean => allowed.some((one) => (typeof one === 'string' ? line.includes(one) : one.test(line)));
  return [...new Set(linesOf(spanish))].filter((line) => translated.has(line) && line.split(' ').filter((word) => /\p{L}/u.test(word)).length >= 3 && !isAllowed(line));
}

function linesOf(html: string): string[] {
  const shown = html.replace(HIDDEN, ' ');
  return [...shown.split(/<[^>]*>/), ...[...shown.matchAll(READ_ALOUD)].map((match) => match[1]!)].map((line) => line.replaceAll(/\s+/g, ' ').trim()).filter(Boolean);
}
