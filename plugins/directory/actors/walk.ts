import type { Reader } from 'civic';
import { backingOf } from './detail.ts';
import { actorsAfter } from './read-store.ts';
import { actorText, claimOf, sourceOf, type Telling } from './wire.ts';
import type { ActorDetail } from '../types.ts';

export async function walkActors(reader: Reader, options: { after: number; limit: number; workspace_id: string | null }, telling: Telling): Promise<{ key: number; actor: ActorDetail }[]> {
  const rows = await actorsAfter(reader, options.after, options.limit, options.workspace_id);
  const backing = await backingOf(reader, rows.map(({ key }) => key));
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
