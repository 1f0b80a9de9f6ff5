import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { pagePath, type Texts, type Tx } from 'civic';
import type { AccountsService } from 'civic/accounts';
import type { WorkspacesService } from 'civic/workspaces';
import type { Ingest } from '../context.ts';
import type { Owner, Sources } from '../sources/sources.ts';

/** The path of the operator's sources. */
export const SOURCES = '/console/sources';
export const PAGE = { plugins: { civic: { internal: true } } };
/** The section of a workspace. */
export const SECTION = 'sources';

/** Returns the path of the sources of a workspace. */
export function homeIn(workspaceId: string): string {
  return `/workspaces/${workspaceId}/${SECTION}`;
}

/** A page about sources of one owner, as its handler sees it. */
export interface SourcePage {
  request: Request;
  h: ResponseToolkit;
  t: Texts;
  owner: Owner;
  /** The path of the list of these sources. */
  home: string;
  /** Changes data in a transaction. In a workspace the membership is read again inside it. */
  change<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  /** Shows a template with the navigation of the area. */
  show(shown: { template: string; title: string; status?: number }, context: object): ResponseObject | Promise<ResponseObject>;
}

/** Where people work with sources: the console has those of the operator, a workspace its own. */
export interface Area {
  /** The path of its list, as routes have it. */
  path: string;
  /** Returns a handler for those who may work with the sources. */
  handler(work: (page: SourcePage) => Lifecycle.ReturnValue): Lifecycle.Method;
}

/** Returns the area of reviewers of the instance in the console. */
export function operatorArea({ civic }: Ingest, { pages }: Pick<AccountsService, 'pages'>): Area {
  return {
    path: SOURCES,
    handler: (work) => pages.reviewer(async ({ account }, request, h) => work({
      request, h, t: await civic.texts(request.civic.language), home: SOURCES,
      owner: { workspace_id: null, account_id: account.id, most: Infinity, plan: null },
      change: (change) => civic.db.write(change),
      show: (shown, context) => pages.showConsole(request, h, { path: SOURCES, ...shown }, { sourcesHome: SOURCES, ...context }),
    })),
  };
}

/** Returns the area of the members of each workspace. */
export function workspaceArea({ civic }: Ingest, sources: Sources, { pages }: WorkspacesService): Area {
  return {
    path: `/workspaces/{id}/${SECTION}`,
    handler: (work) => pages.member(async (page) => {
      const { request, h, workspace, caller } = page;
      const home = homeIn(workspace.id);
      return work({
        request, h, t: await civic.texts(request.civic.language), home,
        owner: sources.ownerOf(caller, 'workspace'),
        change: (change) => pages.change(page, change),
        show: (shown, context) => pages.show(page, { section: SECTION, ...shown }, { sourcesHome: home, isWorkspace: true, ...context }),
      });
    }),
  };
}

/** Redirects to a page of the area after a form. */
export function go({ request, h, home }: SourcePage, path: string): ResponseObject {
  return h.redirect(pagePath(request, `${home}${path}`)).code(303).header('cache-control', 'private, no-store');
}

const NOTICES = ['paused', 'resumed', 'deleted', 'ignored', 'reported', 'saved'] as const;
export type Notice = (typeof NOTICES)[number];

/** Returns the notice that the address names, from a fixed list: a link of an attacker could name any text. */
export function noticeOf({ request, t }: SourcePage): string | undefined {
  const done = NOTICES.find((notice) => notice === request.query['done']);
  return done && t(`sources.${done}`);
}
