import { problem, singleLine, type Reader } from 'civic';
import type { DirectoryService } from 'civic/directory';
import type { FlagRow } from './store.ts';
import type { Target } from './types.ts';

export interface FoundTarget extends Target {
  claimId: string | null;
  /** The property of the claim. */
  property: string | null;
  /** The places by which reviewers can filter the flag. */
  placeKeys: string[];
}

/** No more places are stored: a source about a whole state would match the filter of every place. */
const MOST_PLACES = 50;

/** Returns a public actor. A private one is unknown here, also to its workspace: flags go to the reviewers of the instance. */
export async function entityTarget(directory: DirectoryService, id: string, claimId: string | undefined): Promise<FoundTarget> {
  const actor = await directory.detail(id, null);
  const wanted = claimId?.toLowerCase();
  const claim = actor.claims.find(({ id: claimOf }) => claimOf === wanted);
  if (wanted !== undefined && !claim) {
    const detail = `${singleLine(claimId!, 100)} is no claim of this actor`;
    throw problem('unknown_claim', { detail: `claim_id: ${detail}.`, errors: [{ pointer: '/claim_id', detail }] });
  }
  return { type: 'entity', id: actor.id, claimId: wanted ?? null, property: claim?.property ?? null, placeKeys: actor.places.slice(0, MOST_PLACES).map(({ place_key }) => place_key) };
}

export async function sourceTarget(directory: DirectoryService, reader: Reader, id: string): Promise<FoundTarget> {
  const source = await directory.source(reader, id);
  if (!source) throw problem('unknown_source', { detail: `No source has the id ${singleLine(id, 100)}.` });
  const places = (await directory.actors(reader, source.entity_ids)).flatMap(({ places: some }) => some.map(({ place_key }) => place_key));
  return { type: 'source', id: source.id, claimId: null, property: null, placeKeys: [...new Set(places)].slice(0, MOST_PLACES) };
}

/** Throws `unknown_place`. */
export async function placeTarget(directory: DirectoryService, placeKey: string): Promise<FoundTarget> {
  const { place_key } = await directory.placeOfPath(placeKey);
  return { type: 'place', id: place_key, claimId: null, property: null, placeKeys: [place_key] };
}

/** Returns the public name of what a flag is about; null when it is no longer public. */
export async function targetName(directory: DirectoryService, reader: Reader, { target_type, target_id }: Pick<FlagRow, 'target_type' | 'target_id'>): Promise<string | null> {
  if (target_type === 'entity') {
    const [actor] = await directory.actors(reader, [target_id]);
    return actor?.visibility === 'public' ? actor.name : null;
  }
  if (target_type === 'place') return (await directory.places(reader, [target_id])).get(target_id)?.display_name ?? null;
  const source = await directory.source(reader, target_id);
  return source && (source.title ?? source.url);
}
