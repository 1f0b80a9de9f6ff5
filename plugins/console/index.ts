import { definePlugin } from 'civic';
import { declareOwnSeries } from './activity.ts';
import { backupJob } from './backup-job.ts';
import { backupRoutes } from './backups.ts';
import { consoleOptions, type ConsoleConfig } from './config.ts';
import { createHome } from './home.ts';
import { jobRoutes } from './jobs.ts';
import { BACKUPS, JOBS } from './paths.ts';
import { createConsole } from './service.ts';
import { pruneCounts } from './store.ts';

export type { AttentionEntry, AttentionSource, ConsoleService, Series } from './service.ts';

const plugin = 'console';
const AUDIT_KINDS = {
  console_backup_started: { plugin, label: 'audit.backup_started' },
  console_backup_downloaded: { plugin, label: 'audit.backup_downloaded' },
  console_job_retried: { plugin, label: 'audit.job_retried' },
  console_job_discarded: { plugin, label: 'audit.job_discarded' },
  console_events_retried: { plugin, label: 'audit.events_retried' },
};
const DAY_MS = 86_400_000;
const KEPT_DAYS = 35;

export default definePlugin<ConsoleConfig>({
  name: 'console',
  summary: 'The console of administrators: what needs attention, activity, jobs, backups and plugins',
  needs: ['accounts'],
  config: consoleOptions,
  slots: { 'console.sections': { summary: 'Sections of the home of the console, above the list of plugins' } },
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const console = createConsole(civic);
    const { accounts, counters, service } = console;
    const home = createHome(console);

    civic.provide(service);
    declareOwnSeries(server, console);
    accounts.auditKinds(AUDIT_KINDS);
    accounts.consolePage({ plugin: 'console', label: 'jobs.title', path: JOBS, summary: 'jobs.summary' });
    accounts.consolePage({ plugin: 'console', label: 'backups.title', path: BACKUPS, summary: 'backups.summary' });
    accounts.pages.purpose({ path: accounts.pages.consolePath, describe: async (_next, language) => (await civic.texts(language))('home.purpose') });
    accounts.pages.home((_by, request, h) => home(request, h));
    civic.jobs.define(backupJob(console));
    civic.jobs.define({
      name: 'console.prune',
      every_seconds: 86_400,
      run: (job) => job.write((tx) => pruneCounts(tx, new Date(civic.clock.now() - KEPT_DAYS * DAY_MS).toISOString(), new Date(civic.clock.now() + DAY_MS).toISOString())),
    });
    server.route([...jobRoutes(console), ...backupRoutes(console)]);
    return { start: async () => { counters.start(); }, stop: counters.stop };
  },
});
