import type { Server } from '@hapi/hapi';
import type { Workspaces } from '../context.ts';
import type { Lists } from '../lists/lists.ts';
import type { WorkspacePages } from '../pages/frame.ts';
import { createBriefs, type Briefs } from './briefs.ts';
import { briefPages } from './pages.ts';
import { briefRoutes } from './routes.ts';
import { briefTools } from './tools.ts';

/** Declares briefs, and returns them. */
export function registerBriefs(server: Server, workspaces: Workspaces, pages: WorkspacePages, lists: Lists): Briefs {
  const briefs = createBriefs(workspaces);
  server.route([...briefRoutes(workspaces, briefs), ...briefPages(workspaces, pages, briefs, lists)]);
  for (const tool of briefTools(workspaces, briefs)) workspaces.civic.tool(tool);
  return briefs;
}
