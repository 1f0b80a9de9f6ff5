import { latestEnd, type Civic } from 'civic';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReaderConfig } from '../config.ts';
import { hostByOrigin, lockedHost, saveRobots, updateHost, type HostRow } from './hosts-store.ts';
import { createPlaces } from './places.ts';
import { Refusal } from './refusal.ts';
import { readRobots, robotsRules, type RobotsRules, type RobotsStatus } from './robots.ts';

const ROBOTS_MS = 24 * 3600_000;
/** A robots.txt that could not be read is tried again sooner. */
const ROBOTS_RETRY_MS = 3600_000;
const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 24 * 3600_000;
const MOST_RULES = 500;

/** The way to the hosts during one read: it asks for permission before each request, and gives the places back at the end. */
export interface Visit {
  enter(url: URL): Promise<void>;
  leave(): void;
}

export interface Hosts {
  visit(signal?: AbortSignal): Visit;
  /** Throws when a request is against robots.txt, or the host rests. It waits for no turn: it is part of a visit, as a script of a page is. */
  permit(url: URL): Promise<void>;
  /** Notes how a host responded: a failing or overloaded one gets a rest. */
  note(origin: string, outcome: { isOverloaded: boolean; retryAfterMs: number | null }): Promise<void>;
  /** Reads what robots.txt excludes too. Its delay still counts. */
  ignoreRobots(): void;
}

/** Keeps reads within robots.txt and the pace of each host. The pace is stored, so that all nodes together keep it. */
export function createHosts(civic: Civic<ReaderConfig>, product: string): Hosts {
  const { config, clock } = civic;
  const places = createPlaces(config.per_host);
  const rules = new Map<string, { read_at: string; rules: RobotsRules }>();
  const reading = new Map<string, Promise<HostRow>>();
  let obeysRobots = true;

  /** Returns the host with a robots.txt that is not too old; several reads share one request for it. */
  async function knownHost(origin: string, signal?: AbortSignal): Promise<HostRow> {
    const row = await hostByOrigin(civic.db.read, origin);
    if (row && isCurrent(row)) return row;
    let pending = reading.get(origin);
    if (!pending) {
      pending = readHost(origin, row).finally(() => reading.delete(origin));
      reading.set(origin, pending);
    }
    return signal ? unlessAborted(pending, signal) : pending;
  }

  function isCurrent({ robots_status, robots_at }: HostRow): boolean {
    const age = clock.now() - Date.parse(robots_at);
    return age >= -latestEnd(0, 0) && age < (isUnread(robots_status) ? ROBOTS_RETRY_MS : ROBOTS_MS);
  }

  async function readHost(origin: string, row: HostRow | undefined): Promise<HostRow> {
    const { status, text } = await readRobots(civic.fetch, origin);
    const isLost = isUnread(status) && row?.robots_status === 'read';
    const robots = isLost ? { robots: row.robots, robots_status: 'read' as const } : { robots: text, robots_status: status };
    await civic.db.write((tx) => saveRobots(tx, { origin, ...robots, robots_at: clock.iso() }));
    return (await hostByOrigin(civic.db.read, origin))!;
  }

  async function rulesOf({ origin, robots, robots_at }: HostRow): Promise<RobotsRules> {
    const known = rules.get(origin);
    if (known?.read_at === robots_at) return known.rules;
    const parsed = await robotsRules(origin, robots, product);
    rules.set(origin, { read_at: robots_at, rules: parsed });
    if (rules.size > MOST_RULES) rules.delete(rules.keys().next().value!);
    return parsed;
  }

  async function permittedDelay(url: URL, signal?: AbortSignal): Promise<number> {
    const host = await knownHost(url.origin, signal);
    if (host.robots_status === 'unreachable') throw new Refusal('unreachable', `${url.host} cannot be reached.`, clock.now() + ROBOTS_RETRY_MS);
    if (host.robots_status === 'failing' && obeysRobots) throw new Refusal('robots_unreachable', `The robots.txt of ${url.host} cannot be read, so nothing of that host is read until it can.`, clock.now() + ROBOTS_RETRY_MS);
    const { allows, delay } = await rulesOf(host);
    if (obeysRobots && !allows(url.href)) throw new Refusal('robots', `The robots.txt of ${url.host} does not allow programs to read ${url.pathname}. Ask its owner, or choose another page.`);
    return 1000 * Math.min(config.longest_delay_seconds, Math.max(config.delay_seconds, delay ?? 0));
  }

  function refuseRest({ rest_until }: HostRow, host: string, now: number): void {
    const rest = Date.parse(rest_until ?? '');
    if (rest > now && rest <= latestEnd(now, LONGEST_REST_MS)) throw new Refusal('host_rests', `${host} asked for a pause or failed; it is not requested before ${rest_until}.`, rest);
  }

  /** Takes the next free time of a host. */
  function takeTurn(origin: string, host: string, delayMs: number): Promise<number> {
    const now = clock.now();
    return civic.db.write(async (tx) => {
      const row = (await lockedHost(tx, origin))!;
      refuseRest(row, host, now);
      const next = Date.parse(row.next_at);
      // A time that is further away was written while a clock was ahead.
      const turn = next > latestEnd(now, 2000 * config.longest_wait_seconds + delayMs) ? now : Math.max(now, next);
      if (turn - now > 1000 * config.longest_wait_seconds) throw new Refusal('host_busy', `Many pages of ${host} wait to be read; this one is read later.`, turn);
      await updateHost(tx, origin, { next_at: new Date(turn + delayMs).toISOString() });
      return turn;
    });
  }

  return {
    visit(signal) {
      const held = new Map<string, () => void>();
      let hasLeft = false;
      /** Takes a place at a host. A visit that ended while it waited gives the place back at once. */
      async function takePlace({ origin, host }: URL): Promise<void> {
        const longestMs = 1000 * config.longest_wait_seconds;
        const latest = clock.now() + longestMs;
        const release = await places.take(origin, longestMs, () => new Refusal('host_busy', `Many pages of ${host} wait to be read; this one is read later.`, latest));
        if (!hasLeft) return void held.set(origin, release);
        release();
        throw new Error('The read has ended');
      }
      return {
        async enter(url) {
          const delayMs = await permittedDelay(url, signal);
          if (!held.has(url.origin)) await takePlace(url);
          const turn = await takeTurn(url.origin, url.host, delayMs);
          const wait = turn - clock.now();
          if (wait > 0) await sleep(wait, undefined, signal && { signal });
        },
        leave() {
          hasLeft = true;
          for (const release of held.values()) release();
          held.clear();
        },
      };
    },
    ignoreRobots() { obeysRobots = false; },
    async permit(url) {
      await permittedDelay(url);
      refuseRest(await knownHost(url.origin), url.host, clock.now());
    },
    async note(origin, { isOverloaded, retryAfterMs }) {
      const row = await hostByOrigin(civic.db.read, origin);
      if (!row || (!isOverloaded && row.failures === 0)) return;
      const failures = isOverloaded ? Number(row.failures) + 1 : 0;
      const restMs = Math.min(LONGEST_REST_MS, retryAfterMs ?? FIRST_REST_MS * 2 ** Math.min(failures - 1, 10));
      await civic.db.write((tx) => updateHost(tx, origin, { failures, rest_until: isOverloaded ? new Date(clock.now() + restMs).toISOString() : null }));
    },
  };
}

/** Waits for work that others may wait for too: an aborted caller leaves without ending it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    if (signal.aborted) leave();
  });
}

function isUnread(status: RobotsStatus): boolean {
  return status === 'failing' || status === 'unreachable';
}
