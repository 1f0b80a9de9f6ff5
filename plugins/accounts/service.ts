import { afterCommit, type Caller, type Civic, type Language, type Reader, type Tx } from 'civic';
import { createSeals, sealedWith, type Seals } from './audit/seal.ts';
import { createIncidents, type RecordIncident } from './audit/incidents.ts';
import { createAuditKinds, type AuditKindOptions, type AuditKinds } from './audit/kinds.ts';
import { lastAuditRow, record, type AuditEntry } from './audit/store.ts';
import { createWitness, type Witness } from './audit/witness.ts';
import type { AccountsConfig } from './config.ts';
import { recentEvents, type RecentEvent } from './console/audit.ts';
import type { AccessChanged } from './events.ts';
import { createCaches, type CredentialCache, type CredentialCaches } from './keys/cache.ts';
import { delegateOf, type Delegate } from './keys/delegate.ts';
import type { Holder } from './keys/holder.ts';
import { createResolver, type FormerCaller, type KeyResolver } from './keys/identify.ts';
import { createKeys, usableKeys, type Keys } from './keys/keys.ts';
import { createMail, type MailService } from './mail.ts';
import { createNotify, type Notify } from './notices/notices.ts';
import { createEmails, type Emails } from './people/email.ts';
import { createPeople, type People } from './people/people.ts';
import { accountTotals, enabledAdministrators, personById, type AccountTotals } from './people/store.ts';
import { createPlans, type Plan, type Plans } from './plans/plans.ts';
import { createScopes, type Scopes } from './plans/scopes.ts';
import type { AccountPages } from './settings/plugin-pages.ts';
import { OPERATOR, type Account, type Doer, type Workspace, type WorkspaceRole } from './types.ts';
import type { InvitationContext } from './workspaces/invitations.ts';
import { createWorkspaceHooks, type WorkspaceHooks } from './workspaces/hooks.ts';
import { membershipsOf, type MembershipRow } from './workspaces/store.ts';
import { checkedId, workspaceFor, type WorkspaceCaller } from './workspaces/workspaces.ts';

/** The service of this plugin for other plugins. */
export interface AccountsService {
  plans(): Plan[];
  /** Returns the plan of that name; the default plan when the operator removed it. */
  planOf(name: string): Plan;
  /** Returns a limit of the plan of that name; 0 when the plan does not have it. */
  limitOf(plan: string, limit: string): number;
  account(reader: Reader, id: string): Promise<Account | null>;
  /** Returns the administrators of the instance who can sign in. */
  administrators(reader: Reader): Promise<Account[]>;
  /** Returns the workspaces that an account belongs to, its personal one first. */
  workspacesOf(reader: Reader, accountId: string): Promise<Workspace[]>;
  membership(reader: Reader, accountId: string, workspaceId: string): Promise<Workspace | null>;
  /** Returns the workspace of an id in a path. Throws `unknown_workspace` when the caller does not belong to it or the token is for another one, and `workspace_forbidden` when the role there is lower than `least`. */
  workspaceFor(reader: Reader, caller: WorkspaceCaller, workspaceId: string, least?: WorkspaceRole): Promise<Workspace>;
  /** Returns the caller that a key or token identified before, for streams and tickets; null when the credential would be rejected now. */
  callerOf(reader: Reader, former: FormerCaller): Promise<Caller | null>;
  /** Adds the credentials of another plugin to `callerOf`; called in `register`. */
  credentials(callerOf: (reader: Reader, former: FormerCaller) => Promise<Caller | null>): void;
  /** Reads an account, to create callers for the credentials of another plugin; null when the account does not exist or is disabled. */
  delegate(reader: Reader, accountId: string): Promise<Delegate | null>;
  /** Creates a cache of credentials that is emptied within a second when access changes on any node; called in `register`. */
  credentialCache<Value>(): CredentialCache<Value>;
  /** Reports a change of access in its transaction: caches forget the account, and its streams end. */
  accessChanged(tx: Tx, change: AccessChanged): Promise<void>;
  /** Records what a workspace used, lets plugins count it, and lets them delete their data with a workspace. */
  workspaceHooks: Pick<WorkspaceHooks, 'use' | 'whenUsed' | 'whenDeleted' | 'whenLeft'>;
  /** Seals a SHA-256 with the key of the audit record, which is outside the database. */
  seals: Pick<Seals, 'seal' | 'verdict' | 'location'>;
  /** Creates a security notice for an account, and its mail. `text` is one sentence that describes the event. */
  notify(tx: Tx, accountId: string, text: string, by: Doer): Promise<void>;
  /** Sends mails, when the operator has set `mail.smtp_url`. */
  mail: MailService;
  /** Functions for pages of other plugins for signed-in users. */
  pages: AccountPages;
  /** Shows how much of a limit an account uses, as a meter on the page “Plan and usage”; called in `register`. */
  meter(limit: string, used: (accountId: string) => Promise<number>): void;
  /** Adds a page under `/console` to the overview and the navigation there; called in `register`. */
  consolePage(page: ConsolePage): void;
  /** Returns how many accounts there are, how many of them are disabled, and how many administrators are not. */
  totals(reader: Reader): Promise<AccountTotals>;
  /** Returns the latest security events of the instance, for pages of administrators. */
  recentEvents(language: Language, limit: number): Promise<RecentEvent[]>;
  /** Declares kinds of security events, by names that begin with the plugin's; called in `register`. */
  auditKinds(kinds: Record<string, AuditKindOptions>): void;
  /** Adds a security event to the audit record, in the transaction of the change. */
  record(tx: Tx, entry: AuditEntry<string>): Promise<void>;
  /** Returns a function that adds refused attempts to the audit record, at most so many of a kind from one address in a minute; called in `register`. */
  incidents(mostPerMinute: number): RecordIncident;
}

declare module 'civic' {
  interface Services { accounts: AccountsService }
}

/** The parts of the plugin, for its routes, jobs, commands and checks. */
export interface Accounts {
  civic: Civic<AccountsConfig>;
  plans: Plans;
  scopes: Scopes;
  people: People;
  emails: Emails;
  notify: Notify;
  keys: Keys;
  /** The context of the functions for workspaces and invitations. */
  workspaces: InvitationContext;
  workspaceHooks: WorkspaceHooks;
  resolver: KeyResolver;
  caches: CredentialCaches;
  auditKinds: AuditKinds;
  /** The limits whose use is shown, and how much of each an account uses. */
  meters: Map<string, (accountId: string) => Promise<number>>;
  consolePages: ConsolePage[];
  seals: Seals;
  witness: Witness;
  record(tx: Tx, entry: AuditEntry): Promise<void>;
  /** Reports a change of access: to this node after the commit, to other nodes by an event. */
  accessChanged(tx: Tx, change: AccessChanged): Promise<void>;
  /** Without `pages`, which depend on the sign-in. */
  service: Omit<AccountsService, 'pages'>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A page for administrators, or for reviewers too. */
export interface ConsolePage {
  /** The plugin whose catalogue has the texts that `label` and `summary` then name. Without it they are texts themselves. */
  plugin?: string;
  label: string;
  /** Below `/console/`. */
  path: string;
  /** What an administrator does there, as a sentence. */
  summary: string;
  /** The least role that may use it; `admin` when left out. Reviewers find their pages in the menu of the header. */
  role?: 'reviewer';
}

const FLUSH_MS = 2000;

export function createAccounts(civic: Civic<AccountsConfig>): Accounts {
  const plans = createPlans(civic.config.plans, civic.config.default_plan, civic.vocabulary);
  const scopes = createScopes(civic.vocabulary);
  const seals = createSeals({ key: civic.config.audit.key, dataDir: civic.instance.data_dir });
  const witness = createWitness(civic.instance.data_dir);
  const auditKinds = createAuditKinds();
  const put = (tx: Tx, entry: AuditEntry<string>) => record({ seals, witness }, tx, civic.clock.iso(), entry);
  const mail = createMail(civic);
  const notify = createNotify(civic, mail);
  const caches = createCaches({ civic, changingAccess: auditKinds.changingAccess });
  const resolver = createResolver({ civic, plans, known: caches.create<Holder>() });
  const resolvers = [resolver.callerOf];
  const accessChanged = async (tx: Tx, change: AccessChanged) => {
    await civic.emit(tx, 'accounts.access_changed', change);
    afterCommit(tx, caches.forget);
  };
  const people = createPeople({ civic, plans, record: put, accessChanged });
  const workspaces: InvitationContext = { clock: civic.clock, config: civic.config, url: civic.url, jobs: civic.jobs, record: put, accessChanged };
  const workspaceHooks = createWorkspaceHooks();
  const keys = createKeys({ civic, plans, scopes, record: put, accessChanged, notify });
  const workspacesOf = async (reader: Reader, accountId: string): Promise<Workspace[]> => {
    const person = await personById(reader, accountId);
    return person ? (await membershipsOf(reader, person.key)).map(workspaceRecord) : [];
  };
  const recordDeclared = (tx: Tx, entry: AuditEntry<string>): Promise<void> => {
    if (!auditKinds.has(entry.kind)) throw new Error(`The audit kind "${entry.kind}" is not declared: call auditKinds in register`);
    return put(tx, entry);
  };
  /** Seals earlier rows by adding a sealed row, and warns when the last row was sealed with another key. */
  async function beginSealing(): Promise<void> {
    const last = await lastAuditRow(civic.db.read);
    if (last && sealedWith(last.seal) === seals.currentKey() && last.seal !== null) return;
    if (last?.seal) civic.log.warn({ sealed_with: sealedWith(last.seal) }, `The audit record was last sealed with another key than that of ${seals.location}: after a restore elsewhere this is so; several nodes must share one key (plugins.accounts.audit.key). bin/civic doctor says more`);
    await civic.db.write((tx) => put(tx, { kind: 'audit_sealed', by: OPERATOR, detail: { from: last?.seq ?? 0, previous_key: sealedWith(last?.seal ?? null) } }));
  }
  const followRecord = () => witness.follow(civic.db.read, civic.clock.iso()).catch((error: unknown) => civic.log.error({ err: error }, `The newest row of the audit record could not be written to ${witness.file}`));
  const flush = () => resolver.flush().catch((error: unknown) => civic.log.error({ err: error }, 'The times at which keys were last used could not be stored'));
  const consolePages: ConsolePage[] = [{ plugin: 'accounts', label: 'console.accounts', path: '/console/accounts', summary: 'console.accounts_summary' }, { plugin: 'accounts', label: 'console.audit', path: '/console/audit', summary: 'console.audit_lead' }];
  const meters: Accounts['meters'] = new Map([['keys', async (accountId: string) => usableKeys(civic.db.read, accountId, civic.clock.iso())]]);
  let flushing: NodeJS.Timeout | undefined;
  return {
    civic, plans, scopes, people, emails: createEmails({ civic, record: put, notify }), notify, keys, workspaces, workspaceHooks, resolver, caches, auditKinds, consolePages, seals, witness, record: put, accessChanged,
    meters,
    service: {
      plans: () => plans.all,
      planOf: plans.planOf,
      limitOf: plans.limitOf,
      async account(reader, id) {
        const person = await personById(reader, id);
        return person && people.accountOf(person);
      },
      administrators: async (reader) => (await enabledAdministrators(reader)).map(people.accountOf),
      workspacesOf,
      membership: async (reader, accountId, workspaceId) => (await workspacesOf(reader, accountId)).find(({ id }) => id === workspaceId.toLowerCase()) ?? null,
      workspaceFor: async (reader, caller, id, least) => workspaceRecord(await workspaceFor(reader, caller, checkedId(id), least)),
      async callerOf(reader, former) {
        for (const callerOf of resolvers) {
          const caller = await callerOf(reader, former);
          if (caller) return caller;
        }
        return null;
      },
      credentials(callerOf) { resolvers.push(callerOf); },
      delegate: (reader, accountId) => delegateOf(reader, accountId, { plans, scopes, now: () => civic.clock.now() }),
      credentialCache: caches.create,
      accessChanged,
      workspaceHooks,
      seals,
      async notify(tx, accountId, text, by) {
        const person = await personById(tx, accountId);
        if (person) await notify(tx, person, { kind: 'of_plugin', detail: { text } }, by);
      },
      mail,
      auditKinds: auditKinds.declare,
      meter(limit, used) {
        if (!civic.vocabulary.limits.has(limit)) throw new Error(`No plugin that runs declares the limit "${limit}": add it to the plugin's limits`);
        meters.set(limit, used);
      },
      consolePage(page) { consolePages.push(page); },
      totals: accountTotals,
      recentEvents: (language, limit) => recentEvents({ civic, auditKinds }, language, limit),
      record: recordDeclared,
      incidents: (mostPerMinute) => createIncidents(civic.clock, mostPerMinute, (entry) => civic.db.write((tx) => recordDeclared(tx, entry))),
    },
    async start() {
      // Before a new row: the record must still contain the row that the data folder remembers.
      await followRecord();
      await beginSealing();
      await followRecord();
      flushing = setInterval(() => {
        void flush();
        void followRecord();
      }, FLUSH_MS).unref();
    },
    async stop() {
      clearInterval(flushing);
      await followRecord();
      await flush();
    },
  };
}

/** Returns a workspace as the API and other plugins show it. */
export function workspaceRecord({ id, name, personal_of, role, created_at }: MembershipRow): Workspace {
  return { id, name, personal: personal_of !== null, role, created_at };
}
