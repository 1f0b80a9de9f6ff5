import { addHeaders, type Caller, type Civic } from 'civic';
import type { Request } from '@hapi/hapi';
import { createBehind } from './behind.ts';
import type { RatelimitConfig } from './config.ts';
import { limitHeaders, rateLimited } from './headers.ts';
import { accountSubject, createLimits, type PlanSource, type Rule } from './limits.ts';
import { createMemory } from './memory.ts';
import { createShared, type Shared } from './shared.ts';
import { addDays, countersOfSubject, daysOf, prune, runningCounters, saveCounters, takeShared } from './store.ts';
import { byDay, createTallies, firstDay } from './usage.ts';
import type { Counters, Standing } from './windows.ts';

/** What an account has asked for, as its own page shows it. */
export interface Usage {
  /** In the window of a minute that is open, 0 when none is. */
  minute: number;
  /** In the window of a day that is open. */
  day: number;
  /** The last 30 days by UTC, oldest first, today last. */
  days: { day: string; requests: number }[];
}

export interface RatelimitService {
  usageOf(accountId: string): Promise<Usage>;
}

declare module 'civic' {
  interface Services { ratelimit: RatelimitService }
}

export interface Ratelimit extends RatelimitService {
  admit(caller: Caller | null, request: Request): void | Promise<void>;
  /** Decisions of this node without its shared counters. */
  localDecisions(): number;
  prune(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

// About 20 MB each. Apart, so that a flood of addresses makes nobody forget what an account has used.
const MOST_SUBJECTS = 100_000;
const PURGE_MS = 60_000;

export function createRatelimit(civic: Civic<RatelimitConfig>): Ratelimit {
  const { clock, config } = civic;
  // The types of a plugin that may be off are not at hand; this is all that is asked of it.
  const accounts = () => civic.serviceIfOn('accounts' as never) as PlanSource | null;
  const ruleOf = createLimits({ config, vocabulary: civic.vocabulary, plans: accounts });
  const tallies = createTallies();
  const behind = createBehind(write);
  let changed = new Set<Counters>();
  let local = 0;
  let isFailing = false;
  let shared: { addresses: Shared; accounts: Shared } | null = null;
  let purging: NodeJS.Timeout | undefined;

  function note(counters: Counters): void {
    // On Postgres the shared counters are the ones that last.
    if (shared) return;
    changed.add(counters);
    behind.touch();
  }
  const memory = { addresses: createMemory(MOST_SUBJECTS, note), accounts: createMemory(MOST_SUBJECTS, note) };

  async function write(): Promise<void> {
    const counters = changed;
    const days = tallies.take();
    changed = new Set();
    try {
      await civic.db.write(async (tx) => {
        await saveCounters(tx, [...counters]);
        await addDays(tx, days);
      });
      isFailing = false;
    } catch (error) {
      if (!isFailing) civic.log.warn({ err: error }, 'Counters cannot be written down at the moment');
      isFailing = true;
      tallies.giveBack(days);
      for (const one of counters) changed.add(one);
      behind.touch();
    }
  }

  function conclude(request: Request, rule: Rule, standing: Standing, now: number): void {
    if (rule.isApi || !standing.isAdmitted) addHeaders(request, limitHeaders(standing, now));
    if (!standing.isAdmitted) throw rateLimited(rule, standing, now, accounts() !== null);
    if (rule.account) {
      tallies.add(rule.account.id, now);
      behind.touch();
    }
  }

  return {
    admit(caller, request) {
      const rule = ruleOf(caller, request);
      if (!rule) return;
      const now = clock.now();
      const kind = rule.account ? 'accounts' : 'addresses';
      const standing = (shared ?? memory)[kind].take(rule.subject, rule.windows, now);
      if (standing instanceof Promise) return standing.then((found) => conclude(request, rule, found, clock.now()));
      conclude(request, rule, standing, now);
    },

    async usageOf(accountId) {
      await behind.flush();
      const now = clock.now();
      const subject = accountSubject(accountId);
      const counters = shared ? await countersOfSubject(civic.db.read, subject) : memory.accounts.find(subject);
      const used = (slot: 0 | 2): number => (counters && counters.ends[slot] > now ? counters.counts[slot] : 0);
      return { minute: used(0), day: used(2), days: byDay(await daysOf(civic.db.read, accountId, firstDay(now)), now) };
    },

    localDecisions: () => local,

    async prune() {
      const now = clock.now();
      await civic.db.write((tx) => prune(tx, now, firstDay(now)));
    },

    async start() {
      const { db } = civic;
      if (db.dialect === 'postgres') {
        const options = { now: () => clock.now(), take: (asks: Parameters<typeof takeShared>[1], now: number) => takeShared(db.read, asks, now), patienceMs: config.patience_ms, onLocal: () => { local += 1; } };
        shared = { addresses: createShared({ ...options, memory: memory.addresses }), accounts: createShared({ ...options, memory: memory.accounts }) };
        // So that the first visitor waits for no connection.
        await takeShared(db.read, [], clock.now());
      } else {
        for (const counters of await runningCounters(db.read, clock.now(), MOST_SUBJECTS)) memory[counters.subject.startsWith('account ') ? 'accounts' : 'addresses'].put(counters);
      }
      purging = setInterval(() => {
        for (const one of Object.values(memory)) one.purge(clock.now());
      }, PURGE_MS);
      purging.unref();
    },

    async stop() {
      clearInterval(purging);
      await behind.stop();
    },
  };
}
