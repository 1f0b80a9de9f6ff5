import { definePlugin } from 'civic';
import { flagsOptions, type FlagsConfig } from './config.ts';
import { flagEvents } from './events.ts';
import { flagExamples } from './examples.ts';
import { createFlags } from './flags.ts';
import { flagProblems } from './problems.ts';
import { reviewRoutes } from './review-routes.ts';
import { flagRoutes } from './routes.ts';
import { reportPages } from './pages/report.ts';
import { flagTools } from './tools.ts';

export default definePlugin<FlagsConfig>({
  name: 'flags',
  summary: 'Reports of problems with actors and sources by anyone, and their review',
  reference: { title: 'Flags', order: 15, sections: { 'entity-flags': 'Report a problem with an entry', 'source-flags': 'Report a problem with a source', 'flags': 'Receipts and review' } },
  config: flagsOptions,
  needs: ['directory'],
  uses: ['accounts', 'firehose', 'site'],
  scopes: {
    'flags:write': { label: 'Report problems', hint: 'Reports about actors and sources, which reviewers check.' },
    'flags:review': { label: 'Decide on reports', hint: 'Including what their reporters wrote.', role: 'reviewer', onRequest: true },
  },
  rates: { flags: { label: 'reporting problems', per_minute: 10, per_hour: 60 } },
  paths: { '/report': { audience: 'people', crawlers: false } },
  problems: flagProblems,
  events: flagEvents,
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const flags = createFlags(civic);
    civic.examples(flagExamples);
    civic.serviceIfOn('firehose')?.produces(['flag_resolved']);
    civic.on('directory.actors_changed', (tx, { payload }) => flags.withdrawSignals(tx, payload.actors.filter(({ change }) => change === 'deleted').map(({ id }) => id)));
    civic.pages.fill('site.entry', { partial: 'flags/link', load: ({ params }) => ({ href: `/report?entry=${encodeURIComponent(String(params.id).toLowerCase())}` }) });
    civic.pages.fill('site.source', { partial: 'flags/link', load: ({ params }) => ({ href: `/report?source=${encodeURIComponent(String(params.id).toLowerCase())}` }) });
    server.route([...flagRoutes(flags), ...reviewRoutes(flags), ...reportPages(flags)]);
    for (const tool of flagTools(flags)) civic.tool(tool);
  },
});
