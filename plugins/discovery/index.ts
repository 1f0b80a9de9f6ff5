import { createThreads, definePlugin } from 'civic';
import { matchJob } from './candidates/match.ts';
import { unlistedJob } from './candidates/unlisted.ts';
import { createDecisions } from './candidates/decide.ts';
import { candidateRoutes } from './candidates/routes.ts';
import { discoveryOptions, type DiscoveryConfig } from './config.ts';
import { createDiscovery } from './context.ts';
import { backfillJob } from './engine/backfill.ts';
import { runDiscovery } from './engine/engine.ts';
import { evalExtraction } from './eval/extraction.ts';
import { discoveryExamples } from './examples.ts';
import { registerPages } from './pages/register.ts';
import { discoveryProblems } from './problems.ts';
import { proposalRoutes } from './proposals/routes.ts';
import { createRunEvents } from './runs/events.ts';
import { pruneJob } from './runs/prune.ts';
import { runRoutes } from './runs/routes.ts';
import { deleteMonthsOf, runsIn } from './runs/quota-store.ts';
import { monthOf, RUN_JOB } from './runs/start.ts';
import { deleteRunsOf, latestPublicRun } from './runs/store.ts';
import { scheduleCommand } from './schedules/commands.ts';
import { scheduleJob, startSchedules } from './schedules/schedules.ts';
import { searchCheck } from './search/check.ts';
import { syncRoutes } from './syncs/routes.ts';
import { discoveryService } from './service.ts';
import { discoveryResources, discoveryTools } from './tools.ts';

export type { ReadPage, UnderstandPage } from './context.ts';
export type { ProposedRun } from './proposals/proposals.ts';
export type { DiscoveryService, Finding, Origin, Research, Researcher, RunPage, ShownCandidate, ShownRun } from './service.ts';

export default definePlugin<DiscoveryConfig>({
  name: 'discovery',
  summary: 'Finds actors that are not in the directory yet, and lets reviewers decide about each',
  reference: { title: 'Discovery', order: 30 },
  config: discoveryOptions,
  needs: ['directory', 'reader'],
  uses: ['accounts', 'console', 'workspaces'],
  scopes: {
    'discovery:read': { label: 'Read discovery runs', hint: 'Runs of the workspace and the candidates that they found.' },
    'discovery:write': { label: 'Start discovery runs and decide', hint: 'Accepted candidates become private actors of the workspace.' },
  },
  limits: { discovery_runs: { label: 'Discovery runs a month', doc: 'How many discovery runs a workspace can start in a month', plans: { individual: 20, research_pass: 100, team: 500 } } },
  capabilities: { discovery: { label: 'Discovery runs', limit: 'discovery_runs' } },
  problems: discoveryProblems,
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const threads = createThreads(new URL('./extract/extract.js', import.meta.url), { count: 2, seconds: 10, memory_mb: 256 });
    const discovery = createDiscovery(civic, threads);
    civic.provide(discoveryService(discovery));
    civic.jobs.define(matchJob(discovery));
    civic.jobs.define(unlistedJob(discovery));
    civic.jobs.define(backfillJob(discovery));
    civic.jobs.define(pruneJob(discovery));
    civic.jobs.define(scheduleJob(discovery));
    discovery.directory.latestRun(latestPublicRun);
    civic.check(searchCheck(discovery));
    // Kills of workers do not count as failures of a run.
    civic.jobs.define<{ run_id: string }>({ name: RUN_JOB, lane: 'network', max_attempts: 1000, run: (job) => runDiscovery(discovery, job) });
    civic.command(evalExtraction(discovery.reader.document));
    civic.command(scheduleCommand(discovery));
    const events = createRunEvents(discovery);
    const accounts = civic.serviceIfOn('accounts');
    if (accounts) {
      civic.examples(discoveryExamples);
      accounts.workspaceHooks.whenDeleted(async (tx, workspaceId) => {
        await deleteRunsOf(tx, workspaceId);
        await deleteMonthsOf(tx, workspaceId);
        await discovery.reader.deleteIndex(tx, workspaceId);
      });
      accounts.meter('discovery_runs', async (accountId) => runsIn(civic.db.read, (await accounts.workspacesOf(civic.db.read, accountId)).map(({ id }) => id), monthOf(civic.clock.now())));
      for (const tool of discoveryTools(discovery)) civic.tool(tool);
      for (const resource of discoveryResources(discovery)) civic.resource(resource);
      civic.watch('accounts.access_changed', ({ payload }) => events.endOf(payload.account_id));
      server.ext('onPreStop', () => events.stop());
      const decisions = createDecisions(discovery);
      server.route([...proposalRoutes(discovery), ...runRoutes(discovery, events), ...candidateRoutes(discovery, decisions), ...syncRoutes(discovery, civic.serviceIfOn('workspaces'))]);
      registerPages(server, discovery, { decisions, events, accounts });
    }
    return {
      async start() {
        await startSchedules(discovery);
        events.start();
      },
      async stop() {
        await events.stop();
        await threads.close();
      },
    };
  },
});
