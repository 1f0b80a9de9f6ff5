import { setTimeout as sleep } from 'node:timers/promises';
import { slowness } from '../../../core/test/wait.ts';
import { readContract } from './contract.ts';
import { randomQuery } from './drafts.ts';
import { startFollower, type Follower } from './follower.ts';
import { deliveriesOf, judgeFollower, judgeLog, lastSeen } from './judge.ts';
import { judgeWalks } from './judge-walks.ts';
import { linesOf, type Line, type LogRow } from './model.ts';
import { createNodes, type Nodes } from './nodes.ts';
import { createRandom, type Random } from './random.ts';
import { startChecker } from './snapshots.ts';
import { createWorld, type World } from './world.ts';
import { createSignalWriters, type SignalWriters } from './writers.ts';

export interface OracleOptions {
  /** Of an empty Postgres database, served by two nodes; null is SQLite, served by one. */
  url: string | null;
  seed: number;
  signals: number;
  followers: number;
  writers: number;
  /** How often a server is ended and started again. */
  kills: number;
  /** Goes on until so many connections were cut. */
  cuts?: number;
  lifeMs?: number;
  restMs?: number;
  fat?: number;
  /** The copy of the kit whose servers run. */
  root?: string;
  /** How long followers may take to get the rest in the end. */
  settleMs?: number;
  onProgress?: (words: string) => void;
}

export interface OracleReport {
  seed: number;
  signals: number;
  lines: number;
  delivered: number;
  cuts: number;
  torn: number;
  stalled: number;
  kills: number;
  snapshots: number;
  unchanged: number;
  seconds: number;
  faults: string[];
}

const SETTLE_MS = 40_000 * slowness;
const TRANSPORTS = ['events', 'session events', 'socket'] as const;
const STARTS = ['live', 'zero', 'snapshot'] as const;
const EVERYTHING = 5;
const NO_FILTER = { places: [], issues: [], actor_types: [], signal_types: [], source_classes: [], since: null, until: null, cursor: null };

function startFollowers({ random, nodes, world, options, common }: { random: Random; nodes: Nodes; world: World; options: OracleOptions; common: Pick<Parameters<typeof startFollower>[0], 'contract' | 'faults'> }): Follower[] {
  return Array.from({ length: options.followers }, (_, index) => {
    const own = random.fork();
    const asker = world.askers[index % world.askers.length]!;
    const transport = asker.key === null ? 'events' : TRANSPORTS[index % TRANSPORTS.length]!;
    // The first few ask for everything, several of them with the same words: they are the ones that most happens to.
    const query = index < EVERYTHING ? { ...NO_FILTER, visibility: asker.visibilities.at(-1)! } : randomQuery(own, asker);
    return startFollower({
      ...common, random: own, nodes, asker, transport, start: own.pick(STARTS), lifeMs: options.lifeMs ?? 600,
      query: { ...query, sort: 'detected_at_desc', limit: 50 },
    });
  });
}

/** The log as the database holds it, once everything that was committed has its number. */
async function readLines(world: World, writers: SignalWriters): Promise<{ lines: Line[]; floor: number }> {
  return world.look(async (db) => {
    for (const end = performance.now() + SETTLE_MS; await db.read('firehose_outbox').first('key') && performance.now() < end;) await sleep(50);
    const rows: LogRow[] = await db.read('firehose_log').select('seq', 'signal_id', 'signal').orderBy('seq');
    const head = await db.read('firehose_head').first('floor_seq');
    return { lines: linesOf(rows.map((row) => ({ ...row, seq: Number(row.seq) })), writers.workspaceOf), floor: Number(head.floor_seq) };
  });
}

async function settle(followers: Follower[], lines: Line[], milliseconds: number): Promise<void> {
  for (const follower of followers) follower.settle();
  const ends = followers.map((follower) => deliveriesOf(lines, follower).at(-1)?.seq ?? 0);
  const isDone = (): boolean => followers.every((follower, index) => lastSeen(follower) >= ends[index]!);
  for (const end = performance.now() + milliseconds; !isDone() && performance.now() < end;) await sleep(50);
  // What comes too often comes now.
  await sleep(300);
}

/** Writers write, followers follow, cut off again and again, servers die; in the end everybody must have got what the log says. */
export async function consultOracle(options: OracleOptions): Promise<OracleReport> {
  const started = performance.now();
  const random = createRandom(options.seed);
  const faults: string[] = [];
  const world = await createWorld(options);
  const nodes = createNodes(world.instance, options.url === null ? 1 : 2);
  let followers: Follower[] = [];
  let kills = 0;
  const cuts = (): number => followers.reduce((sum, one) => sum + one.cuts.torn + one.cuts.stalled + one.cuts.ended, 0);
  try {
    await nodes.start();
    const contract = await readContract(nodes.all()[0]!.url);
    const writers = createSignalWriters({ random: random.fork(), nodes, count: options.writers, workspaces: world.workspaces, fat: options.fat ?? 0.02, restMs: options.restMs ?? 40 });
    // Some are there before anybody looks.
    await writers.writeUntil(options.signals / 10);
    followers = startFollowers({ random, nodes, world, options, common: { contract, faults } });
    const checker = startChecker({ nodes, random: random.fork(), askers: world.askers, contract, faults, queries: 8, restMs: 30 });
    const writing = writers.writeUntil(options.signals);
    for (let kill = 0; kill < options.kills; kill++) {
      const due = options.signals * (0.1 + 0.9 * (kill + 1) / (options.kills + 1));
      while (writers.acknowledged() < due && faults.length === 0) await sleep(20);
      await nodes.restart(random.int(options.url === null ? 1 : 2), random.chance(0.75) ? 'SIGKILL' : 'SIGTERM', random.int(300));
      kills += 1;
      options.onProgress?.(`${writers.acknowledged()} of ${options.signals} signals, ${cuts()} cuts, ${kills} kills, ${faults.length} faults`);
    }
    await writing;
    while (cuts() < (options.cuts ?? 0) && faults.length === 0) await sleep(100);
    await checker.stop();
    await checker.loseOne((body) => fetch(`${nodes.all()[0]!.url}/api/wire`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }));
    const { lines, floor } = await readLines(world, writers);
    await settle(followers, lines, options.settleMs ?? SETTLE_MS);
    await checker.verifyTags();
    await Promise.all(followers.map((follower) => follower.stop()));
    await nodes.stop();
    faults.push(...writers.faults, ...nodes.faults, ...judgeLog(lines, floor, writers.batches), ...followers.flatMap((follower) => judgeFollower(follower, lines)));
    const walks = [...checker.walks, ...followers.flatMap(({ base }) => (base ? [base] : []))];
    faults.push(...judgeWalks(walks, lines));
    const sum = (count: (one: Follower) => number): number => followers.reduce((total, one) => total + count(one), 0);
    return {
      seed: options.seed, signals: writers.acknowledged(), lines: lines.length, kills, cuts: cuts(),
      torn: sum((one) => one.cuts.torn), stalled: sum((one) => one.cuts.stalled),
      delivered: sum((one) => one.segments.reduce((total, { seen }) => total + seen.filter(({ kind }) => kind === 'signal').length, 0)),
      snapshots: walks.reduce((total, { pages }) => total + pages.length, 0), unchanged: checker.unchanged(),
      seconds: (performance.now() - started) / 1000, faults: [...new Set(faults)],
    };
  } finally {
    await Promise.all(followers.map((follower) => follower.stop()));
    await nodes.kill();
    world.remove();
  }
}
