import type { NestedItem, StructuredItem } from '../types.ts';
import { addValue, shortName } from './values.ts';
import { LIMITS, type Cut } from './limits.ts';
import { absoluteUrl, foldedText, type Element } from './tree.ts';

interface Scope {
  vocabulary: string;
  prefixes: Record<string, string>;
  item: NestedItem | null;
}

const PREFIXES: Record<string, string> = { schema: 'http://schema.org/', foaf: 'http://xmlns.com/foaf/0.1/', dc: 'http://purl.org/dc/terms/', dcterms: 'http://purl.org/dc/terms/', og: 'http://ogp.me/ns#' };

/** Reads RDFa Lite: `vocab`, `typeof`, `property`, `resource` and `prefix`. Chains of `rel` and `rev` are not read. */
export function readRdfa(root: Element, base: string, cut: Cut): StructuredItem[] {
  const items: StructuredItem[] = [];
  let count = 0;

  function visit(element: Element, outer: Scope): void {
    const scope = scopeOf(element, outer);
    const { typeof: types, property, resource, about } = element.attributes;
    if (types !== undefined) {
      if (++count > LIMITS.items) {
        cut.truncated = true;
        return;
      }
      const item: NestedItem = { types: names(types, scope), id: absoluteUrl(resource ?? about ?? element.attributes.href ?? element.attributes.src, base), properties: {} };
      if (property !== undefined && outer.item) for (const name of names(property, scope)) addValue(outer.item.properties, name, item);
      else items.push(Object.assign(item, { syntax: 'rdfa' as const }));
      scope.item = item;
    } else if (property !== undefined && scope.item) {
      for (const name of names(property, scope)) addValue(scope.item.properties, name, valueOf(element, base));
    }
    for (const child of element.children) if (typeof child !== 'string') visit(child, scope);
  }

  visit(root, { vocabulary: '', prefixes: PREFIXES, item: null });
  return items;
}

function scopeOf({ attributes }: Element, outer: Scope): Scope {
  const scope = { ...outer };
  if (attributes.vocab !== undefined) scope.vocabulary = attributes.vocab;
  if (attributes.prefix !== undefined) scope.prefixes = { ...outer.prefixes, ...Object.fromEntries([...attributes.prefix.matchAll(/(\S+):\s+(\S+)/g)].map(([, prefix, address]) => [prefix, address])) };
  return scope;
}

function names(attribute: string, { vocabulary, prefixes }: Scope): string[] {
  return attribute.split(/\s+/).filter(Boolean).slice(0, 20).map((name) => {
    const [, prefix, rest] = /^([\w-]+):(?!\/\/)(.+)$/.exec(name) ?? [];
    if (prefix !== undefined) return shortName(Object.hasOwn(prefixes, prefix) ? prefixes[prefix]! + rest! : name);
    return shortName(name.includes(':') ? name : vocabulary + name);
  });
}

function valueOf(element: Element, base: string): string {
  const { content, datetime, href, src, resource } = element.attributes;
  if (content !== undefined) return content.trim();
  if (datetime !== undefined) return datetime.trim();
  return absoluteUrl(resource ?? href ?? src, base) ?? foldedText(element);
}
