import { bulkInsert, dialectOf, type Reader, type Tx } from 'civic';
import { chunksOf } from '../chunks.ts';
import type { ClaimRow } from '../ledger/rows.ts';
import type { ActorType, Property, Visibility } from '../types.ts';

export interface BlockRow {
  block: number;
  actor_key: number;
  /** The workspace that the actor is private to. */
  workspace_id: string | null;
}

/** An actor in short. */
export interface HolderRow {
  key: number;
  id: string;
  type: ActorType;
  visibility: Visibility;
  workspace_id: string | null;
}

export type ComparedClaim = Pick<ClaimRow, 'property' | 'value' | 'rank' | 'status'>;

const COMPARED: Property[] = ['name', 'place', 'website', 'social', 'email', 'phone', 'identifier', 'issue_area', 'event_start'];

export const insertBlocks = (tx: Tx, rows: BlockRow[]) => bulkInsert(tx, 'directory_blocks', rows);

export async function deleteBlocks(tx: Tx, actorKeys: number[]): Promise<void> {
  for (const some of chunksOf(actorKeys)) await tx('directory_blocks').whereIn('actor_key', some).delete();
}

/** Returns public actors, and the workspace's own, in these blocks. Blocks that more than `most` of them share are left out, at the cost of counting no further. */
export async function actorsInBlocks(reader: Reader, blocks: number[], most: number, workspaceId: string | null): Promise<Omit<BlockRow, 'workspace_id'>[]> {
  const rows: Omit<BlockRow, 'workspace_id'>[] = [];
  const isSeen = (table: string) => (workspaceId === null ? `${table}.workspace_id is null` : `(${table}.workspace_id is null or ${table}.workspace_id = ?)`);
  const own = workspaceId === null ? [] : [workspaceId];
  for (const some of chunksOf(blocks)) {
    rows.push(...await reader
      // Blocks are whole numbers made here, so they need no binding, whose type Postgres would not know.
      .with('wanted', ['block'], reader.raw(`values ${some.map((block) => `(${Math.trunc(block)})`).join(', ')}`))
      .from('wanted').join('directory_blocks', 'directory_blocks.block', 'wanted.block')
      .whereRaw(isSeen('directory_blocks'), own)
      .whereRaw(`(select count(*) from (select 1 from directory_blocks as held where held.block = wanted.block and ${isSeen('held')} limit ?) as few) <= ?`, [...own, most + 1, most])
      .select('directory_blocks.block', 'directory_blocks.actor_key'));
  }
  return rows.map(({ block, actor_key }) => ({ block: Number(block), actor_key: Number(actor_key) }));
}

/** Rows of one statement about these keys, which travel as one parameter. */
async function aboutKeys<Row>(reader: Reader, keys: number[], statement: (among: string) => string): Promise<Row[]> {
  const isSqlite = dialectOf(reader) === 'sqlite';
  const rows: Row[] = [];
  for (const some of chunksOf(keys)) {
    const among = isSqlite ? 'in (select value from json_each(?))' : '= any(?::bigint[])';
    rows.push(...await reader.raw(statement(among), [(isSqlite ? JSON.stringify(some) : some) as never]) as Row[]);
  }
  return rows;
}

export const holdersByKey = (reader: Reader, keys: number[]) => aboutKeys<HolderRow>(reader, keys, (among) => `select key, id, type, visibility, workspace_id from directory_actors where key ${among}`);

/** What is compared of actors, of all the records they are. */
export const comparedClaims = (reader: Reader, actorKeys: number[]) => aboutKeys<ComparedClaim & { actor_key: number; source_key: number }>(reader, actorKeys, (among) => `
  select directory_records.actor_key, source_key, property, value, rank, status from directory_records join directory_claims on directory_claims.record_key = directory_records.key
  where directory_records.actor_key ${among} and property in (${COMPARED.map((property) => `'${property}'`).join(', ')}) order by directory_claims.key`);
