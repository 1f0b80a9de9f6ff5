import { exceededHeaders, latestEnd, problem, repeat, type Caller, type Database, type Logger, type Repeating } from 'civic';
import { randomUUID } from 'node:crypto';
import type { Access } from './access.ts';
import { openElsewhere, putOpen, removeNode } from './store.ts';

/** How many streams and sockets each account has open, on this node and on others. */
export interface Counts {
  /** Makes room for one stream, or refuses it. What it answers is called when the stream is counted itself, or did not come about. */
  admit(access: Who): Promise<() => void>;
  opened(access: Who): void;
  closed(access: Who): void;
  total(): number;
  start(): void;
  stop(): Promise<void>;
}

type Who = Pick<Access, 'caller' | 'address'>;

export interface CountsOptions {
  db(): Database;
  now(): number;
  log: Logger;
  most: number;
  /** Open streams of anonymous clients from one network. */
  mostAnonymous: number;
  allowedStreams(caller: Caller): number;
}

const RETRY_SECONDS = 30;
const TELL_MS = 2000;
/** A node that said nothing for so long is gone. */
const SILENT_MS = 15_000;

/** Nodes tell each other by a table; a count from elsewhere is some seconds old, one's own is exact. */
export function createCounts({ db, now, log, most, mostAnonymous, allowedStreams }: CountsOptions): Counts {
  const node = randomUUID();
  const open = new Map<string, number>();
  const held = new Map<string, number>();
  const anonymous = new Map<string, number>();
  let total = 0;
  let heldTotal = 0;
  let told = '';
  let toldAt = 0;
  let telling: Repeating | undefined;

  const isShared = () => db().dialect === 'postgres';

  async function tell(): Promise<void> {
    const rows = [...open].map(([account_id, streams]) => ({ node, account_id, streams, seen: now() }));
    const text = JSON.stringify([...open]);
    if (text === told && (rows.length === 0 || Math.abs(now() - toldAt) < SILENT_MS / 3)) return;
    await db().write((tx) => putOpen(tx, node, rows, now() - 10 * SILENT_MS));
    told = text;
    toldAt = now();
  }

  async function admitAccount(caller: Caller): Promise<void> {
    const allowed = allowedStreams(caller);
    const elsewhere = isShared() ? await openElsewhere(db().read, caller.account_id, node, { since: now() - SILENT_MS, until: latestEnd(now(), 0) }) : 0;
    const here = (open.get(caller.account_id) ?? 0) + (held.get(caller.account_id) ?? 0);
    if (here + elsewhere < allowed) return;
    throw problem('too_many_streams', { detail: `The plan ${caller.plan} allows ${allowed} open streams and sockets at the same time.`, headers: exceededHeaders({ limit: allowed, resetAt: now() + RETRY_SECONDS * 1000, now: now() }) });
  }

  function admitAddress(address: string): void {
    if ((anonymous.get(address) ?? 0) < mostAnonymous) return;
    throw problem('too_many_streams', { detail: `Without an account ${mostAnonymous} streams may be open at the same time from one address.`, headers: exceededHeaders({ limit: mostAnonymous, resetAt: now() + RETRY_SECONDS * 1000, now: now() }) });
  }

  function count(counts: Map<string, number>, { caller, address }: Who, number: number): void {
    if (caller) add(counts, caller.account_id, number);
    else add(anonymous, address!, number);
  }

  return {
    async admit(access) {
      if (total + heldTotal >= most) {
        throw problem('streams_full', { detail: `This server has ${most} open streams, which is as many as it takes.`, headers: { 'retry-after': String(RETRY_SECONDS) } });
      }
      if (access.caller) await admitAccount(access.caller);
      else admitAddress(access.address!);
      heldTotal++;
      count(held, access, 1);
      return () => {
        heldTotal--;
        count(held, access, -1);
      };
    },
    opened(access) {
      total++;
      count(open, access, 1);
    },
    closed(access) {
      total--;
      count(open, access, -1);
    },
    total: () => total,
    start() {
      if (isShared()) telling = repeat(TELL_MS, tell, (error) => log.warn({ err: error }, 'Other nodes could not be told how many streams are open here'));
    },
    async stop() {
      await telling?.stop();
      if (isShared()) await db().write((tx) => removeNode(tx, node));
    },
  };
}

function add(counts: Map<string, number>, key: string, number: number): void {
  const sum = (counts.get(key) ?? 0) + number;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
