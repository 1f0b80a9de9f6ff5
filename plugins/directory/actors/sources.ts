import type { Reader } from 'civic';
import { groupBy } from '../ledger/group.ts';
import type { SourceRow } from '../ledger/rows.ts';
import type { Source } from '../types.ts';
import { actorsCiting } from './read-store.ts';
import { sourceOf, type Telling } from './wire.ts';

/** So many actors are named with a source; the list of a place or a search has the others. */
const MOST_NAMED = 100;

/** Sources as they are answered, each with the actors that stand on it, as far as the caller may see them. */
export async function sourceRecords(reader: Reader, rows: SourceRow[], { now, policy }: Pick<Telling, 'now' | 'policy'>, workspaceId: string | null = null): Promise<Source[]> {
  const citing = groupBy(await actorsCiting(reader, rows.map((row) => ({ key: row.key, hidden: policy.hiddenFrom(row) })), MOST_NAMED, workspaceId), ({ source_key }) => source_key);
  return rows.map((row) => sourceOf(row, [...new Set((citing.get(row.key) ?? []).map(({ id }) => id))], now));
}
