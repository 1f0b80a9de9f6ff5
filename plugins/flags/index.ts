import { definePlugin } from 'civic';
import { flagsOptions, type FlagsConfig } from './config.ts';
import { flagEvents } from './events.ts';
import { flagExamples } from './examples.ts';
import { REPORTS } from './console/page.ts';
import { consoleRoutes } from './console/routes.ts';
import { reportAttention, reportSection } from './console/section.ts';
import { COUNTS_TABLE, COUNTS_VERSION, rebuildCounts } from './counts-store.ts';
import { createFlags } from './flags.ts';
import { flagProblems } from './problems.ts';
import { createDecisions } from './review/decisions.ts';
import { ACTIONS } from './review/steps-store.ts';
import { QUEUE_TABLES, QUEUE_VERSION, rebuildQueue } from './review/queue.ts';
import { reviewRoutes } from './review/routes.ts';
import { flagRoutes } from './routes.ts';
import { createReporterMails } from './reporter/mails.ts';
import { createConversation } from './reporter/conversation.ts';
import { conversationRoutes } from './reporter/routes.ts';
import { receiptPages } from './pages/receipt.ts';
import { reportPages } from './pages/report.ts';
import type { FlagsService } from './service.ts';
import { flagTools } from './tools.ts';

export type { FlagsService } from './service.ts';

const AUDIT_KINDS = Object.fromEntries([...ACTIONS, 'asked', 'held', 'hold_ended', 'hold_expired'].map((action) => [`flags_${action}`, { plugin: 'flags', label: `audit.${action}` }]));

export default definePlugin<FlagsConfig>({
  name: 'flags',
  summary: 'Reports of problems with actors, sources and places by anyone, and their review',
  reference: { title: 'Flags', order: 15, sections: { 'entity-flags': 'Report a problem with an entry', 'source-flags': 'Report a problem with a source', 'flags': 'Receipts and review' } },
  config: flagsOptions,
  needs: ['directory'],
  uses: ['accounts', 'console', 'firehose', 'site'],
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
    const decisions = createDecisions(flags);
    const mails = createReporterMails(civic, flags.directory);
    const conversation = createConversation(flags, mails);
    civic.provide({ report: flags.report, settle: decisions.settle } satisfies FlagsService);
    civic.examples(flagExamples);
    civic.readModel({ name: 'queue', version: QUEUE_VERSION, tables: QUEUE_TABLES, rebuild: rebuildQueue });
    civic.readModel({ name: 'counts', version: COUNTS_VERSION, tables: [COUNTS_TABLE], rebuild: rebuildCounts });
    const accounts = civic.serviceIfOn('accounts');
    if (accounts) {
      accounts.auditKinds(AUDIT_KINDS);
      accounts.consolePage({ plugin: 'flags', label: 'queue.title', path: REPORTS, summary: 'queue.summary', role: 'reviewer' });
      accounts.pages.purpose({ path: REPORTS, describe: async (_next, language) => (await civic.texts(language))('queue.purpose') });
      server.route(consoleRoutes({ flags, decisions, accounts, conversation }));
    }
    civic.serviceIfOn('console')?.attention(reportAttention(flags));
    civic.pages.fill('console.sections', reportSection(flags));
    civic.serviceIfOn('firehose')?.produces(['flag_resolved']);
    civic.on('directory.actors_changed', (tx, { payload }) => flags.signals.followActors(tx, payload.actors));
    civic.on('directory.hold_expired', (tx, { payload }) => flags.holdExpired(tx, payload));
    for (const name of ['flags.created', 'flags.cleared', 'flags.decided'] as const) civic.on(name, (tx, { payload }) => mails.follow(tx, name, payload));
    for (const job of [...mails.jobs, ...flags.jobs]) civic.jobs.define(job);
    civic.pages.fill('site.entry', { partial: 'flags/link', load: ({ params }) => ({ href: `/report?entry=${encodeURIComponent(String(params.id).toLowerCase())}` }) });
    civic.pages.fill('site.place', { partial: 'flags/link', load: ({ params }) => ({ href: `/report?place=${encodeURIComponent(String(params.place_key))}` }) });
    civic.pages.fill('site.source', { partial: 'flags/link', load: ({ params }) => ({ href: `/report?source=${encodeURIComponent(String(params.id).toLowerCase())}` }) });
    civic.pages.fill('site.corrections', { partial: 'flags/corrections', load: () => ({}) });
    server.route([...flagRoutes(flags), ...conversationRoutes(flags, conversation), ...reviewRoutes(flags, decisions, conversation), ...reportPages(flags, mails), ...receiptPages(flags, conversation)]);
    for (const tool of flagTools(flags)) civic.tool(tool);
  },
});
