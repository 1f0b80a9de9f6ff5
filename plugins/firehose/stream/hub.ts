import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Logger } from 'civic';
import type { Log } from '../log/log.ts';
import { deliveryOf } from '../query/filter.ts';
import { createMatcher } from '../query/matcher.ts';
import type { Subscription } from '../query/subscription.ts';
import type { Metering } from '../usage/meter.ts';
import { createOpenings, type Access, type EndReason, type Openings, type Revocable } from './access.ts';
import type { Counts } from './counts.ts';
import { bytesAfter, eventId, heartbeatBytes, readyBytes, type Batch, type Ready } from './frames.ts';
import { contextOf, forgetPages, liveHeartbeat, newGroup, PAGE_LINES, pageAfter, takePending, type Group } from './group.ts';
import type { Member, Transport } from './member.ts';

export interface Opening {
  subscription: Subscription;
  access: Access;
  /** Lines after this one are sent. */
  after: number;
  transport: Transport;
  ready: Ready;
}

export type WaitResult = 'matched' | 'timeout' | EndReason;

export interface Parked {
  result: Promise<WaitResult>;
  /** Nobody waits any more. */
  cancel(): void;
}

export interface Hub {
  openings: Openings;
  /** Says ready, sends what came after `after`, then what comes. */
  open(opening: Opening): Member;
  /** Waits for the next line that is for this subscription. */
  park(subscription: Subscription, access: Access, milliseconds: number): Parked;
  groups(): number;
  /** Whether anything after `seq` is for this subscription. */
  hasMore(subscription: Subscription, seq: number): Promise<boolean>;
  start(): void;
  /** Ends everything that is open. */
  close(): void;
}

const HIGH_WATER = 256 * 1024;
const WRITES_A_TURN = 16;
const TICK_MS = 1000;
const HEARTBEAT_MS = 15_000;
const STALLED_MS = 30_000;
const AGE_MS = 15 * 60_000;
const KEEP_ALIVE_MS = 30_000;

export interface HubOptions {
  log: Log;
  meter: Metering;
  counts: Counts;
  clock: Clock;
  logger: Logger;
}

/**
 * Everybody who listens. New lines find their groups through the matcher; once a turn of the event loop each group's new
 * lines are made into one piece of bytes, which is written to all its members. Whoever cannot take it leaves the live set,
 * keeps nothing but a place in the log, and reads on from there when the socket is empty.
 */
export function createHub({ log, meter, counts, clock, logger }: HubOptions): Hub {
  const groups = new Map<string, Group>();
  const matcher = createMatcher<Group>();
  const openings = createOpenings();
  const context = { log, meter, now: () => clock.now() };
  const dirty = new Set<Group>();
  let isFlushing = false;
  let isClosing = false;
  let ticking: NodeJS.Timeout | undefined;

  log.onEntries((entries) => {
    for (const entry of entries) {
      matcher.match(entry, (group, delivery) => {
        for (const wake of group.waits) wake();
        if (group.live.size === 0) return;
        group.pending.push(delivery);
        dirty.add(group);
      });
    }
    if (dirty.size > 0 && !isFlushing) flushSoon();
  });

  function flushSoon(): void {
    isFlushing = true;
    setImmediate(async () => {
      await flush().catch(readAgain);
      isFlushing = false;
      if (dirty.size > 0) flushSoon();
    });
  }

  /** Whoever may have missed something knows its place in the log. */
  function readAgain(error: unknown): void {
    logger.error({ err: error }, 'Sending signals failed; they are read from the log again');
    for (const group of dirty) {
      group.pending.length = 0;
      for (const member of group.live) void follow(member);
    }
    dirty.clear();
  }

  function groupOf(subscription: Subscription): Group {
    const known = groups.get(subscription.key);
    const group = known ?? newGroup(subscription, (made) => matcher.add(subscription.filter, made));
    if (!known) groups.set(subscription.key, group);
    group.holders++;
    return group;
  }

  function release(group: Group): void {
    group.holders--;
    if (group.holders > 0) return;
    matcher.remove(group.place);
    groups.delete(group.subscription.key);
    dirty.delete(group);
  }

  /** Lets others have a turn after some sockets: a large group delays nobody's request, and what is published meanwhile goes out together. */
  async function flush(): Promise<void> {
    let writes = 0;
    for (const group of dirty) {
      while (group.pending.length > 0) {
        const batch = takePending(group, context);
        const now = clock.now();
        count(group, batch, group.live.size);
        for (const member of group.live) {
          deliver(member, batch, now);
          if (++writes % WRITES_A_TURN === 0) await nextTurn();
        }
      }
      dirty.delete(group);
    }
  }

  function count({ subscription: { workspace } }: Group, batch: Batch, members: number): void {
    if (workspace) meter.add(workspace.id, batch.messages.length * members);
  }

  function deliver(member: Member, batch: Batch, now: number): void {
    // Who joined while the batch waited read some of it from the log.
    if (batch.last <= member.cursor) return;
    const hasRoom = write(member, bytesAfter(batch, member.format, member.cursor), now);
    member.delivered += batch.messages.length;
    member.cursor = batch.last;
    if (!hasRoom && member.socket.writableLength > HIGH_WATER) void follow(member);
  }

  function write(member: Member, bytes: Buffer, now = clock.now()): boolean {
    member.wroteAt = now;
    return member.socket.write(bytes);
  }

  /** Reads the log from the member's place until it has everything, then joins the live set in the same turn. */
  async function follow(member: Member): Promise<void> {
    leaveLive(member);
    try {
      while (!member.isClosed) {
        if (member.socket.writableLength > HIGH_WATER) await drained(member);
        else if (member.cursor >= log.position()) return joinLive(member);
        else await sendPage(member);
      }
    } catch (error) {
      logger.warn({ err: error }, 'A stream could not read on and was ended');
      endMember(member, 'going_away');
    }
  }

  async function sendPage(member: Member): Promise<void> {
    const { first, last, batch } = await pageAfter(member.group, member.cursor, context);
    if (member.isClosed) return;
    // Retention has overtaken it: whoever comes back is told of the gap.
    if (first > member.cursor + 1) return endMember(member, 'slow');
    if (batch) {
      write(member, bytesAfter(batch, member.format, member.cursor));
      member.delivered += batch.messages.length;
      count(member.group, batch, 1);
    }
    // Nothing was there yet although the log is further: its lines are being read.
    if (last === member.cursor) await nextTurn();
    member.cursor = last;
    await nextTurn();
  }

  function joinLive(member: Member): void {
    member.isLive = true;
    member.group.live.add(member);
    if (isOver(member)) finish(member);
  }

  /** Nothing that is detected from now on can be for it. */
  function isOver({ group }: Member): boolean {
    return group.subscription.filter.until <= clock.now();
  }

  /** The last word moves its position, so that coming back finds nothing left. */
  function finish(member: Member): void {
    write(member, heartbeatFor(member));
    endMember(member, 'ended');
  }

  function leaveLive(member: Member): void {
    member.isLive = false;
    member.group.live.delete(member);
  }

  async function drained(member: Member): Promise<void> {
    await new Promise<void>((resolve) => { member.resume = resolve; });
    member.resume = null;
  }

  function endMember(member: Member, reason: EndReason): void {
    if (member.isClosed) return;
    const lastId = eventId(log.epoch(), hasEverything(member) ? log.position() : member.cursor);
    forget(member);
    member.transport.close(reason, lastId);
  }

  function hasEverything({ isLive, group, cursor }: Member): boolean {
    return isLive && group.pending.length === 0 && !isFlushing && cursor <= log.position();
  }

  function forget(member: Member): void {
    if (member.isClosed) return;
    member.isClosed = true;
    leaveLive(member);
    openings.remove(member);
    counts.closed(member.access);
    release(member.group);
    member.resume?.();
  }

  function tick(): void {
    const now = clock.now();
    for (const one of openings) {
      if (one.access.valid_until <= now) one.end('revoked');
      else if (isMember(one)) watchOver(one, now);
    }
    for (const group of groups.values()) forgetPages(group, now);
  }

  function watchOver(member: Member, now: number): void {
    const { writableLength } = member.socket;
    // The clock was set back: what was written while it was ahead would suppress heartbeats until then.
    if (now < member.wroteAt) Object.assign(member, { wroteAt: now, movedAt: now, endsAt: Math.min(member.endsAt, now + AGE_MS) });
    if (writableLength < member.waiting || writableLength === 0) member.movedAt = now;
    member.waiting = writableLength;
    if (now - member.movedAt >= STALLED_MS) endMember(member, 'slow');
    else if (now >= member.endsAt) endMember(member, 'ended');
    else if (member.isLive && isOver(member)) finish(member);
    else if (now - member.wroteAt >= HEARTBEAT_MS && writableLength < HIGH_WATER) write(member, heartbeatFor(member));
  }

  function heartbeatFor(member: Member): Buffer {
    const { group, format } = member;
    if (hasEverything(member)) {
      // What it was told it has it keeps, so that the next one does not go back when it comes in the middle of a flush.
      member.cursor = log.position();
      return liveHeartbeat(group, format, context);
    }
    return heartbeatBytes(format, eventId(log.epoch(), member.cursor), false, contextOf(group, context));
  }

  return {
    openings,
    groups: () => groups.size,
    async hasMore({ filter }, seq) {
      for (let at = seq; at < log.position();) {
        const entries = await log.read(at, PAGE_LINES);
        if (entries.length === 0 || entries.some((entry) => deliveryOf(entry, filter))) return entries.length > 0;
        at = entries.at(-1)!.seq;
      }
      return false;
    },
    open({ subscription, access, after, transport, ready }) {
      const now = clock.now();
      const member: Member = {
        group: groupOf(subscription), access, transport, socket: transport.socket, format: transport.format, cursor: after, delivered: 0, isLive: false, isClosed: false,
        endsAt: now + AGE_MS * (0.8 + Math.random() * 0.4),
        wroteAt: now, waiting: 0, movedAt: now, resume: null,
        end: (reason) => endMember(member, reason),
      };
      openings.add(member);
      counts.opened(access);
      transport.socket.setKeepAlive(true, KEEP_ALIVE_MS);
      // The hub ends stalled connections itself; a timer for each would be restarted by every write.
      transport.socket.setTimeout(0);
      transport.socket.on('drain', () => member.resume?.());
      transport.socket.on('close', () => forget(member));
      write(member, readyBytes(transport.format, ready, contextOf(member.group, context), 2000 + Math.floor(Math.random() * 3001)));
      if (isClosing) endMember(member, 'going_away');
      else void follow(member);
      return member;
    },
    park(subscription, access, milliseconds) {
      const group = groupOf(subscription);
      let settle!: (result: WaitResult) => void;
      const result = new Promise<WaitResult>((resolve) => { settle = resolve; });
      const wake = () => settle('matched');
      const timer = setTimeout(() => settle('timeout'), milliseconds);
      const parked: Revocable = { access, end: settle };
      group.waits.add(wake);
      openings.add(parked);
      const cancel = () => {
        clearTimeout(timer);
        if (!group.waits.delete(wake)) return;
        openings.remove(parked);
        release(group);
        settle('ended');
      };
      void result.then(cancel);
      if (isClosing) settle('going_away');
      return { result, cancel };
    },
    start() { ticking = setInterval(tick, TICK_MS).unref(); },
    close() {
      isClosing = true;
      clearInterval(ticking);
      for (const one of openings) one.end('going_away');
    },
  };
}

function isMember(one: Revocable): one is Member {
  return 'transport' in one;
}
