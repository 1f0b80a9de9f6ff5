import { definePlugin } from 'civic';
import { workspacesOptions, type WorkspacesConfig } from './config.ts';
import { createContext } from './context.ts';
import { workspaceExamples } from './examples.ts';
import { createLists } from './lists/lists.ts';
import { listRoutes } from './lists/routes.ts';
import { createPages } from './pages/frame.ts';
import { overviewPages } from './pages/overview.ts';
import { workspaceProblems } from './problems.ts';

export default definePlugin<WorkspacesConfig>({
  name: 'workspaces',
  summary: 'Private records of workspaces, such as lists and notes',
  reference: { title: 'Workspace records', order: 32, sections: { workspaces: 'Workspace records' } },
  config: workspacesOptions,
  needs: ['accounts', 'directory'],
  uses: ['site'],
  paths: { '/workspaces': { audience: 'people', crawlers: false } },
  problems: workspaceProblems,
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const workspaces = createContext(civic);
    const pages = createPages(workspaces);
    const lists = createLists(workspaces);
    civic.examples(workspaceExamples);
    workspaces.accounts.pages.entry({ plugin: 'workspaces', label: 'frame.entry', path: '/workspaces' });
    workspaces.accounts.pages.purpose({ path: '/workspaces', describe: async (_next, language) => (await civic.texts(language))('frame.purpose') });
    server.route([...overviewPages(workspaces, pages, lists), ...listRoutes(workspaces, lists)]);
  },
});
