import { definePlugin } from 'civic';
import { auditCheck } from './audit/check.ts';
import { auditExport } from './audit/commands.ts';
import { auditStream } from './audit/stream.ts';
import { accountOptions, type AccountsConfig } from './config.ts';
import { consoleRoutes } from './console/routes.ts';
import { accountEvents } from './events.ts';
import { accountExamples } from './examples.ts';
import { keyCommands } from './keys/commands.ts';
import { accountCommands } from './people/commands.ts';
import { checkAdministrator } from './people/people.ts';
import { planRoutes } from './plans/routes.ts';
import { accountProblems } from './problems.ts';
import { checkMail, mailJob } from './mail.ts';
import { createAccounts } from './service.ts';
import { invitationRoutes } from './workspaces/invitation-routes.ts';
import { invitationMailJob } from './workspaces/mail.ts';
import { memberRoutes } from './workspaces/member-routes.ts';
import { receivedRoutes } from './workspaces/received-routes.ts';
import { workspaceRoutes } from './workspaces/routes.ts';
import { createSettingsPage, type SettingsEntry } from './settings/context.ts';
import { createPluginPages } from './settings/plugin-pages.ts';
import { settingsRoutes } from './settings/routes.ts';
import { visitorPart } from './settings/visitor.ts';
import { printFirstLink } from './signin/first.ts';
import { createConfirmation } from './signin/confirm.ts';
import { nextCookie } from './signin/cookie.ts';
import { createWays, type Purpose } from './signin/page.ts';
import { checkCookies, checkParty } from './signin/party.ts';
import { signInRoutes } from './signin/routes.ts';
import { createSignIn } from './signin/signin.ts';

export type { Incident, RecordIncident } from './audit/incidents.ts';
export type { AccountsService } from './service.ts';
export type { CredentialCache } from './keys/cache.ts';
export type { Delegate, Delegation } from './keys/delegate.ts';
export type { Mail, MailService } from './mail.ts';
export type { FormerCaller } from './keys/identify.ts';
export type { AccountPages, Visitor } from './settings/plugin-pages.ts';
export type { RecentEvent } from './console/audit.ts';
export type { ConsolePages } from './console/plugin-pages.ts';
export type { Doer } from './types.ts';
export type { WorkspaceUse } from './workspaces/hooks.ts';

export default definePlugin<AccountsConfig>({
  name: 'accounts',
  summary: 'Accounts, workspaces, plans and API keys, with a record of every security event',
  recommended: 'Without it, users cannot sign in and the API rejects every write.',
  reference: { title: 'Accounts and workspaces', order: 30, sections: { workspaces: 'Workspaces', invitations: 'Invitations that you received', plans: 'Plans' } },
  config: accountOptions,
  scopes: {
    'workspace:read': { label: 'See the workspace', hint: 'Members, invitations, security events, and private records such as lists and notes.' },
    'workspace:write': { label: 'Manage the workspace', hint: 'Invite and remove members, change roles, accept invitations, and write private records such as lists and notes.' },
  },
  capabilities: { api_keys: { label: 'API keys', limit: 'keys' } },
  limits: { keys: { label: 'API keys', doc: 'How many API keys can be in use at once', plans: { individual: 1, research_pass: 3, team: 20 } } },
  rates: { sign_in: { label: 'signing in', per_minute: 30, per_hour: 200, byAddress: true } },
  paths: {
    '/account': { audience: 'people', shared: true, crawlers: false },
    '/console': { audience: 'people', shared: true, crawlers: false },
    '/invitations': { audience: 'people', crawlers: false },
    '/sign-in': { audience: 'people', crawlers: false },
    '/sign-out': { audience: 'people', crawlers: false },
  },
  slots: {
    'accounts.usage': { summary: 'Below the meters of the page “Plan and usage”' },
    'accounts.workspace': { summary: 'Above the members on the page of a workspace' },
  },
  problems: accountProblems,
  events: accountEvents,
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const accounts = createAccounts(civic);
    const { plans, resolver } = accounts;
    const signIn = createSignIn(accounts);
    const purposes: Purpose[] = [];
    const ways = createWays(signIn.sessions, purposes, civic.texts);
    const db = () => civic.db;
    const { confirmed, routes: confirmRoutes } = createConfirmation(signIn, ways);
    const entries: SettingsEntry[] = [];
    const settingsPage = createSettingsPage(entries);
    const pages = { accounts, signIn, ways, confirmed, settingsPage, entries };

    const { homeOf, ...pluginPages } = createPluginPages({
      entries, purposes, ways, confirmed, settingsPage, consolePages: accounts.consolePages, visitOf: signIn.sessions.visitOf, accountOf: accounts.people.accountOf, now: () => civic.clock.now(),
    });

    civic.provide({ ...accounts.service, pages: pluginPages });
    civic.examples(accountExamples);
    civic.identify(resolver.identify);
    civic.plansWith(plans.including);
    civic.identify(signIn.sessions.identify);
    civic.pages.header(visitorPart(signIn.sessions, entries, accounts.consolePages));
    printFirstLink(server, civic);
    civic.watch('accounts.access_changed', accounts.caches.forget);
    civic.check(auditCheck({ db, seals: accounts.seals, witness: accounts.witness }));
    const stream = auditStream(civic);
    if (stream) civic.check(stream.check);
    civic.check({ name: 'administrator', quick: true, run: () => checkAdministrator(civic.db.read) });
    civic.check({ name: 'passkeys', quick: true, run: async () => checkParty(signIn.party) });
    civic.check({ name: 'cookies', quick: true, run: async () => checkCookies(civic.instance.public_url) });
    civic.check({ name: 'mail', run: () => checkMail(civic.config) });
    for (const job of [...signIn.jobs, invitationMailJob(civic), mailJob(civic), accounts.emails.job, ...(stream ? [stream.job] : [])]) civic.jobs.define(job);
    for (const command of [...accountCommands(accounts), ...keyCommands(accounts), auditExport(db)]) civic.command(command);
    server.route([
      ...planRoutes({ plans, defaultPlan: civic.config.default_plan, vocabulary: civic.vocabulary }),
      ...workspaceRoutes(accounts),
      ...memberRoutes(accounts),
      ...invitationRoutes(accounts),
      ...receivedRoutes(accounts),
      ...signInRoutes(signIn, ways, nextCookie(civic.instance.public_url)),
      ...confirmRoutes,
      ...settingsRoutes(pages),
      ...consoleRoutes({ ...pages, homeOf }),
    ]);
    return {
      async start() {
        const { status, detail } = checkCookies(civic.instance.public_url);
        if (status !== 'ok') civic.log.warn(detail);
        await accounts.start();
      },
      stop: accounts.stop,
    };
  },
});
