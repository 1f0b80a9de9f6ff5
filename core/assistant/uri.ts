/** Returns the variables of a URI that matches a template, such as `civic://notes/{id}`; null when it does not match. */
export function matchUri(template: string, uri: string): Record<string, string> | null {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  const pattern = template.split(/\{\w+\}/).map((text) => text.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')).join('([^/?#]+)');
  const found = new RegExp(`^${pattern}$`).exec(uri);
  if (!found) return null;
  const values = found.slice(1).map(decoded);
  return values.includes(null) ? null : Object.fromEntries(names.map((name, at) => [name, values[at]!]));
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
