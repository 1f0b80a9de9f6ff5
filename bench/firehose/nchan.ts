import { openStreams, requestOf, textUntil, withPublisher } from './clients.ts';
import { deliverInTurn, lineOf, ratioOf, type Audience, type Sample } from './delivery.ts';
import type { FirehoseBench } from './run.ts';
import { MARK } from './signals.ts';
import { cpuOf, NCHAN_IS, sampleOf, startCivic, startNchan, type Subject } from './subjects.ts';

const ROUNDS = 5;
const DELIVERIES = 200_000;
const MOST_SIGNALS = 200;
const LOADS = [{ publishers: 1, limit: 1.3 }, { publishers: 16, limit: 3 }];
const REPLAYED = 2000;
const CLIENTS = 100;
const REPLAY_LIMIT = 5;
const REPLAY_ROUNDS = 5;

/** Deliveries a second and replay against the fastest of those that do this, in the same run. */
export async function benchNchan({ subscribers }: FirehoseBench): Promise<boolean> {
  const civic = await startCivic();
  const nchan = await startNchan((await sampleOf(civic)).data);
  try {
    if (!nchan) return true;
    let isInside = true;
    for (const count of subscribers) isInside = await compareDelivery(nchan, civic, count) && isInside;
    return await compareReplay(nchan, civic) && isInside;
  } finally {
    await Promise.all([nchan?.stop(), civic.stop()]);
  }
}

async function compareDelivery(nchan: Subject, civic: Subject, subscribers: number): Promise<boolean> {
  const audiences: Audience[] = [];
  let isInside = true;
  try {
    for (const subject of [nchan, civic]) audiences.push({ subject, subscribers, streams: await openStreams(subject, subscribers) });
    for (const { publishers, limit } of LOADS) {
      const signals = Math.min(MOST_SIGNALS, Math.ceil(DELIVERIES / subscribers));
      const [theirs = [], ours = []] = await deliverInTurn(audiences, { signals, publishers }, ROUNDS);
      const rate = ratioOf('perSecond', ours, theirs);
      process.stdout.write(`\n${subscribers.toLocaleString('en-US')} streams, ${publishers === 1 ? 'one publisher' : `${publishers} publishers`}: deliveries a second\n`);
      process.stdout.write(lineOf('nchan', theirs, NCHAN_IS) + lineOf('civic', ours, 'durable, filtered, by key'));
      process.stdout.write(`  ${rate.toFixed(2)}x the deliveries a second of nchan, which is memory-only and unfiltered (limit ${limit}); ${ratioOf('cpu', ours, theirs).toFixed(2)}x its CPU a delivery${rate < limit ? '  MISSED' : ''}\n`);
      isInside &&= rate >= limit;
    }
    return isInside;
  } finally {
    for (const { streams } of audiences) streams.close();
  }
}

/** What clients that were away get when they all come back: `REPLAYED` signals each, from the id they saw last. */
async function compareReplay(nchan: Subject, civic: Subject): Promise<boolean> {
  const subjects = [nchan, civic];
  const ids = await Promise.all(subjects.map(lastIdThenSignals));
  const samples = subjects.map((): Sample[] => []);
  for (let round = 0; round <= REPLAY_ROUNDS; round++) {
    for (const [index, subject] of subjects.entries()) {
      const sample = await replay(subject, ids[index]!);
      if (round > 0) samples[index]!.push(sample);
    }
  }
  const [theirs = [], ours = []] = samples;
  const rate = ratioOf('perSecond', ours, theirs);
  process.stdout.write(`\nReplay of ${REPLAYED.toLocaleString('en-US')} stored signals to ${CLIENTS} clients that connect at once with Last-Event-ID\n`);
  process.stdout.write(lineOf('nchan', theirs, NCHAN_IS) + lineOf('civic', ours, 'durable, filtered, by key'));
  process.stdout.write(`  ${rate.toFixed(2)}x as fast as nchan, which is memory-only and unfiltered (limit ${REPLAY_LIMIT})${rate < REPLAY_LIMIT ? '  MISSED' : ''}\n`);
  return rate >= REPLAY_LIMIT;
}

async function lastIdThenSignals(subject: Subject): Promise<string> {
  return withPublisher(subject, 16, async (publish) => {
    const [, id] = await textUntil(subject, requestOf(subject, 0, {}), new RegExp(`id: (\\S+)\n(?:event: \\S+\n)?data: [^\n]*${MARK}`), () => { void publish(); });
    await Promise.all(Array.from({ length: REPLAYED }, () => publish()));
    return id!;
  });
}

async function replay(subject: Subject, id: string): Promise<Sample> {
  const cpu = cpuOf(subject);
  const started = performance.now();
  const streams = await openStreams(subject, CLIENTS, { 'Last-Event-ID': id });
  await streams.until(REPLAYED * CLIENTS);
  const seconds = (performance.now() - started) / 1000;
  streams.close();
  return { cpu: (cpuOf(subject) - cpu) / (REPLAYED * CLIENTS), perSecond: (REPLAYED * CLIENTS) / seconds };
}
