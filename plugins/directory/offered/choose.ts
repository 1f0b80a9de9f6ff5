/** Returns the first actors of each issue area, without events, from actors in their order. `wanted` is how many of each; what was found is subtracted from it. */
export function chooseByIssue(rows: { key: number; tags: string }[], wanted: Map<string, number>, chosen = new Map<string, number[]>()): Map<string, number[]> {
  for (const { key, tags } of rows) {
    if (wanted.size === 0) break;
    if (tags.includes(' t:event ')) continue;
    for (const tag of tags.split(' ')) {
      const slug = tag.slice(2);
      const missing = tag.startsWith('i:') ? wanted.get(slug) : undefined;
      if (missing === undefined) continue;
      chosen.set(slug, [...chosen.get(slug) ?? [], key]);
      if (missing === 1) wanted.delete(slug);
      else wanted.set(slug, missing - 1);
    }
  }
  return chosen;
}
