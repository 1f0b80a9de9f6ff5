import type { AgendaItem, Row } from '../adapters/types.ts';

/** Returns the keys that agenda items have now, by those they had before: of the items whose key is no longer listed, those of the same title and matter in their order. */
function newKeys(before: Row, row: Row): Map<string, string> {
  const keys = new Map<string, string>();
  if (before.kind !== 'meeting' || row.kind !== 'meeting' || !before.items || !row.items) return keys;
  const [known, listed] = [keysOf(before.items), keysOf(row.items)];
  const added = row.items.filter(({ key }) => !known.has(key));
  for (const item of before.items.filter(({ key }) => !listed.has(key))) {
    const at = added.findIndex(({ title, matter }) => title === item.title && matter === item.matter);
    if (at >= 0) keys.set(item.key, added.splice(at, 1)[0]!.key);
  }
  return keys;
}

function keysOf(items: AgendaItem[]): Set<string> {
  return new Set(items.map(({ key }) => key));
}

/** Returns an earlier version of a row with the keys that its agenda items have now: platforms give an item another id when an agenda is entered again. */
export function withNewItemKeys(before: Row, row: Row): Row {
  const keys = newKeys(before, row);
  if (keys.size === 0 || before.kind !== 'meeting') return before;
  return { ...before, items: before.items!.map((item) => ({ ...item, key: keys.get(item.key) ?? item.key })) };
}

/** Returns what is known by the keys of agenda items, such as their published votes, by the keys that they have now. */
export function byNewItemKeys<Value>(values: Record<string, Value>, before: Row, row: Row): Record<string, Value> {
  const keys = newKeys(before, row);
  return keys.size === 0 ? values : Object.fromEntries(Object.entries(values).map(([key, value]) => [keys.get(key) ?? key, value]));
}
