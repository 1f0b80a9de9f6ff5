import type { Request } from '@hapi/hapi';
import { problem } from 'civic';
import type { Log } from '../log/log.ts';
import type { Filter } from '../query/filter.ts';
import { eventId } from './frames.ts';

/** An event id that a client presents. */
export interface Requested {
  text: string;
  /** Null for `0`, the start of what is kept. */
  epoch: string | null;
  seq: number;
}

export type ResumeStatus = 'live' | 'complete' | 'gap' | 'epoch_changed';

/** Where a stream begins. */
export interface Start {
  /** Lines after this one are sent. */
  after: number;
  resume: { requested: string | null; status: ResumeStatus; from: string };
}

const EVENT_ID = /^([0-9a-z]{1,16})-(\d{1,15})$/;

/** The id in `Last-Event-ID`, or else in `last_event_id`; null when the client presents none. */
export function requestedId(request: Request): Requested | null {
  const header = request.headers['last-event-id'] as string | undefined;
  const text = header ?? request.query['last_event_id'] as string | undefined;
  // An EventSource that has not received any id yet presents an empty one.
  if (text === undefined || text === '') return null;
  return readEventId(text) ?? refuse(text, header !== undefined);
}

export function readEventId(text: string): Requested | null {
  if (text === '0') return { text, epoch: null, seq: 0 };
  const [, epoch, seq] = EVENT_ID.exec(text) ?? [];
  return epoch === undefined ? null : { text, epoch, seq: Number(seq) };
}

function refuse(text: string, isHeader: boolean): never {
  const detail = `"${text.slice(0, 50)}" is not an event id: one is such as 0k3f9x2a-18231, or 0 for the start.`;
  throw problem('invalid_event_id', isHeader ? { detail: `Last-Event-ID: ${detail}` } : { detail, errors: [{ parameter: 'last_event_id', detail }] });
}

/** A client with an id continues after it, if that is still kept; one without starts now, or with what was detected since it says. */
export async function startAt(log: Log, requested: Requested | null, filter: Pick<Filter, 'since'>): Promise<Start> {
  const from = (after: number, status: ResumeStatus): Start => ({
    after, resume: { requested: requested?.text ?? null, status, from: eventId(log.epoch(), after) },
  });
  if (!requested && filter.since === -Infinity) return from(log.position(), 'live');
  if (requested?.epoch === log.epoch() && requested.seq === log.position()) return from(requested.seq, 'complete');
  // Another node may be further than this one, and may have removed more.
  const head = await log.head();
  if (!requested || requested.epoch === null) return from(log.floor(), 'complete');
  if (requested.epoch !== log.epoch()) return from(log.floor(), 'epoch_changed');
  if (requested.seq > head) return from(head, 'gap');
  await log.catchUp(requested.seq);
  return requested.seq < log.floor() ? from(log.floor(), 'gap') : from(requested.seq, 'complete');
}
