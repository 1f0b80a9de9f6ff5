import type { Actor, ActorDetail, Claim, Source } from '../types.ts';

/** Summaries of results, for clients that pass only text to the assistant: a line for each item, with its id and a source. */

const LONGEST_LINE = 160;
/** The most characters of all lines together. The structured result has the rest. */
const LONGEST_TEXT = 8000;

/** Returns a text in one line, cut to `most` characters. */
export function shortened(text: string, most = LONGEST_LINE): string {
  const line = /\s\s|[\n\t]/.test(text) ? text.replaceAll(/\s+/g, ' ').trim() : text;
  return line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`;
}

export function sourceLine({ id, url, title, publication, published_at }: Source): string {
  const about = [publication, published_at?.slice(0, 10)].filter(Boolean).join(', ');
  return `- ${shortened(title ?? url)}${about ? ` (${about})` : ''}: ${url} [source ${id}]`;
}

export function actorLine({ id, name, type, places, source_count, sources = [] }: Actor & Partial<ActorDetail>): string {
  const where = places.map((place) => [place.name, place.state].filter(Boolean).join(', ')).slice(0, 2).join('; ');
  const cited = sources[0] ? `, such as ${sources[0].url}` : '';
  return `- ${shortened(name)} (${type}${where ? `, ${where}` : ''}) [entity ${id}]: ${countOf(source_count, 'source')}${cited}`;
}

/** `urls` are the URLs of sources by id. */
export function claimLine({ property, value, source_id }: Claim, urls: ReadonlyMap<string, string>): string {
  return `- ${property}: ${shortened(typeof value === 'string' ? value : JSON.stringify(value))} (${urls.get(source_id)})`;
}

export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Returns the number of items, their lines, and how to get further ones. */
export function listText(label: [one: string, many: string], { data, total, next_cursor }: { data: unknown[]; total: number; next_cursor: string | null }, lines: string[]): string {
  if (total === 0) return `No ${label[1]}.`;
  const head = data.length === total ? `${countOf(total, ...label)}:` : `${countOf(total, ...label)}, of which ${data.length} are here:`;
  return [head, ...fitting(lines), ...continued(next_cursor)].join('\n');
}

/** Returns the line about the next page, if there is one. */
export function continued(cursor: string | null): string[] {
  return cursor === null ? [] : [`There are more: call the tool again with cursor "${cursor}".`];
}

/** Returns as many lines as a summary may have, and the number of the others. */
export function fitting(lines: string[]): string[] {
  let left = LONGEST_TEXT;
  const shown = lines.filter((line) => (left -= line.length + 1) >= 0);
  return shown.length === lines.length ? lines : [...shown, `- and ${lines.length - shown.length} more, which are in the structured result`];
}
