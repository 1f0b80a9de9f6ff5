import { newId, type Civic, type Tx } from 'civic';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FirehoseConfig } from '../config.ts';
import type { Terms } from '../query/terms.ts';
import type { SignalKinds } from '../signals/kinds.ts';
import type { Publisher } from '../signals/publish.ts';
import { applyReceived, type ApplyContext, type Received } from './apply.ts';
import { createOrigin, explained, type OriginMessage } from './origin.ts';
import type { Signal } from '../types.ts';
import { beginRelay, dropLease, keepRelay, relayRow, signalsAfter, takeLease, type RelayRow } from './store.ts';

export interface RelayContext {
  civic: Civic<FirehoseConfig>;
  publisher: Publisher;
  terms: Terms;
  kinds: SignalKinds;
}

export interface Relay {
  url: string;
  start(): void;
  stop(): Promise<void>;
  /** For metrics of this node. */
  figures(): { behind: number; published: number };
}

/** What is kept of the start of the origin's log. */
const BEGINNING = '0';
const LEASE_MS = 12_000;
const RENEW_MS = 3_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const AT_ONCE = 100;

class LeaseLost extends Error {}

/**
 * Publishes the public signals of another instance here, under the same ids. The position in its log is stored in the transaction
 * that publishes the signals, so that no signal is lost or published twice when a process is killed. One node holds the lease
 * at a time, and each write checks that this node still holds it.
 */
export function createRelay({ civic, publisher, terms, kinds }: RelayContext): Relay {
  const url = civic.config.relay.url!.replace(/\/+$/, '');
  const ownUrl = civic.instance.public_url.replace(/\/+$/, '');
  if (url === ownUrl) throw new Error('plugins.firehose.relay.url is the address of this instance itself: name another one');
  const origin = createOrigin(civic.fetch, url, civic.config.relay.api_key);
  const context: ApplyContext = { publisher, terms, kinds, unknownTypes: new Set(), log: civic.log, clock: civic.clock, url, ownUrl };
  const holder = newId();
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let isHolder = false;
  let behind = 0;
  let published = 0;

  const renewed = (): Partial<RelayRow> => ({ lease_until: civic.clock.now() + LEASE_MS });

  /** Writes only while this node is the one that follows. */
  function write<T>(kept: Partial<RelayRow>, work: (tx: Tx) => Promise<T>): Promise<T> {
    return civic.db.write(async (tx) => {
      if (!(await keepRelay(tx, url, holder, { ...renewed(), ...kept }))) throw new LeaseLost('Another node follows now');
      return work(tx);
    });
  }

  const nothing = async (): Promise<void> => undefined;
  const receivedNow = (): Partial<RelayRow> => ({ heard: civic.clock.now(), fault: null, fix: null, behind });

  async function lead(): Promise<boolean> {
    // SQLite has one process, so an earlier holder has ended.
    const isForced = civic.db.dialect === 'sqlite';
    const now = civic.clock.now();
    return civic.db.write(async (tx) => {
      await beginRelay(tx, url, BEGINNING);
      return takeLease(tx, url, { holder, now, until: now + LEASE_MS, isForced });
    });
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        isHolder = await lead();
        if (!isHolder) {
          await pause(RENEW_MS);
          continue;
        }
        await followOnce();
        failures = 0;
        await pause(FIRST_WAIT_MS);
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (error instanceof LeaseLost) continue;
        const fault = explained(error, url);
        if (failures++ === 0) civic.log.warn({ origin: url, err: error, fix: fault.fix }, 'The other instance cannot be followed now; it is tried again');
        await write({ fault: fault.message, fix: fault.fix }, nothing).catch(() => undefined);
        await pause(fault.waitMs ?? Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS));
      }
    }
  }

  /** Waits a random time, so that instances do not reconnect at the same moment. */
  async function pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds * (0.5 + Math.random() / 2), undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
  }

  /** Follows the stream until it ends. Throws when it cannot be opened. */
  async function followOnce(): Promise<void> {
    const { event_id: position } = (await relayRow(civic.db.read, url))!;
    const ended = new AbortController();
    const signal = AbortSignal.any([stopping.signal, ended.signal]);
    const renewing = setInterval(() => { write({}, nothing).catch((error: unknown) => ended.abort(error)); }, RENEW_MS);
    try {
      for await (const messages of origin.follow(position, signal)) {
        const ready = messages.find((message) => message.kind === 'ready');
        if (ready?.status === 'gap' || ready?.status === 'epoch_changed') {
          await readAgain(ready.status, signal);
          return;
        }
        await take(messages, position);
      }
    } finally {
      clearInterval(renewing);
      ended.abort();
    }
  }

  let head = 0;

  async function take(messages: OriginMessage[], from: string): Promise<void> {
    for (const message of messages) if (message.kind === 'ready') head = seqOf(message.last_event_id);
    const last = messages.findLast((message) => message.kind !== 'ready')?.event_id ?? from;
    behind = Math.max(0, head - seqOf(last));
    const received = messages.filter((message) => message.kind === 'signal');
    for (let i = 0; i < Math.max(1, received.length); i += AT_ONCE) {
      const some = received.slice(i, i + AT_ONCE);
      const isLast = i + AT_ONCE >= received.length;
      published += await write({ ...receivedNow(), event_id: isLast ? last : some.at(-1)!.event_id }, (tx) => applyReceived(context, tx, some));
    }
  }

  /** Compares all current signals of the origin with those stored here: the missed entries are no longer in its log, or its log is another one. */
  async function readAgain(reason: string, signal: AbortSignal): Promise<void> {
    civic.log.warn({ origin: url, reason }, 'Part of the log of the followed instance is gone; all its signals are read again');
    const seen = new Set<string>();
    let oldest = Infinity;
    let cursor: string | null = null;
    let position: string | null = null;
    do {
      const page = await origin.page(cursor, signal);
      position ??= page.last_event_id;
      for (const one of page.signals) {
        seen.add(one.id);
        oldest = Math.min(oldest, Date.parse(one.detected_at));
      }
      for (let i = 0; i < page.signals.length; i += AT_ONCE) {
        const received = page.signals.slice(i, i + AT_ONCE).map((one): Received => ({ event_id: position!, signal: one, isRetracted: false }));
        published += await write(receivedNow(), (tx) => applyReceived(context, tx, received));
      }
      cursor = page.next_cursor;
    } while (cursor !== null);
    const withdrawn = await withdrawMissing((one) => one.origin?.url === url && !seen.has(one.id) && Date.parse(one.detected_at) >= oldest);
    await write({ ...receivedNow(), event_id: position }, nothing);
    civic.log.info({ origin: url, signals: seen.size, withdrawn }, 'All signals were read again');
  }

  /** Withdraws signals that the origin retracted while it was not followed. Signals older than all of its signals were removed there by retention and stay. */
  async function withdrawMissing(isMissing: (signal: Signal) => boolean): Promise<number> {
    let withdrawn = 0;
    for (let born = 0; ;) {
      const some = await signalsAfter(civic.db.read, born, AT_ONCE);
      if (some.length === 0) return withdrawn;
      born = some.at(-1)!.born;
      const gone = some.filter(({ signal }) => isMissing(signal)).map(({ signal }) => signal.id);
      if (gone.length > 0) await write({}, (tx) => publisher.withdraw(tx, gone));
      withdrawn += gone.length;
    }
  }

  return {
    url,
    start() { running = run(); },
    async stop() {
      stopping.abort();
      await running;
      if (isHolder) await civic.db.write((tx) => dropLease(tx, url, holder)).catch(() => undefined);
    },
    figures: () => ({ behind, published }),
  };
}

function seqOf(eventId: string): number {
  return Number(eventId.slice(eventId.lastIndexOf('-') + 1));
}
