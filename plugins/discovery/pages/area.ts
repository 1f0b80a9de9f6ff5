import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { pagePath, type Caller, type Texts, type Tx } from 'civic';
import type { AccountsService, Visitor } from 'civic/accounts';
import type { WorkspacesService } from 'civic/workspaces';
import type { Discovery, Owner } from '../context.ts';

/** The path of the operator's runs. */
export const CONSOLE = '/console/discovery';
/** The section of a workspace. */
export const SECTION = 'discovery';
export const PAGE = { plugins: { civic: { internal: true } } };

/** A page about runs of one owner, as its handler sees it. */
export interface RunPage {
  request: Request;
  h: ResponseToolkit;
  t: Texts;
  owner: Owner;
  caller: Caller;
  /** Whether the visitor may decide about candidates. */
  canDecide: boolean;
  /** The path of the list of these runs. */
  home: string;
  /** Changes data in a transaction. In a workspace the membership is read again inside it. */
  change<Result>(work: (tx: Tx, caller: Caller) => Promise<Result>): Promise<Result>;
  /** Shows a template with the navigation of the area. */
  show(shown: { template: string; title: string; status?: number }, context: object): ResponseObject | Promise<ResponseObject>;
}

/** Where people work with runs: the console has those of the operator, a workspace its own. */
export interface Area {
  /** The path of its list, as routes have it. */
  path: string;
  /** Returns a handler for those who may read the runs. */
  handler(work: (page: RunPage) => Lifecycle.ReturnValue): Lifecycle.Method;
}

/** Returns the area of reviewers of the instance in the console. */
export function operatorArea({ civic }: Discovery, { pages }: Pick<AccountsService, 'pages'>): Area {
  return {
    path: CONSOLE,
    handler: (work) => pages.reviewer(async (visitor, request, h) => {
      const caller = callerOf(visitor);
      return work({
        request, h, t: await civic.texts(request.civic.language), home: CONSOLE, owner: { workspace_id: null }, caller, canDecide: true,
        change: (change) => civic.db.write((tx) => change(tx, caller)),
        show: (shown, context) => pages.showConsole(request, h, { path: CONSOLE, ...shown }, { runsHome: CONSOLE, canDecide: true, ...context }),
      });
    }),
  };
}

/** What a reviewer accepts belongs to the workspace that is chosen in the header. */
function callerOf({ account: { id, role, plan }, workspaces, workspace_id }: Visitor): Caller {
  return { account_id: id, via: 'session', scope: [], role, plan, capabilities: [], workspace_id, workspace_role: workspaces.find((one) => one.id === workspace_id)?.role ?? null };
}

/** Returns the area of the members of each workspace. */
export function workspaceArea({ civic }: Discovery, { pages }: WorkspacesService): Area {
  return {
    path: `/workspaces/{id}/${SECTION}`,
    handler: (work) => pages.member(async (page) => {
      const { request, h, workspace, caller } = page;
      const home = `/workspaces/${workspace.id}/${SECTION}`;
      const canDecide = workspace.role !== 'member';
      return work({
        request, h, t: await civic.texts(request.civic.language), home, owner: { workspace_id: workspace.id }, caller, canDecide,
        change: (change) => pages.change(page, (tx, context) => change(tx, context.caller)),
        show: (shown, context) => pages.show(page, { section: SECTION, ...shown }, { runsHome: home, isWorkspace: true, canDecide, ...context }),
      });
    }),
  };
}

/** Redirects to a page of the area after a form. */
export function go({ request, h, home }: RunPage, path: string): ResponseObject {
  return h.redirect(pagePath(request, `${home}${path}`)).code(303).header('cache-control', 'private, no-store');
}
