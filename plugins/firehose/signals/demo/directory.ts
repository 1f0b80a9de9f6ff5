import type { KnownActor, KnownSource } from 'civic/directory';
import { classOf } from '../draft.ts';
import { addedWords, freshnessWords, gapWords, mergedWords, sourceWords } from '../words.ts';
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
    type: 'new_source', ...sourceWords(who, [article]), occurred_at: article.published_at, ...about(who), source_class: classOf(article), confidence: 0.9, relevance: 0.5,
    changes: [{ field: 'source_count', before: who.sources.length - 1, after: who.sources.length }], detected: timeOf(article) + desk.random.between(1, 20) * HOUR, sources: [article],
  });
}

function writeFreshness(desk: Desk, who: KnownActor): void {
  if (who.freshness === 'unknown') return;
  const before = who.freshness === 'fresh' ? 'aging' : who.freshness === 'aging' ? 'fresh' : 'aging';
  const seen = timeOf(who.sources[0]!);
  const detected = who.freshness === 'fresh' ? seen + HOUR : Math.min(desk.now - HOUR, Math.max(seen + 180 * DAY, desk.now - desk.random.between(2, 300) * DAY));
  desk.add(`freshness ${who.id}`, {
    type: 'freshness_change', ...freshnessWords(who, who.freshness), occurred_at: isoOf(detected), ...about(who), source_class: 'directory', relevance: 0.3,
    changes: [{ field: 'freshness', before, after: who.freshness }], detected, sources: who.sources,
  });
}

const CORRECTED = ['telephone number', 'address', 'name of who runs it', 'opening hours', 'web address'];

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

/** Issue areas that one or two work on in a place, as if a third had gone. */
function writeGaps(desk: Desk): void {
  const working = new Map<string, KnownActor[]>();
  for (const actor of desk.actors) {
    for (const { place_key } of actor.places) for (const issue of actor.issue_areas) working.set(`${place_key} ${issue}`, [...working.get(`${place_key} ${issue}`) ?? [], actor]);
  }
  for (const [cell, left] of working) {
    if (left.length > 2 || !desk.random.chance(0.07)) continue;
    const [place_key, issue] = cell.split(' ') as [string, string];
    const place = left[0]!.places.find((one) => one.place_key === place_key)!;
    const detected = desk.now - desk.random.between(5, 340) * DAY;
    desk.add(`gap ${cell}`, {
      type: 'coverage_gap', ...gapWords(desk.issueName(issue), place.name, 3, left.length), occurred_at: isoOf(detected), places: [place_key], issues: [issue],
      actors: left.map(({ id, name, type }) => ({ id, name, type })), source_class: 'directory', relevance: 0.8, changes: [{ field: 'entity_count', before: 3, after: left.length }], detected,
      sources: left.flatMap(({ sources }) => sources.slice(0, 1)),
    });
  }
}
