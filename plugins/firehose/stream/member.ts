import type { Socket } from 'node:net';
import type { EndReason, Revocable } from './access.ts';
import type { Format } from './frames.ts';
import type { Group } from './group.ts';

/** The little that differs between an event stream and a WebSocket. */
export interface Transport {
  socket: Socket;
  format: Format;
  /** Ends it in its own way. `lastId` is what it received last. */
  close(reason: EndReason, lastId: string): void;
}

/** An open stream or socket: a place in the log and a way out, never a queue. */
export interface Member extends Revocable {
  group: Group;
  transport: Transport;
  /** The transport's own, a step nearer. */
  socket: Socket;
  format: Format;
  /** Everything up to this line was sent or was not for it; live members have it all, whatever this says. */
  cursor: number;
  /** How many signals were written to the socket. */
  delivered: number;
  isLive: boolean;
  isClosed: boolean;
  endsAt: number;
  wroteAt: number;
  /** How much waited in the socket when that last became less, and when. */
  waiting: number;
  movedAt: number;
  /** Goes on when the socket is empty again. */
  resume: (() => void) | null;
}
