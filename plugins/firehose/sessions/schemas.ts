import { Joi } from 'civic';
import { newQuerySchema, querySchema } from '../query/schemas.ts';
import { usageSchema, workspaceSchema } from '../stream/schemas.ts';
import { MODES, type Mode, type Query, type SignalType } from '../types.ts';

const time = Joi.string().isoDate();
const url = Joi.string().uri();
const mode = Joi.string().valid(...MODES);

/** The body of a new session. */
export interface NewSession {
  query?: Partial<Query>;
  delivery?: { mode?: Mode };
}

export const newSession = (types: SignalType[]) => Joi.object<NewSession, true>({
  query: newQuerySchema(types).description('What GET /api/firehose takes as parameters, with the same defaults.'),
  delivery: Joi.object({ mode: mode.description('How you mean to read it; all addresses work either way.') }),
}).allow(null).meta({ name: 'NewFirehoseSession' });

const addresses = {
  snapshot_url: url.required(),
  events_url: url.required(),
  socket_url: Joi.string().uri({ scheme: ['ws', 'wss'] }).required(),
};

const id = Joi.string().pattern(/^fhs_[0-9a-f]{32}$/);

export const session = Joi.object({
  id: id.required(),
  state: Joi.string().valid('active').required().description('Always `active`: unused sessions are deleted.'),
  query: querySchema.required(),
  delivery: Joi.object({ mode: mode.required() }).required(),
  workspace: workspaceSchema,
  usage: usageSchema,
  created_at: time.required(),
  expires_at: time.required().description('When the session is deleted unless it is used.'),
  last_seen_at: time.required().description('To the minute.'),
  ...addresses,
}).meta({ name: 'FirehoseSession' });

export const minimalSession = Joi.object({ id: id.required(), ...addresses }).meta({ name: 'MinimalFirehoseSession' });

export const sessionList = Joi.object({
  data: Joi.array().items(session).required(),
  total: Joi.number().integer().required(),
  next_cursor: Joi.string().allow(null).required(),
}).meta({ name: 'FirehoseSessionList' });

export const ticket = Joi.object({
  ticket: Joi.string().required().description('For `?ticket=` at events_url or socket_url.'),
  expires_at: time.required().description('It must have been used by then.'),
}).meta({ name: 'FirehoseTicket' });

export const ack = Joi.object({
  type: Joi.string().valid('ack').required(),
  event_id: Joi.string().required().description('Everything up to this event was read: consumers that bring no id continue after it.'),
}).description('Moves the session’s position.').meta({ name: 'FirehoseAck' });

export const ping = Joi.object({ type: Joi.string().valid('ping').required() }).description('Requests a pong.').meta({ name: 'FirehosePing' });
export const pong = Joi.object({ type: Joi.string().valid('pong').required() }).description('The response to a ping.').meta({ name: 'FirehosePong' });

/** Named for the contract. */
export const returnHeaders = Joi.object({ prefer: Joi.string().allow('').description('`return=minimal`: the response has only the id and the URLs.') }).unknown();
