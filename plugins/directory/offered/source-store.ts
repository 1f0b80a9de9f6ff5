import type { Reader } from 'civic';
import type { CitedSource } from '../actors/read-store.ts';
import { CITING_CLAIM } from '../ledger/holds-store.ts';
import type { ClaimRow } from '../ledger/rows.ts';
import type { HiddenField } from '../policy/fields.ts';
import { shownSql } from '../policy/store.ts';

const citing = (hidden: HiddenField[]): string => `from directory_claims join directory_records on directory_records.key = directory_claims.record_key
  where directory_claims.source_key = ? and ${CITING_CLAIM} and directory_records.deleted_at is null and directory_records.visibility = 'public' ${shownSql(hidden)}`;

/** Returns the keys of public records that cite a source, in their order. */
export async function publicRecordsCiting(reader: Reader, { key, hidden }: CitedSource, after: number, limit: number): Promise<number[]> {
  const rows: { record_key: number }[] = await reader.raw(`select distinct directory_claims.record_key ${citing(hidden)} and directory_claims.record_key > ? order by directory_claims.record_key limit ?`, [key, after, limit]);
  return rows.map(({ record_key }) => Number(record_key));
}

/** Counts the public records that cite a source, up to `most`: a register may be cited by all of them. */
export async function countPublicRecordsCiting(reader: Reader, { key, hidden }: CitedSource, most: number): Promise<number> {
  const rows: { total: number }[] = await reader.raw(`select count(*) as total from (select distinct directory_claims.record_key ${citing(hidden)} limit ?) as citing`, [key, most]);
  return Number(rows[0]!.total);
}

/** Returns the shown claims that records take from a source, with the key of their actor. */
export async function claimsFromSource(reader: Reader, { key, hidden }: CitedSource, recordKeys: number[]): Promise<(ClaimRow & { actor_key: number })[]> {
  return reader('directory_claims').join('directory_records', 'directory_records.key', 'directory_claims.record_key')
    .where('directory_claims.source_key', key).whereIn('directory_claims.record_key', recordKeys).whereIn('directory_claims.status', ['active', 'disputed']).whereRaw(`true ${shownSql(hidden)}`)
    .orderBy(['directory_claims.record_key', 'directory_claims.key']).select('directory_claims.*', 'directory_records.actor_key');
}
