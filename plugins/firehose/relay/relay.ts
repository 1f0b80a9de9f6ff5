import { newId, type Civic, type Tx } from 'civic';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FirehoseConfig } from '../config.ts';
import type { Terms } from '../query/terms.ts';
import type { SignalKinds } from '../signals/kinds.ts';
import type { Publisher } from '../signals/publish.ts';
import { applyHeard, type ApplyContext, type Heard } from './apply.ts';
import { createOrigin, explained, type Told } from './origin.ts';
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
  figures(): { behind: number; told: number };
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
 * Tells here what another instance tells in public, under the same ids. How far its log was read is written in the
 * transaction that writes what was read, so nothing is lost and nothing is told twice, whoever is killed.
 * One node does it at a time; each write also proves that this node still is the one.
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
  let told = 0;

  const renewed = (): Partial<RelayRow> => ({ lease_until: civic.clock.now() + LEASE_MS });

  /** Writes only while this node is the one that follows. */
  function write<T>(kept: Partial<RelayRow>, work: (tx: Tx) => Promise<T>): Promise<T> {
    return civic.db.write(async (tx) => {
      if (!(await keepRelay(tx, url, holder, { ...renewed(), ...kept }))) throw new LeaseLost('Another node follows now');
      return work(tx);
    });
  }

  const nothing = async (): Promise<void> => undefined;
  const heardNow = (): Partial<RelayRow> => ({ heard: civic.clock.now(), fault: null, fix: null, behind });

  async function lead(): Promise<boolean> {
    const isForced = civic.db.dialect === 'sqlite'; // One process has the file: whoever held it is gone.
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
        if (!isHolder) await pause(RENEW_MS);
        else if (await followOnce()) failures = 0;
        if (isHolder) await pause(FIRST_WAIT_MS);
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

  /** At random, so that many who follow do not come back at the same moment. */
  async function pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds * (0.5 + Math.random() / 2), undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
  }

  /** Until the stream ends. True when it began well. */
  async function followOnce(): Promise<boolean> {
    const { event_id: position } = (await relayRow(civic.db.read, url))!;
    const ended = new AbortController();
    const signal = AbortSignal.any([stopping.signal, ended.signal]);
    const renewing = setInterval(() => { write({}, nothing).catch((error: unknown) => ended.abort(error)); }, RENEW_MS);
    try {
      for await (const messages of origin.follow(position, signal)) {
        const ready = messages.find((message) => message.kind === 'ready');
        if (ready?.status === 'gap' || ready?.status === 'epoch_changed') {
          await readAnew(ready.status, signal);
          return true;
        }
        await take(messages, position);
      }
      return true;
    } finally {
      clearInterval(renewing);
      ended.abort();
    }
  }

  let head = 0;

  async function take(messages: Told[], from: string): Promise<void> {
    for (const message of messages) if (message.kind === 'ready') head = seqOf(message.last_event_id);
    const last = messages.findLast((message) => message.kind !== 'ready')?.event_id ?? from;
    behind = Math.max(0, head - seqOf(last));
    const heard = messages.filter((message) => message.kind === 'signal');
    for (let i = 0; i < Math.max(1, heard.length); i += AT_ONCE) {
      const some = heard.slice(i, i + AT_ONCE);
      const isLast = i + AT_ONCE >= heard.length;
      told += await write({ ...heardNow(), event_id: isLast ? last : some.at(-1)!.event_id }, (tx) => applyHeard(context, tx, some));
    }
  }

  /** What was missed is no longer in the origin's log, or that log is another one: what it has now is compared with what is known here. */
  async function readAnew(reason: string, signal: AbortSignal): Promise<void> {
    civic.log.warn({ origin: url, reason }, 'Part of the log of the instance that is followed is gone; everything it has is read anew');
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
        const heard = page.signals.slice(i, i + AT_ONCE).map((one): Heard => ({ event_id: position!, signal: one, isRetracted: false }));
        told += await write(heardNow(), (tx) => applyHeard(context, tx, heard));
      }
      cursor = page.next_cursor;
    } while (cursor !== null);
    const withdrawn = await withdrawMissing((one) => one.origin?.url === url && !seen.has(one.id) && Date.parse(one.detected_at) >= oldest);
    await write({ ...heardNow(), event_id: position }, nothing);
    civic.log.info({ origin: url, signals: seen.size, withdrawn }, 'Everything was read anew');
  }

  /** What came from there and is there no more was taken back while nobody listened; what is older than all it has was forgotten by age. */
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
    figures: () => ({ behind, told }),
  };
}

function seqOf(eventId: string): number {
  return Number(eventId.slice(eventId.lastIndexOf('-') + 1));
}
