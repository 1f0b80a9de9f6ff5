import type { ItemValue, NestedItem, StructuredItem } from '../types.ts';
import { LIMITS, type Cut } from './limits.ts';
import type { Element } from './tree.ts';

const ROOTS = /(^|\s)(h(-[a-z0-9]+)?(-[a-z]+)+|adr|geo|hentry|hfeed|hnews|hproduct|hrecipe|hresume|hreview|hreview-aggregate|vcard|vevent)(\s|$)/;
/** The library builds a tree of its own, without bounds. */
const MOST_HTML = 1_000_000;
const MOST_ELEMENTS = 20_000;
const MOST_DEPTH = 100;

export function hasMicroformats(elements: Element[]): boolean {
  return elements.some(({ attributes }) => attributes.class !== undefined && ROOTS.test(attributes.class));
}

interface Parsed {
  type?: string[];
  id?: string;
  properties: Record<string, unknown[]>;
  children?: Parsed[];
  value?: unknown;
  html?: string;
}

/** Reads microformats of both versions. */
export async function readMicroformats(html: string, base: string, elements: Element[], cut: Cut): Promise<StructuredItem[]> {
  if (html.length > MOST_HTML || isLarge(html) || hasNestedIncludes(elements)) {
    cut.truncated = true;
    return [];
  }
  const { mf2 } = await import('microformats-parser');
  let items: Parsed[];
  try {
    items = mf2(html, { baseUrl: base }).items as unknown as Parsed[];
  } catch {
    // It fails for pages with a wrong base, for example.
    return [];
  }
  return items.slice(0, LIMITS.items).map((item) => ({ syntax: 'microformats', ...itemOf(item) }));
}

/** Whether an element that another one includes includes elements itself: the library follows such references without end. */
function hasNestedIncludes(elements: Element[]): boolean {
  const included = new Set(elements.flatMap(includedIds));
  if (included.size === 0) return false;
  return elements.some((element) => {
    if (includedIds(element).length === 0) return false;
    for (let at: Element | null = element; at; at = at.parent) if (at.attributes.id !== undefined && included.has(at.attributes.id)) return true;
    return false;
  });
}

function includedIds({ tag, attributes }: Element): string[] {
  if (tag === 'td' && attributes.headers) return attributes.headers.split(/\s+/);
  const reference = attributes.href ?? attributes.data;
  return /(^|\s)include(\s|$)/.test(attributes.class ?? '') && reference?.startsWith('#') ? [reference.slice(1)] : [];
}

/** Counts start tags less end tags, void elements included, so that it never counts too little. */
function isLarge(html: string): boolean {
  let elements = 0;
  let depth = 0;
  let deepest = 0;
  for (const [, slash, tag] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)/gi)) {
    if (slash === '') {
      elements++;
      if (!/^(area|base|br|col|embed|hr|img|input|li|link|meta|option|p|param|source|t[dhr]|track|wbr)$/i.test(tag!)) depth++;
    } else if (!/^(li|option|p|t[dhr])$/i.test(tag!)) {
      depth = Math.max(0, depth - 1);
    }
    deepest = Math.max(deepest, depth);
  }
  return elements > MOST_ELEMENTS || deepest > MOST_DEPTH;
}

function itemOf({ type = [], id, properties, children, value, html }: Parsed): NestedItem {
  return {
    types: type,
    id: id ?? null,
    properties: Object.fromEntries(Object.entries(properties).map(([name, values]) => [name, values.map(valueOf)])),
    ...(typeof value === 'string' ? { value } : {}),
    ...(html === undefined ? {} : { html }),
    ...(children ? { children: children.map(itemOf) } : {}),
  };
}

/** Images with a text, and HTML, become items without a type. */
function valueOf(value: unknown): ItemValue {
  if (typeof value !== 'object' || value === null) return value as string;
  if ('properties' in value) return itemOf(value as Parsed);
  const { value: text, html, ...others } = value as { value: string; html?: string } & Record<string, string>;
  return itemOf({ properties: Object.fromEntries(Object.entries(others).map(([name, one]) => [name, [one]])), value: text, html });
}
