import type { ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi } from 'civic';
import { CONTEXT_PROBLEMS, contextOf, type OpenContext, type Workspaces } from '../context.ts';
import { PAGE, type WorkspacePages } from '../pages/frame.ts';
import { exportResponse } from '../records/export.ts';
import { EXPORT_OPTIONS } from '../records/transfer-routes.ts';
import { noQuery } from '../schemas.ts';
import { wholeExport, type Everything } from './export.ts';

/** Returns the route and the page that export all records of a workspace as one file. */
export function wholeRoutes(workspaces: Workspaces, pages: WorkspacePages, everything: () => Everything): ServerRoute[] {
  const { civic } = workspaces;

  async function exported(h: ResponseToolkit, open: OpenContext): Promise<ResponseObject> {
    const { workspace } = await civic.db.write(async (tx) => {
      const context = await open(tx);
      await workspaces.use(tx, context, 'exports');
      return context;
    });
    return exportResponse(h, wholeExport(workspaces, everything(), workspace, open), { name: 'workspace', format: 'json' });
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
      handler: (request, h) => exported(h, (reader) => contextOf(workspaces, reader, request)),
    },
    { method: 'GET', path: '/workspaces/{id}/export', options: PAGE, handler: pages.member((page) => exported(page.h, pages.reopen(page))) },
  ];
}
