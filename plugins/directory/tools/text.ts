import { quoteText, singleLine } from 'civic';
import type { Actor, ActorDetail, Claim, Source } from '../types.ts';

/** Lines of summaries, for clients that pass only text to the assistant: each has an id and a source. Stored text is quoted. */

/** URLs are longer only in signals and in data from before there was a limit. */
const LONGEST_URL = 2000;
const MOST_NAMED = 10;

export function urlText(url: string): string {
  return singleLine(url, LONGEST_URL);
}

export function sourceLine({ id, url, title, publication, published_at }: Source): string {
  const about = [publication && quoteText(publication), published_at?.slice(0, 10)].filter(Boolean).join(', ');
  return `- ${title ? quoteText(title) : 'Source'}${about ? ` (${about})` : ''}: ${urlText(url)} [source ${id}]`;
}

export function actorLine({ id, name, type, places, source_count, sources = [] }: Actor & Partial<ActorDetail>): string {
  const where = places.slice(0, 2).map((place) => singleLine([place.name, place.state].filter(Boolean).join(', '))).join('; ');
  const cited = sources[0] ? `, such as ${urlText(sources[0].url)}` : '';
  return `- ${quoteText(name)} (${type}${where ? `, ${where}` : ''}) [entity ${id}]: ${countOf(source_count, 'source')}${cited}`;
}

/** `urls` are the URLs of sources by id. */
export function claimLine({ property, value, source_id }: Claim, urls: ReadonlyMap<string, string>): string {
  return `- ${property}: ${valueText(value)} (${urlText(urls.get(source_id)!)})`;
}

/** Returns the values of a claim, each quoted. */
function valueText(value: Claim['value']): string {
  const values = typeof value === 'string' ? [value] : Object.values(value).filter((one) => one !== null);
  return values.map((one) => quoteText(String(one))).join(', ');
}

export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Returns the first names of a list, and the number of the others. */
export function namesOf(names: string[]): string {
  const others = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${names.slice(0, MOST_NAMED).map((name) => singleLine(name)).join('; ')}${others}`;
}
