import { problem, type Civic, type Reader, type Tx } from 'civic';
import type { AccessChanged } from '../events.ts';
import type { AuditEntry } from '../audit/store.ts';
import type { Notify } from '../notices/notices.ts';
import { lockedPerson, personById, type PersonRow } from '../people/store.ts';
import type { Plan, Plans } from '../plans/plans.ts';
import type { Scopes } from '../plans/scopes.ts';
import { hashOf } from '../secrets.ts';
import { OPERATOR, type Doer } from '../types.ts';
import { membershipsOf, type MembershipRow } from '../workspaces/store.ts';
import { newKey } from './key.ts';
import { countUsableKeys, insertKey, keyHolder, listedKeys, markRevoked, type ListedKeyRow } from './store.ts';

export interface NewKey {
  name: string;
  /** Left out: all that the plan and the role allow, except those that are given on request only. */
  scopes?: string[];
  expires_at?: string | null;
  /** Left out: the only workspace the account belongs to. */
  workspace_id?: string;
}

/** A key in responses and lists, without its secret. */
export interface ShownKey {
  id: string;
  name: string;
  account_id: string;
  workspace_id: string;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

/** A key in a list, with its account. */
export interface ListedKey extends ShownKey {
  account_name: string;
  account_email: string | null;
}

export interface CreatedKey extends ShownKey {
  /** The whole key, this once. */
  key: string;
}

export interface Keys {
  create(tx: Tx, person: PersonRow, key: NewKey, by?: Doer): Promise<CreatedKey>;
  /** Revokes a key; returns null when no key of the account has that id. */
  revoke(tx: Tx, id: string, by?: Doer, accountId?: string): Promise<ShownKey | null>;
  list(reader: Reader, accountKey: number | null): Promise<ListedKey[]>;
}

export interface KeysContext {
  civic: Pick<Civic, 'clock'>;
  plans: Plans;
  scopes: Scopes;
  record(tx: Tx, entry: AuditEntry): Promise<void>;
  accessChanged(tx: Tx, change: AccessChanged): Promise<void>;
  notify: Notify;
}

export function createKeys({ civic: { clock }, plans, scopes: known, record, accessChanged, notify }: KeysContext): Keys {
  return {
    async create(tx, { key: accountKey }, { name, scopes, expires_at = null, workspace_id }, by = OPERATOR) {
      const person = await lockedPerson(tx, accountKey);
      const plan = plans.current(person, clock.now());
      await checkRoom(tx, person, plan, plans, clock.iso());
      const granted = scopes === undefined ? known.usual(plan, person.role) : checkedScopes(scopes, known, plan, person);
      const workspace = chosenWorkspace(await membershipsOf(tx, person.key), workspace_id);
      const { id, key } = newKey();
      const shown = { id, name, created_at: clock.iso(), expires_at, revoked_at: null, last_used_at: null };
      await insertKey(tx, { ...shown, account_key: person.key, workspace_key: workspace.key, secret_hash: hashOf(key), scopes: JSON.stringify(granted) });
      await record(tx, { kind: 'key_made', by, subject: id, workspace_id: workspace.id, detail: { account_id: person.id, name, scopes: granted, expires_at } });
      await notify(tx, person, { kind: 'key_made', detail: { name } }, by);
      return { ...shown, key, account_id: person.id, workspace_id: workspace.id, scopes: granted };
    },
    async revoke(tx, id, by = OPERATOR, accountId) {
      const row = await keyHolder(tx, id);
      if (!row || (accountId !== undefined && row.account_id !== accountId)) return null;
      const shown = (await listedKeys(tx, row.account_key)).find((one) => one.id === id)!;
      if (row.revoked_at !== null) return shownKey(shown);
      await markRevoked(tx, row.key, clock.iso());
      await record(tx, { kind: 'key_revoked', by, subject: id, workspace_id: shown.workspace_id, detail: { account_id: row.account_id, name: row.name } });
      await accessChanged(tx, { account_id: row.account_id, what: 'key_revoked', key_id: id });
      return { ...shownKey(shown), revoked_at: clock.iso() };
    },
    list: async (reader, accountKey) => (await listedKeys(reader, accountKey)).map((row) => ({ ...shownKey(row), account_name: row.account_name, account_email: row.email })),
  };
}

function shownKey({ id, name, account_id, workspace_id, scopes, created_at, expires_at, revoked_at, last_used_at }: ListedKeyRow): ShownKey {
  return { id, name, account_id, workspace_id, scopes: JSON.parse(scopes) as string[], created_at, expires_at, revoked_at, last_used_at };
}

async function checkRoom(tx: Tx, person: PersonRow, plan: Plan, plans: Plans, now: string): Promise<void> {
  const most = plan.limits['keys']!;
  if (most === 0) throw withoutKeys(person, plan, plans);
  const used = await countUsableKeys(tx, person.key, now);
  if (used >= most) throw problem('key_limit', { detail: `The plan ${plan.name} has ${most === 1 ? 'one key, and it is' : `${most} keys, and all are`} in use.` });
}

/** Returns how many keys of an account can be used. */
export async function usableKeys(reader: Reader, accountId: string, now: string): Promise<number> {
  const person = await personById(reader, accountId);
  return person ? countUsableKeys(reader, person.key, now) : 0;
}

/** Returns the problem of a key whose account has a plan without API keys. */
export function withoutKeys(held: { plan: string; plan_until: string | null }, current: Plan, plans: Plans): Error {
  const enough = plans.including('api_keys');
  const why = held.plan === current.name || held.plan_until === null ? `The plan ${current.name} has no API keys.` : `The plan ${held.plan} ended at ${held.plan_until}, and ${current.name} has no API keys.`;
  return problem('plan_required', { detail: `${why} Plans that do: ${enough.join(', ')}.`, extra: { plans: enough } });
}

function checkedScopes(scopes: string[], known: Scopes, plan: Plan, person: PersonRow): string[] {
  const allowed = known.allowed(plan, person.role);
  const refused = scopes.filter((scope) => !allowed.includes(scope));
  if (refused.length > 0) {
    const detail = `a key on the plan ${plan.name} with the role ${person.role} cannot have ${refused.join(', ')}; it can have ${allowed.join(', ')}`;
    throw problem('invalid_request', { detail: `scopes: ${detail}.`, errors: [{ pointer: '/scopes', detail }] });
  }
  return [...new Set(scopes)];
}

/** Who belongs to one workspace is bound to it; others choose. */
function chosenWorkspace(memberships: MembershipRow[], asked: string | undefined): MembershipRow {
  if (asked === undefined && memberships.length === 1) return memberships[0]!;
  const found = memberships.find(({ id }) => id === asked?.toLowerCase());
  if (found) return found;
  const detail = `choose one of ${memberships.map(({ id, name }) => `${id} (${name})`).join(', ')}`;
  throw problem('invalid_request', { detail: `workspace_id: ${detail}.`, errors: [{ pointer: '/workspace_id', detail }] });
}
