import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { workspaceRecord } from '../service.ts';
import type { Confirmation } from '../signin/confirm.ts';
import type { Purpose, Ways } from '../signin/page.ts';
import { doerOf, type Visit } from '../signin/sessions.ts';
import type { Account, Doer, Workspace } from '../types.ts';
import type { SettingsEntry, SettingsPage } from './context.ts';
import { when, type When } from './words.ts';

/** The signed-in user of a page of another plugin. */
export interface Visitor {
  account: Account;
  /** The workspaces the account belongs to, its personal one first. */
  workspaces: Workspace[];
  /** The id of the workspace chosen in the header. */
  workspace_id: string | null;
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

export interface AccountPages {
  /** Adds an entry to the navigation of `/account`; called in `register`. */
  entry(entry: SettingsEntry): void;
  /** Describes pages that users sign in for: "Sign in to connect Field notes"; called in `register`. */
  purpose(purpose: Purpose): void;
  /** Returns a handler for signed-in users. Other visitors sign in first and then continue. */
  signedIn(work: VisitorHandler): Lifecycle.Method;
  /** Returns the same handler for changes that need recent authentication. `back` is the path that Cancel leads to. */
  confirmed(work: VisitorHandler, options: { back(request: Request): string }): Lifecycle.Method;
  /** Returns the id of the account that is signed in, for routes that are no pages; null for other visitors. */
  accountId(request: Request): string | null;
  /** Returns a time for the partial `accounts/time`: "3 hours ago". */
  when(iso: string | null): When | null;
  /** Shows a page under `/account` to a signed-in user. */
  show(request: Request, h: ResponseToolkit, shown: ShownSettings, context: object): ResponseObject;
}

export interface PluginPagesContext {
  entries: SettingsEntry[];
  purposes: Purpose[];
  ways: Ways;
  confirmed: Confirmation['confirmed'];
  settingsPage: SettingsPage;
  visitOf(request: Request): Visit | null;
  accountOf(person: Visit['person']): Account;
  now(): number;
}

/** Creates the functions for pages of other plugins. */
export function createPluginPages({ entries, purposes, ways, confirmed, settingsPage, visitOf, accountOf, now }: PluginPagesContext): AccountPages {
  const visitor = ({ person, memberships, workspace }: Visit, request: Request): Visitor => ({
    account: accountOf(person), workspaces: memberships.map(workspaceRecord), workspace_id: workspace?.id ?? null, doer: doerOf(request, person.id),
  });
  return {
    entry(entry) { entries.push(entry); },
    purpose(purpose) { purposes.push(purpose); },
    signedIn: (work) => ways.signedIn((visit, request, h) => work(visitor(visit, request), request, h)),
    confirmed: (work, { back }) => confirmed((visit, request, h) => work(visitor(visit, request), request, h), { back }),
    accountId: (request) => visitOf(request)?.person.id ?? null,
    when: (iso) => when(iso, now()),
    show: (request, h, { path, template, title, status }, context) => settingsPage(h, visitOf(request)!, { part: path, template, title, status }, context),
  };
}
