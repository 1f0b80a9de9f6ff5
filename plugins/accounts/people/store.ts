import type { Reader, Tx } from 'civic';
import type { InstanceRole } from '../types.ts';

export interface PersonRow {
  key: number;
  id: string;
  name: string;
  email: string | null;
  email_folded: string | null;
  role: InstanceRole;
  plan: string;
  plan_until: string | null;
  created_at: string;
  disabled_at: string | null;
}

export async function insertPerson(tx: Tx, person: Omit<PersonRow, 'key'>): Promise<number> {
  const [row] = (await tx('accounts_people').insert(person).returning('key')) as { key: number }[];
  return Number(row!.key);
}

export async function personById(reader: Reader, id: string): Promise<PersonRow | null> {
  return one(await reader('accounts_people').where({ id: id.toLowerCase() }).first());
}

export async function personByKey(reader: Reader, key: number): Promise<PersonRow | null> {
  return one(await reader('accounts_people').where({ key }).first());
}

/** Somebody as they are now. Whoever else asks this way waits, so that what is counted for them stays true until it is stored. */
export async function lockedPerson(tx: Tx, key: number): Promise<PersonRow> {
  return (await tx('accounts_people').where({ key }).forNoKeyUpdate().first()) as PersonRow;
}

export async function personByEmail(reader: Reader, folded: string): Promise<PersonRow | null> {
  return one(await reader('accounts_people').where({ email_folded: folded }).first());
}

export async function allPeople(reader: Reader): Promise<PersonRow[]> {
  return reader('accounts_people').orderBy('key');
}

/** Accounts in the order they were made, whose name or address holds a text. */
export async function peoplePage(reader: Reader, { query, after, limit }: { query: string; after: number; limit: number }): Promise<PersonRow[]> {
  const page = reader('accounts_people').where('key', '>', after).orderBy('key').limit(limit);
  const like = `%${query.toLowerCase().replace(/[!%_]/g, '!$&')}%`;
  return query === '' ? page : page.whereRaw("(lower(name) like ? escape '!' or email_folded like ? escape '!')", [like, like]);
}

/** Returns the names of accounts by their ids. */
export async function namesById(reader: Reader, ids: string[]): Promise<Map<string, string>> {
  const rows = (await reader('accounts_people').whereIn('id', [...new Set(ids)]).select('id', 'name')) as { id: string; name: string }[];
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export interface AccountTotals {
  accounts: number;
  administrators: number;
  disabled: number;
}

export async function accountTotals(reader: Reader): Promise<AccountTotals> {
  const row = await reader('accounts_people').count({ accounts: '*' })
    .select(reader.raw("sum(case when role = 'admin' and disabled_at is null then 1 else 0 end) as administrators"), reader.raw('sum(case when disabled_at is null then 0 else 1 end) as disabled')).first() as Record<keyof AccountTotals, unknown>;
  return { accounts: Number(row.accounts), administrators: Number(row.administrators ?? 0), disabled: Number(row.disabled ?? 0) };
}

export async function hasPeople(reader: Reader): Promise<boolean> {
  return (await reader('accounts_people').first('key')) !== undefined;
}

export async function enabledAdministrators(reader: Reader): Promise<PersonRow[]> {
  return reader('accounts_people').where({ role: 'admin', disabled_at: null }).orderBy('key');
}

/** Returns the keys of the enabled administrators. Other transactions that call it wait, so that two cannot remove the last two at once. */
export async function lockAdministrators(tx: Tx): Promise<number[]> {
  const rows = (await tx('accounts_people').where({ role: 'admin', disabled_at: null }).orderBy('key').forNoKeyUpdate().select('key')) as { key: number }[];
  return rows.map(({ key }) => Number(key));
}

export async function hasAdministrator(reader: Reader): Promise<boolean> {
  return (await reader('accounts_people').where({ role: 'admin', disabled_at: null }).first('key')) !== undefined;
}

export async function changePerson(tx: Tx, key: number, change: Partial<Pick<PersonRow, 'name' | 'email' | 'email_folded' | 'role' | 'plan' | 'plan_until' | 'disabled_at'>>): Promise<void> {
  await tx('accounts_people').where({ key }).update(change);
}

function one(row: unknown): PersonRow | null {
  return (row as PersonRow | undefined) ?? null;
}
