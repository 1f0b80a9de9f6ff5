import type { KnownActor, KnownSource } from 'civic/directory';
import { addedWords, freshnessWords, gapWords, mergedWords, sourceWords } from '../signals/words.ts';
import { about, DAY, HOUR, isoOf, sourcesOf, type Desk } from './desk.ts';

/** What the directory itself would have told in that year. */
export function writeDirectory(desk: Desk): void {
  const { actors, random } = desk;
  for (const one of actors.filter(({ type }) => type !== 'event')) {
    if (random.chance(0.16)) writeAdded(desk, one);
    if (random.chance(0.22)) writeSource(desk, one);
    if (random.chance(0.18)) writeFreshness(desk, one);
    if (random.chance(0.035)) writeCorrection(desk, one);
  }
  writeMerged(desk);
  writeGaps(desk);
}

const timeOf = (source: KnownSource): number => Date.parse(source.retrieved_at);

function writeAdded(desk: Desk, who: KnownActor): void {
  const first = who.sources.at(-1);
  if (!first) return;
  const detected = timeOf(first) + desk.random.between(1, 30) * HOUR;
  desk.add(`added ${who.id}`, { type: 'actor_discovered', ...addedWords(who, desk.issueName), occurred_at: isoOf(detected), ...about(who), source_class: 'directory', relevance: 0.7, detected, sources: who.sources });
}

function writeSource(desk: Desk, who: KnownActor): void {
  const [article] = sourcesOf(who, 'news_article', 'podcast', 'report');
  if (!article) return;
  desk.add(`source ${who.id}`, {
    type: 'new_source', ...sourceWords(who, [article]), occurred_at: article.published_at, ...about(who), source_class: 'directory', confidence: 0.9, relevance: 0.5,
    changes: [{ field: 'source_count', before: who.sources.length - 1, after: who.sources.length }], detected: timeOf(article) + desk.random.between(1, 20) * HOUR, sources: [article],
  });
}

function writeFreshness(desk: Desk, who: KnownActor): void {
  if (who.freshness === 'unknown') return;
  const before = who.freshness === 'fresh' ? 'aging' : who.freshness === 'aging' ? 'fresh' : 'aging';
  const seen = timeOf(who.sources[0]!);
  const detected = who.freshness === 'fresh' ? seen + HOUR : desk.now - desk.random.between(2, 300) * DAY - desk.random.between(0, 20) * HOUR;
  desk.add(`freshness ${who.id}`, {
    type: 'freshness_change', ...freshnessWords(who, who.freshness), occurred_at: isoOf(detected), ...about(who), source_class: 'directory', relevance: 0.3,
    changes: [{ field: 'freshness', before, after: who.freshness }], detected, sources: who.sources,
  });
}

const CORRECTED = ['telephone number', 'address', 'name of the director', 'room of its meetings', 'web address'];

function writeCorrection(desk: Desk, who: KnownActor): void {
  const detected = desk.now - desk.random.between(2, 350) * DAY;
  desk.add(`flag ${who.id}`, {
    type: 'flag_resolved', title: `A report about ${who.name} was resolved`, summary: `A reader had said that the ${desk.random.pick(CORRECTED)} was out of date; the source was read again.`,
    occurred_at: isoOf(detected), ...about(who), source_class: 'review', relevance: 0.4, changes: [{ field: 'flag', before: 'accepted', after: 'resolved' }], detected, sources: sourcesOf(who, 'org_website'),
  });
}

function writeMerged(desk: Desk): void {
  const byId = new Map(desk.actors.map((actor) => [actor.id, actor]));
  for (const { id, into, name } of desk.merged) {
    const who = byId.get(into);
    if (!who) continue;
    const detected = desk.now - desk.random.between(3, 29) * DAY;
    const told = about(who);
    desk.add(`merged ${id}`, {
      type: 'actor_merged', ...mergedWords(who, name), occurred_at: isoOf(detected), ...told, actors: [...told.actors!, { id, name, type: who.type, role: 'merged' }],
      source_class: 'directory', relevance: 0.2, changes: [{ field: 'id', before: id, after: into }], detected, sources: who.sources,
    });
  }
}

/** Issue areas that two work on in a place, as if a third had gone, and some on which nobody does, as if the last had. */
function writeGaps(desk: Desk): void {
  const working = new Map<string, KnownActor[]>();
  const inPlace = new Map<string, KnownActor[]>();
  for (const actor of desk.actors) {
    for (const { place_key } of actor.places) {
      inPlace.set(place_key, [...inPlace.get(place_key) ?? [], actor]);
      for (const issue of actor.issue_areas) working.set(`${place_key} ${issue}`, [...working.get(`${place_key} ${issue}`) ?? [], actor]);
    }
  }
  for (const [cell, left] of working) if (left.length === 2 && desk.random.chance(0.12)) writeGap(desk, cell, left, left);
  const issues = [...new Set(desk.actors.flatMap(({ issue_areas }) => issue_areas))].sort();
  for (const [place_key, actors] of inPlace) {
    const cell = `${place_key} ${desk.random.pick(issues)}`;
    if (!working.has(cell) && desk.random.chance(0.6)) writeGap(desk, cell, [], actors.filter(({ type }) => type === 'organization'));
  }
}

/** The pages of who is there are where somebody looked. */
function writeGap(desk: Desk, cell: string, left: KnownActor[], there: KnownActor[]): void {
  const [place_key, issue] = cell.split(' ') as [string, string];
  const place = there[0]?.places.find((one) => one.place_key === place_key);
  if (!place) return;
  const before = left.length + 1;
  const detected = desk.now - desk.random.between(5, 340) * DAY;
  desk.add(`gap ${cell}`, {
    type: 'coverage_gap', ...gapWords(desk.issueName(issue), place.name, before, left.length), occurred_at: isoOf(detected), places: [place_key], issues: [issue],
    actors: left.map(({ id, name, type }) => ({ id, name, type })), source_class: 'directory', relevance: 0.8, changes: [{ field: 'entity_count', before, after: left.length }], detected,
    sources: there.flatMap(({ sources }) => sources.slice(0, 1)),
  });
}
