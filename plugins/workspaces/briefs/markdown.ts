import { lazily } from 'civic';

const loadMicromark = lazily(() => import('micromark'));

/** Images are left out: loading one would tell another server who reads the brief. */
const WITHOUT_IMAGES = { disable: { null: ['labelStartImage'] } };
const LINK = /<a href="([^"]*)"/g;
const HEADING = /<(\/?)h([1-6])>/g;
const BELOW_SECTION = 3;
const ALLOWED = /^(https?:\/\/|mailto:)/i;

/** Returns Markdown as HTML. Raw HTML in it becomes text, and only web and mail addresses become links. */
export async function markdownHtml(text: string): Promise<string> {
  const { micromark } = await loadMicromark();
  const html = micromark(text, { extensions: [WITHOUT_IMAGES] });
  const top = Math.min(...[...html.matchAll(HEADING)].map(([, , level]) => Number(level)));
  // Raw HTML is escaped, so these tags are those that the library wrote.
  return html
    .replace(LINK, (_link, url: string) => (ALLOWED.test(url) ? `<a rel="nofollow noopener noreferrer" href="${url}"` : '<a'))
    // The highest heading of the text comes below the heading of its section.
    .replace(HEADING, (_tag, end: string, level: string) => `<${end}h${Math.min(6, Number(level) - top + BELOW_SECTION)}>`);
}
