import { createWaker, repeat, type Repeating } from './background.ts';
import type { Clock } from './clock.ts';
import type { OpenDatabase } from './database/connect.ts';
import type { Tx } from './database/types.ts';
import { createDelivery, isRetryDue, toRecord, type Delivery, type EventRow, type Handler, type Patience } from './events/delivery.ts';
import { allPositions, finishRebuild, fitPositions, keepOn } from './events/positions.ts';
import { resumeDelivery, type ResumedDelivery } from './events/resume.ts';
import { pruneEvents } from './events/retention.ts';
import { eventsStatus, type EventsStatus } from './events/status.ts';
import type { Logger } from './log.ts';
import type { EventKind, EventRecord } from './plugin.ts';
import { createSequence } from './sequence.ts';

export type { Handler, ResumedDelivery, EventsStatus };

export interface EventBus {
  /** In the transaction that makes the fact true, after the change itself: events of one row are then in its order. */
  emit(tx: Tx, plugin: string, name: string, payload: unknown): Promise<void>;
  /** In `register`. */
  on(plugin: string, name: string, handler: Handler): void;
  /** In `register`. */
  watch(plugin: string, name: string, watcher: Watcher): void;
  /** After migrating, before plugins start: from now on nothing is missed. Answers the plugins that missed events before, and so must rebuild. */
  open(): Promise<string[]>;
  /** After plugins have started: delivery begins. */
  start(): Promise<void>;
  stop(): Promise<void>;
  status(): Promise<EventsStatus>;
  /** Tries again at once what stopped a plugin's delivery. Null when nothing holds it up. */
  retry(plugin: string): Promise<ResumedDelivery | null>;
  /** Passes over the event that stopped a plugin's delivery. Null when nothing holds it up. */
  skip(plugin: string): Promise<ResumedDelivery | null>;
  /** Removes events older than the retention. Answers how many. */
  prune(): Promise<number>;
}

export type Watcher = (event: EventRecord<any>) => void;

export interface EventsOptions {
  /** Asked when first needed: handlers are declared before the database is open. */
  db: () => OpenDatabase;
  log: Logger;
  clock: Clock;
  /** The events of all plugins that are on, by name. */
  kinds: Record<string, EventKind>;
  retentionDays: number;
  /** Whether this process delivers to handlers; watchers run everywhere. */
  delivers: boolean;
  patience?: Patience;
  pollMs?: number;
}

// Some twenty minutes: longer than a restart of the database, shorter than a night.
const PATIENCE: Patience = { firstMs: 1000, mostMs: 5 * 60_000, attempts: 12 };
const POLL_MS = 1000;
const TAIL_LIMIT = 500;

export function createEvents(options: EventsOptions): EventBus {
  const { log, clock, kinds } = options;
  const sequence = createSequence<EventRow>({
    db: options.db, log, name: 'core_event', columns: { name: 'text', version: 'int', at: 'time', payload: 'json' },
  });
  const handlers = new Map<string, Map<string, Handler[]>>();
  const watchers = new Map<string, Watcher[]>();
  let deliveries: Delivery[] = [];
  let mustRebuild: string[] = [];
  let forget: (() => void) | undefined;
  let polling: Repeating | undefined;
  let isRunning = false;
  let tail = 0;
  let newest = 0;
  const reader = createWaker(readTail, (error) => log.warn({ err: error }, 'Reading new events failed'));

  /** An event of a plugin that is off never comes, which is fine; a name that its plugin does not have is a mistake. */
  function checkName(name: string): void {
    const plugin = name.slice(0, name.indexOf('.') + 1);
    const others = Object.keys(kinds).filter((other) => other.startsWith(plugin));
    if (others.length > 0 && !kinds[name]) throw new Error(`There is no event "${name}", only ${others.join(', ')}`);
  }

  async function emit(tx: Tx, plugin: string, name: string, payload: unknown): Promise<void> {
    if (!name.startsWith(`${plugin}.`)) throw new Error(`The plugin ${plugin} cannot emit "${name}": its events begin with "${plugin}."`);
    const kind = kinds[name];
    if (!kind) throw new Error(`The event "${name}" is not declared: add it to the events of the plugin ${plugin}`);
    const { error } = kind.payload.validate(payload, { convert: false });
    if (error) throw new Error(`The payload of the event "${name}" does not fit its schema: ${error.message}`);
    await sequence.append(tx, [{ name, version: kind.version, at: clock.iso(), payload: JSON.stringify(payload) }]);
  }

  /** Reads what is new once per node: tells watchers, and wakes the deliveries it concerns. */
  async function readTail(): Promise<void> {
    while (isRunning && tail < newest) {
      const rows = await sequence.after(options.db().read, tail, TAIL_LIMIT);
      for (const row of rows) tell(row);
      for (const delivery of deliveries) {
        if (rows.some((row) => delivery.hears(row.name))) delivery.wake();
      }
      tail = rows.at(-1)?.seq ?? newest;
    }
  }

  function tell(row: EventRow & { seq: number }): void {
    for (const watcher of watchers.get(row.name) ?? []) {
      const told = async () => watcher(toRecord(row));
      told().catch((error: unknown) => log.warn({ err: error, event: row.name }, `A watcher of ${row.name} failed`));
    }
  }

  function advanced(seq: number): void {
    newest = Math.max(newest, seq);
    reader.wake();
  }

  /** Finds deliveries whose next attempt is due, those that a stopped node left, and those that `civic events` resumed. */
  async function poll(): Promise<void> {
    const db = options.db();
    const { last_seq } = await sequence.head(db.read);
    advanced(last_seq);
    for (const position of await allPositions(db.read)) {
      const delivery = deliveries.find(({ plugin }) => plugin === position.plugin);
      if (!delivery) continue;
      if (position.off_at) await db.write((tx) => keepOn(tx, position.plugin));
      const isDue = !position.stopped_at && isRetryDue(position, options.patience ?? PATIENCE, clock);
      if (isDue && position.seq < last_seq) delivery.wake();
    }
  }

  return {
    emit,
    on(plugin, name, handler) {
      checkName(name);
      const own = handlers.get(plugin) ?? new Map<string, Handler[]>();
      own.set(name, [...(own.get(name) ?? []), handler]);
      handlers.set(plugin, own);
    },
    watch(_plugin, name, watcher) {
      checkName(name);
      watchers.set(name, [...(watchers.get(name) ?? []), watcher]);
    },
    async open() {
      mustRebuild = await options.db().write(async (tx) => fitPositions(tx, [...handlers.keys()], await sequence.head(tx), clock.iso()));
      return mustRebuild;
    },
    async start() {
      const db = options.db();
      isRunning = true;
      if (mustRebuild.length > 0) await db.write((tx) => finishRebuild(tx, mustRebuild));
      deliveries = [...(options.delivers ? handlers : [])].map(([plugin, own]) => createDelivery({
        plugin, handlers: own, db, sequence, clock, log, patience: options.patience ?? PATIENCE,
      }));
      tail = (await sequence.head(db.read)).last_seq;
      forget = sequence.onAdvance(advanced);
      await sequence.start();
      for (const delivery of deliveries) delivery.wake();
      polling = repeat(options.pollMs ?? POLL_MS, poll, (error) => log.warn({ err: error }, 'Looking for undelivered events failed'));
    },
    async stop() {
      isRunning = false;
      forget?.();
      await polling?.stop();
      await sequence.stop();
      await reader.idle();
      await Promise.all(deliveries.map((delivery) => delivery.stop()));
      deliveries = [];
    },
    status: () => eventsStatus(options.db(), sequence),
    retry: (plugin) => resume(plugin, 'retry'),
    skip: (plugin) => resume(plugin, 'skip'),
    prune: () => pruneEvents({ db: options.db(), sequence, clock, log, days: options.retentionDays }),
  };

  async function resume(plugin: string, how: 'retry' | 'skip'): Promise<ResumedDelivery | null> {
    const resumed = await options.db().write((tx) => resumeDelivery(tx, options.db(), sequence, plugin, how));
    deliveries.find((delivery) => delivery.plugin === plugin)?.wake();
    return resumed;
  }
}
