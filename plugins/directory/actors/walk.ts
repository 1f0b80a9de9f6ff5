import type { Reader } from 'civic';
import { backingOf } from './detail.ts';
import { actorsAfter, actorsByKey, type ShownActor } from './read-store.ts';
import { actorText, claimOf, sourceOf, type Telling } from './wire.ts';
import type { ActorDetail } from '../types.ts';

/** The next actors in the order of their keys, or those of certain keys. */
export type WalkOptions = ({ after: number; limit: number } | { keys: number[] }) & { workspace_id: string | null };

export async function walkActors(reader: Reader, options: WalkOptions, telling: Telling): Promise<{ key: number; actor: ActorDetail }[]> {
  const { workspace_id } = options;
  const isVisible = (row: ShownActor): boolean => row.visibility === 'public' || (workspace_id !== null && row.workspace_id === workspace_id);
  const rows = 'keys' in options ? (await actorsByKey(reader, options.keys)).filter(isVisible) : await actorsAfter(reader, options.after, options.limit, workspace_id);
  const backing = await backingOf(reader, rows, telling.policy);
  return rows.map((row) => {
    const { claims, sources } = backing.get(row.key)!;
    const ids = new Map(sources.map(({ key, id }) => [key, id]));
    const actor = JSON.parse(actorText(row, telling)) as ActorDetail;
    actor.claims = claims.map((claim) => claimOf(claim, ids.get(claim.source_key)!));
    // Who else stands on a source is not looked up: the other actors are in the same export.
    actor.sources = sources.map((source) => sourceOf(source, [row.id], telling.now));
    return { key: row.key, actor };
  });
}
