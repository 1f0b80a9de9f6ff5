import { distance } from 'fastest-levenshtein';

/** `publicUrl`, `public-url` and `PUBLIC_URL` all mean `public_url`. */
function folded(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/[-\s]/g, '_').toLowerCase();
}

const letters = (word: string): string => [...word].sort().join('');

/** How far a name is from another; a stem of it, or its letters in another order, counts as one step. */
function steps(wanted: string, other: string): number {
  const isStem = Math.min(wanted.length, other.length) >= 3 && (wanted.startsWith(other) || other.startsWith(wanted));
  const isClose = isStem || letters(wanted) === letters(other);
  return Math.min(isClose ? 1 : Infinity, distance(wanted, other));
}

/** The distance of two words takes time with the square of their length, and clients can send names of any length. */
const MAX_LENGTH = 200;

/** Returns the known name that is most likely meant; undefined when none is close. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const wanted = folded(name);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const far = steps(wanted, folded(candidate));
    if (far < least) [best, least] = [candidate, far];
  }
  return best;
}

/** Returns the sections around options: `http.fetch` and `http` of `http.fetch.timeout_seconds`. */
export function sectionsOf(paths: string[]): Set<string> {
  return new Set(paths.flatMap((path) => path.split('.').slice(0, -1).map((_, index, steps) => steps.slice(0, index + 1).join('.'))));
}

/** Returns the option that `key` beneath `parent` most likely means: the same path with underscores, a sibling, or the same name elsewhere. */
export function nearestPath(key: string, parent: string, paths: string[]): string | undefined {
  const prefix = parent ? `${parent}.` : '';
  const beneathParent = paths.filter((path) => path.startsWith(prefix));
  const underscored = beneathParent.find((path) => path.slice(prefix.length).replaceAll('.', '_') === folded(key));
  if (underscored) return underscored;
  const siblings = beneathParent.filter((path) => !path.slice(prefix.length).includes('.'));
  const lastName = (path: string) => path.slice(path.lastIndexOf('.') + 1);
  const sameName = beneathParent.find((path) => lastName(path) === key);
  if (parent && sameName) return sameName;
  const sibling = nearest(key, siblings.map((path) => path.slice(prefix.length)));
  if (sibling) return prefix + sibling;
  const lastNames = new Map(paths.toReversed().map((path) => [lastName(path), path]));
  return lastNames.get(nearest(key, lastNames.keys()) ?? '');
}
