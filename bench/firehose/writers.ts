import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { planTestDatabase, startPostgres } from '../../core/testing/postgres.ts';
import { median, messageOf } from '../harness.ts';
import type { FirehoseBench } from './run.ts';

const LIMIT = 0.9;
const ROUNDS = 7;
const SECONDS = 2;
const GIVE_UP_MS = 10_000;

interface Written {
  commits: [id: string, at: number][];
  perSecond: number;
}

/** Sixteen writers whose transactions commit out of order: the speed of the log against plain inserts of the same rows, and that nothing is lost. */
export async function benchWriters({ postgres }: FirehoseBench): Promise<boolean> {
  const running = postgres ? { url: postgres, stop: async () => undefined } : await startPostgres();
  if ('missing' in running) {
    process.stdout.write(`\nskipped: sixteen Postgres writers: ${running.missing}\n`);
    return true;
  }
  const database = planTestDatabase(running.url);
  const folder = mkdtempSync(join(tmpdir(), 'civic-bench-'));
  await database.create();
  try {
    return await measure(database.url, folder);
  } finally {
    await database.drop();
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(url: string, folder: string): Promise<boolean> {
  const child = fork(join(import.meta.dirname, '../servers/publishers.js'), [folder, url], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await messageOf(child);
  const observer = await observe(url);
  const rounds: Record<'naive' | 'firehose', Written>[] = [];
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      const both = { naive: await write(child, 'naive'), firehose: await write(child, 'firehose') };
      for (const [id] of both.firehose.commits) observer.expected.add(id);
      // The first one only warms up.
      if (round > 0) rounds.push(both);
    }
    return await report(rounds, observer);
  } finally {
    if (child.exitCode === null) {
      child.disconnect();
      await once(child, 'exit');
    }
    await observer.close();
  }
}

async function write(child: ChildProcess, way: 'naive' | 'firehose'): Promise<Written> {
  child.send({ way, seconds: SECONDS });
  return messageOf(child);
}

interface Observer {
  expected: Set<string>;
  /** When this connection saw a signal, and how often numbers did not follow each other. */
  seen: Map<string, number>;
  holes: number;
  fsync: string;
  close(): Promise<void>;
}

/** Another connection that is told how far the log is, and reads it. */
async function observe(url: string): Promise<Observer> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows: [{ fsync }] } = await client.query('show fsync');
  const observer: Observer = { expected: new Set(), seen: new Map(), holes: 0, fsync, close: () => client.end() };
  let last = 0;
  let reading: Promise<void> | null = null;
  let isWoken = false;
  async function readOn(): Promise<void> {
    while (isWoken) {
      isWoken = false;
      const { rows } = await client.query('select seq, signal_id from firehose_log where seq > $1 order by seq', [last]);
      const now = performance.timeOrigin + performance.now();
      for (const { seq, signal_id } of rows) {
        if (Number(seq) !== ++last) observer.holes++;
        last = Number(seq);
        observer.seen.set(signal_id, now);
      }
    }
    reading = null;
  }
  client.on('notification', () => {
    isWoken = true;
    reading ??= readOn();
  });
  await client.query('listen firehose');
  return observer;
}

async function report(rounds: Record<'naive' | 'firehose', Written>[], observer: Observer): Promise<boolean> {
  const missing = () => [...observer.expected].filter((id) => !observer.seen.has(id)).length;
  for (const end = Date.now() + GIVE_UP_MS; missing() > 0 && Date.now() < end;) await sleep(50);
  const lags = rounds.flatMap(({ firehose }) => firehose.commits.flatMap(([id, at]) => {
    const seen = observer.seen.get(id);
    return seen === undefined ? [] : [Math.max(0, seen - at)];
  })).sort((a, b) => a - b);
  const lagAt = (share: number) => lags[Math.floor(share * (lags.length - 1))]!.toFixed(0);
  const speed = (way: 'naive' | 'firehose') => Math.round(median(rounds.map((round) => round[way].perSecond))).toLocaleString('en-US');
  const ratio = median(rounds.map(({ naive, firehose }) => firehose.perSecond / naive.perSecond));
  const strangers = observer.seen.size - observer.expected.size + missing();
  const isInside = ratio >= LIMIT && missing() === 0 && strangers === 0 && observer.holes === 0;
  process.stdout.write(`\nSixteen Postgres writers (fsync ${observer.fsync}), 30 % of transactions held for up to 4 ms\n`);
  process.stdout.write(`  plain inserts ${speed('naive')} a second, the Firehose ${speed('firehose')} until all are numbered: ${Math.round(ratio * 100)} % (limit ${LIMIT * 100})\n`);
  process.stdout.write(`  ${missing()} lost of ${observer.expected.size.toLocaleString('en-US')}, ${strangers} unknown, ${observer.holes} holes; seen by another connection after p50 ${lagAt(0.5)} ms, p99 ${lagAt(0.99)} ms${isInside ? '' : '  MISSED'}\n`);
  return isInside;
}
