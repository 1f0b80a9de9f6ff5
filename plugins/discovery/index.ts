import { definePlugin } from 'civic';
import { matchJob } from './candidates/match.ts';
import { createDecisions } from './candidates/decide.ts';
import { candidateRoutes } from './candidates/routes.ts';
import { createDiscovery } from './context.ts';
import { discoveryExamples } from './examples.ts';
import { discoveryProblems } from './problems.ts';
import { runRoutes } from './runs/routes.ts';
import { deleteRunsOf } from './runs/store.ts';
import { discoveryService } from './service.ts';

export type { DiscoveryService, Finding, Origin } from './service.ts';

export default definePlugin({
  name: 'discovery',
  summary: 'Finds actors that are not in the directory yet, and lets reviewers decide about each',
  reference: { title: 'Discovery', order: 30 },
  needs: ['directory'],
  uses: ['accounts'],
  scopes: {
    'discovery:read': { label: 'Read discovery runs', hint: 'Runs of the workspace and the candidates that they found.' },
    'discovery:write': { label: 'Start discovery runs and decide', hint: 'Accepted candidates become private actors of the workspace.' },
  },
  problems: discoveryProblems,
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const discovery = createDiscovery(civic);
    civic.provide(discoveryService(discovery));
    civic.jobs.define(matchJob(discovery));
    const accounts = civic.serviceIfOn('accounts');
    if (!accounts) return;
    civic.examples(discoveryExamples);
    accounts.workspaceHooks.whenDeleted(deleteRunsOf);
    server.route([...runRoutes(discovery), ...candidateRoutes(discovery, createDecisions(discovery))]);
  },
});
