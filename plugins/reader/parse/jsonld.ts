import type { ItemValue, NestedItem, StructuredItem } from '../types.ts';
import { addValue, shortName } from './values.ts';
import { LIMITS, type Cut } from './limits.ts';
import type { Element } from './tree.ts';

/** Reads the scripts of a page that hold JSON-LD: single items, lists and `@graph`. */
export async function readJsonLd(elements: Element[], cut: Cut): Promise<StructuredItem[]> {
  const items: StructuredItem[] = [];
  let size = 0;
  const budget = { repair: LIMITS.repaired_json };
  for (const element of elements) {
    if (element.tag !== 'script' || !/ld\+json/i.test(element.attributes.type ?? '')) continue;
    const text = element.children.join('');
    size += text.length;
    if (size > LIMITS.json || items.length > LIMITS.items) {
      cut.truncated = true;
      break;
    }
    const value = await parseLenient(text, budget, cut);
    for (const item of topItems(value, cut)) items.push({ syntax: 'json-ld', ...item });
  }
  return items;
}

/** Parses JSON, repaired where it is wrong, such as by line breaks in strings, comments or a comma at the end; null when that fails too. */
async function parseLenient(text: string, budget: { repair: number }, cut: Cut): Promise<unknown> {
  const bare = text.replace(/^\s*(\/\/\s*)?(<!--|<!\[CDATA\[|\/\*\s*<!\[CDATA\[\s*\*\/)/, '').replace(/((\/\/\s*)?(-->|\]\]>)|\/\*\s*\]\]>\s*\*\/)?[\s;]*$/, '').trim();
  if (bare === '') return null;
  try {
    return JSON.parse(bare);
  } catch {
    budget.repair -= bare.length;
    if (budget.repair < 0 || isDeep(bare)) {
      cut.truncated = true;
      return null;
    }
  }
  try {
    const { jsonrepair } = await import('jsonrepair');
    return JSON.parse(jsonrepair(bare));
  } catch {
    return null;
  }
}

/** Whether brackets are nested so deep that the repair, which recurses, would fail. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > 200) return true;
  }
  return false;
}

function topItems(value: unknown, cut: Cut, depth = 0): NestedItem[] {
  if (depth > LIMITS.item_depth) {
    cut.truncated = true;
    return [];
  }
  if (Array.isArray(value)) return bounded(value, cut).flatMap((one) => topItems(one, cut, depth + 1));
  if (!isObject(value)) return [];
  const graph = topItems(value['@graph'], cut, depth + 1);
  const item = itemOf(value, cut, 0);
  return Object.keys(item.properties).length > 0 || item.types.length > 0 ? [item, ...graph] : graph;
}

function itemOf(value: Record<string, unknown>, cut: Cut, depth: number): NestedItem {
  const item: NestedItem = { types: textsOf(value['@type'] ?? value.type).map(shortName), id: textsOf(value['@id'])[0] ?? null, properties: {} };
  for (const [key, given] of Object.entries(value).slice(0, 500)) {
    if (key.startsWith('@')) continue;
    for (const one of valuesOf(given, cut, depth + 1)) addValue(item.properties, shortName(key), one);
  }
  return item;
}

function valuesOf(value: unknown, cut: Cut, depth: number): ItemValue[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [value];
  if (depth > LIMITS.item_depth) {
    cut.truncated = true;
    return [];
  }
  if (Array.isArray(value)) return bounded(value, cut).flatMap((one) => valuesOf(one, cut, depth + 1));
  if (!isObject(value)) return [];
  if ('@value' in value) return valuesOf(value['@value'], cut, depth + 1);
  if ('@list' in value) return valuesOf(value['@list'], cut, depth + 1);
  return [itemOf(value, cut, depth)];
}

function bounded(values: unknown[], cut: Cut): unknown[] {
  if (values.length > LIMITS.items) cut.truncated = true;
  return values.slice(0, LIMITS.items);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string' && one !== '');
}
