import type { Server } from '@hapi/hapi';
import type { Lifecycle } from 'civic';
import type { Workspaces } from '../context.ts';
import { counted, NAME, type WorkspacePages } from '../pages/frame.ts';
import { digestPages } from './digest-page.ts';
import { feedRoutes } from './feed.ts';
import { followActors } from './follow.ts';
import { watchMailJob } from './mails.ts';
import { createMatching } from './matching.ts';
import { watchPages } from './pages.ts';
import { watchRoutes } from './routes.ts';
import { watchTools } from './tools.ts';
import { unsubscribePages } from './unsubscribe.ts';
import { createWatches, type CoverageScopes, type Watches } from './watches.ts';

/** Declares watches. Without the Firehose there are no signals to watch, so there are none. */
export function registerWatches(server: Server, workspaces: Workspaces, pages: WorkspacePages, coverage: CoverageScopes): Lifecycle & { watches(): Watches | null } {
  const { civic } = workspaces;
  const firehose = civic.serviceIfOn('firehose');
  if (!firehose) return { watches: () => null };
  pages.section({ plugin: NAME, path: 'watches', label: 'watches.section', summary: counted('watches') });
  pages.section({ plugin: NAME, path: 'digest', label: 'digest.section' });
  // A public page is the same for all anonymous visitors.
  civic.pages.fill('site.entry', { partial: 'workspaces/watch-link', load: (request) => (workspaces.accounts.pages.session(request) ? { href: `/workspaces/watch?entry=${encodeURIComponent(String(request.params.id).toLowerCase())}` } : null) });
  const matching = createMatching(civic, firehose);
  let watches: Watches | null = null;

  civic.on('directory.actors_changed', (tx, { payload }) => followActors(workspaces.directory, tx, payload.actors));
  civic.whenComposed(() => {
    watches = createWatches(workspaces, firehose, coverage);
    civic.jobs.define(watchMailJob(workspaces, watches));
    for (const tool of watchTools(workspaces, watches)) civic.tool(tool);
    server.route([...watchRoutes(workspaces, watches), ...feedRoutes(workspaces, watches), ...watchPages(workspaces, pages, watches), ...digestPages(workspaces, pages, watches), ...unsubscribePages(workspaces, watches)]);
  });
  return { watches: () => watches, start: matching.start, stop: matching.stop };
}
