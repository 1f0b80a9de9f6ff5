import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { isId, problem, type Texts } from 'civic';
import type { Visitor } from 'civic/accounts';
import { contextOfVisitor, type WorkspaceContext, type WorkspaceRole, type Workspaces } from '../context.ts';

/** A page in the navigation of a workspace. */
export interface Section {
  /** Below `/workspaces/{id}`: empty for the overview, else `lists`. */
  path: string;
  /** A key of the catalogue of this plugin. */
  label: string;
}

/** A page of a workspace, as its handler sees it. */
export interface PageContext extends WorkspaceContext {
  request: Request;
  h: ResponseToolkit;
  t: Texts;
  visitor: Visitor;
}

export interface Shown {
  /** The path of its section. */
  section: string;
  /** `workspaces/lists` is `templates/lists.html`; it uses the partial `workspaces/frame`. */
  template: string;
  title: string;
  status?: number;
}

/** Functions for the pages of a workspace, below `/workspaces/{id}`. */
export interface WorkspacePages {
  /** Adds a section to the navigation; called in `register`, in the order of the navigation. */
  section(section: Section): void;
  /** Returns a handler for members with at least a role. Other visitors sign in first; to other accounts the page does not exist. */
  member(work: (page: PageContext) => Lifecycle.ReturnValue, least?: WorkspaceRole): Lifecycle.Method;
  /** Shows a page with the navigation of the workspace. It is never stored by caches or search engines. */
  show(page: PageContext, shown: Shown, context: object): ResponseObject;
}

/** Options of routes that show pages. */
export const PAGE = { plugins: { civic: { internal: true } } };

export function createPages(workspaces: Workspaces): WorkspacePages {
  const { civic, accounts } = workspaces;
  const sections: Section[] = [];
  return {
    section(section) { sections.push(section); },
    member: (work, least) => accounts.pages.signedIn(async (visitor, request, h) => {
      const id = String(request.params.id);
      if (!isId(id)) throw problem('not_found');
      const context = await contextOfVisitor(workspaces, civic.db.read, visitor, id, least);
      return work({ ...context, visitor, request, h, t: await civic.texts(request.civic.language) });
    }),
    show({ h, workspace }, { section, template, title, status = 200 }, context) {
      const home = `/workspaces/${workspace.id}`;
      const parts = sections.map(({ path, label }) => ({ plugin: 'workspaces', label, path: path === '' ? home : `${home}/${path}`, isHere: path === section }));
      return h.view(template, { title, isUnlisted: true, workspace, home, parts, ...context }).code(status).header('cache-control', 'private, no-store') as ResponseObject;
    },
  };
}
