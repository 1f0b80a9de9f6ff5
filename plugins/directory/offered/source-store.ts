import type { Reader } from 'civic';
import type { ClaimRow } from '../ledger/rows.ts';

const CITING = `from directory_claims join directory_records on directory_records.key = directory_claims.record_key
  where directory_claims.source_key = ? and directory_claims.status in ('active', 'disputed') and directory_records.deleted_at is null and directory_records.visibility = 'public'`;

/** Returns the keys of public records that cite a source, in their order. */
export async function publicRecordsCiting(reader: Reader, sourceKey: number, after: number, limit: number): Promise<number[]> {
  const rows: { record_key: number }[] = await reader.raw(`select distinct directory_claims.record_key ${CITING} and directory_claims.record_key > ? order by directory_claims.record_key limit ?`, [sourceKey, after, limit]);
  return rows.map(({ record_key: key }) => Number(key));
}

/** Counts the public records that cite a source, up to `most`: a register may be cited by all of them. */
export async function countPublicRecordsCiting(reader: Reader, sourceKey: number, most: number): Promise<number> {
  const rows: { total: number }[] = await reader.raw(`select count(*) as total from (select distinct directory_claims.record_key ${CITING} limit ?) as citing`, [sourceKey, most]);
  return Number(rows[0]!.total);
}

/** Returns the shown claims that records take from a source, with the key of their actor. */
export async function claimsFromSource(reader: Reader, sourceKey: number, recordKeys: number[]): Promise<(ClaimRow & { actor_key: number })[]> {
  return reader('directory_claims').join('directory_records', 'directory_records.key', 'directory_claims.record_key')
    .where('directory_claims.source_key', sourceKey).whereIn('directory_claims.record_key', recordKeys).whereIn('directory_claims.status', ['active', 'disputed'])
    .orderBy(['directory_claims.record_key', 'directory_claims.key']).select('directory_claims.*', 'directory_records.actor_key');
}
