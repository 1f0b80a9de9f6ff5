import type { Request } from '@hapi/hapi';
import { problem, type Caller, type Civic, type Reader } from 'civic';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Plans } from '../plans/plans.ts';
import type { CredentialCache } from './cache.ts';
import { callerAs, holderOf, type Holder } from './holder.ts';
import { holdsKey, idOf, KEY_START } from './key.ts';
import { withoutKeys } from './keys.ts';
import { keyHolder, markUsed } from './store.ts';

export interface KeyResolver {
  /** Returns the caller of a request with an API key; null for a request without one. */
  identify(request: Request): Caller | null | Promise<Caller | null>;
  /** Returns the caller of a key that identified a request before; null when the key would be rejected now, or its account left the workspace. */
  callerOf(reader: Reader, former: FormerCaller): Promise<Caller | null>;
  /** Stores when keys were last used. */
  flush(): Promise<void>;
  size(): number;
}

/** The identity of a caller, which a stream or ticket keeps after the request: the credential itself is not stored. */
export interface FormerCaller {
  account_id: string;
  credential_id: string;
  workspace_id: string;
}

export interface ResolverContext {
  civic: Pick<Civic, 'clock'> & { readonly db: Civic['db'] };
  plans: Plans;
  /** Valid keys, by id. */
  known: CredentialCache<Holder>;
}

const USED_EVERY_MS = 60_000;

export function createResolver({ civic, plans, known }: ResolverContext): KeyResolver {
  const used = new Map<number, true>();

  async function load(id: string, hash: Buffer): Promise<Holder> {
    const row = await keyHolder(civic.db.read, id);
    if (!row || !timingSafeEqual(Buffer.from(row.secret_hash, 'hex'), hash)) throw unknown();
    if (row.revoked_at !== null) throw problem('invalid_credentials', { detail: `This key was revoked at ${row.revoked_at}.` });
    if (row.disabled_at !== null) throw problem('invalid_credentials', { detail: 'The account of this key is disabled.' });
    return holderOf(civic.db.read, row, hash);
  }

  function callerFor(holder: Holder, hash: Buffer, request: Request): Caller {
    if (!timingSafeEqual(holder.hash, hash)) throw unknown();
    const now = civic.clock.now();
    if (holder.expires <= now) throw problem('invalid_credentials', { detail: `This key expired at ${holder.row.expires_at}.` });
    const plan = plans.current(holder.row, now);
    if (plan.limits['keys'] === 0) throw withoutKeys(holder.row, plan, plans);
    if (now - holder.used >= USED_EVERY_MS) {
      holder.used = now;
      used.set(holder.key, true);
    }
    return callerAs(holder, workspaceAsked(holder, request), plan, now);
  }

  async function callerOf(reader: Reader, { account_id, credential_id, workspace_id }: FormerCaller): Promise<Caller | null> {
    const row = await keyHolder(reader, credential_id);
    if (!row || row.account_id !== account_id || row.revoked_at !== null || row.disabled_at !== null) return null;
    const holder = await holderOf(reader, row, Buffer.from(row.secret_hash, 'hex'));
    const now = civic.clock.now();
    const plan = plans.current(row, now);
    return holder.expires <= now || plan.limits['keys'] === 0 || !holder.roles.has(workspace_id) ? null : callerAs(holder, workspace_id, plan, now);
  }

  return {
    identify(request) {
      rejectMisplaced(request);
      const given = request.headers['x-api-key'];
      if (given === undefined) return null;
      const id = idOf(given as string);
      if (id === null) throw problem('invalid_credentials', { detail: 'This is not a whole API key: a character is missing, added or mistyped.' });
      const hash = createHash('sha256').update(given as string).digest();
      const holder = known.get(id);
      if (holder) return callerFor(holder, hash, request);
      return known.load(id, () => load(id, hash), ({ expires }) => expires > civic.clock.now()).then((loaded) => callerFor(loaded, hash, request));
    },
    callerOf,
    async flush() {
      if (used.size === 0) return;
      const keys = [...used.keys()];
      used.clear();
      await civic.db.write((tx) => markUsed(tx, keys, civic.clock.iso()));
    },
    size: known.size,
  };
}

function unknown(): Error {
  return problem('invalid_credentials', { detail: 'No such API key is known here.' });
}

function workspaceAsked({ roles, own }: Holder, { headers }: Request): string {
  const asked = headers['x-workspace-id'] as string | undefined;
  const id = asked === undefined ? own : asked.toLowerCase();
  if (id !== null && roles.has(id)) return id;
  throw problem('workspace_forbidden', { detail: asked === undefined ? 'The account no longer belongs to the workspace of this key.' : 'You do not belong to the workspace in X-Workspace-ID.' });
}

/** Rejects a key outside its header: keys in addresses end up in logs, and `Authorization` may be meant for another service. */
function rejectMisplaced({ headers, query }: Request): void {
  const authorization = headers['authorization'] as string | undefined;
  if (authorization?.includes(KEY_START)) throw problem('misplaced_key', { detail: 'An API key goes into the header X-API-Key, not into Authorization.' });
  if (query['api_key'] !== undefined || isKey(query['key']) || Object.values(query).flat().some(holdsKey)) throw problem('misplaced_key', { detail: 'An API key goes into the header X-API-Key, never into an address: those are kept in logs and histories. Revoke this one.' });
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(KEY_START);
}
