import type { ItemValue, NestedItem, StructuredItem } from '../types.ts';
import { addValue, shortName } from './values.ts';
import { LIMITS, type Cut } from './limits.ts';
import { absoluteUrl, foldedText, type Element } from './tree.ts';

const URL_ATTRIBUTES: Record<string, string> = { a: 'href', area: 'href', link: 'href', audio: 'src', embed: 'src', iframe: 'src', img: 'src', source: 'src', track: 'src', video: 'src', object: 'data' };

/** The longest text of an item without properties. */
const MOST_VALUE = 1000;

interface Context {
  base: string;
  byId: Map<string, Element>;
  cut: Cut;
  /** How many elements may still be read: `itemref` can name the same ones again and again. */
  left: number;
}

/** Reads items of microdata that are no property of another item. */
export function readMicrodata(elements: Element[], base: string, cut: Cut): StructuredItem[] {
  const tops = elements.filter(({ attributes }) => 'itemscope' in attributes && !('itemprop' in attributes));
  if (tops.length === 0) return [];
  const byId = new Map<string, Element>();
  for (const element of elements) if (element.attributes.id && !byId.has(element.attributes.id)) byId.set(element.attributes.id, element);
  const context: Context = { base, byId, cut, left: LIMITS.elements * 2 };
  return tops.slice(0, LIMITS.items).map((element) => ({ syntax: 'microdata', ...itemOf(element, context, []) }));
}

function itemOf(element: Element, context: Context, outer: Element[]): NestedItem {
  const { itemtype = '', itemid, itemref = '' } = element.attributes;
  const item: NestedItem = { types: itemtype.split(/\s+/).filter(Boolean).map(shortName), id: itemid === undefined ? null : absoluteUrl(itemid, context.base) ?? itemid, properties: {} };
  if (outer.length > LIMITS.item_depth) {
    context.cut.truncated = true;
    return item;
  }
  const path = [...outer, element];
  for (const child of element.children) if (typeof child !== 'string') addProperties(child, item, context, path);
  for (const id of itemref.split(/\s+/).slice(0, 50)) {
    const referenced = context.byId.get(id);
    if (referenced && !path.includes(referenced)) addReferenced(referenced, item, context, path);
  }
  if (Object.keys(item.properties).length === 0) item.value = foldedText(element, MOST_VALUE);
  return item;
}

/** Adds a referenced element; of an item that is no property itself, its properties. */
function addReferenced(element: Element, item: NestedItem, context: Context, path: Element[]): void {
  const isOwnItem = 'itemscope' in element.attributes && !('itemprop' in element.attributes);
  for (const one of isOwnItem ? element.children : [element]) if (typeof one !== 'string') addProperties(one, item, context, path);
}

function addProperties(element: Element, item: NestedItem, context: Context, path: Element[]): void {
  if (--context.left < 0) {
    context.cut.truncated = true;
    return;
  }
  const { attributes } = element;
  const isItem = 'itemscope' in attributes;
  if ('itemprop' in attributes) {
    const value = isItem ? itemOf(element, context, path) : valueOf(element, context.base);
    for (const name of attributes.itemprop!.split(/\s+/).filter(Boolean)) addValue(item.properties, shortName(name), value);
  }
  if (isItem) return;
  for (const child of element.children) if (typeof child !== 'string') addProperties(child, item, context, path);
}

function valueOf(element: Element, base: string): ItemValue {
  const { tag, attributes } = element;
  // A field of a search form, as schema.org describes it for actions.
  if (tag === 'input' && attributes.name !== undefined) return { types: [], id: null, properties: { valueRequired: ['required' in attributes], valueName: [attributes.name] } };
  if (attributes.content !== undefined) return attributes.content.trim();
  const url = URL_ATTRIBUTES[tag];
  if (url !== undefined && attributes[url] !== undefined) return absoluteUrl(attributes[url], base) ?? attributes[url].trim();
  if (tag === 'data' || tag === 'meter') return attributes.value ?? foldedText(element);
  if (tag === 'time' && attributes.datetime !== undefined) return attributes.datetime.trim();
  return foldedText(element);
}
