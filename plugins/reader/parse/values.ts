import type { ItemValue, NestedItem } from '../types.ts';

/** Removes the address of schema.org: `http://schema.org/Event` is `Event`. */
export function shortName(name: string): string {
  return name.replace(/^(https?:\/\/(www\.)?schema\.org\/|schema:)(?=.)/i, '').slice(0, 300);
}

export function addValue(properties: NestedItem['properties'], name: string, value: ItemValue): void {
  if (Object.hasOwn(properties, name)) properties[name]!.push(value);
  // `__proto__` would set the prototype.
  else Object.defineProperty(properties, name, { value: [value], enumerable: true, writable: true, configurable: true });
}
