import { dialectOf, type Reader, type Tx } from 'civic';
import { chunksOf } from '../chunks.ts';
import type { ClaimStatus, Property } from '../types.ts';
import { groupBy } from './group.ts';
import type { ClaimRow } from './rows.ts';

/** The contacts that a hold hides. */
export const HELD_PROPERTIES: Property[] = ['email', 'phone'];

const SHOWN_STATUSES: ClaimStatus[] = ['active', 'disputed'];

/** An SQL condition on claims: true for those whose source an actor cites. A hold hides claims, but not their sources. */
export const CITING_CLAIM = `(directory_claims.status in ('active', 'disputed')
  or (directory_claims.status = 'hidden' and exists (select 1 from directory_held_claims where directory_held_claims.claim_key = directory_claims.key and directory_held_claims.status in ('active', 'disputed'))))`;

export interface HoldRow {
  key: number;
  id: string;
  record_key: number;
  ends_at: string;
  created_at: string;
}

export interface HeldContactRow {
  contact: string;
  hold_key: number;
}

/** Lets one transaction at a time begin or end holds; SQLite has one writer anyway. */
export async function lockHolds(tx: Tx): Promise<void> {
  if (dialectOf(tx) === 'postgres') await tx.raw("select pg_advisory_xact_lock(hashtextextended('directory holds', 0))");
}

/**
 * Waits for changes of actors that are under way, and makes others wait: each calls `shareChanges` before it reads the holds, so that it sees the hold or is seen by it.
 * A lock of the table would also wait for a vacuum of it.
 */
export async function waitForChanges(tx: Tx): Promise<void> {
  if (dialectOf(tx) === 'postgres') await tx.raw("select pg_advisory_xact_lock(hashtextextended('directory changes', 0))");
}

/** Waits for a hold of contacts that begins, and makes the next one wait for this change; SQLite has one writer anyway. */
export async function shareChanges(tx: Tx): Promise<void> {
  if (dialectOf(tx) === 'postgres') await tx.raw("select pg_advisory_xact_lock_shared(hashtextextended('directory changes', 0))");
}

export async function hasHolds(reader: Reader): Promise<boolean> {
  return await reader('directory_holds').first('key') !== undefined;
}

export async function insertHold(tx: Tx, row: Omit<HoldRow, 'key'>): Promise<HoldRow> {
  const [stored] = await tx('directory_holds').insert(row).returning('*');
  return stored as HoldRow;
}

export async function holdById(reader: Reader, id: string): Promise<HoldRow | undefined> {
  return reader('directory_holds').where({ id }).first();
}

/** Returns the holds of actors: those of any of the records that are one of them. They do not end before the transaction. */
export async function holdsOfActors(tx: Tx, actorKeys: number[]): Promise<(HoldRow & { actor_key: number })[]> {
  const { isAmong, value } = amongValues(tx, actorKeys, 'bigint[]');
  return lockedHolds(tx, tx('directory_holds').join('directory_records', 'directory_records.key', 'directory_holds.record_key')
    .whereRaw(`directory_records.actor_key ${isAmong}`, [value]).orderBy('directory_holds.key').select('directory_holds.*', 'directory_records.actor_key'));
}

/** Returns which of these contacts holds hide, with the people whom the holds are about. The holds do not end before the transaction. */
export async function heldAmongContacts(tx: Tx, contacts: string[]): Promise<(HeldContactRow & { actor_key: number })[]> {
  const { isAmong, value } = amongValues(tx, [...new Set(contacts)], 'text[]');
  return lockedHolds(tx, tx('directory_held_contacts').join('directory_holds', 'directory_holds.key', 'directory_held_contacts.hold_key').join('directory_records', 'directory_records.key', 'directory_holds.record_key')
    .whereRaw(`directory_held_contacts.contact ${isAmong}`, [value]).select('directory_held_contacts.*', 'directory_records.actor_key'));
}

/** A condition for values that travel as one parameter. */
function amongValues(reader: Reader, values: (string | number)[], type: 'bigint[]' | 'text[]'): { isAmong: string; value: never } {
  const isSqlite = dialectOf(reader) === 'sqlite';
  return { isAmong: isSqlite ? 'in (select value from json_each(?))' : `= any(?::${type})`, value: (isSqlite ? JSON.stringify(values) : values) as never };
}

function lockedHolds<Query extends ReturnType<Tx>>(tx: Tx, query: Query): Query {
  return dialectOf(tx) === 'postgres' ? query.forKeyShare('directory_holds') as Query : query;
}

/** Returns holds whose time is over, and those that began after `begunBefore`, when the clock was wrong: they would last too long. */
export async function dueHolds(reader: Reader, { now, begunBefore }: { now: string; begunBefore: string }, { after, limit }: { after: number; limit: number }): Promise<HoldRow[]> {
  return reader('directory_holds').where((due) => due.where('ends_at', '<=', now).orWhere('created_at', '>', begunBefore)).where('key', '>', after).orderBy('key').limit(limit);
}

/** Returns holds that hide no contact of other people: many share each, or a node of an older version began the hold. */
export async function holdsWithoutContacts(reader: Reader, { after, limit }: { after: number; limit: number }): Promise<HoldRow[]> {
  return reader('directory_holds').whereNotExists(reader('directory_held_contacts').whereRaw('directory_held_contacts.hold_key = directory_holds.key').select(reader.raw('1')))
    .where('key', '>', after).orderBy('key').limit(limit);
}

export async function holdsOfRecords(tx: Tx, recordKeys: number[]): Promise<HoldRow[]> {
  return tx('directory_holds').whereIn('record_key', recordKeys).orderBy('key');
}

export async function contactsOfHolds(reader: Reader, holdKeys: number[]): Promise<HeldContactRow[]> {
  return reader('directory_held_contacts').whereIn('hold_key', [...new Set(holdKeys)]);
}

export async function addContact(tx: Tx, row: HeldContactRow): Promise<void> {
  await tx('directory_held_contacts').insert(row);
}

export async function removeContact(tx: Tx, { contact, hold_key }: HeldContactRow): Promise<void> {
  await tx('directory_held_contacts').where({ contact, hold_key }).delete();
}

/** Returns the claims that the holds of a contact hide, also claims of other contacts, with the status that they have without a hold. */
export async function claimsHeldWith(reader: Reader, contact: string): Promise<(Pick<ClaimRow, 'key' | 'property' | 'value' | 'status'> & { actor_key: number })[]> {
  return reader('directory_held_contacts').join('directory_held_claims', 'directory_held_claims.hold_key', 'directory_held_contacts.hold_key')
    .join('directory_claims', 'directory_claims.key', 'directory_held_claims.claim_key').join('directory_records', 'directory_records.key', 'directory_claims.record_key')
    .where({ contact }).distinct('directory_claims.key', 'directory_claims.property', 'directory_claims.value', 'directory_held_claims.status', 'directory_records.actor_key');
}

/** Returns keys of public people by a blocking key. */
export async function peopleInBlock(reader: Reader, block: number, limit: number): Promise<number[]> {
  const rows = await reader('directory_blocks').join('directory_actors', 'directory_actors.key', 'directory_blocks.actor_key')
    .where({ block, visibility: 'public', type: 'person' }).limit(limit).select('actor_key');
  return rows.map(({ actor_key }) => Number(actor_key));
}

/** Returns the status that held claims get back, by claim. */
async function heldStatuses(reader: Reader, claims: Pick<ClaimRow, 'key' | 'status'>[]): Promise<Map<number, ClaimStatus>> {
  const statuses = new Map<number, ClaimStatus>();
  for (const keys of chunksOf(claims.filter(({ status }) => status === 'hidden').map(({ key }) => key))) {
    for (const { claim_key, status } of await reader('directory_held_claims').whereIn('claim_key', keys)) statuses.set(Number(claim_key), status);
  }
  return statuses;
}

/** Returns which of these claims would be shown without a hold. */
export async function heldAmong(reader: Reader, claims: Pick<ClaimRow, 'key' | 'status'>[]): Promise<Set<number>> {
  return new Set([...await heldStatuses(reader, claims)].filter(([, status]) => SHOWN_STATUSES.includes(status)).map(([key]) => key));
}

/** Returns the claims with the status that they have without a hold. */
export async function withoutHolds(reader: Reader, claims: ClaimRow[]): Promise<ClaimRow[]> {
  const statuses = await heldStatuses(reader, claims);
  return claims.map((claim) => (statuses.has(claim.key) ? { ...claim, status: statuses.get(claim.key)! } : claim));
}

/** Deletes that claims of these records are held, by whichever hold. */
export async function forgetHeldClaims(tx: Tx, recordKeys: number[]): Promise<void> {
  await tx('directory_held_claims').whereIn('claim_key', tx('directory_claims').whereIn('record_key', recordKeys).select('key')).delete();
}

/** Deletes that these claims are held. */
export async function forgetHeld(tx: Tx, claimKeys: number[]): Promise<void> {
  for (const keys of chunksOf(claimKeys)) await tx('directory_held_claims').whereIn('claim_key', keys).delete();
}

/** Hides claims, and records the status that they get back. */
export async function hideClaims(tx: Tx, claims: (Pick<ClaimRow, 'key' | 'status'> & { hold_key: number })[]): Promise<void> {
  for (const some of chunksOf(claims)) {
    // An import can have shown a held claim again.
    await tx('directory_held_claims').insert(some.map(({ key, status, hold_key }) => ({ claim_key: key, hold_key, status }))).onConflict('claim_key').merge();
    await tx('directory_claims').whereIn('key', some.map(({ key }) => key)).update({ status: 'hidden' });
  }
}

/** Gives held claims their status back unless it was changed since. */
export async function showClaims(tx: Tx, claimKeys: number[]): Promise<void> {
  for (const some of chunksOf(claimKeys)) {
    const held: { claim_key: number; status: ClaimStatus }[] = await tx('directory_held_claims').whereIn('claim_key', some);
    for (const [status, claims] of groupBy(held, (claim) => claim.status)) {
      await tx('directory_claims').whereIn('key', claims.map(({ claim_key }) => claim_key)).where({ status: 'hidden' }).update({ status });
    }
    await tx('directory_held_claims').whereIn('claim_key', some).delete();
  }
}

/** Returns the keys of the record that a hold is about, and of the records whose claims it hides. */
export async function recordsOfHold(reader: Reader, hold: HoldRow): Promise<number[]> {
  const held = await reader('directory_held_claims').join('directory_claims', 'directory_claims.key', 'directory_held_claims.claim_key').where({ hold_key: hold.key }).distinct().pluck('record_key');
  return [hold.record_key, ...held.map(Number)];
}

/** Deletes a hold, and gives its claims their status back unless it was changed since. Returns the keys of their records; none when the hold had ended. */
export async function deleteHold(tx: Tx, hold: HoldRow): Promise<number[]> {
  if (!await tx('directory_holds').where({ key: hold.key }).forUpdate().first('key')) return [];
  const records = await recordsOfHold(tx, hold);
  await showClaims(tx, await tx('directory_held_claims').where({ hold_key: hold.key }).pluck('claim_key'));
  await tx('directory_held_contacts').where({ hold_key: hold.key }).delete();
  await tx('directory_holds').where({ key: hold.key }).delete();
  return records;
}

/** Returns the claims of these actors that would be shown without a hold. */
export async function heldClaims(reader: Reader, actorKeys: number[]): Promise<(ClaimRow & { actor_key: number; ends_at: string })[]> {
  return reader('directory_held_claims').join('directory_holds', 'directory_holds.key', 'directory_held_claims.hold_key')
    .join('directory_claims', 'directory_claims.key', 'directory_held_claims.claim_key').join('directory_records', 'directory_records.key', 'directory_claims.record_key')
    .whereIn('directory_records.actor_key', actorKeys).where('directory_claims.status', 'hidden').whereIn('directory_held_claims.status', SHOWN_STATUSES).orderBy('directory_claims.key')
    .select('directory_claims.*', 'directory_records.actor_key', 'directory_holds.ends_at');
}

/** Returns the keys of all actors that have held claims. */
export async function actorsWithHeldClaims(reader: Reader): Promise<number[]> {
  const keys = await reader('directory_held_claims').join('directory_claims', 'directory_claims.key', 'directory_held_claims.claim_key')
    .join('directory_records', 'directory_records.key', 'directory_claims.record_key').distinct().pluck('actor_key');
  return keys.map(Number);
}
