import type { Request } from '@hapi/hapi';
import { problem, type Caller, type Civic } from 'civic';
import { createHash, timingSafeEqual } from 'node:crypto';
import { lastAccessChange } from '../audit/store.ts';
import type { Plans } from '../plans/plans.ts';
import type { WorkspaceRole } from '../types.ts';
import { membershipsOf } from '../workspaces/store.ts';
import { holdsKey, idOf, KEY_START } from './key.ts';
import { withoutKeys } from './keys.ts';
import { keyHolder, markUsed, type KeyHolderRow } from './store.ts';

/** What is known of a key that was right, until something about its owner changes. */
interface Holder {
  key: number;
  hash: Buffer;
  expires: number;
  row: KeyHolderRow;
  /** As which workspace's member the key speaks unless told otherwise. */
  own: string | null;
  roles: Map<string, WorkspaceRole>;
  scope: string[];
  used: number;
}

export interface KeyResolver {
  /** Who sent this request's API key; null when it has none. */
  identify(request: Request): Caller | null | Promise<Caller | null>;
  /** Something changed that what is known may depend on. */
  forget(): void;
  /** Writes down which keys were used lately. */
  flush(): Promise<void>;
  size(): number;
}

export interface ResolverContext {
  civic: Pick<Civic, 'clock'> & { readonly db: Civic['db'] };
  plans: Plans;
}

const MOST = 10_000;
/** So that what another node revoked is known here within a second. */
const LOOK_EVERY_MS = 700;
const USED_EVERY_MS = 60_000;

export function createResolver({ civic, plans }: ResolverContext): KeyResolver {
  const known = new Map<string, Holder>();
  let generation = 0;
  let seen = 0;
  let lookedAt = -Infinity;
  let looking: Promise<void> | null = null;
  const used = new Map<number, true>();

  function forget(): void {
    known.clear();
    generation++;
  }

  /** SQLite belongs to one process, which is told of every change. */
  function isUpToDate(): boolean {
    return civic.db.dialect === 'sqlite' || performance.now() - lookedAt < LOOK_EVERY_MS;
  }

  async function look(): Promise<void> {
    const started = performance.now();
    const last = await lastAccessChange(civic.db.read, seen);
    if (last > seen) {
      seen = last;
      forget();
    }
    lookedAt = started;
  }

  async function load(id: string, hash: Buffer): Promise<Holder> {
    if (!isUpToDate()) await (looking ??= look().finally(() => { looking = null; }));
    const found = known.get(id);
    if (found) return found;
    const before = generation;
    const row = await keyHolder(civic.db.read, id);
    if (!row || !timingSafeEqual(Buffer.from(row.secret_hash, 'hex'), hash)) throw unknown();
    if (row.revoked_at !== null) throw problem('invalid_credentials', { detail: `This key was revoked at ${row.revoked_at}.` });
    if (row.disabled_at !== null) throw problem('invalid_credentials', { detail: 'The account of this key is disabled.' });
    const memberships = await membershipsOf(civic.db.read, row.account_key);
    const holder: Holder = {
      key: row.key, hash, row,
      expires: row.expires_at === null ? Infinity : Date.parse(row.expires_at),
      own: memberships.find(({ key }) => key === row.workspace_key)?.id ?? null,
      roles: new Map(memberships.map((one) => [one.id, one.role])),
      scope: JSON.parse(row.scopes) as string[],
      used: row.last_used_at === null ? 0 : Date.parse(row.last_used_at),
    };
    if (before === generation && holder.expires > civic.clock.now()) keep(id, holder);
    return holder;
  }

  function keep(id: string, holder: Holder): void {
    if (known.size >= MOST) known.delete(known.keys().next().value!);
    known.set(id, holder);
  }

  function callerOf(holder: Holder, hash: Buffer, request: Request): Caller {
    if (!timingSafeEqual(holder.hash, hash)) throw unknown();
    const now = civic.clock.now();
    if (holder.expires <= now) throw problem('invalid_credentials', { detail: `This key expired at ${holder.row.expires_at}.` });
    const plan = plans.current(holder.row, now);
    if (plan.keys === 0) throw withoutKeys(holder.row, plan, plans);
    if (now - holder.used >= USED_EVERY_MS) {
      holder.used = now;
      used.set(holder.key, true);
    }
    const workspace_id = workspaceAsked(holder, request);
    return {
      account_id: holder.row.account_id, via: 'key', scope: holder.scope, role: holder.row.role, plan: plan.name, capabilities: plan.capabilities,
      workspace_id, workspace_role: holder.roles.get(workspace_id)!,
    };
  }

  return {
    identify(request) {
      refuseMisplaced(request);
      const given = request.headers['x-api-key'];
      if (given === undefined) return null;
      const id = idOf(given as string);
      if (id === null) throw problem('invalid_credentials', { detail: 'This is not a whole API key: a character is missing, added or mistyped.' });
      const hash = createHash('sha256').update(given as string).digest();
      const holder = isUpToDate() ? known.get(id) : undefined;
      if (holder) return callerOf(holder, hash, request);
      return load(id, hash).then((loaded) => callerOf(loaded, hash, request));
    },
    forget,
    async flush() {
      if (used.size === 0) return;
      const keys = [...used.keys()];
      used.clear();
      await civic.db.write((tx) => markUsed(tx, keys, civic.clock.iso()));
    },
    size: () => known.size,
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

/** A key anywhere but in its header is about to leak: into logs, or to whoever `Authorization` is meant for. */
function refuseMisplaced({ headers, query }: Request): void {
  const authorization = headers['authorization'] as string | undefined;
  if (authorization?.includes(KEY_START)) throw problem('misplaced_key', { detail: 'An API key goes into the header X-API-Key, not into Authorization.' });
  if (query['api_key'] !== undefined || isKey(query['key']) || Object.values(query).flat().some(holdsKey)) throw problem('misplaced_key', { detail: 'An API key goes into the header X-API-Key, never into an address: those are kept in logs and histories. Revoke this one.' });
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(KEY_START);
}
