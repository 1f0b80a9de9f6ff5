import { parseUrl } from 'civic';
import { isDeepStrictEqual } from 'node:util';
import type { ItemValue, NestedItem, StructuredItem } from '../types.ts';
import type { Case } from './expected.ts';

/** The address of every page, with which relative addresses of expected items are resolved. */
export const BASE = 'http://example.com/';

/** Returns the expected items that were not found. */
export function missingItems({ syntax, items: expected, isWhole }: Case, found: StructuredItem[]): unknown[] {
  const left = found.filter((item) => item.syntax === syntax);
  if (isWhole) return isDeepStrictEqual(expected, left.map(microformat)) ? [] : [expected];
  return expected.filter((item) => {
    const index = left.findIndex((candidate) => isSame[syntax](item as any, candidate));
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

const isSame: Record<StructuredItem['syntax'], (expected: any, found: NestedItem) => boolean> = {
  'json-ld': isSameJsonLd,
  'microdata': isSameMicrodata,
  'microformats': (expected, found) => isDeepStrictEqual(expected, microformat(found)),
  'opengraph': ({ properties }: { properties: [string, string][] }, found) => properties.every(([name, value]) => found.properties[name]?.some((one) => isSameText(value, one))),
  'rdfa': isSameRdfa,
};

/** Returns an item in the JSON of microformats parsers. */
function microformat({ types, id, properties, value, html, children }: NestedItem): object {
  const plain = (one: ItemValue): unknown => {
    if (typeof one !== 'object') return one;
    if (one.types.length > 0) return microformat(one);
    return { ...Object.fromEntries(Object.entries(one.properties).map(([name, [first]]) => [name, first])), value: one.value, ...(one.html === undefined ? {} : { html: one.html }) };
  };
  return {
    ...(id === null ? {} : { id }), type: types,
    properties: Object.fromEntries(Object.entries(properties).map(([name, values]) => [name, values.map(plain)])),
    ...(value === undefined ? {} : { value }), ...(html === undefined ? {} : { html }), ...(children ? { children: children.map(microformat) } : {}),
  };
}

interface ExpectedMicrodata {
  type?: string | string[];
  id?: string;
  properties?: Record<string, unknown>;
  value?: string;
}

function isSameMicrodata(expected: ExpectedMicrodata, found: NestedItem): boolean {
  const isItem = expected.type !== undefined || expected.properties !== undefined || expected.value !== undefined;
  const { type = [], id, properties = {}, value }: ExpectedMicrodata = isItem ? expected : { properties: { ...expected } };
  return isSameList([type].flat().map(short), found.types)
    && (id === undefined || isSameText(id, found.id ?? ''))
    && (value === undefined || isSameText(value, found.value ?? ''))
    && isSameProperties(properties, found, (one, other) => (typeof one === 'object' ? typeof other === 'object' && isSameMicrodata(one as ExpectedMicrodata, other) : isSameText(one, other)));
}

function isSameJsonLd(expected: Record<string, unknown>, found: NestedItem): boolean {
  const { '@type': type = [], '@id': id, ...others } = expected;
  const properties = Object.fromEntries(Object.entries(others).filter(([name, value]) => !name.startsWith('@') && value !== null && !(Array.isArray(value) && value.length === 0)));
  return isSameList([type].flat().map((one) => short(String(one))), found.types)
    && (id === undefined || id === found.id)
    && isSameProperties(properties, found, (one, other) => (typeof one === 'object' && one !== null ? typeof other === 'object' && isSameJsonLd(one as Record<string, unknown>, other) : one === other || isSameText(one, other)));
}

/** Other names and values must not be there either. */
function isSameProperties(expected: Record<string, unknown>, { properties }: NestedItem, isSameValue: (expected: unknown, found: ItemValue) => boolean): boolean {
  return isSameList(Object.keys(expected).map(short).sort(), Object.keys(properties).sort())
    && Object.entries(expected).every(([name, value]) => {
      const [wanted, found] = [[value].flat(), properties[short(name)]!];
      return wanted.length === found.length && wanted.every((one, index) => isSameValue(one, found[index]!));
    });
}

function isSameRdfa(expected: Record<string, any>, { types, id, properties }: NestedItem): boolean {
  const { '@type': type = [], '@id': address, ...others } = expected;
  return isSameList([type].flat().map(short), types) && (address === undefined || String(address).startsWith('_:') || isSameText(address, id ?? ''))
    && Object.entries(others).every(([name, values]) => [values].flat().every((value) => properties[short(name)]?.some((one) => isSameText(value['@value'] ?? value['@id'], typeof one === 'object' ? one.id ?? '' : one))));
}

function isSameList(left: string[], right: string[]): boolean {
  return left.length === right.length && left.every((one, index) => one === right[index]);
}

function isSameText(expected: unknown, found: ItemValue): boolean {
  const [left, right] = [expected, found].map((text) => String(text).replace(/\s+/g, ' ').trim());
  return left === right || parseUrl(left!, new URL(BASE))?.href === right;
}

function short(name: string): string {
  return name.replace(/^https?:\/\/(www\.)?schema\.org\//, '');
}
