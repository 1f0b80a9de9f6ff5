import { definePlugin } from 'civic';
import { countsCheck, issueAreasInUse } from './actors/check.ts';
import { rebuildCommand } from './actors/commands.ts';
import { directoryJobs } from './actors/jobs.ts';
import { actorModel, type ActorModel } from './actors/model.ts';
import { actorPartRoutes } from './actors/parts-routes.ts';
import { placeReadRoutes } from './actors/place-routes.ts';
import { entityRoutes } from './actors/routes.ts';
import { directoryOptions, type DirectoryConfig } from './config.ts';
import { demoCommands } from './demo/commands.ts';
import { createDemoParts } from './demo/parts.ts';
import { directoryEvents } from './events.ts';
import { directoryExamples } from './examples.ts';
import { feedRoutes } from './feeds/routes.ts';
import { forgetJob, forgetWorkspace } from './ledger/forget.ts';
import { judgementRoutes } from './ledger/judgement-routes.ts';
import { writeRoutes } from './ledger/routes.ts';
import { evalMatching } from './matching/command.ts';
import { placeCommands } from './places/commands.ts';
import { evalPlacesCommand } from './places/eval.ts';
import { gazetteerCheck } from './places/load.ts';
import { placeProblems, placeRoutes } from './places/routes.ts';
import { offeredBy } from './offered/service.ts';
import { directoryProblems } from './problems.ts';
import { RECHECKS, recheckPages } from './rechecks/pages.ts';
import { recheckRoutes } from './rechecks/routes.ts';
import { reconcileRoutes } from './reconcile/routes.ts';
import { createDirectory } from './service.ts';
import { taxonomyProblems, taxonomyRoutes } from './taxonomy/routes.ts';
import { taxonomyCheck, taxonomyTextPaths } from './taxonomy/service.ts';
import { actorTools } from './tools/actors.ts';
import { placeTools } from './tools/places.ts';
import { directoryPrompts } from './tools/prompts.ts';
import { directoryResources } from './tools/resources.ts';
import { taxonomyTools } from './tools/taxonomy.ts';
import { unlistedCheck } from './unlisted/check.ts';
import { unlistedCommands } from './unlisted/commands.ts';
import { UNLISTED, unlistedRoutes } from './unlisted/pages.ts';
import { transferCommands } from './transfer/commands.ts';
import { importAttention, importSection } from './transfer/console.ts';
import { transferJobs } from './transfer/jobs.ts';
import { transferProblems, transferRoutes } from './transfer/routes.ts';

export type { KnownActor, KnownSource, FreshnessTurn } from './offered/actors.ts';
export type { ListedMeeting, MeetingsQuery } from './feeds/meetings.ts';
export type { Address } from './offered/addresses.ts';
export type { Area, AreaOverview } from './offered/areas.ts';
export type { ActorMatch } from './offered/candidates.ts';
export type { CountyCount, PlaceCounts, StateCount } from './offered/maps.ts';
export type { DoneEdit, Edit } from './offered/edits.ts';
export type { HeldContacts } from './offered/holds.ts';
export type { LinkedSource, LinkHealth } from './offered/links.ts';
export type { Entry, EntryHistory } from './offered/entries.ts';
export type { EntityPage, TaxonomyDomain, TaxonomyIssue } from './offered/pages.ts';
export type { ActorWithSources, Coverage } from './offered/reads.ts';
export type { CitedSource, ActorReference, SourceReference } from './offered/references.ts';
export type { SourcePage } from './offered/sources.ts';
export type { StatedClaim, StatedValue } from './offered/statements.ts';
export type { DraftFault } from './ledger/service.ts';
export type { DirectoryService } from './offered/service.ts';
export type { Actor, ActorDetail, ActorDraft, ActorType, Claim, ClaimDraft, ClaimValues, FlagCounts, FreshnessStatus, Method, Property, Source, SourceDraft } from './types.ts';
export type { PlaceOverview, Topic } from './offered/places.ts';
export type { NamedActor } from './offered/place-store.ts';
export type { CoveredPlace, Place } from './places/schemas.ts';
export type { DemoPart, DemoRegion } from './demo/parts.ts';
export type { ActorsChanged, ActorEffect, CoverageLoss, HoldExpired } from './events.ts';

const plugin = 'directory';
const AUDIT_KINDS = {
  directory_unlisted_added: { plugin, label: 'audit.unlisted_added' },
  directory_unlisted_removed: { plugin, label: 'audit.unlisted_removed' },
  directory_unlisted_deleted: { plugin, label: 'audit.unlisted_deleted' },
  directory_recheck_confirmed: { plugin, label: 'audit.recheck_confirmed' },
  directory_recheck_retracted: { plugin, label: 'audit.recheck_retracted' },
  directory_recheck_broken: { plugin, label: 'audit.recheck_broken' },
};

/** The plugin with a read model of actors, so that tests can compose the next version of it. */
export const directoryPlugin = (model: ActorModel) => definePlugin<DirectoryConfig>({
  name: 'directory',
  summary: 'Civic actors in their places, every statement with its source',
  reference: {
    title: 'Directory',
    order: 10,
    sections: { 'places': 'Places', 'entities': 'Entries', 'sources': 'Sources', 'issue-areas': 'Issue areas', 'domains': 'Domains', 'judgements': 'Judgements about duplicates', 'rechecks': 'Sources to check again', 'imports': 'Imports', 'exports': 'Exports' },
  },
  uses: ['accounts', 'console'],
  config: directoryOptions,
  scopes: {
    'directory:read': { label: 'Read the directory', hint: 'Including the private records of the workspace.' },
    'entities:write': { label: 'Create and edit actors', hint: 'People, organizations and initiatives in the directory.' },
  },
  paths: { '/reconcile': { audience: 'programs' } },
  problems: { ...taxonomyProblems, ...placeProblems, ...directoryProblems, ...transferProblems },
  events: directoryEvents,
  migrations: `${import.meta.dirname}/migrations`,
  declaredTexts: taxonomyTextPaths,

  register(server, civic) {
    const directory = createDirectory(civic, model);
    const demo = createDemoParts(civic.instance.demo);
    const { instance, url } = civic;
    const { places, taxonomy, ready, ledger, transfer, issueCounts, links } = directory;
    const db = () => civic.db;

    const offered = offeredBy(directory, demo);
    civic.provide(offered);
    civic.examples(directoryExamples(directory, offered));
    civic.watch('directory.actors_changed', ({ payload }) => directory.notice(payload));
    civic.check(gazetteerCheck(db));
    civic.check(taxonomyCheck(taxonomy, () => issueAreasInUse(db().read)));
    civic.check(countsCheck(db, civic.clock));
    civic.check(unlistedCheck(db, directory.registerKey));
    const accounts = civic.serviceIfOn('accounts');
    accounts?.auditKinds(AUDIT_KINDS);
    accounts?.consolePage({ plugin, label: 'unlisted.title', summary: 'unlisted.summary', path: UNLISTED });
    accounts?.consolePage({ plugin, label: 'rechecks.title', summary: 'rechecks.summary', path: RECHECKS, role: 'reviewer' });
    if (accounts) server.route([...unlistedRoutes(directory, accounts), ...recheckPages(directory, accounts)]);
    civic.serviceIfOn('console')?.attention(importAttention(civic));
    civic.pages.fill('console.sections', importSection(civic));
    accounts?.workspaceHooks.whenDeleted(forgetWorkspace(civic));
    for (const job of [forgetJob(civic, ledger), ...directoryJobs(civic, ledger, directory.halfLives), ...transferJobs(transfer)]) civic.jobs.define(job);
    const commands = [
      rebuildCommand(directory), ...placeCommands(directory), evalPlacesCommand({ places, db }), evalMatching(), ...demoCommands(directory, demo), ...transferCommands(directory), ...unlistedCommands(directory),
    ];
    for (const command of commands) civic.command(command);
    server.route([
      ...placeRoutes({ places, db, ready, version: instance.version }),
      ...taxonomyRoutes({ taxonomy, counts: issueCounts, ready, url }),
      ...entityRoutes(directory),
      ...actorPartRoutes(directory),
      ...placeReadRoutes(directory),
      ...writeRoutes(directory),
      ...judgementRoutes(directory),
      ...recheckRoutes(directory),
      ...feedRoutes({ context: directory, instance, links }),
      ...reconcileRoutes({ context: directory, instance, links }),
      ...transferRoutes(directory),
    ]);
    for (const tool of [...actorTools(directory), ...placeTools(directory), ...taxonomyTools(directory)]) civic.tool(tool);
    for (const resource of directoryResources(directory)) civic.resource(resource);
    for (const prompt of directoryPrompts()) civic.prompt(prompt);
    for (const readModel of directory.readModels) civic.readModel(readModel);
    return { start: directory.start, stop: directory.stop };
  },
});

export default directoryPlugin(actorModel);
