import { cutText } from 'civic';
import type { KnownActor, KnownSource } from 'civic/directory';
import type { BuiltInType, SignalDraft } from '../types.ts';
import type { Words } from './words.ts';

/** A draft and the ids of its subjects: the deletion of a subject withdraws the signal. */
export interface SignalAbout {
  draft: SignalDraft;
  about: string[];
}

const MOST_EVIDENCE = 5;
const MOST_PASSAGE = 1000;
const MOST_PLACES = 20;

/** The default relevance of each type. */
const RELEVANCE: Partial<Record<BuiltInType, number>> = { coverage_gap: 0.8, actor_discovered: 0.7, new_source: 0.5, freshness_change: 0.3, actor_merged: 0.2 };

/** Returns a signal about an actor. An actor that is private to a workspace gives a signal for that workspace only. */
export function signalAbout(type: BuiltInType, actor: KnownActor, words: Words, at: string, more: { sources?: KnownSource[] } & Partial<SignalDraft> = {}): SignalAbout {
  const { sources = actor.sources, ...rest } = more;
  return {
    about: [actor.id],
    draft: {
      type,
      ...words,
      occurred_at: at,
      detected_at: at,
      places: actor.places.slice(0, MOST_PLACES).map(({ place_key }) => place_key),
      issues: actor.issue_areas.slice(0, MOST_PLACES),
      actors: [{ id: actor.id, name: actor.name, type: actor.type }],
      source_class: 'directory',
      relevance: RELEVANCE[type]!,
      visibility: actor.visibility,
      workspace_id: actor.workspace_id,
      evidence: sources.slice(0, MOST_EVIDENCE).map(evidenceOf),
      ...rest,
    },
  };
}

export function evidenceOf(source: KnownSource): SignalDraft['evidence'][number] {
  return {
    source_id: source.id, source_url: source.url, title: source.title, publisher: source.publication, published_at: source.published_at, captured_at: source.retrieved_at,
    passage: source.excerpt && cutText(source.excerpt, MOST_PASSAGE), locator: source.locator, content_hash: source.content_hash,
  };
}
