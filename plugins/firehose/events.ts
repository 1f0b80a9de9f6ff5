import { Joi, type EventKind } from 'civic';

/** A session was deleted; whoever reads it stops. */
export interface SessionRemoved {
  id: string;
}

declare module 'civic' {
  interface Events { 'firehose.session_removed': SessionRemoved }
}

export const firehoseEvents: Record<string, EventKind> = {
  'firehose.session_removed': {
    summary: 'A session was deleted by its owner; its streams and sockets end',
    version: 1,
    payload: Joi.object<SessionRemoved, true>({ id: Joi.string().required() }),
  },
};
