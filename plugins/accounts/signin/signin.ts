import type { Request } from '@hapi/hapi';
import type { Civic, JobKind, Language, Tx } from 'civic';
import type { AuditEntry } from '../audit/store.ts';
import type { AccountsConfig } from '../config.ts';
import type { AccessChanged } from '../events.ts';
import type { Notify } from '../notices/notices.ts';
import { pruneNotices } from '../notices/store.ts';
import { pruneEmailChanges } from '../people/email-store.ts';
import type { People } from '../people/people.ts';
import { hasPeople, personByKey, type PersonRow } from '../people/store.ts';
import type { Plans } from '../plans/plans.ts';
import type { Scopes } from '../plans/scopes.ts';
import { hashOf } from '../secrets.ts';
import { pruneInvitations } from '../workspaces/invitations-store.ts';
import type { MembershipRow } from '../workspaces/store.ts';
import { hashOfCode, newCodes } from './codes.ts';
import { codeOwner, replaceCodes, takeCode } from './codes-store.ts';
import { openLink, pruneLinks, takeFirstLinks, takeLink } from './links-store.ts';
import { LINK_MAIL, linkMailJob } from './mail.ts';
import { relyingParty, type RelyingParty } from './party.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { pruneCeremonies } from './passkeys-store.ts';
import { createSessions, doerOf, type Sessions, type Visit } from './sessions.ts';
import { pruneSessions } from './sessions-store.ts';
import { createThrottle, type Throttle } from './throttle.ts';

export interface SignInContext {
  civic: Civic<AccountsConfig>;
  plans: Plans;
  scopes: Scopes;
  people: People;
  record(tx: Tx, entry: AuditEntry): Promise<void>;
  accessChanged(tx: Tx, change: AccessChanged): Promise<void>;
  notify: Notify;
}

/** Whom a link is for: somebody, or whoever becomes the first administrator. */
export type LinkFor = { person: PersonRow } | { first: true };

export interface SignIn {
  party: RelyingParty;
  sessions: Sessions;
  passkeys: Passkeys;
  mails: boolean;
  /** How long a sign-in link works. */
  linkSeconds: number;
  tries: { codes: Throttle; mails: Throttle; ceremonies: Throttle };
  /** Whether nobody has an account yet. */
  isEmpty(): Promise<boolean>;
  /** What a link is for, without using it; null when it is used up, too old or unknown. */
  linkFor(secret: string): Promise<LinkFor | null>;
  /** Uses a link; answers the session's secret. The first administrator brings a name along. */
  useLink(request: Request, secret: string, first: { name: string; email: string | null } | null): Promise<string | null>;
  useCode(request: Request, code: string): Promise<string | null>;
  /** Begins the session of somebody whose passkey was good. */
  begin(request: Request, person: PersonRow): Promise<string>;
  /** Whether a secret is an unused recovery code, or a sign-in link, of this account; uses it up. */
  confirmBySecret(request: Request, person: PersonRow, secret: string): Promise<boolean>;
  end(request: Request): Promise<void>;
  choose(visit: Visit, workspace: MembershipRow): Promise<void>;
  createCodes(request: Request, person: PersonRow): Promise<string[]>;
  /** Mails a sign-in link, in a language. */
  askForMail(email: string, language: Language): Promise<void>;
  texts: Civic['texts'];
  jobs: JobKind[];
}

const KEPT_MS = 30 * 86_400_000;
const NOTICES_KEPT_MS = 90 * 86_400_000;

export function createSignIn(context: SignInContext): SignIn {
  const { civic, people, record, notify } = context;
  const { clock } = civic;
  const party = relyingParty(civic.instance.public_url);
  const sessions = createSessions({ ...context, party });
  const now = (): number => clock.now();

  /** Who a link or code belongs to may have been shut out since. */
  async function beginFor(tx: Tx, request: Request, person: PersonRow | null, by: 'link' | 'code'): Promise<string | null> {
    if (!person || person.disabled_at !== null) return null;
    await record(tx, { kind: by === 'link' ? 'link_used' : 'code_used', by: doerOf(request, person.id), subject: person.id });
    return sessions.begin(tx, request, person, by);
  }

  async function linkFor(secret: string): Promise<LinkFor | null> {
    const link = await openLink(civic.db.read, hashOf(secret), clock.iso());
    if (!link) return null;
    if (link.account_key === null) return (await hasPeople(civic.db.read)) ? null : { first: true };
    const person = await personByKey(civic.db.read, link.account_key);
    return person && person.disabled_at === null ? { person } : null;
  }

  async function useFirstLink(tx: Tx, request: Request, hash: string, first: { name: string; email: string | null }): Promise<string | null> {
    const taken = await takeFirstLinks(tx, clock.iso());
    if (!taken.includes(hash) || await hasPeople(tx)) return null;
    return beginFor(tx, request, await people.create(tx, first, doerOf(request, null)), 'link');
  }

  return {
    party, sessions, linkFor,
    passkeys: createPasskeys({ civic, party, record, notify }),
    mails: civic.config.mail.smtp_url !== null,
    linkSeconds: civic.config.link_minutes * 60,
    isEmpty: async () => !await hasPeople(civic.db.read),
    tries: { codes: createThrottle(10, 900, now), mails: createThrottle(3, 900, now), ceremonies: createThrottle(60, 60, now) },
    begin: (request, person) => civic.db.write((tx) => sessions.begin(tx, request, person, 'passkey')),
    useLink: (request, secret, first) => civic.db.write(async (tx) => {
      const link = await openLink(tx, hashOf(secret), clock.iso());
      if (link?.account_key === null) return first && useFirstLink(tx, request, link.secret_hash, first);
      const taken = link && await takeLink(tx, link.secret_hash, clock.iso());
      return taken ? beginFor(tx, request, await personByKey(tx, taken.account_key!), 'link') : null;
    }),
    useCode: (request, code) => civic.db.write(async (tx) => {
      const owner = await takeCode(tx, hashOfCode(code), clock.iso());
      return owner === null ? null : beginFor(tx, request, await personByKey(tx, owner), 'code');
    }),
    confirmBySecret: (request, person, secret) => civic.db.write(async (tx) => {
      const token = /[?&]token=([0-9A-Za-z]{43})/.exec(secret)?.[1];
      const hash = token === undefined ? hashOfCode(secret) : hashOf(token);
      const owner = token === undefined ? await codeOwner(tx, hash) : (await openLink(tx, hash, clock.iso()))?.account_key;
      // A secret of another account is not used up.
      if (owner === null || owner !== person.key) return false;
      if (token === undefined ? await takeCode(tx, hash, clock.iso()) === null : await takeLink(tx, hash, clock.iso()) === null) return false;
      await record(tx, { kind: token === undefined ? 'code_used' : 'link_used', by: doerOf(request, person.id), subject: person.id });
      if (token === undefined) await notify(tx, person, { kind: 'code_used' }, doerOf(request, person.id));
      return true;
    }),
    async end(request) {
      const visit = sessions.visitOf(request);
      if (visit) await civic.db.write((tx) => sessions.end(tx, visit.person, doerOf(request, visit.person.id), visit.session.id));
    },
    choose: (visit, workspace) => civic.db.write((tx) => sessions.choose(tx, visit, workspace)),
    async createCodes(request, person) {
      const codes = newCodes();
      await civic.db.write(async (tx) => {
        await replaceCodes(tx, person.key, codes.map(hashOfCode), clock.iso());
        await record(tx, { kind: 'codes_made', by: doerOf(request, person.id), subject: person.id });
        await notify(tx, person, { kind: 'codes_made' }, doerOf(request, person.id));
      });
      return codes;
    },
    askForMail: async (email, language) => { await civic.db.write((tx) => civic.jobs.enqueue(tx, LINK_MAIL, { email, language })); },
    texts: civic.texts,
    jobs: [linkMailJob({ civic, record }), {
      name: 'accounts.prune',
      every_seconds: 3600,
      run: (job) => job.write(async (tx) => {
        const before = new Date(now() - KEPT_MS).toISOString();
        await pruneSessions(tx, before);
        await pruneLinks(tx, before);
        await pruneCeremonies(tx, clock.iso());
        await pruneInvitations(tx, before);
        await pruneNotices(tx, new Date(now() - NOTICES_KEPT_MS).toISOString());
        await pruneEmailChanges(tx, clock.iso());
      }),
    }],
  };
}
