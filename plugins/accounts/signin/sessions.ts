import type { Request, ResponseObject } from '@hapi/hapi';
import { addressGroup, bindForms, clientAddressOf, newId, type Caller, type Civic, type Reader, type Tx } from 'civic';
import type { AuditEntry } from '../audit/store.ts';
import type { AccountsConfig } from '../config.ts';
import { firstEnd, endOf } from '../dates.ts';
import type { AccessChanged } from '../events.ts';
import type { Notify } from '../notices/notices.ts';
import { deleteEmailChange } from '../people/email-store.ts';
import { personByKey, type PersonRow } from '../people/store.ts';
import type { Plans } from '../plans/plans.ts';
import type { Scopes } from '../plans/scopes.ts';
import { hashOf, newSecret } from '../secrets.ts';
import type { Doer } from '../types.ts';
import { membershipsOf, type MembershipRow } from '../workspaces/store.ts';
import { sessionCookie } from './cookie.ts';
import type { RelyingParty } from './party.ts';
import { deviceOf } from '../settings/device.ts';
import { chooseWorkspace, devicesOf, endSessions, insertSession, markConfirmed, markSeen, openSession, openSessionsOf, type MadeBy, type SessionRow } from './sessions-store.ts';

/** Who reads our pages, by their cookie. */
export interface Visit {
  session: SessionRow;
  person: PersonRow;
  memberships: MembershipRow[];
  /** The one they chose, or their own. */
  workspace: MembershipRow | null;
  /** False when they came by link or code and must add a passkey first. */
  isFull: boolean;
}

export interface SessionsContext {
  civic: Pick<Civic<AccountsConfig>, 'clock' | 'config' | 'instance'> & { readonly db: Civic['db'] };
  plans: Plans;
  scopes: Scopes;
  party: RelyingParty;
  record(tx: Tx, entry: AuditEntry): Promise<void>;
  accessChanged(tx: Tx, change: AccessChanged): Promise<void>;
  notify: Notify;
}

export interface Sessions {
  identify(request: Request): Promise<Caller | null>;
  /** Who reads, once `identify` has run; also somebody who may only add a passkey. */
  visitOf(request: Request): Visit | null;
  /** Begins a session and ends the one the browser had; the secret goes into its cookie. */
  begin(tx: Tx, request: Request, person: PersonRow, madeBy: MadeBy): Promise<string>;
  /** Whether the account proved who it is within the last minutes, and not before `since`, in milliseconds. */
  isRecent(visit: Visit, since?: number): boolean;
  /** Records that the account just proved who it is. */
  confirm(request: Request, visit: Visit): Promise<void>;
  list(reader: Reader, person: PersonRow): Promise<SessionRow[]>;
  /** Ends one session of somebody, or all. */
  end(tx: Tx, person: PersonRow, by: Doer, id?: string): Promise<number>;
  choose(tx: Tx, visit: Visit, workspace: MembershipRow): Promise<void>;
  /** Gives the browser its cookie, or takes it away. */
  keep(response: ResponseObject, secret: string | null): ResponseObject;
}

const DAY = 86_400_000;
const SEEN_EVERY_MS = 5 * 60_000;
/** How long a proof of identity counts for changes of credentials. */
export const RECENT_MINUTES = 10;
const RECENT_MS = RECENT_MINUTES * 60_000;
const MOST_AGENT = 300;

export function createSessions({ civic, plans, scopes, party, record, accessChanged, notify }: SessionsContext): Sessions {
  const { clock, config } = civic;
  const cookie = sessionCookie(civic.instance.public_url);
  const visits = new WeakMap<Request, Visit>();
  const lastDay = (): string => new Date(clock.now() - config.session_days * DAY).toISOString();
  const isFull = (madeBy: MadeBy): boolean => madeBy === 'passkey' || !party.works;

  async function visit(secret: string): Promise<Visit | null> {
    const session = await openSession(civic.db.read, hashOf(secret), clock.iso(), lastDay());
    const person = session && await personByKey(civic.db.read, session.account_key);
    if (!person || person.disabled_at !== null) return null;
    const memberships = await membershipsOf(civic.db.read, person.key);
    const workspace = memberships.find(({ key }) => key === session.workspace_key) ?? memberships[0] ?? null;
    if (clock.now() - Date.parse(session.seen_at) > SEEN_EVERY_MS) await civic.db.write((tx) => markSeen(tx, session.key, clock.iso()));
    return { session, person, memberships, workspace, isFull: isFull(session.made_by) };
  }

  async function end(tx: Tx, person: PersonRow, by: Doer, id?: string): Promise<number> {
    const ended = await endSessions(tx, person.key, clock.iso(), id);
    // Signing out everywhere shuts out an intruder, who may have requested another e-mail address as well.
    if (id === undefined) await deleteEmailChange(tx, person.key);
    for (const session_id of ended) {
      await record(tx, { kind: 'session_ended', by, subject: session_id, detail: { account_id: person.id } });
      await accessChanged(tx, { account_id: person.id, what: 'session_ended', session_id });
    }
    return ended.length;
  }

  /** The first sign-in of an account creates no notice. */
  async function notifyOfDevice(tx: Tx, person: PersonRow, madeBy: MadeBy, { agent, address }: { agent: string | null; address: string }, by: Doer): Promise<void> {
    const known = await devicesOf(tx, person.key);
    const isKnown = known.some((one) => one.agent === agent && one.address !== null && addressGroup(one.address) === addressGroup(address));
    if (known.length === 0 || (isKnown && madeBy === 'passkey')) return;
    await notify(tx, person, { kind: ({ passkey: 'signed_in', link: 'link_used', code: 'code_used' } as const)[madeBy], detail: { ...deviceOf(agent) } }, by);
  }

  return {
    async identify(request) {
      const secret = cookie.read(request);
      // Core takes no session there, so nobody needs to be looked up.
      if (secret === null || request.path.startsWith('/api/') || request.path.startsWith('/assets/')) return null;
      const found = await visit(secret);
      if (!found) return null;
      visits.set(request, found);
      bindForms(request, secret);
      return found.isFull ? callerOf(found, { plans, scopes }, clock.now()) : null;
    },
    visitOf: (request) => visits.get(request) ?? null,
    async begin(tx, request, person, madeBy) {
      const before = visits.get(request);
      if (before) await end(tx, before.person, doerOf(request, before.person.id), before.session.id);
      const secret = newSecret();
      const id = newId(clock.now());
      const lasts = isFull(madeBy) ? config.session_most_days * DAY : RECENT_MS;
      const [agent, address] = [String(request.headers['user-agent'] ?? '').slice(0, MOST_AGENT) || null, clientAddressOf(request)];
      await notifyOfDevice(tx, person, madeBy, { agent, address }, doerOf(request, person.id));
      await insertSession(tx, {
        id, account_key: person.key, secret_hash: hashOf(secret), made_by: madeBy, created_at: clock.iso(), seen_at: clock.iso(),
        expires_at: new Date(clock.now() + lasts).toISOString(), ended_at: null, address, agent, confirmed_at: clock.iso(), workspace_key: before?.person.key === person.key ? before.session.workspace_key : null,
      });
      await record(tx, { kind: 'signed_in', by: doerOf(request, person.id), subject: id, detail: { by: madeBy } });
      return secret;
    },
    isRecent({ session }, since = 0) {
      const at = authenticatedAt(session);
      // A time in the future means that the clock was set back; it is not a proof.
      const age = clock.now() - at;
      return age >= 0 && age < RECENT_MS && at >= since;
    },
    async confirm(request, { session, person }) {
      session.confirmed_at = clock.iso();
      await civic.db.write(async (tx) => {
        await markConfirmed(tx, session.key, clock.iso());
        await record(tx, { kind: 'identity_confirmed', by: doerOf(request, person.id), subject: session.id });
      });
    },
    list: (reader, person) => openSessionsOf(reader, person.key, clock.iso(), lastDay()),
    end,
    async choose(tx, { session, person }, workspace) {
      await chooseWorkspace(tx, session.key, workspace.key);
      await record(tx, { kind: 'workspace_chosen', by: { account_id: person.id, address: null }, subject: session.id, workspace_id: workspace.id });
    },
    keep: (response, secret) => (secret === null ? cookie.clear(response) : cookie.set(response, secret, config.session_most_days * 86_400)),
  };
}

function callerOf({ session, person, workspace }: Visit, { plans, scopes }: Pick<SessionsContext, 'plans' | 'scopes'>, now: number): Caller {
  const plan = plans.current(person, now);
  return {
    account_id: person.id, via: 'session', scope: scopes.usual(plan, person.role), role: person.role, plan: plan.name, capabilities: plan.capabilities,
    workspace_id: workspace?.id ?? null, workspace_role: workspace?.role ?? null,
    credential_id: session.id, valid_until: firstEnd(endOf(session.expires_at), endOf(person.plan_until), now),
  };
}

/** Returns when the account last proved who it is in a session, in milliseconds; 0 in sessions from before this was stored. */
export function authenticatedAt({ confirmed_at }: SessionRow): number {
  return confirmed_at === null ? 0 : Date.parse(confirmed_at);
}

/** Who does something by a page, for the record. */
export function doerOf(request: Request, accountId: string | null): Doer {
  return { account_id: accountId, address: clientAddressOf(request), language: request.civic.language };
}
