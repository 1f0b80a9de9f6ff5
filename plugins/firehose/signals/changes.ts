import type { EventRecord, Reader, Tx } from 'civic';
import type { ActorEffect, ActorsChanged, CoverageLoss, DirectoryService, KnownActor } from 'civic/directory';
import { audienceOf } from '../query/visibility.ts';
import type { FirehoseService, SignalDraft } from '../types.ts';
import { evidenceOf, signalAbout, type SignalAbout } from './draft.ts';
import { namedId } from './id.ts';
import { deletePublished, markOf, movePublished, recordPublished, putMark, publishedAbout } from './published-store.ts';
import { addedWords, freshnessWords, gapWords, mergedWords, sourceWords, withinSentence } from './words.ts';

export interface DirectorySignalsContext {
  directory: DirectoryService;
  publisher: Pick<FirehoseService, 'publish' | 'withdraw'>;
  /** The absolute public address of a path. */
  url(path: string): string;
  instance: { name: string };
}

export interface Moment {
  /** Unique; ids of signals are derived from it. */
  name: string;
  at: string;
}

/** A transaction that changes more actors is published as gaps only, not actor by actor. */
const MOST_ACTORS = 50;
const MOST_GAPS = 20;

/** Publishes signals about the actors that a transaction changed, in the transaction that advances this plugin's position. */
export async function publishActorChanges(context: DirectorySignalsContext, tx: Tx, event: EventRecord<ActorsChanged>): Promise<void> {
  const { by, actors, effects, lost } = event.payload;
  await withdrawAbout(context, tx, actors.filter(({ change }) => change === 'deleted').map(({ id }) => id));
  if (by === 'demo' || by === 'rebuild') return;
  // An import brings many actors at once, and none of them is news.
  const isBulk = by === 'import' || actors.length > MOST_ACTORS || effects.length > MOST_ACTORS;
  const moment = { name: `event ${event.seq} ${event.at}`, at: event.at };
  if (!isBulk) {
    const entered = actors.filter(({ change }) => change === 'created' || change === 'published').map(({ id }) => id);
    await publishNew(context, tx, await additionSignals(context, tx, entered, by, event.at), moment);
    await publishNew(context, tx, await mergeSignals(context, tx, actors, event.at), moment);
    const survivors = new Set(actors.map(({ into }) => into));
    await publishNew(context, tx, await effectSignals(context, tx, effects.filter(({ id }) => !survivors.has(id)), event.at), moment);
  }
  if (lost.length <= MOST_GAPS) for (const loss of lost) await publishGap(context, tx, loss, moment);
}

/** Withdraws all signals about deleted actors, so that none names them any longer. */
async function withdrawAbout({ publisher }: DirectorySignalsContext, tx: Tx, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const published = await publishedAbout(tx, ids);
  await publisher.withdraw(tx, [...new Set(published.map(({ signal_id }) => signal_id))]);
  await deletePublished(tx, ids);
}

/** Publishes signals that have evidence and were not published before. Ids derive from `moment`, so that a second run changes nothing. */
export async function publishNew({ publisher }: DirectorySignalsContext, tx: Tx, signals: SignalAbout[], moment: Moment): Promise<void> {
  const published = new Set((await publishedAbout(tx, signals.flatMap(({ about }) => about))).map(({ signal_id }) => signal_id));
  const fresh = signals.map(({ draft, about }) => ({ about, draft: { ...draft, id: draft.id ?? namedId(`${moment.name} ${draft.type} ${about[0]!}`) } }))
    .filter(({ draft }) => draft.evidence.length > 0 && !published.has(draft.id));
  await publisher.publish(tx, fresh.map(({ draft }) => draft));
  await recordPublished(tx, fresh.flatMap(({ draft, about }) => about.map((subject_id) => ({ subject_id, signal_id: draft.id, type: draft.type, audience: audienceOfDraft(draft), at: moment.at }))));
}

function audienceOfDraft({ visibility = 'public', review_state = 'not_required', workspace_id = null }: SignalDraft): string {
  return audienceOf({ visibility, review_state }, workspace_id);
}

/** Returns one signal for each audience: for the workspace when the actor is created, for the public when it is published. */
async function additionSignals({ directory }: DirectorySignalsContext, tx: Tx, ids: string[], by: string, at: string): Promise<SignalAbout[]> {
  const published = new Set((await publishedAbout(tx, ids)).filter(({ type }) => type === 'actor_discovered').map(({ subject_id, audience }) => `${subject_id} ${audience}`));
  const source_class = by === 'discovery' ? 'discovery_run' : 'directory';
  return (await directory.actors(tx, ids)).map((actor) => signalAbout('actor_discovered', actor, addedWords(actor, nameOf(directory)), at, { source_class }))
    .filter(({ draft, about }) => !published.has(`${about[0]!} ${audienceOfDraft(draft)}`));
}

async function mergeSignals({ directory }: DirectorySignalsContext, tx: Tx, changes: ActorsChanged['actors'], at: string): Promise<SignalAbout[]> {
  const merged = changes.flatMap(({ id, into }) => (into === undefined ? [] : [{ id, into }]));
  if (merged.length === 0) return [];
  for (const { id, into } of merged) await movePublished(tx, id, into);
  const names = await directory.ownNames(tx, merged.map(({ id }) => id));
  const survivors = byId(await directory.actors(tx, merged.map(({ into }) => into)));
  return merged.flatMap(({ id, into }) => {
    const [name, actor] = [names.get(id), survivors.get(into)];
    if (name === undefined || !actor) return [];
    const actors = [{ id: actor.id, name: actor.name, type: actor.type }, { id, name, type: actor.type, role: 'merged' }];
    return signalAbout('actor_merged', actor, mergedWords(actor, name), at, { actors, changes: [{ field: 'id', before: id, after: into }] });
  });
}

async function effectSignals({ directory }: DirectorySignalsContext, reader: Reader, effects: ActorEffect[], at: string): Promise<SignalAbout[]> {
  const actors = byId(await directory.actors(reader, effects.map(({ id }) => id)));
  return effects.flatMap(({ id, new_sources, freshness }) => {
    const actor = actors.get(id);
    return actor ? [...newSourceSignals(actor, new_sources, at), ...(freshness ? freshnessSignals(actor, freshness, at) : [])] : [];
  });
}

function newSourceSignals(actor: KnownActor, ids: string[], at: string): SignalAbout[] {
  const fresh = actor.sources.filter(({ id }) => ids.includes(id));
  if (fresh.length === 0) return [];
  const changes = [{ field: 'source_count', before: actor.sources.length - fresh.length, after: actor.sources.length }];
  return [signalAbout('new_source', actor, sourceWords(actor, fresh), at, { sources: fresh, changes })];
}

/** Returns no signal for events: the freshness of a past meeting does not matter. */
export function freshnessSignals(actor: KnownActor, { before, after }: NonNullable<ActorEffect['freshness']>, at: string): SignalAbout[] {
  if (actor.type === 'event' || before === 'unknown' || after === 'unknown') return [];
  return [signalAbout('freshness_change', actor, freshnessWords(actor, after), at, { changes: [{ field: 'freshness', before, after }] })];
}

/**
 * Publishes a gap once until the issue area is covered again: after "thin" only "missing" follows, after "missing" nothing.
 * The evidence is the directory's coverage and sources of the remaining actors.
 */
async function publishGap(context: DirectorySignalsContext, tx: Tx, { place_key, issue_area, before, after }: CoverageLoss, moment: Moment): Promise<void> {
  const { directory, url, instance } = context;
  const { at } = moment;
  const mark = `gap ${place_key} ${issue_area}`;
  const [published, earlier = null] = (await markOf(tx, mark))?.split(' ') ?? [];
  const wasCovered = before > 2;
  const status = after === 0 ? 'missing' : 'thin';
  if (!wasCovered && published === 'missing') return;
  const place = (await directory.places(tx, [place_key])).get(place_key);
  if (!place) return;
  const placeName = place.state ? `${place.name}, ${place.state.name}` : place.display_name;
  const left = await directory.actors(tx, await directory.actorsIn(tx, place_key, issue_area, after));
  const id = namedId(`${moment.name} ${mark}`);
  await publishNew(context, tx, [{
    about: [namedId(mark), ...left.map((actor) => actor.id)],
    draft: {
      id,
      type: 'coverage_gap',
      ...gapWords(nameOf(directory)(issue_area), placeName, before, after),
      occurred_at: at,
      detected_at: at,
      places: [place_key],
      issues: [issue_area],
      actors: left.map((actor) => ({ id: actor.id, name: actor.name, type: actor.type })),
      source_class: 'directory',
      relevance: 0.8,
      evidence: [
        { source_url: url(`/api/places/${place_key}/coverage`), title: `Coverage of ${placeName}`, publisher: instance.name, captured_at: at },
        ...left.flatMap(({ sources }) => sources.slice(0, 2).map(evidenceOf)),
      ],
      changes: [{ field: 'entity_count', before, after }],
      supersedes: wasCovered ? null : earlier,
    },
  }], moment);
  await putMark(tx, mark, `${status} ${id}`, at);
}

function nameOf(directory: DirectoryService): (slug: string) => string {
  return (slug) => withinSentence(directory.issueName(slug) ?? slug.replaceAll('_', ' '));
}

function byId(actors: KnownActor[]): Map<string, KnownActor> {
  return new Map(actors.map((actor) => [actor.id, actor]));
}
