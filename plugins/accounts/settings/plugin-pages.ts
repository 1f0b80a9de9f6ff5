import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { createConsolePages, type ConsolePages } from '../console/plugin-pages.ts';
import { workspaceRecord, type ConsolePage } from '../service.ts';
import type { Confirmation } from '../signin/confirm.ts';
import type { Purpose, Ways } from '../signin/page.ts';
import { authenticatedAt, doerOf, type Visit } from '../signin/sessions.ts';
import type { Account, Doer, Workspace } from '../types.ts';
import type { SettingsEntry, SettingsPage } from './context.ts';
import { when, type When, type WhenTexts } from './words.ts';

/** The signed-in user of a page of another plugin. */
export interface Visitor {
  account: Account;
  /** The workspaces the account belongs to, its personal one first. */
  workspaces: Workspace[];
  /** The id of the workspace chosen in the header. */
  workspace_id: string | null;
  /** When the user last authenticated in this session, in milliseconds. */
  authenticated_at: number;
  /** For the audit record. */
  doer: Doer;
}

export type VisitorHandler = (visitor: Visitor, request: Request, h: ResponseToolkit) => Lifecycle.ReturnValue;

/** A page of another plugin under `/account`. */
export interface ShownSettings {
  /** The path of its entry in the navigation. */
  path: `/account/${string}`;
  /** `oauth/apps` is `templates/apps.html` of the plugin `oauth`; it uses the partial `accounts/frame`. */
  template: string;
  title: string;
  status?: number;
}

export interface AccountPages extends ConsolePages {
  /** Adds an entry to the navigation of `/account`; called in `register`. */
  entry(entry: SettingsEntry): void;
  /** Describes pages that users sign in for: "Sign in to connect Field notes"; called in `register`. */
  purpose(purpose: Purpose): void;
  /** Returns a handler for signed-in users. Other visitors sign in first and then continue. */
  signedIn(work: VisitorHandler): Lifecycle.Method;
  /**
   * Returns the same handler for changes that need recent authentication. `back` is the path that Cancel leads to. `since` returns the
   * earliest authentication that counts, in milliseconds; later than ten minutes ago is always required.
   */
  confirmed(work: VisitorHandler, options: { back(request: Request): string; since?(request: Request): Promise<number> }): Lifecycle.Method;
  /** Returns the account that is signed in and when it last authenticated, for routes that are no pages; null for other visitors. */
  session(request: Request): { account_id: string; authenticated_at: number } | null;
  /** Returns a time for templates and texts, in the language of `t`: "3 hours ago". */
  when(iso: string | null, t: WhenTexts): When | null;
  /** Shows a page under `/account` to a signed-in user. */
  show(request: Request, h: ResponseToolkit, shown: ShownSettings, context: object): ResponseObject;
}

export interface PluginPagesContext {
  entries: SettingsEntry[];
  purposes: Purpose[];
  ways: Ways;
  confirmed: Confirmation['confirmed'];
  settingsPage: SettingsPage;
  consolePages: ConsolePage[];
  visitOf(request: Request): Visit | null;
  accountOf(person: Visit['person']): Account;
  now(): number;
}

/** Creates the functions for pages of other plugins. */
export function createPluginPages({ entries, purposes, ways, confirmed, settingsPage, consolePages, visitOf, accountOf, now }: PluginPagesContext): AccountPages & { homeOf: Lifecycle.Method } {
  const visitor = ({ person, memberships, workspace, session }: Visit, request: Request): Visitor => ({
    account: accountOf(person), workspaces: memberships.map(workspaceRecord), workspace_id: workspace?.id ?? null, authenticated_at: authenticatedAt(session), doer: doerOf(request, person.id),
  });
  return {
    ...createConsolePages({ pages: consolePages, ways, confirmed, visitor, visitOf }),
    entry(entry) { entries.push(entry); },
    purpose(purpose) { purposes.push(purpose); },
    signedIn: (work) => ways.signedIn((visit, request, h) => work(visitor(visit, request), request, h)),
    confirmed: (work, options) => confirmed((visit, request, h) => work(visitor(visit, request), request, h), options),
    session(request) {
      const visit = visitOf(request);
      return visit && { account_id: visit.person.id, authenticated_at: authenticatedAt(visit.session) };
    },
    when: (iso, t) => when(iso, now(), t),
    show: (request, h, { path, template, title, status }, context) => settingsPage(h, visitOf(request)!, { part: path, template, title, status }, context),
  };
}
