import { escapeMarkup, problem, xmlElement } from 'civic';
import { tagPattern } from '../sources/schemas.ts';
import type { ShownSource } from '../sources/shown.ts';

/** The settings that OPML has no attribute for, so that a list moves between instances. */
const OWN = ['civic:place', 'civic:issues', 'civic:platform', 'civic:cadence_seconds', 'civic:source_class'] as const;
const NAMESPACE = 'urn:civic:sources';
const MOST_TAGS = 5000;
const MOST_ATTRIBUTES = 20_000;
const DEEPEST = 20;
const LONGEST_NAME = 200;

type Outline = Partial<Record<'text' | 'title' | 'xmlUrl' | 'url' | 'htmlUrl' | 'category' | (typeof OWN)[number], string>> & { outlines?: Outline[] };

/** Returns the addresses in OPML, at any depth: feeds, links and pages. Folders are left out. */
export async function sourcesInOpml(text: string): Promise<object[]> {
  if (text.split('<').length > MOST_TAGS || text.split('=').length > MOST_ATTRIBUTES) throw problem('invalid_request', { detail: `The OPML has more than ${MOST_TAGS} tags or ${MOST_ATTRIBUTES} attributes: import it in parts.` });
  const { parseOpml } = await import('feedsmith');
  let parsed: { body?: { outlines?: Outline[] } };
  try {
    parsed = parseOpml(withoutDoctype(text), { extraOutlineAttributes: [...OWN] }) as typeof parsed;
  } catch {
    throw problem('invalid_request', { detail: 'The text is no OPML.' });
  }
  return leavesOf(parsed.body?.outlines ?? [], DEEPEST).map(sourceOf);
}

/** Entities of a document type can grow without end, and lists need none. Searches forward only: a pattern would take seconds for hostile texts. */
function withoutDoctype(text: string): string {
  const start = text.search(/<!DOCTYPE/i);
  if (start < 0) return text;
  const subset = text.indexOf('[', start);
  const hasSubset = subset >= 0 && subset < text.indexOf('>', start);
  const subsetEnd = hasSubset ? text.indexOf(']', subset) : start;
  const end = subsetEnd < 0 ? -1 : text.indexOf('>', subsetEnd);
  return end < 0 ? text.slice(0, start) : text.slice(0, start) + text.slice(end + 1);
}

function leavesOf(outlines: Outline[], depth: number): (Outline & { address: string })[] {
  if (depth === 0) throw problem('invalid_request', { detail: `The OPML has more than ${DEEPEST} levels.` });
  return outlines.flatMap((outline) => {
    const address = outline.xmlUrl ?? outline.url ?? outline.htmlUrl;
    return [...(address === undefined ? [] : [{ ...outline, address }]), ...leavesOf(outline.outlines ?? [], depth - 1)];
  });
}

function sourceOf({ address, title, text, category, 'civic:place': place, 'civic:issues': issues, 'civic:platform': platform, 'civic:cadence_seconds': cadence, 'civic:source_class': source_class }: Outline & { address: string }): object {
  const name = (title ?? text ?? '').trim().slice(0, LONGEST_NAME);
  // Other programs write paths such as /Boston/Weather here.
  const tags = [...new Set((category ?? '').split(',').map((tag) => tag.trim()).filter((tag) => tagPattern.test(tag)))].slice(0, 20);
  return {
    url: address.trim(), ...(name && { name }), ...(tags.length > 0 && { tags }), ...(place && { place }), ...(issues && { issues: issues.split(',') }), ...(platform && { platform }), ...(cadence && { cadence_seconds: Number(cadence) }), ...(source_class && { source_class }),
  };
}

/** Returns sources as OPML 2.0. */
export function opmlOf(title: string, sources: ShownSource[]): string {
  const head = xmlElement('head', {}, xmlElement('title', {}, escapeMarkup(title)));
  return `<?xml version="1.0" encoding="utf-8"?>\n<opml version="2.0" xmlns:civic="${NAMESPACE}">\n${head}\n<body>\n${sources.map((source) => `${outlineOf(source)}\n`).join('')}</body>\n</opml>\n`;
}

function outlineOf({ name, url, platform, tags, place, issues, cadence_seconds: cadence, source_class }: ShownSource): string {
  return xmlElement('outline', {
    text: name, ...(platform === 'feed' ? { type: 'rss', xmlUrl: url } : { type: 'link', url }), ...(tags.length > 0 && { category: tags.join(',') }), ...(place !== null && { 'civic:place': place }),
    ...(issues.length > 0 && { 'civic:issues': issues.join(',') }), ...(platform !== null && { 'civic:platform': platform }), ...(cadence !== null && { 'civic:cadence_seconds': String(cadence) }), ...(source_class !== null && { 'civic:source_class': source_class }),
  });
}
