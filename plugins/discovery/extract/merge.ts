import { foldName } from './text.ts';
import type { FoundActor, FoundClaim } from './types.ts';
import { LEGAL_FORMS } from './words/organizations.ts';

const MOST_CLAIMS = 40;

/** Unites actors of the same type and name; events also need the same start. The claims of all are kept, each once. */
export function mergeActors(actors: FoundActor[]): FoundActor[] {
  const byKey = new Map<string, FoundActor>();
  for (const actor of actors) {
    const key = keyOf(actor);
    const known = byKey.get(key);
    byKey.set(key, known ? united(known, actor) : actor);
  }
  return [...byKey.values()].map((actor) => ({ ...actor, claims: onePerValue(actor.claims) }));
}

function keyOf({ type, name, claims }: FoundActor): string {
  const start = type === 'event' ? claims.find(({ property }) => property === 'event_start')?.value : '';
  return `${type} ${type === 'organization' ? bareName(name) : foldName(name)} ${String(start ?? '').slice(0, 10)}`;
}

/** Folds the name of an organization without an article before it and a legal form after it. */
export function bareName(name: string): string {
  const words = foldName(name).split(' ');
  let end = words.length;
  while (end > 1 && LEGAL_FORMS.has(words[end - 1]!) && words[end - 1] !== 'foundation') end--;
  return words.slice(words[0] === 'the' && end > 1 ? 1 : 0, end).join(' ');
}

function united(one: FoundActor, other: FoundActor): FoundActor {
  const [best, rest] = other.score > one.score ? [other, one] : [one, other];
  return { ...best, claims: [...best.claims, ...rest.claims] };
}

function onePerValue(claims: FoundClaim[]): FoundClaim[] {
  const seen = new Set<string>();
  return claims.filter(({ property, value }) => {
    const key = `${property} ${property === 'name' ? foldName(value) : property === 'phone' ? value.replaceAll(/\D/g, '') : JSON.stringify(value)}`;
    return !seen.has(key) && seen.add(key);
  }).slice(0, MOST_CLAIMS);
}
