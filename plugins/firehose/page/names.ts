import type { Request } from '@hapi/hapi';
import { pagePath, type Texts } from 'civic';
import type { Firehose } from '../service.ts';
import type { KnownKind } from '../signals/kinds.ts';
import { SIGNAL_TYPES, type Signal, type SignalType } from '../types.ts';
import { nameWords, placeWords } from './words.ts';

/** The names of places, issues and types in the language of the page. */
export interface Names {
  kind(type: SignalType): KnownKind | null;
  type(type: SignalType): string;
  place(key: string): string;
  issue(slug: string): string;
  /** The time zone of the first place of the signal that has one. */
  timeZone(signal: Signal): string | undefined;
  /** The address of an actor of the signal; null when it has none. */
  actor(id: string, signal: Signal): string | null;
  /** The addresses of pages about a place and an issue; null when no plugin has such pages. */
  placePage(key: string): string | null;
  issuePage(slug: string): string | null;
}

const BUILT_IN: ReadonlySet<SignalType> = new Set(SIGNAL_TYPES);

/** With a request, addresses of pages keep its language. */
export async function namesFor({ civic, kinds }: Firehose, keys: string[], t: Texts, request?: Request): Promise<Names> {
  const linked = (path: string): string => (request ? pagePath(request, path) : civic.url(path));
  const directory = civic.serviceIfOn('directory');
  const places = await directory?.places(civic.db.read, [...new Set(keys)]);
  return {
    kind: kinds.of,
    type: (type) => (BUILT_IN.has(type) ? t(`types.${type}`) : kinds.of(type)?.label ?? nameWords(type)),
    place: (key) => places?.get(key)?.display_name ?? placeWords(key),
    issue: (slug) => t.declared('directory', `issue_areas.${slug}.name`, directory?.issueName(slug) ?? nameWords(slug)),
    timeZone: ({ places: own }) => own.map((key) => places?.get(key)?.time_zone).find((zone) => zone) ?? undefined,
    // Actors of a relayed signal are in the directory of the other instance.
    actor: (id, { origin }) => (origin ? `${origin.url}/api/entities/${id}` : directory && (directory.links.pages.actor ? linked(directory.links.pages.actor(id)) : directory.links.actor(id))),
    placePage: (key) => (directory?.links.pages.place && places?.has(key) ? linked(directory.links.pages.place(key)) : null),
    issuePage: (slug) => (directory?.links.pages.issueArea && directory.issueName(slug) !== null ? linked(directory.links.pages.issueArea(slug)) : null),
  };
}
