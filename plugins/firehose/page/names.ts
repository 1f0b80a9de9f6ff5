import type { Texts } from 'civic';
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
}

const BUILT_IN: ReadonlySet<SignalType> = new Set(SIGNAL_TYPES);

export async function namesFor({ civic, kinds }: Firehose, keys: string[], t: Texts): Promise<Names> {
  const directory = civic.serviceIfOn('directory');
  const places = await directory?.places(civic.db.read, [...new Set(keys)]);
  return {
    kind: kinds.of,
    type: (type) => (BUILT_IN.has(type) ? t(`types.${type}`) : kinds.of(type)?.label ?? nameWords(type)),
    place: (key) => places?.get(key)?.display_name ?? placeWords(key),
    issue: (slug) => t.declared('directory', `issue_areas.${slug}.name`, directory?.issueName(slug) ?? nameWords(slug)),
    timeZone: ({ places: own }) => own.map((key) => places?.get(key)?.time_zone).find((zone) => zone) ?? undefined,
    // Actors of a relayed signal are in the directory of the other instance.
    actor: (id, { origin }) => (origin ? `${origin.url}/api/entities/${id}` : directory && directory.links.actor(id)),
  };
}
