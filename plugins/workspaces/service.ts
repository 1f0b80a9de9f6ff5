import type { Lifecycle, ResponseObject } from '@hapi/hapi';
import type { Tx } from 'civic';
import type { WorkspaceContext, WorkspaceRole } from './context.ts';
import type { LinkWrites } from './links.ts';
import type { MemberPage, Section, Shown, WorkspacePages } from './pages/frame.ts';

/** The service of this plugin for other plugins. */
export interface WorkspacesService extends LinkWrites {
  /** Functions for pages of other plugins below `/workspaces/{id}`. */
  pages: SectionPages;
}

export interface SectionPages {
  /** Adds a section to the navigation of every workspace, and with `summary` a card to its overview; called in `register`. */
  section(section: Section): void;
  /** Returns a handler for members with at least a role, for routes with `{id}` of the workspace in their path. Other visitors sign in first; to other accounts the page does not exist. */
  member(work: (page: MemberPage) => Lifecycle.ReturnValue, least?: WorkspaceRole): Lifecycle.Method;
  /** Changes data in a transaction as the visitor, whose membership is read again inside it. */
  change<Result>(page: MemberPage, work: (tx: Tx, context: WorkspaceContext) => Promise<Result>, least?: WorkspaceRole): Promise<Result>;
  /** Redirects to a path below the workspace after a form. */
  go(page: MemberPage, path: string): ResponseObject;
  /** Shows a page with the navigation of the workspace. It is never stored by caches or search engines. */
  show(page: MemberPage, shown: Shown, context: object): Promise<ResponseObject>;
}

declare module 'civic' {
  interface Services { workspaces: WorkspacesService }
}

export function createService({ section, member, change, go, show }: WorkspacePages, links: LinkWrites): WorkspacesService {
  return { pages: { section, member, change, go, show }, ...links };
}
