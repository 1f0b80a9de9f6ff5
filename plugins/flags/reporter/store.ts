import { dialectOf, type Language, type Reader, type Tx } from 'civic';
import { createHash } from 'node:crypto';
import type { FlagRow } from '../store.ts';

export interface ReporterRow {
  flag_key: number;
  email: string;
  language: Language;
  created_at: string;
}

export async function insertReporter(tx: Tx, row: ReporterRow): Promise<void> {
  await tx('flags_reporters').insert(row);
}

export async function reporterOf(reader: Reader, flagKey: number): Promise<ReporterRow | undefined> {
  return reader('flags_reporters').where({ flag_key: flagKey }).first();
}

/** Returns the reporters of flags that gave an address, by the key of the flag. */
export async function reportersOf(reader: Reader, flagKeys: number[]): Promise<Map<number, ReporterRow>> {
  const rows: ReporterRow[] = await reader('flags_reporters').whereIn('flag_key', flagKeys);
  return new Map(rows.map((row) => [Number(row.flag_key), row]));
}

export async function deleteReporter(tx: Tx, flagKey: number): Promise<void> {
  await tx('flags_reporters').where({ flag_key: flagKey }).delete();
}

/** Deletes the addresses of reports that were closed before a time, or were sent before another. */
export async function deleteReporters(tx: Tx, { closedBefore, sentBefore }: { closedBefore: string; sentBefore: string }): Promise<number> {
  const closed = tx<FlagRow>('flags_flags').whereIn('status', ['dismissed', 'resolved']).where('decided_at', '<', closedBefore).select('key');
  return tx('flags_reporters').whereIn('flag_key', closed).orWhere('created_at', '<', sentBefore).delete();
}

export function hashOfAddress(email: string): string {
  return createHash('sha256').update(email.toLowerCase()).digest('hex');
}

/** Records a mail to an address unless it had too many. Concurrent transactions wait for each other; SQLite has one writer anyway. */
export async function admitMail(tx: Tx, email: string, at: string, limits: { since: string; most: number }[]): Promise<boolean> {
  const address_hash = hashOfAddress(email);
  if (dialectOf(tx) === 'postgres') await tx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`flags mail ${address_hash}`]);
  for (const { since, most } of limits) {
    const row = await tx('flags_mails').where({ address_hash }).where('at', '>', since).count({ count: '*' }).first();
    if (Number(row!.count) >= most) return false;
  }
  await tx('flags_mails').insert({ address_hash, at });
  return true;
}

export async function deleteMails(tx: Tx, before: string): Promise<void> {
  await tx('flags_mails').where('at', '<', before).delete();
}
