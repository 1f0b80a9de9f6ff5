import { escapeMarkup } from 'civic';
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';

const LINK = /<a href="([^"]*)"/g;
const HEADING = /<(\/?)h([1-6])>/g;
const BELOW_SECTION = 3;
const ALLOWED = /^(https?:\/\/|mailto:)/i;

/** Fifty thousand quotation marks take the library a minute, so it runs in a thread of its own, and not for longer. */
const LONGEST_MS = 5000;
const LONGEST_START_MS = 30_000;
const MOST_WAITING = 20;
const MOST_KEPT = 100;
const MOST_HTML = 500_000;
const MEMORY_MB = 128;

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
  const html = await inThread(text);
  return html === null || html.length > MOST_HTML ? plainHtml(text) : withOwnTags(html);
}

/** Returns what the library writes; null when it takes too long or fails. */
function inThread(text: string): Promise<string | null> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('./markdown-worker.js', import.meta.url), { workerData: text, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB } });
    let html: string | null = null;
    const end = () => { void worker.terminate(); };
    let timer = setTimeout(end, LONGEST_START_MS);
    worker.on('message', (message: { html?: string }) => {
      clearTimeout(timer);
      html = message.html ?? null;
      if (html !== null) return end();
      // It has loaded the library.
      timer = setTimeout(end, LONGEST_MS);
    }).on('error', end).once('exit', () => {
      clearTimeout(timer);
      resolve(html);
    });
  });
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
