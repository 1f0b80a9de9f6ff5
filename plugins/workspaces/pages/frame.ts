import type { Lifecycle, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { isId, pagePath, problem, type Reader, type Texts, type Tx } from 'civic';
import type { Visitor } from 'civic/accounts';
import { contextOfVisitor, type OpenContext, type WorkspaceContext, type WorkspaceRole, type Workspaces } from '../context.ts';
import { countRecords } from '../records/store.ts';

/** A page of a workspace, as its handler sees it. */
export interface MemberPage extends WorkspaceContext {
  request: Request;
  h: ResponseToolkit;
  visitor: Visitor;
}

/** A page of this plugin, with its texts. */
export interface PageContext extends MemberPage {
  t: Texts;
}

/** A page in the navigation of a workspace, and with `summary` a card on its overview. */
export interface Section<Page extends MemberPage = MemberPage> {
  /** The plugin whose catalogue has `label`. */
  plugin: string;
  /** Below `/workspaces/{id}`: empty for the overview, else `lists`. */
  path: string;
  /** A key of the catalogue. */
  label: string;
  /** Returns what the workspace has there, as a sentence in the language of the request. */
  summary?(reader: Reader, page: Page): Promise<string>;
}

export interface Shown {
  /** The path of its section. */
  section: string;
  /** `workspaces/lists` is `templates/lists.html` of the plugin `workspaces`; it uses the partial `accounts/frame`. */
  template: string;
  title: string;
  status?: number;
}

/** Functions for the pages of a workspace, below `/workspaces/{id}`. */
export interface WorkspacePages {
  /** Adds a section to the navigation; called in `register`, in the order of the navigation. */
  section(section: Section<PageContext>): void;
  sections(): readonly Section<PageContext>[];
  /** Returns a handler for members with at least a role. Other visitors sign in first; to other accounts the page does not exist. */
  member(work: (page: PageContext) => Lifecycle.ReturnValue, least?: WorkspaceRole): Lifecycle.Method;
  /** Returns a handler that redirects a signed-in user to a page of the workspace that is chosen in the header. `path` gets the parameter `entry`, encoded. */
  chosen(path: (entry: string) => string): Lifecycle.Method;
  /** Changes data in a transaction as the visitor, whose membership is read again inside it. */
  change<Result>(page: MemberPage, work: (tx: Tx, context: WorkspaceContext) => Promise<Result>, least?: WorkspaceRole): Promise<Result>;
  /** Reads the membership of the visitor again. */
  reopen(page: MemberPage): OpenContext;
  /** Redirects to a path below the workspace after a form; the page there shows the notice `done.<done>` of the catalogue. */
  go(page: MemberPage, path: string, done?: Done): ResponseObject;
  /** Shows a page with the navigation of the workspace. It is never stored by caches or search engines. */
  show(page: MemberPage, shown: Shown, context: object): Promise<ResponseObject>;
}

const DONE = ['created', 'saved', 'deleted', 'added', 'removed', 'known'] as const;
export type Done = (typeof DONE)[number];

/** Options of routes that show pages. */
export const PAGE = { plugins: { civic: { internal: true } } };

/** The name of this plugin, whose catalogue has the labels of its own sections. */
export const NAME = 'workspaces';

/** Returns the summary of a section of records: how many there are, as the text `overview.<kind>`. */
export function counted(kind: 'lists' | 'notes' | 'targets' | 'reviews' | 'briefs' | 'watches'): NonNullable<Section<PageContext>['summary']> {
  return async (reader, { t, workspace }) => t(`overview.${kind}`, { count: await countRecords(reader, `workspaces_${kind}`, workspace.id) });
}

export function createPages(workspaces: Workspaces): WorkspacePages {
  const { civic, accounts } = workspaces;
  const sections: Section<PageContext>[] = [];
  return {
    section(section) { sections.push(section); },
    sections: () => sections,
    member: (work, least) => accounts.pages.signedIn(async (visitor, request, h) => {
      const id = String(request.params.id);
      if (!isId(id)) throw problem('not_found');
      const context = await contextOfVisitor(workspaces, civic.db.read, visitor, id, least);
      return work({ ...context, visitor, request, h, t: await civic.texts(request.civic.language) });
    }),
    chosen: (path) => accounts.pages.signedIn(({ workspaces: own, workspace_id }, request, h) => {
      const { id } = own.find((workspace) => workspace.id === workspace_id) ?? own[0]!;
      const entry = encodeURIComponent(String(request.query['entry'] ?? ''));
      return h.redirect(pagePath(request, `/workspaces/${id}/${path(entry)}`)).code(303).header('cache-control', 'private, no-store');
    }),
    change: (page, work, least) => civic.db.write(async (tx) => work(tx, await contextOfVisitor(workspaces, tx, page.visitor, page.workspace.id, least))),
    reopen: ({ visitor, workspace }) => (reader) => contextOfVisitor(workspaces, reader, visitor, workspace.id),
    go: ({ h, request, workspace }, path, done) => h.redirect(pagePath(request, `/workspaces/${workspace.id}/${path}${done === undefined ? '' : `?done=${done}`}`)).code(303).header('cache-control', 'private, no-store'),
    async show({ h, workspace, request }, { section, template, title, status = 200 }, context) {
      const t = await civic.texts(request.civic.language);
      const isOwn = template.startsWith(`${NAME}/`);
      const home = `/workspaces/${workspace.id}`;
      const area = { style: 'workspace', label: t('frame.navigation'), lead: title === workspace.name ? t('frame.members_only') : `${workspace.name}. ${t('frame.members_only')}` };
      const parts = [
        ...sections.map(({ plugin, path, label }) => ({ plugin, label, path: path === '' ? home : `${home}/${path}`, isHere: path === section })),
        { plugin: NAME, label: 'frame.members', path: `/account/workspaces/${workspace.id}` },
      ];
      return h.view(template, { title, isUnlisted: true, area, workspace, home, parts, ...(isOwn ? { notice: noticeOf(request, t) } : { looks: [NAME] }), ...context }).code(status).header('cache-control', 'private, no-store') as ResponseObject;
    },
  };
}

/** Returns the notice that the address names, from a fixed list: a link of an attacker could name any text. */
function noticeOf({ query }: Request, t: Texts): string | undefined {
  const done = DONE.find((one) => one === query['done']);
  return done && t(`done.${done}`);
}
