import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStreams, requestOf, withPublisher } from './clients.ts';
import type { FirehoseBench } from './run.ts';
import { draft } from './signals.ts';
import { memoryOf, sampleOf, startBare, startCivic, type Subject } from './subjects.ts';

const IDLE_LIMIT_KB = 16;
const STALLED_LIMIT_KB = 1024;
/** Several, because what one costs is less than what a process gains and loses by itself. */
const STALLED = 10;
const SIGNALS = 20_000;
const SIGNAL_BYTES = 2000;
const AT_ONCE = 100;

/** What a stream costs that nothing happens on, and what one costs whose client has stopped reading. */
export async function benchMemory({ subscribers }: FirehoseBench): Promise<boolean> {
  const idle = await benchIdle(subscribers.at(-1)!);
  return await benchStalled() && idle;
}

async function benchIdle(subscribers: number): Promise<boolean> {
  const civic = await startCivic();
  const bare = await startBare((await sampleOf(civic)).frame);
  try {
    process.stdout.write(`\nMemory of ${subscribers.toLocaleString('en-US')} idle streams\n`);
    const [theirs, ours] = [await idleCost(bare, subscribers), await idleCost(civic, subscribers)];
    for (const [{ name }, { tidied, untidied }] of [[bare, theirs], [civic, ours]] as const) {
      process.stdout.write(`  ${name.padEnd(12)} ${tidied.toFixed(1).padStart(5)} kB a stream (${untidied.toFixed(1)} before garbage is collected)\n`);
    }
    const isInside = ours.tidied <= IDLE_LIMIT_KB;
    process.stdout.write(`  ${(ours.tidied / theirs.tidied).toFixed(2)}x the memory of the bare server (limit ${IDLE_LIMIT_KB} kB)${isInside ? '' : '  MISSED'}\n`);
    return isInside;
  } finally {
    await Promise.all([bare.stop(), civic.stop()]);
  }
}

async function idleCost(subject: Subject, subscribers: number): Promise<{ tidied: number; untidied: number }> {
  // What is loaded with the first streams is not theirs.
  (await openStreams(subject, 200)).close();
  const before = await settled(subject);
  const streams = await openStreams(subject, subscribers);
  const untidied = memoryOf(subject);
  const after = await settled(subject);
  streams.close();
  return { tidied: (after - before) / subscribers, untidied: (untidied - before) / subscribers };
}

/** Memory goes back to the system a while after garbage was collected. */
async function settled(subject: Subject): Promise<number> {
  for (let i = 0; i < 5; i++) {
    await subject.tidy();
    await sleep(300);
  }
  return memoryOf(subject);
}

async function benchStalled(): Promise<boolean> {
  const civic = await startCivic();
  try {
    // The log keeps its newest lines in memory anyway: the same flood without them goes first.
    await flood(civic);
    const before = await settled(civic);
    const clients = await Promise.all(Array.from({ length: STALLED }, () => stall(civic)));
    await flood(civic);
    const most = memoryOf(civic);
    const after = await settled(civic);
    const each = (after - before) / STALLED;
    const found = await Promise.all(clients.map((client) => client.rest()));
    const isWhole = found.every(({ isInOrder, signals }) => isInOrder && signals === SIGNALS);
    const cuts = found.reduce((sum, client) => sum + client.cuts, 0);
    const isInside = each <= STALLED_LIMIT_KB && isWhole;
    process.stdout.write(`\n${STALLED} clients stop reading while ${SIGNALS.toLocaleString('en-US')} signals of 2 kB go by\n`);
    process.stdout.write(`  ${Math.round(each)} kB each (limit ${STALLED_LIMIT_KB}; ${Math.round((most - before) / STALLED)} before garbage is collected)\n`);
    process.stdout.write(`  afterwards they get ${found.map(({ signals, isInOrder }) => `${signals}${isInOrder ? '' : ' out of order'}`).join(', ')}, ${cuts} of them after coming back with the last id${isInside ? '' : '  MISSED'}\n`);
    return isInside;
  } finally {
    await civic.stop();
  }
}

async function flood(civic: Subject): Promise<void> {
  const body = JSON.stringify({ signals: Array.from({ length: AT_ONCE }, () => draft(SIGNAL_BYTES - 700)) });
  await withPublisher(civic, 1, async (publish) => {
    for (let sent = 0; sent < SIGNALS; sent += AT_ONCE) await publish(body);
  });
}

interface Found {
  signals: number;
  isInOrder: boolean;
  cuts: number;
}

/** A stream that is opened and not read until `rest`, which reads all; when the server cut it, it comes back as a browser would. */
async function stall(civic: Subject): Promise<{ rest(): Promise<Found> }> {
  const found: Found = { signals: 0, isInOrder: true, cuts: 0 };
  let last = '';
  let socket = await opened();

  async function opened() {
    const made = connect(civic.port, '127.0.0.1');
    made.write(requestOf(civic, 0, last ? { 'Last-Event-ID': last } : {}));
    let text = '';
    await new Promise<void>((resolve, reject) => {
      made.once('error', reject);
      made.once('data', (chunk) => {
        made.pause();
        text = chunk.toString();
        resolve();
      });
    });
    return { made, text };
  }

  function take(frame: string): void {
    if (!frame.includes('event: firehose.signal')) return;
    const id = /^id: (\S+)$/m.exec(frame)![1]!;
    const [, before = 0] = last.split('-').map(Number);
    const [, now = 0] = id.split('-').map(Number);
    if (before !== 0 && now !== before + 1) found.isInOrder = false;
    last = id;
    found.signals++;
  }

  async function readOn(): Promise<void> {
    const { made } = socket;
    let { text } = socket;
    await new Promise<void>((resolve) => {
      made.on('data', (chunk) => {
        text += chunk.toString('latin1');
        const frames = text.split('\n\n');
        text = frames.pop()!;
        for (const frame of frames) take(frame);
        if (found.signals >= SIGNALS) made.destroy();
      });
      made.on('close', () => resolve());
      made.resume();
    });
  }

  return {
    async rest() {
      for (;;) {
        await readOn();
        if (found.signals >= SIGNALS) return found;
        found.cuts++;
        socket = await opened();
      }
    },
  };
}
