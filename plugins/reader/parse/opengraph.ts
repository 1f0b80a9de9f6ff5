import type { StructuredItem } from '../types.ts';
import { addValue } from './values.ts';
import { absoluteUrl, type Element } from './tree.ts';

/** Names with a prefix, in `property`; those of Twitter are in `name`. */
const NAMES = /^[a-z][a-z0-9_-]*:[a-z0-9_][a-z0-9_:-]*$/i;
const URLS = /^(og:url|(og|twitter):(image|audio|video)(:(url|secure_url|src))?)$/;

/** Returns all Open Graph properties of a page as one item, with the type of `og:type`. */
export function readOpenGraph(elements: Element[], base: string): StructuredItem[] {
  const item: StructuredItem = { syntax: 'opengraph', types: [], id: null, properties: {} };
  for (const { tag, attributes } of elements) {
    const name = (attributes.property ?? (attributes.name?.startsWith('twitter:') ? attributes.name : '')).trim().replace(/^https?:\/\/ogp\.me\/ns#/, 'og:');
    if (tag !== 'meta' || attributes.content === undefined || !NAMES.test(name)) continue;
    const content = attributes.content.trim();
    if (name === 'og:type') item.types.push(content);
    addValue(item.properties, name, URLS.test(name) ? absoluteUrl(content, base) ?? content : content);
  }
  return Object.keys(item.properties).length > 0 ? [item] : [];
}
