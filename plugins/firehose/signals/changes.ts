import type { EventRecord, Reader, Tx } from 'civic';
import type { ActorEffect, ActorsChanged, CoverageLoss, DirectoryService, KnownActor } from 'civic/directory';
import { audienceOf } from '../query/visibility.ts';
import type { FirehoseService, SignalDraft } from '../types.ts';
import { classOf, evidenceOf, tellingOf, type Telling } from './draft.ts';
import { namedId } from './id.ts';
import { forgetTold, markOf, moveTold, noteTold, putMark, toldOf } from './told-store.ts';
import { addedWords, freshnessWords, gapWords, mergedWords, sourceWords, withinSentence } from './words.ts';

export interface TellingContext {
  directory: DirectoryService;
  publisher: Pick<FirehoseService, 'publish' | 'withdraw'>;
  /** The absolute public address of a path. */
  url(path: string): string;
  instance: { name: string };
}

export interface Moment {
  /** Unlike any other. */
  name: string;
  at: string;
}

/** A transaction that changes more actors than these is not told one by one. */
const MOST_ACTORS = 50;
const MOST_GAPS = 20;

/** Tells what a transaction did to actors, in the transaction that moves this plugin's position. */
export async function tellChange(context: TellingContext, tx: Tx, event: EventRecord<ActorsChanged>): Promise<void> {
  const { by, actors, effects, lost } = event.payload;
  await takeBack(context, tx, actors.filter(({ change }) => change === 'deleted').map(({ id }) => id));
  if (by === 'demo' || by === 'rebuild') return;
  // What an import brings is known elsewhere already, and too much.
  const isBulk = by === 'import' || actors.length > MOST_ACTORS || effects.length > MOST_ACTORS;
  const moment = { name: `event ${event.seq} ${event.at}`, at: event.at };
  if (!isBulk) {
    const entered = actors.filter(({ change }) => change === 'created' || change === 'published').map(({ id }) => id);
    await tell(context, tx, await additions(context, tx, entered, by, event.at), moment);
    await tell(context, tx, await mergers(context, tx, actors, event.at), moment);
    const survivors = new Set(actors.map(({ into }) => into));
    await tell(context, tx, await effectsOn(context, tx, effects.filter(({ id }) => !survivors.has(id)), event.at), moment);
  }
  if (lost.length <= MOST_GAPS) for (const loss of lost) await tellGap(context, tx, loss, moment);
}

/** Nothing goes on naming somebody who was taken out of the directory. */
async function takeBack({ publisher }: TellingContext, tx: Tx, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const told = await toldOf(tx, ids);
  await publisher.withdraw(tx, [...new Set(told.map(({ signal_id }) => signal_id))]);
  await forgetTold(tx, ids);
}

/** Publishes what has a source and was not told before. `moment` is what made it true: a second run of the same changes nothing. */
export async function tell({ publisher }: TellingContext, tx: Tx, tellings: Telling[], moment: Moment): Promise<void> {
  const told = new Set((await toldOf(tx, tellings.flatMap(({ about }) => about))).map(({ signal_id }) => signal_id));
  const fresh = tellings.map(({ draft, about }) => ({ about, draft: { ...draft, id: draft.id ?? namedId(`${moment.name} ${draft.type} ${about[0]!}`) } }))
    .filter(({ draft }) => draft.evidence.length > 0 && !told.has(draft.id));
  await publisher.publish(tx, fresh.map(({ draft }) => draft));
  await noteTold(tx, fresh.flatMap(({ draft, about }) => about.map((subject_id) => ({ subject_id, signal_id: draft.id, type: draft.type, audience: audienceOfDraft(draft), at: moment.at }))));
}

function audienceOfDraft({ visibility = 'public', review_state = 'not_required', workspace_id = null }: SignalDraft): string {
  return audienceOf({ visibility, review_state }, workspace_id);
}

/** Once for each audience: for its workspace when it is entered, for everybody when it is published. */
async function additions({ directory }: TellingContext, tx: Tx, ids: string[], by: string, at: string): Promise<Telling[]> {
  const told = new Set((await toldOf(tx, ids)).filter(({ type }) => type === 'actor_discovered').map(({ subject_id, audience }) => `${subject_id} ${audience}`));
  const source_class = by === 'discovery' ? 'discovery_run' : 'directory';
  return (await directory.actors(tx, ids)).map((actor) => tellingOf('actor_discovered', actor, addedWords(actor, nameOf(directory)), at, { source_class }))
    .filter(({ draft, about }) => !told.has(`${about[0]!} ${audienceOfDraft(draft)}`));
}

async function mergers({ directory }: TellingContext, tx: Tx, changes: ActorsChanged['actors'], at: string): Promise<Telling[]> {
  const merged = changes.flatMap(({ id, into }) => (into === undefined ? [] : [{ id, into }]));
  if (merged.length === 0) return [];
  for (const { id, into } of merged) await moveTold(tx, id, into);
  const names = await directory.ownNames(tx, merged.map(({ id }) => id));
  const survivors = byId(await directory.actors(tx, merged.map(({ into }) => into)));
  return merged.flatMap(({ id, into }) => {
    const [name, actor] = [names.get(id), survivors.get(into)];
    if (name === undefined || !actor) return [];
    const actors = [{ id: actor.id, name: actor.name, type: actor.type }, { id, name, type: actor.type, role: 'merged' }];
    return tellingOf('actor_merged', actor, mergedWords(actor, name), at, { actors, changes: [{ field: 'id', before: id, after: into }] });
  });
}

async function effectsOn({ directory }: TellingContext, reader: Reader, effects: ActorEffect[], at: string): Promise<Telling[]> {
  const actors = byId(await directory.actors(reader, effects.map(({ id }) => id)));
  return effects.flatMap(({ id, new_sources, freshness }) => {
    const actor = actors.get(id);
    return actor ? [...newSources(actor, new_sources, at), ...(freshness ? freshnessTelling(actor, freshness, at) : [])] : [];
  });
}

function newSources(actor: KnownActor, ids: string[], at: string): Telling[] {
  const fresh = actor.sources.filter(({ id }) => ids.includes(id));
  if (fresh.length === 0) return [];
  const changes = [{ field: 'source_count', before: actor.sources.length - fresh.length, after: actor.sources.length }];
  return [tellingOf('new_source', actor, sourceWords(actor, fresh), at, { sources: fresh, source_class: classOf(fresh[0]!), changes })];
}

/** A meeting that is over is nobody's concern. */
export function freshnessTelling(actor: KnownActor, { before, after }: NonNullable<ActorEffect['freshness']>, at: string): Telling[] {
  if (actor.type === 'event' || before === 'unknown' || after === 'unknown') return [];
  return [tellingOf('freshness_change', actor, freshnessWords(actor, after), at, { changes: [{ field: 'freshness', before, after }] })];
}

/**
 * Once until it is covered again: after "thin" only "missing" is news, and after that nothing, unless it fell from covered.
 * The directory's own coverage is what says so, with the sources of those who are left.
 */
async function tellGap(context: TellingContext, tx: Tx, { place_key, issue_area, before, after }: CoverageLoss, moment: Moment): Promise<void> {
  const { directory, url, instance } = context;
  const { at } = moment;
  const mark = `gap ${place_key} ${issue_area}`;
  const [told, earlier = null] = (await markOf(tx, mark))?.split(' ') ?? [];
  const wasCovered = before > 2;
  const status = after === 0 ? 'missing' : 'thin';
  if (!wasCovered && told === 'missing') return;
  const place = (await directory.places(tx, [place_key])).get(place_key);
  if (!place) return;
  const placeName = place.state ? `${place.name}, ${place.state.name}` : place.display_name;
  const left = await directory.actors(tx, await directory.actorsIn(tx, place_key, issue_area, after));
  const id = namedId(`${moment.name} ${mark}`);
  await tell(context, tx, [{
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
