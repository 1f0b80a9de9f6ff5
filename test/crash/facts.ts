import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { openDatabase, type OpenDatabase } from '../../core/database/connect.ts';
import type { Found, FoundChore, Told } from './compare.ts';

/** What the database holds, read beside the servers. */
export interface Facts {
  notes: Found[];
  log: Told[];
  digest: Told[];
  chores: FoundChore[];
  /** Faults that the database finds in itself. */
  damage: string[];
  /** Chores that two live processes did at once. */
  overlaps: string[];
}

/**
 * Opened for one look only: a connection that stays open over a kill would spare the next server the recovery of the file.
 */
export async function look<T>(url: string | null, dataDir: string, fn: (db: OpenDatabase) => Promise<T>): Promise<T> {
  const db = await openDatabase({ url, dataDir, pool: 2, log: pino({ level: 'silent' }) });
  try {
    return await fn(db);
  } finally {
    await db.close();
  }
}

/** Nothing is left to be told or done. */
export async function isSettled(db: OpenDatabase): Promise<boolean> {
  const waiting = await db.read('core_event_outbox').first('key');
  const head = await db.read('core_event_head').first('last_seq');
  const behind = await db.read('core_event_positions').whereNull('off_at').where('seq', '<', head.last_seq).first('plugin');
  const open = await db.read('core_jobs').where({ name: 'chores.do' }).whereNot({ state: 'completed' }).first('key');
  return !waiting && !behind && !open;
}

export async function readFacts(db: OpenDatabase, dataDir: string): Promise<Facts> {
  const log: { seq: number; payload: string }[] = await db.read('core_event_log').select('seq', 'payload').orderBy('seq');
  const overlaps = join(dataDir, 'chores', 'overlaps');
  return {
    notes: await db.read('notes_notes').select('id', 'text').orderBy('key'),
    log: log.map(({ seq, payload }) => ({ seq, id: JSON.parse(payload).id })),
    digest: await db.read('digest_entries').select('seq', 'text as id').orderBy('key'),
    chores: await db.read('chores_chores').select('id', 'done').select({ runs: db.read('chores_runs').count('*').where('chore', db.read.ref('chores_chores.id')) }),
    damage: await damage(db),
    overlaps: existsSync(overlaps) ? readFileSync(overlaps, 'utf8').trim().split('\n') : [],
  };
}

export async function damage(db: OpenDatabase): Promise<string[]> {
  if (db.dialect === 'postgres') return damageOnPostgres(db);
  const rows: { integrity_check: string }[] = await db.read.raw('pragma integrity_check');
  const orphans: unknown[] = await db.read.raw('pragma foreign_key_check');
  const verdicts = rows.map((row) => row.integrity_check).filter((verdict) => verdict !== 'ok');
  return orphans.length ? [...verdicts, `${orphans.length} rows refer to missing ones`] : verdicts;
}

/** Where the server brings amcheck, every table and index is walked. */
async function damageOnPostgres(db: OpenDatabase): Promise<string[]> {
  const [available] = await db.read.raw("select 1 as yes from pg_available_extensions where name = 'amcheck'");
  if (!available) return [];
  await db.read.raw('create extension if not exists amcheck');
  const found: { name: string; msg: string }[] = await db.read.raw(`
    select relname as name, msg from pg_class, lateral verify_heapam(pg_class.oid)
    where relkind = 'r' and relnamespace = current_schema()::regnamespace`);
  const verdicts = found.map(({ name, msg }) => `${name}: ${msg}`);
  try {
    await db.read.raw(`
      select bt_index_check(pg_class.oid, true) from pg_class join pg_am on pg_am.oid = relam
      where relkind = 'i' and amname = 'btree' and relnamespace = current_schema()::regnamespace`);
  } catch (error) {
    verdicts.push((error as Error).message);
  }
  return verdicts;
}
