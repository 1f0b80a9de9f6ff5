import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { slowness } from '../../core/test/wait.ts';
import { createInstance, testPlugins, type Instance } from '../support/civic.ts';
import type { Cluster } from '../support/cluster.ts';
import { compareChores, compareEvents, compareNotes, compareOrder } from './compare.ts';
import { damage, isSettled, look, readFacts } from './facts.ts';
import { createNode, type Node } from './node.ts';
import { createWriters, type Writers } from './writers.ts';

export interface KillOptions {
  /** Of an empty Postgres database, served by two nodes; null is SQLite, served by one. */
  url: string | null;
  rounds: number;
  writers: number;
  /** The writers rest after so many notes until the next kill; without it they never rest. */
  notesPerKill?: number;
  /** Everything is compared after this many rounds, and at the end. */
  checkEach?: number;
  /** The server of `url`; it is crashed too, now and then. */
  cluster?: Cluster;
  onProgress?: (words: string) => void;
}

export interface KillReport {
  kills: number;
  /** Of these, in the middle of a start. */
  early: number;
  terminations: number;
  outages: number;
  acknowledged: number;
  /** Stored without having been acknowledged. */
  unanswered: number;
  chores: number;
  choresAgain: number;
  answers: Record<string, number>;
  seconds: number;
  faults: string[];
}

const CONCURRENCY = 4;
const EARLY_EACH = 7;
const TERMINATE_EACH = 10;
const CRASH_EACH = 10;
const SETTLE_MS = 60_000 * slowness;
const ANSWER_MS = 60_000 * slowness;

/** Kills server processes under load, again and again, and compares what they acknowledged with what is there. */
export async function killRepeatedly(options: KillOptions): Promise<KillReport> {
  const { url, rounds, cluster } = options;
  const say = options.onProgress ?? (() => undefined);
  const started = performance.now();
  const report: KillReport = { kills: 0, early: 0, terminations: 0, outages: 0, acknowledged: 0, unanswered: 0, chores: 0, choresAgain: 0, answers: {}, seconds: 0, faults: [] };
  const instance = createInstance(settings(url));
  const dataDir = join(instance.folder, 'data');
  let isDatabaseAway = false;
  const nodes = createNodes(instance, url === null ? 1 : 2, options.writers, () => isDatabaseAway);
  const writers = createWriters({ count: options.writers, targetOf: (writer) => nodes[writer % nodes.length]! });

  /** Returns at some moment in the middle of writing. */
  async function writeSome(): Promise<void> {
    const [before, most] = [writers.acknowledged.length, options.notesPerKill];
    if (most) {
      writers.limit(before + most);
      return acknowledgeMore(writers, before + most * (0.25 + Math.random() / 4));
    }
    await acknowledgeMore(writers, before + options.writers);
    await sleep(50 + Math.random() * 500);
  }

  async function killOne(round: number): Promise<void> {
    const node = nodes[round % nodes.length]!;
    await writeSome();
    if (round % TERMINATE_EACH === TERMINATE_EACH - 1) {
      await node.terminate();
      report.terminations += 1;
      await node.start();
      await sleep(Math.random() * 300);
    }
    await node.kill();
    report.kills += 1;
    if (round % EARLY_EACH === 0) {
      await node.startAndKill(Math.random() * 1000);
      report.kills += 1;
      report.early += 1;
    }
    await node.start();
  }

  async function crashDatabase(): Promise<void> {
    isDatabaseAway = true;
    await cluster!.stop('SIGQUIT');
    await sleep(Math.random() * 1000);
    await cluster!.start();
    report.outages += 1;
    await acknowledgeMore(writers, writers.acknowledged.length + options.writers);
    // Connections that were lost may still be found out one by one.
    await sleep(1000);
    isDatabaseAway = false;
  }

  async function compare(): Promise<void> {
    await writers.pause();
    const facts = await look(url, dataDir, async (db) => {
      const end = performance.now() + SETTLE_MS;
      while (!(await isSettled(db))) {
        if (performance.now() > end) {
          report.faults.push(`events or chores are still waiting after ${SETTLE_MS / 1000} s`);
          break;
        }
        await sleep(100);
      }
      return readFacts(db, dataDir);
    });
    // A process dies with as many chores in hand as it does at once; an outage takes them from every node.
    const inHand = (report.kills + report.terminations + report.outages * nodes.length) * CONCURRENCY;
    report.faults.push(
      ...compareNotes(writers.acknowledged, facts.notes, writers.sent),
      ...compareEvents(facts.notes, facts.log, facts.digest),
      ...compareOrder(writers.acknowledged, facts.digest),
      ...compareChores(writers.chores, facts.chores, inHand),
      ...facts.damage.map((words) => `the database is damaged: ${words}`),
      ...facts.overlaps.map((words) => `a chore was done twice at once: ${words}`),
    );
    report.acknowledged = writers.acknowledged.length;
    report.unanswered = facts.notes.length - writers.acknowledged.length;
    report.chores = facts.chores.length;
    report.choresAgain = facts.chores.reduce((sum, { runs }) => sum + Math.max(0, runs - 1), 0);
  }

  try {
    await Promise.all(nodes.map((node) => node.start()));
    writers.resume();
    for (let round = 0; report.kills < rounds && report.faults.length === 0; round++) {
      await killOne(round);
      if (cluster && round % CRASH_EACH === CRASH_EACH - 2) await crashDatabase();
      const broken = await look(url, dataDir, damage);
      report.faults.push(...broken, ...writers.faults.splice(0), ...nodes.flatMap((node) => node.faults.splice(0)));
      if (options.checkEach && round % options.checkEach === options.checkEach - 1) {
        await compare();
        writers.resume();
      }
      say(`${report.kills} of ${rounds} kills, ${writers.acknowledged.length} notes acknowledged, ${report.outages} outages`);
    }
    await compare();
    await Promise.all(nodes.map((node) => node.terminate()));
    report.faults.push(...await look(url, dataDir, damage), ...writers.faults, ...nodes.flatMap((node) => node.faults));
  } finally {
    await writers.pause();
    for (const node of nodes) if (node.pool) await node.kill();
    instance.remove();
  }
  return { ...report, faults: [...new Set(report.faults)], answers: writers.answers, seconds: (performance.now() - started) / 1000 };
}

function settings(url: string | null): object {
  const plugins = Object.fromEntries(['notes', 'digest', 'chores'].map((name) => [name, { from: join(testPlugins, name) }]));
  return { database: { url }, log: { level: 'warn', access: 'warn', format: 'json' }, jobs: { concurrency: CONCURRENCY }, plugins };
}

function createNodes(instance: Instance, count: number, writers: number, isDatabaseAway: () => boolean): Node[] {
  return Array.from({ length: count }, () => createNode({ instance, connections: writers, isDatabaseAway }));
}

/** A kill in an idle moment proves nothing, and one right after a response finds what is acknowledged before it is committed. */
async function acknowledgeMore(writers: Writers, count: number): Promise<void> {
  for (const end = performance.now() + ANSWER_MS; writers.acknowledged.length < count; await sleep(1)) {
    if (performance.now() > end) throw new Error(`The writers got no answers for ${ANSWER_MS / 1000} s: ${JSON.stringify(writers.answers)}, ${writers.faults.slice(-3).join('; ')}`);
  }
}
