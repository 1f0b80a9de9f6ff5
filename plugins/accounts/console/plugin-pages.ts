import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { pagePath, problem } from 'civic';
import type { PersonRow } from '../people/store.ts';
import type { ConsolePage } from '../service.ts';
import type { Visitor, VisitorHandler } from '../settings/plugin-pages.ts';
import type { Confirmation } from '../signin/confirm.ts';
import { page, type Ways } from '../signin/page.ts';
import type { Visit } from '../signin/sessions.ts';

/** A page of another plugin under `/console`. */
export interface ShownConsolePage {
  /** The path of its entry in the navigation. */
  path: string;
  /** `flags/queue` is `templates/queue.html` of the plugin `flags`; it uses the partial `accounts/frame`. */
  template: string;
  title: string;
  status?: number;
}

/** Functions for pages of other plugins for administrators and reviewers. */
export interface ConsolePages {
  /** The path of the console. */
  consolePath: string;
  /** Shows another page at `/console`; called in `register`. Without it `/console` leads to the accounts. */
  home(work: VisitorHandler): void;
  /** Returns a handler for administrators. Other visitors sign in first; other accounts get 403. */
  administrator(work: VisitorHandler): Lifecycle.Method;
  /** Returns a handler for reviewers and administrators. Other visitors sign in first; other accounts get 403. */
  reviewer(work: VisitorHandler): Lifecycle.Method;
  /** Returns the same handler as `administrator` for what needs recent authentication. `back` is the path that Cancel leads to. */
  confirmedAdministrator(work: VisitorHandler, options: { back(request: Request): string }): Lifecycle.Method;
  /** Shows a page under `/console` with its navigation. */
  showConsole(request: Request, h: ResponseToolkit, shown: ShownConsolePage, context: object): ResponseObject;
}

const CONSOLE = '/console';

export interface ConsolePagesContext {
  pages: ConsolePage[];
  ways: Ways;
  confirmed: Confirmation['confirmed'];
  visitor(visit: Visit, request: Request): Visitor;
  visitOf(request: Request): Visit | null;
}

export function createConsolePages({ pages, ways, confirmed, visitor, visitOf }: ConsolePagesContext): ConsolePages & { homeOf: Lifecycle.Method } {
  let home: VisitorHandler = (_visitor, request, h) => h.redirect(pagePath(request, '/console/accounts')).code(303).header('cache-control', 'no-store');
  const checked = (check: (person: PersonRow) => void) => (work: VisitorHandler): Lifecycle.Method => ways.signedIn((visit, request, h) => {
    check(visit.person);
    return work(visitor(visit, request), request, h);
  });
  const administrator = checked(checkAdmin);
  /** Reviewers get a navigation of their own pages only. */
  const partsFor = (request: Request, here: string): object[] => (visitOf(request)?.person.role === 'admin' ? consoleParts(pages, here) : reviewerPages(pages).map((entry) => ({ ...entry, isHere: entry.path === here })));
  return {
    consolePath: CONSOLE,
    home(work) { home = work; },
    homeOf: administrator((by, request, h) => home(by, request, h)),
    administrator,
    reviewer: checked(checkReviewer),
    confirmedAdministrator: (work, { back }) => confirmed((visit, request, h) => work(visitor(visit, request), request, h), { back, check: ({ person }) => checkAdmin(person) }),
    showConsole: (request, h, { path, template, title, status }, context) => page(h, template, { title, console: true, isWide: true, parts: partsFor(request, path), ...context }, status),
  };
}

/** Returns the navigation of the console. */
export function consoleParts(pages: ConsolePage[], here: string): object[] {
  return [{ plugin: 'accounts', label: 'console.overview', path: CONSOLE }, ...pages].map((entry) => ({ ...entry, isHere: entry.path === here }));
}

/** Returns the pages that reviewers may use. */
export function reviewerPages(pages: ConsolePage[]): ConsolePage[] {
  return pages.filter(({ role }) => role === 'reviewer');
}

function checkReviewer({ role, disabled_at }: PersonRow): void {
  if (role === 'user' || disabled_at !== null) throw problem('permission_required', { detail: disabled_at === null ? `This needs the role reviewer or admin; yours is ${role}.` : 'Your account is disabled.' });
}

export function checkAdmin({ role, disabled_at }: PersonRow): void {
  if (role !== 'admin' || disabled_at !== null) throw problem('permission_required', { detail: disabled_at === null ? `This needs the role admin; yours is ${role}.` : 'Your account is disabled.' });
}
