import { Joi, type EventKind } from 'civic';

export interface ActorChange {
  id: string;
  change: 'created' | 'updated' | 'published' | 'merged' | 'split' | 'deleted';
  /** The actor it was merged into. */
  into?: string;
}

/** One event tells all that a transaction did to actors. */
export interface ActorsChanged {
  /** The kind of editor. */
  by: string;
  actors: ActorChange[];
  /** Internal keys of what caches keep no longer. */
  keys: number[];
  places: number[];
  sources: number[];
}

declare module 'civic' {
  interface Events { 'directory.actors_changed': ActorsChanged }
}

const change = Joi.object<ActorChange, true>({
  id: Joi.string().required(),
  change: Joi.string().valid('created', 'updated', 'published', 'merged', 'split', 'deleted').required(),
  into: Joi.string(),
});

export const directoryEvents: Record<string, EventKind> = {
  'directory.actors_changed': {
    summary: 'Actors were entered, changed, published, merged, split or deleted',
    version: 1,
    payload: Joi.object<ActorsChanged, true>({
      by: Joi.string().required(),
      actors: Joi.array().items(change).required(),
      keys: Joi.array().items(Joi.number()).required(),
      places: Joi.array().items(Joi.number()).required(),
      sources: Joi.array().items(Joi.number()).required(),
    }),
  },
};
