import { Joi } from 'civic';
import { querySchema } from '../query/schemas.ts';
import type { SignalKinds } from '../signals/kinds.ts';
import { signalSchema } from '../signals/schemas.ts';

const time = Joi.string().isoDate().required();
const eventId = Joi.string().required().description('A position in the log: strictly increasing, and valid on every node.');

export const workspaceSchema = Joi.object({ id: Joi.string().required(), name: Joi.string().allow('').required() }).allow(null).required().description('Whose use is metered.').meta({ name: 'FirehoseWorkspace' });

export const usageSchema = Joi.object({
  meter: Joi.object({
    period: Joi.string().required().description('The month, as 2026-01.'),
    signals: Joi.number().integer().min(0).required().description('How many signals the workspace received in it.'),
  }).allow(null).required(),
  query_fingerprint: Joi.string().required().description('Identifies the query, the same for all callers.'),
}).required().meta({ name: 'FirehoseUsage' });

const common = {
  query: querySchema.required(),
  workspace: workspaceSchema,
  usage: usageSchema,
  delivered_at: time,
};

/** The messages of streams and sockets, by name. */
export function messageSchemas(kinds: SignalKinds) {
  return {
    'firehose.ready': Joi.object({
      type: Joi.string().valid('firehose.ready').required(),
      event_id: eventId,
      session_id: Joi.string().allow(null).required(),
      resume: Joi.object({
        requested: Joi.string().allow(null).required().description('The id the client presented.'),
        status: Joi.string().valid('live', 'complete', 'gap', 'epoch_changed').required().description('Whether the stream continues after it without a gap.'),
        from: Joi.string().required().description('The stream continues after this position.'),
      }).required(),
      last_event_id: Joi.string().required().description('The newest position of the log.'),
      snapshot_url: Joi.string().uri().description('Where to read what can no longer be replayed.'),
      ...common,
    }).description('The first message of every stream.').meta({ name: 'FirehoseReady' }),
    'firehose.signal': Joi.object({
      type: Joi.string().valid('firehose.signal').required(),
      event_id: eventId,
      signal: signalSchema(kinds).required(),
      retracted: Joi.boolean().valid(true).description('The version that was sent is no longer valid, and its replacement does not match this query.'),
      ...common,
    }).description('A signal that matches the query, or a new version of one.').meta({ name: 'FirehoseSignalMessage' }),
    heartbeat: Joi.object({ type: Joi.string().valid('heartbeat').required(), event_id: eventId, ...common })
      .description('Nothing happened for a while. Its id moves on when everything before it was sent.').meta({ name: 'FirehoseHeartbeat' }),
  };
}

export function snapshotSchema(kinds: SignalKinds, session: Joi.Schema) {
  return Joi.object({
    query: querySchema.required(),
    workspace: workspaceSchema,
    usage: usageSchema,
    generated_at: time,
    last_event_id: eventId,
    summary: Joi.object({ total_signals: Joi.number().integer().min(0).required(), latest_detected_at: Joi.string().isoDate().allow(null).required() }).required(),
    signals: Joi.array().items(signalSchema(kinds)).required(),
    cursor: Joi.string().allow(null).required(),
    next_cursor: Joi.string().allow(null).required(),
    links: Joi.object({
      self: Joi.string().uri().required(),
      next: Joi.string().uri().allow(null).required(),
      events: Joi.string().uri().required().description('The stream that continues this snapshot.'),
    }).required(),
    session: session.allow(null).required(),
  }).meta({ name: 'FirehoseSnapshot' });
}

const prefer = Joi.string().allow('').description('`wait=N`: with If-None-Match, the response waits up to 30 seconds for new signals.');
const lastEvent = Joi.string().allow('').description('Continue a stream after this event; `0` is the start of what is kept.');

/** What is read of a request's headers, so that the contract names it. */
export const waitHeaders = Joi.object({ prefer }).unknown();
export const streamHeaders = Joi.object({ 'last-event-id': lastEvent }).unknown();
export const firehoseHeaders = Joi.object({ prefer, 'last-event-id': lastEvent }).unknown();
