import { Joi, type EventKind } from 'civic';
import { FRESHNESS, type FreshnessStatus } from './types.ts';

export interface ActorChange {
  id: string;
  change: 'created' | 'updated' | 'published' | 'merged' | 'split' | 'deleted';
  /** The actor it was merged into. */
  into?: string;
}

/** What a change did to an actor that was there before. */
export interface ActorEffect {
  id: string;
  /** Ids of the sources it stands on now and did not before. */
  new_sources: string[];
  /** When the change made it another. */
  freshness: { before: FreshnessStatus; after: FreshnessStatus } | null;
}

/** An issue area that has become thin or missing in a place. */
export interface CoverageLoss {
  place_key: string;
  issue_area: string;
  /** How many public actors worked on it there, and do. */
  before: number;
  after: number;
}

/** One event tells all that a transaction did to actors. */
export interface ActorsChanged {
  /** The kind of editor. */
  by: string;
  actors: ActorChange[];
  effects: ActorEffect[];
  lost: CoverageLoss[];
  /** Internal keys of what caches keep no longer. */
  keys: number[];
  places: number[];
  sources: number[];
}

/** A hold of contacts ended by itself. */
export interface HoldExpired {
  id: string;
  /** The actor that the hold began for. */
  entity_id: string;
}

declare module 'civic' {
  interface Events {
    'directory.actors_changed': ActorsChanged;
    'directory.hold_expired': HoldExpired;
  }
}

const change = Joi.object<ActorChange, true>({
  id: Joi.string().required(),
  change: Joi.string().valid('created', 'updated', 'published', 'merged', 'split', 'deleted').required(),
  into: Joi.string(),
});

const freshness = Joi.string().valid(...FRESHNESS).required();

const effect = Joi.object<ActorEffect, true>({
  id: Joi.string().required(),
  new_sources: Joi.array().items(Joi.string()).required(),
  freshness: Joi.object({ before: freshness, after: freshness }).allow(null).required(),
});

const loss = Joi.object<CoverageLoss, true>({
  place_key: Joi.string().required(),
  issue_area: Joi.string().required(),
  before: Joi.number().required(),
  after: Joi.number().required(),
});

export const directoryEvents: Record<string, EventKind> = {
  'directory.actors_changed': {
    summary: 'Actors were entered, changed, published, merged, split or deleted',
    version: 1,
    payload: Joi.object<ActorsChanged, true>({
      by: Joi.string().required(),
      actors: Joi.array().items(change).required(),
      effects: Joi.array().items(effect).required(),
      lost: Joi.array().items(loss).required(),
      keys: Joi.array().items(Joi.number()).required(),
      places: Joi.array().items(Joi.number()).required(),
      sources: Joi.array().items(Joi.number()).required(),
    }),
  },
  'directory.hold_expired': {
    summary: 'The time is over for which contacts of a person were hidden, and they are shown again',
    version: 1,
    payload: Joi.object<HoldExpired, true>({ id: Joi.string().required(), entity_id: Joi.string().required() }),
  },
};
