import { definePlugin } from 'civic';
import { workspacesOptions, type WorkspacesConfig } from './config.ts';
import { briefExamples } from './briefs/examples.ts';
import { briefProblems } from './briefs/problems.ts';
import { registerBriefs } from './briefs/register.ts';
import { createContext } from './context.ts';
import { workspaceExamples } from './examples.ts';
import { createLinks } from './links.ts';
import { createLists } from './lists/lists.ts';
import { listPages } from './lists/pages.ts';
import { listRoutes } from './lists/routes.ts';
import { saveLink, savePages } from './lists/save.ts';
import { createNotes } from './notes/notes.ts';
import { notePages } from './notes/pages.ts';
import { createPages } from './pages/frame.ts';
import { overviewPages } from './pages/overview.ts';
import { workspaceProblems } from './problems.ts';
import { forgetRecords } from './records/store.ts';
import { createService } from './service.ts';
import { reviewPages } from './reviews/pages.ts';
import { createReviews } from './reviews/reviews.ts';
import { itemRoutes } from './routes.ts';
import { targetPages } from './targets/pages.ts';
import { createTargets } from './targets/targets.ts';
import { listedKinds } from './listed.ts';
import { workspaceTools } from './tools.ts';
import { usageCheck, usageVerify } from './usage/commands.ts';
import { usagePages } from './usage/pages.ts';
import { usageRoutes } from './usage/routes.ts';
import { createUsage } from './usage/usage.ts';
import { createScopes, followTargets } from './watches/coverage.ts';
import { watchExamples } from './watches/examples.ts';
import { watchProblems } from './watches/problems.ts';
import { registerWatches } from './watches/register.ts';
import { forgetWatches } from './watches/store.ts';
import { forgetFeed } from './watches/subscribers-store.ts';
import { wholeRoutes } from './whole/routes.ts';

export type { MemberPage, Section, Shown } from './pages/frame.ts';
export type { SectionPages, WorkspacesService } from './service.ts';
export type { RecordLinks } from './links.ts';
export type { WorkspaceContext, WorkspaceRole } from './context.ts';

export default definePlugin<WorkspacesConfig>({
  name: 'workspaces',
  summary: 'Private records of workspaces, such as lists and notes, and what workspaces use',
  reference: { title: 'Workspace records', order: 32, sections: { workspaces: 'Workspace records' } },
  config: workspacesOptions,
  needs: ['accounts', 'directory'],
  uses: ['firehose', 'site'],
  // Other plugins have sections there.
  paths: { '/workspaces': { audience: 'people', crawlers: false, shared: true } },
  problems: { ...workspaceProblems, ...briefProblems, ...watchProblems },
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const workspaces = createContext(civic);
    const { accounts } = workspaces;
    const pages = createPages(workspaces);
    const lists = createLists(workspaces);
    const items = { notes: createNotes(workspaces), targets: followTargets(createTargets(workspaces), () => watching.watches()), reviews: createReviews(workspaces) };
    const usage = createUsage(workspaces);

    accounts.workspaceHooks.whenUsed(usage.record);
    accounts.workspaceHooks.whenDeleted(async (tx, workspaceId) => {
      // First, because it waits for transactions that store records at the same time.
      await usage.forget(tx, workspaceId);
      await forgetRecords(tx, workspaceId);
      await forgetWatches(tx, workspaceId);
    });
    accounts.workspaceHooks.whenLeft(forgetFeed);
    accounts.pages.entry({ plugin: 'workspaces', label: 'frame.entry', path: '/workspaces' });
    accounts.pages.purpose({ path: '/workspaces', describe: async (_next, language) => (await civic.texts(language))('frame.purpose') });
    civic.examples({ ...workspaceExamples, ...briefExamples, ...(civic.serviceIfOn('firehose') && watchExamples) });
    civic.command(usageVerify(() => civic.db, usage));
    civic.check(usageCheck(() => civic.db, usage));
    // A public page is the same for all anonymous visitors; the link names no list, so that it reveals nothing of a workspace.
    civic.pages.fill('site.entry', { partial: 'workspaces/save-link', load: (request) => (accounts.pages.session(request) ? saveLink(String(request.params.id).toLowerCase()) : null) });
    civic.pages.fill('accounts.workspace', { partial: 'workspaces/open-link', load: ({ params }) => ({ href: `/workspaces/${encodeURIComponent(String(params.id).toLowerCase())}` }) });
    server.route([...listRoutes(workspaces, lists), ...itemRoutes(workspaces, items), ...usageRoutes(workspaces)]);
    server.route([...overviewPages(workspaces, pages, lists), ...listPages(workspaces, pages, lists), ...savePages(workspaces, pages, lists), ...notePages(workspaces, pages, items.notes), ...targetPages(workspaces, pages, items.targets), ...reviewPages(workspaces, pages, items.reviews)]);
    const briefs = registerBriefs(server, workspaces, pages, lists);
    civic.provide(createService(pages, createLinks(workspaces, { lists, briefs, targets: items.targets })));
    const watching = registerWatches(server, workspaces, pages, createScopes());
    const everything = () => ({ lists, ...items, briefs, watches: watching.watches() });
    server.route(wholeRoutes(workspaces, pages, everything));
    // Usage follows the sections of other plugins in the navigation. Watches exist once all plugins have registered.
    civic.whenComposed(() => {
      server.route(usagePages(workspaces, pages));
      for (const tool of workspaceTools(workspaces, lists, listedKinds(everything()))) civic.tool(tool);
    });
    return {
      async start() {
        await usage.start();
        await watching.start?.();
      },
      async stop() {
        await watching.stop?.();
        await usage.stop();
      },
    };
  },
});
