import { definePlugin } from 'civic';
import { ingestOptions, type IngestConfig } from './config.ts';
import { failingAttention } from './console/attention.ts';
import { LINKS, linkAttention, linkPages, linkPart } from './console/links.ts';
import { operatorArea, SOURCES, workspaceArea } from './console/area.ts';
import { sourcePages } from './console/pages.ts';
import { sourceSection } from './console/section.ts';
import { createIngest } from './context.ts';
import { replayCommand } from './eval/commands.ts';
import { evalMeetings } from './eval/meetings.ts';
import { ingestEvents } from './events.ts';
import { ingestExamples } from './examples.ts';
import { linkCommands } from './links/commands.ts';
import { linkJobs } from './links/jobs.ts';
import { createLinks } from './links/links.ts';
import { feedRoutes } from './feeds/routes.ts';
import { pruneSignals } from './feeds/store.ts';
import { ingestProblems } from './problems.ts';
import { importCommand } from './lists/commands.ts';
import { listPages } from './lists/pages.ts';
import { listRoutes } from './lists/routes.ts';
import { listedMeetings } from './meetings/meetings.ts';
import { publicUrl } from './reads/clean.ts';
import { READ_JOB, runRead } from './reads/run.ts';
import { understandPages } from './reads/understand.ts';
import { pruneReads } from './reads/store.ts';
import { reminderJob } from './reminders/job.ts';
import { sourceCommands } from './sources/commands.ts';
import { sourceRoutes } from './sources/routes.ts';
import { createSources } from './sources/sources.ts';
import { addressesOf, countInPlace, deleteSourcesOf, totalOf } from './sources/store.ts';

const DAY_MS = 24 * 3600_000;

export default definePlugin<IngestConfig>({
  name: 'ingest',
  summary: 'Watches public calendars, feeds and pages, and publishes what changed as signals',
  reference: { title: 'Watched sources', order: 25 },
  config: ingestOptions,
  needs: ['reader', 'directory', 'firehose'],
  uses: ['accounts', 'console', 'discovery', 'flags', 'site', 'workspaces'],
  limits: { source_watches: { label: 'Watched sources', doc: 'How many public pages, calendars and feeds a workspace can watch', plans: { individual: 20, research_pass: 50, team: 500 } } },
  problems: ingestProblems,
  events: ingestEvents,
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const ingest = createIngest(civic);
    const sources = createSources(ingest);
    const links = createLinks(ingest);
    ingest.directory.watchedSources(countInPlace);
    ingest.discovery?.addresses(async (reader, about) => (await addressesOf(reader, about)).filter((url) => publicUrl(url) === url));
    ingest.discovery?.understand(understandPages(ingest));
    const forgetMeetings = ingest.directory.listMeetings(listedMeetings);
    ingest.firehose.onPublicSignals(forgetMeetings);
    civic.watch('ingest.source_changed', async () => forgetMeetings());
    ingest.firehose.produces(['public_meeting', 'meeting_cancelled', 'short_notice', 'public_comment', 'vote', 'filing', 'grant_award', 'coalition_activity', 'new_source', 'source_change']);
    civic.jobs.define<{ key: string }>({ name: READ_JOB, by_key: true, lane: 'network', lease_seconds: 300, run: (job) => runRead(ingest, job) });
    civic.jobs.define({
      name: 'ingest.prune',
      every_seconds: 3600,
      async run({ write, signal }) {
        const before = new Date(civic.clock.now() - civic.config.read_days * DAY_MS).toISOString();
        for (const prune of [pruneReads, pruneSignals]) while (!signal.aborted && await write((tx) => prune(tx, before)) > 0);
      },
    });
    for (const job of linkJobs(ingest, links)) civic.jobs.define(job);
    for (const command of [...sourceCommands(ingest, sources), ...linkCommands(ingest, links), importCommand(ingest, sources), replayCommand, evalMeetings({ document: ingest.reader.document, now: () => civic.clock.now() })]) civic.command(command);
    civic.serviceIfOn('console')?.attention(failingAttention(ingest));
    civic.serviceIfOn('console')?.attention(linkAttention(ingest));
    civic.pages.fill('site.source', linkPart(ingest));
    if (ingest.accounts) registerForWorkspaces(ingest.accounts);

    /** Workspaces, and with them the API, are of the plugin accounts. Without it the operator has the command line. */
    function registerForWorkspaces(accounts: NonNullable<typeof ingest.accounts>): void {
      civic.examples(ingestExamples);
      server.route([...sourceRoutes(ingest, sources), ...listRoutes(ingest, sources), ...feedRoutes(ingest, sources), ...linkPages(ingest, accounts)]);
      const workspaces = civic.serviceIfOn('workspaces');
      workspaces?.pages.section(sourceSection(ingest));
      for (const area of [operatorArea(ingest, accounts), ...(workspaces ? [workspaceArea(ingest, sources, workspaces)] : [])]) server.route([...sourcePages(ingest, sources, accounts, area), ...listPages(ingest, sources, accounts, area)]);
      civic.jobs.define(reminderJob(ingest, accounts));
      accounts.consolePage({ plugin: 'ingest', label: 'sources.title', summary: 'sources.summary', path: SOURCES, role: 'reviewer' });
      accounts.consolePage({ plugin: 'ingest', label: 'links.title', summary: 'links.summary', path: LINKS, role: 'reviewer' });
      accounts.workspaceHooks.whenDeleted(async (tx, workspaceId) => {
        for (const id of await deleteSourcesOf(tx, workspaceId)) await civic.jobs.removeDue(tx, READ_JOB, id);
      });
      accounts.meter('source_watches', async (accountId) => {
        const workspaces = await accounts.workspacesOf(civic.db.read, accountId);
        const totals = await Promise.all(workspaces.map(({ id }) => totalOf(civic.db.read, id)));
        return totals.reduce((sum, total) => sum + total, 0);
      });
    }
  },
});
