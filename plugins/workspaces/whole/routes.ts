import type { ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, type Tx } from 'civic';
import { CONTEXT_PROBLEMS, contextOf, contextOfVisitor, type WorkspaceContext, type Workspaces } from '../context.ts';
import { PAGE, type WorkspacePages } from '../pages/frame.ts';
import { exportResponse } from '../records/export.ts';
import { EXPORT_OPTIONS } from '../records/transfer-routes.ts';
import { noQuery } from '../schemas.ts';
import { wholeExport, type Everything } from './export.ts';

/** Returns the route and the page that export all records of a workspace as one file. */
export function wholeRoutes(workspaces: Workspaces, pages: WorkspacePages, everything: () => Everything): ServerRoute[] {
  const { civic } = workspaces;

  async function exported(h: ResponseToolkit, open: (tx: Tx) => Promise<WorkspaceContext>): Promise<ResponseObject> {
    const context = await civic.db.write(async (tx) => {
      const opened = await open(tx);
      await workspaces.use(tx, opened, 'exports');
      return opened;
    });
    return exportResponse(h, wholeExport(workspaces, everything(), context), { name: 'workspace', format: 'json' });
  }

  return [
    {
      method: 'GET',
      path: '/api/workspaces/{id}/export',
      options: {
        ...EXPORT_OPTIONS,
        description: 'Export all records of a workspace as one JSON file',
        notes: 'Lists with their entries, notes, coverage targets, reviews, briefs and watches. `import` states how each part is imported again, and `not_imported` what cannot be. An export is counted in the usage of the workspace.',
        validate: { query: noQuery, params: Joi.object({ id: Joi.string() }) },
        plugins: { civic: { problems: CONTEXT_PROBLEMS } },
      },
      handler: (request, h) => exported(h, (tx) => contextOf(workspaces, tx, request)),
    },
    { method: 'GET', path: '/workspaces/{id}/export', options: PAGE, handler: pages.member((page) => exported(page.h, (tx) => contextOfVisitor(workspaces, tx, page.visitor, page.workspace.id))) },
  ];
}
