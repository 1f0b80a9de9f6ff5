import { dialectOf, type Reader, type Tx } from 'civic';
import { chunksOf } from '../chunks.ts';
import type { ActorType, ClaimStatus, Property } from '../types.ts';
import type { ClaimRow } from './rows.ts';

/** The contacts that a hold hides. */
export const HELD_PROPERTIES: Property[] = ['email', 'phone'];

/** An SQL condition on claims: true for those whose source an actor cites. A hold hides claims, but not their sources. */
export const CITING_CLAIM = `(directory_claims.status in ('active', 'disputed')
  or (directory_claims.status = 'hidden' and exists (select 1 from directory_held_claims where directory_held_claims.claim_key = directory_claims.key)))`;

export interface HoldRow {
  key: number;
  id: string;
  record_key: number;
  ends_at: string;
  created_at: string;
}

export async function insertHold(tx: Tx, row: Omit<HoldRow, 'key'>): Promise<HoldRow> {
  const [stored] = await tx('directory_holds').insert(row).returning('*');
  return stored as HoldRow;
}

export async function holdById(tx: Tx, id: string): Promise<HoldRow | undefined> {
  return tx('directory_holds').where({ id }).first();
}

/** Returns the holds of actors: those of any of the records that are one of them. */
export async function holdsOfActors(reader: Reader, actorKeys: number[]): Promise<(HoldRow & { actor_key: number })[]> {
  const isSqlite = dialectOf(reader) === 'sqlite';
  return reader('directory_holds').join('directory_records', 'directory_records.key', 'directory_holds.record_key')
    .whereRaw(`directory_records.actor_key ${isSqlite ? 'in (select value from json_each(?))' : '= any(?::bigint[])'}`, [(isSqlite ? JSON.stringify(actorKeys) : actorKeys) as never])
    .orderBy('directory_holds.key').select('directory_holds.*', 'directory_records.actor_key');
}

/** Returns holds whose time is over, and those that began after `begunBefore`, when the clock was wrong: they would last too long. */
export async function dueHolds(reader: Reader, { now, begunBefore }: { now: string; begunBefore: string }, limit: number): Promise<HoldRow[]> {
  return reader('directory_holds').where('ends_at', '<=', now).orWhere('created_at', '>', begunBefore).orderBy('ends_at').limit(limit);
}

export async function holdsOfRecords(tx: Tx, recordKeys: number[]): Promise<HoldRow[]> {
  return tx('directory_holds').whereIn('record_key', recordKeys).orderBy('key');
}

/** Returns which of these claims a hold hides. */
export async function heldAmong(reader: Reader, claims: Pick<ClaimRow, 'key' | 'status'>[]): Promise<Set<number>> {
  const held = new Set<number>();
  for (const keys of chunksOf(claims.filter(({ status }) => status === 'hidden').map(({ key }) => key))) {
    for (const key of await reader('directory_held_claims').whereIn('claim_key', keys).pluck('claim_key')) held.add(Number(key));
  }
  return held;
}

/** Deletes that claims of these records are held, by whichever hold. */
export async function forgetHeldClaims(tx: Tx, recordKeys: number[]): Promise<void> {
  await tx('directory_held_claims').whereIn('claim_key', tx('directory_claims').whereIn('record_key', recordKeys).select('key')).delete();
}

/** Hides the shown contacts of actors that have a hold, and records their status. */
export async function hideContacts(tx: Tx, hold: HoldRow & { actor_key: number }): Promise<number> {
  const claims: Pick<ClaimRow, 'key' | 'status'>[] = await tx('directory_claims').whereIn('record_key', tx('directory_records').where({ actor_key: hold.actor_key }).select('key'))
    .whereIn('property', HELD_PROPERTIES).whereIn('status', ['active', 'disputed']).select('key', 'status');
  await hideClaims(tx, claims.map((claim) => ({ ...claim, hold_key: hold.key })));
  return claims.length;
}

export async function hideClaims(tx: Tx, claims: (Pick<ClaimRow, 'key' | 'status'> & { hold_key: number })[]): Promise<void> {
  for (const some of chunksOf(claims)) {
    // An import can have shown a held claim again.
    await tx('directory_held_claims').insert(some.map(({ key, status, hold_key }) => ({ claim_key: key, hold_key, status }))).onConflict('claim_key').merge();
    await tx('directory_claims').whereIn('key', some.map(({ key }) => key)).update({ status: 'hidden' });
  }
}

/** Returns the contacts that holds hide. */
export async function heldContacts(reader: Reader): Promise<(Pick<ClaimRow, 'property' | 'value'> & { hold_key: number })[]> {
  return reader('directory_held_claims').join('directory_claims', 'directory_claims.key', 'directory_held_claims.claim_key').where('directory_claims.status', 'hidden')
    .select('directory_claims.property', 'directory_claims.value', 'directory_held_claims.hold_key');
}

/** Deletes a hold, and gives its claims their status back unless it was changed since. Returns the keys of their records. */
export async function deleteHold(tx: Tx, hold: HoldRow): Promise<number[]> {
  const held: { claim_key: number; status: ClaimStatus; record_key: number }[] = await tx('directory_held_claims').join('directory_claims', 'directory_claims.key', 'directory_held_claims.claim_key')
    .where({ hold_key: hold.key }).select('claim_key', 'directory_held_claims.status', 'record_key');
  for (const status of new Set(held.map((claim) => claim.status))) {
    const keys = held.filter((claim) => claim.status === status).map(({ claim_key }) => claim_key);
    await tx('directory_claims').whereIn('key', keys).where({ status: 'hidden' }).update({ status });
  }
  await tx('directory_held_claims').where({ hold_key: hold.key }).delete();
  await tx('directory_holds').where({ key: hold.key }).delete();
  return [...new Set([hold.record_key, ...held.map(({ record_key }) => record_key)])];
}

/** Returns the claims that holds of these actors hide. */
export async function heldClaims(reader: Reader, actorKeys: number[]): Promise<(ClaimRow & { actor_key: number; ends_at: string })[]> {
  return reader('directory_held_claims').join('directory_holds', 'directory_holds.key', 'directory_held_claims.hold_key')
    .join('directory_claims', 'directory_claims.key', 'directory_held_claims.claim_key').join('directory_records', 'directory_records.key', 'directory_claims.record_key')
    .whereIn('directory_records.actor_key', actorKeys).where('directory_claims.status', 'hidden').orderBy('directory_claims.key')
    .select('directory_claims.*', 'directory_records.actor_key', 'directory_holds.ends_at');
}

export async function typeOfActor(reader: Reader, key: number): Promise<ActorType | undefined> {
  return (await reader('directory_actors').where({ key }).first('type'))?.type;
}
