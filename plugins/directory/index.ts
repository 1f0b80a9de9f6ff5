import { definePlugin, readyAnswers } from 'civic';
import { countsCheck, issueAreasInUse } from './actors/check.ts';
import { rebuildCommand } from './actors/commands.ts';
import { directoryJobs } from './actors/jobs.ts';
import { countLiveActors } from './actors/read-store.ts';
import { actorPartRoutes } from './actors/parts-routes.ts';
import { placeReadRoutes } from './actors/place-routes.ts';
import { entityRoutes } from './actors/routes.ts';
import { directoryOptions, HALF_LIVES, type DirectoryConfig } from './config.ts';
import { demoCommands } from './demo/commands.ts';
import { directoryEvents } from './events.ts';
import { judgementRoutes } from './ledger/judgement-routes.ts';
import { feedRoutes } from './feeds/routes.ts';
import { createLedger } from './ledger/ledger.ts';
import { writeRoutes } from './ledger/routes.ts';
import { evalMatching } from './matching/command.ts';
import { evalPlacesCommand } from './places/eval.ts';
import { placeProblems, placeRoutes } from './places/routes.ts';
import { bringGazetteerUpToDate, createPlaces, gazetteerCheck } from './places/service.ts';
import { directoryProblems } from './problems.ts';
import { reconcileRoutes } from './reconcile/routes.ts';
import { createColumns } from './search/columns.ts';
import { taxonomyProblems, taxonomyRoutes } from './taxonomy/routes.ts';
import { openTaxonomy, taxonomyCheck, type Taxonomy } from './taxonomy/service.ts';
import { transferCommands } from './transfer/commands.ts';
import { transferJobs } from './transfer/jobs.ts';
import { transferProblems, transferRoutes } from './transfer/routes.ts';
import { createTransfer } from './transfer/service.ts';

export default definePlugin<DirectoryConfig>({
  name: 'directory',
  summary: 'Civic actors in their places, every statement with its source',
  config: directoryOptions,
  problems: { ...taxonomyProblems, ...placeProblems, ...directoryProblems, ...transferProblems },
  events: directoryEvents,
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    let opened: Taxonomy | null = null;
    const taxonomy = () => (opened ??= openTaxonomy(civic.config.taxonomy_file));
    const places = createPlaces(civic.url);
    const columns = createColumns();
    const ready = readyAnswers({ maxBytes: civic.config.cache_megabytes * 1_000_000, now: () => civic.clock.now() });
    const ledger = createLedger({
      civic, places, taxonomy,
      halfLives: { ...HALF_LIVES, ...civic.config.half_life_days },
      onProjected({ rows, gone, places: touched, sources }) {
        columns.put(rows);
        columns.remove(gone);
        ready.touch(staleTags(rows.map(({ id }) => id), touched, sources));
      },
    });
    const transfer = createTransfer({ civic, ledger, places, taxonomy });
    const context = { civic, places, taxonomy, ready, columns, ledger, transfer };
    const counts = async () => {
      await columns.ready();
      return columns.issueCounts();
    };

    civic.watch('directory.actors_changed', async ({ payload }) => {
      // SQLite belongs to one process, which was told when it wrote.
      if (civic.db.dialect === 'sqlite') return;
      await columns.refresh(civic.db.read, payload.keys);
      ready.touch(staleTags(payload.actors.map(({ id }) => id), payload.places, payload.sources));
    });
    civic.check(gazetteerCheck(() => civic.db));
    civic.check(taxonomyCheck(taxonomy, () => issueAreasInUse(civic.db.read)));
    civic.check(countsCheck(() => civic.db));
    for (const job of [...directoryJobs(civic, ledger), ...transferJobs(transfer)]) civic.jobs.define(job);
    const stand = () => ({ db: civic.db, ledger, places, hasIssueArea: (slug: string) => taxonomy().issueAreaBySlug(slug) !== null, now: civic.clock.now() });
    const commands = [
      rebuildCommand(ledger, () => countLiveActors(civic.db.read)), evalPlacesCommand({ places, db: () => civic.db }), evalMatching(),
      ...demoCommands(stand), ...transferCommands(context),
    ];
    for (const command of commands) civic.command(command);
    server.route([
      ...placeRoutes({ places, db: () => civic.db, version: civic.instance.version }),
      ...taxonomyRoutes({ taxonomy, counts, ready, url: civic.url }),
      ...entityRoutes(context),
      ...actorPartRoutes(context),
      ...placeReadRoutes(context),
      ...writeRoutes(context),
      ...judgementRoutes(context),
      ...feedRoutes({ context, instance: civic.instance }),
      ...reconcileRoutes({ context, instance: civic.instance }),
      ...transferRoutes(context),
    ]);

    return {
      async start() {
        taxonomy();
        await bringGazetteerUpToDate(civic.db);
        void columns.load(civic.db.read, (error) => civic.log.error({ err: error }, 'The counts for facets could not be loaded yet'));
      },
      async stop() { columns.stop(); },
      async rebuild() {
        await bringGazetteerUpToDate(civic.db);
        await ledger.rebuild();
      },
    };
  },
});

/** What a change of actors makes untrue. */
function staleTags(actorIds: Iterable<string>, places: Iterable<number>, sources: Iterable<number>): string[] {
  return ['all', ...[...actorIds].map((id) => `actor:${id}`), ...[...places].map((place) => `place:${place}`), ...[...sources].map((key) => `source:${key}`)];
}
