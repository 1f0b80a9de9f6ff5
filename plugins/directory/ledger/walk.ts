import type { Reader } from 'civic';
import { actorTexts } from '../actors/detail.ts';
import { actorsAfter } from '../actors/read-store.ts';
import type { Telling } from '../actors/wire.ts';
import type { ActorDetail } from '../types.ts';

export async function walkActors(reader: Reader, options: { after: number; limit: number; workspace_id: string | null }, telling: Telling): Promise<{ key: number; actor: ActorDetail }[]> {
  const rows = await actorsAfter(reader, options.after, options.limit, options.workspace_id);
  const texts = await actorTexts(reader, rows, ['claims', 'sources'], telling, options.workspace_id);
  return rows.map(({ key }, index) => ({ key, actor: JSON.parse(texts[index]!) as ActorDetail }));
}
