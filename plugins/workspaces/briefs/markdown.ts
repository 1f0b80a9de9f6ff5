import { createThreads, escapeMarkup, ThreadError } from 'civic';
import { createHash } from 'node:crypto';

const LINK = /<a href="([^"]*)"/g;
const HEADING = /<(\/?)h([1-6])>/g;
const BELOW_SECTION = 3;
const ALLOWED = /^(https?:\/\/|mailto:)/i;

/** Fifty thousand quotation marks take the library a minute, so it runs in a thread, and not for longer. */
const threads = createThreads(new URL('./markdown-thread.js', import.meta.url), { count: 1, seconds: 3, memory_mb: 128 });
const MOST_WAITING = 20;
const MOST_KEPT = 100;
const MOST_HTML = 500_000;

/** The latest results by the hash of their text: without them each view of a text that takes long would take as long again. */
const kept = new Map<string, string>();
let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/** Returns Markdown as HTML. Raw HTML in it becomes text, and only web and mail addresses become links. A text that takes too long is shown as it is written. */
export async function markdownHtml(text: string): Promise<string> {
  const hash = createHash('sha256').update(text).digest('base64url');
  const known = kept.get(hash);
  if (known !== undefined || waiting >= MOST_WAITING) return known ?? plainHtml(text);
  waiting++;
  const next = last.then(() => kept.get(hash) ?? rendered(text));
  last = next.finally(() => { waiting--; });
  const html = await next;
  kept.set(hash, html);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
  return html;
}

async function rendered(text: string): Promise<string> {
  const html = await threads.run<string>('markdownToHtml', text).catch((error: unknown) => {
    if (error instanceof ThreadError) return null;
    throw error;
  });
  return html === null || html.length > MOST_HTML ? plainHtml(text) : withOwnTags(html);
}

/** Raw HTML is escaped, so these tags are those that the library wrote. */
function withOwnTags(html: string): string {
  const top = Math.min(...[...html.matchAll(HEADING)].map(([, , level]) => Number(level)));
  return html
    .replace(LINK, (_link, url: string) => (ALLOWED.test(url) ? `<a rel="nofollow noopener noreferrer" href="${url}"` : '<a'))
    // The highest heading of the text comes below the heading of its section.
    .replace(HEADING, (_tag, end: string, level: string) => `<${end}h${Math.min(6, Number(level) - top + BELOW_SECTION)}>`);
}

function plainHtml(text: string): string {
  return text.split(/\n{2,}/).map((part) => `<p>${escapeMarkup(part).replaceAll('\n', '<br>')}</p>`).join('\n');
}
