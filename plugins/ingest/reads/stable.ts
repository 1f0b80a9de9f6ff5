/** Returns JSON with the members of objects in the order of their names: Postgres stores them in another order than they were written. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => (isObject(member) ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1))) : member));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
