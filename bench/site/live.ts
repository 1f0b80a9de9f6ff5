import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { openStreams, withPublisher } from '../firehose/clients.ts';
import { cpuOf, memoryOf, startCivic, type Subject } from '../firehose/subjects.ts';
import { median } from '../harness.ts';

const LIMIT = 1.5;
const PAGES = 2000;
/** As many as one address may open. */
const PER_ADDRESS = 100;
const OPENED_AT_ONCE = 50;
const ROUNDS = 5;
const SIGNALS = 20;
/** Live pages hear of signals every 300 ms; each signal is a message of its own. */
const PAUSE_MS = 400;
const GIVE_UP_MS = 10_000;
/** As long as two heartbeats of a page and four of a stream. */
const IDLE_MS = 60_000;

interface Followers {
  received(): number;
  close(): void;
}

interface Side {
  name: string;
  civic: Subject;
  followers: Followers;
  /** Kilobytes a connection. */
  memory: number;
}

/** Pages that follow `/live`, against as many streams of `/api/firehose`, at the same time in two servers: CPU of deliveries and of waiting, and memory. */
export async function benchLive(): Promise<boolean> {
  const sides: Side[] = [];
  try {
    sides.push(await openSide('SSE streams', (civic, count) => openStreams(civic, count)), await openSide('live pages', openPages));
    const idle = await cpuOfBoth(sides, () => sleep(IDLE_MS));
    const busy: number[][] = [];
    for (let round = 0; round < ROUNDS; round++) busy.push(await cpuOfBoth(sides, publishSome));
    return report(sides, idle, busy);
  } finally {
    for (const { followers, civic } of sides) {
      followers.close();
      await civic.stop();
    }
  }
}

async function openSide(name: string, open: (civic: Subject, count: number) => Promise<Followers>): Promise<Side> {
  const civic = await startCivic();
  // What is loaded with the first ones is not theirs.
  (await open(civic, PER_ADDRESS)).close();
  await withPublisher(civic, 1, async (publish) => { for (let sent = 0; sent < SIGNALS; sent++) await publish(); });
  const before = await settledMemory(civic);
  const followers = await open(civic, PAGES);
  return { name, civic, followers, memory: (await settledMemory(civic) - before) / PAGES };
}

/** Microseconds of CPU of each server. */
async function cpuOfBoth(sides: Side[], work: (side: Side) => Promise<unknown>): Promise<number[]> {
  const before = sides.map(({ civic }) => cpuOf(civic));
  await Promise.all(sides.map(work));
  return sides.map(({ civic }, index) => cpuOf(civic) - before[index]!);
}

async function publishSome({ name, civic, followers }: Side): Promise<void> {
  const before = followers.received();
  await withPublisher(civic, 1, async (publish) => {
    for (let sent = 0; sent < SIGNALS; sent++) {
      await publish();
      await sleep(PAUSE_MS);
    }
  });
  const delivered = () => followers.received() - before;
  for (const end = Date.now() + GIVE_UP_MS; delivered() < SIGNALS * PAGES && Date.now() < end;) await sleep(10);
  if (delivered() !== SIGNALS * PAGES) throw new Error(`${delivered()} of ${SIGNALS * PAGES} signals reached the ${name}`);
}

function report(sides: Side[], idle: number[], busy: number[][]): boolean {
  process.stdout.write(`\n${PAGES.toLocaleString('en-US')} open connections of each kind; a signal every ${PAUSE_MS} ms\n`);
  for (const [index, { name, memory }] of sides.entries()) {
    const delivery = median(busy.map((round) => round[index]!)) / (SIGNALS * PAGES);
    process.stdout.write(`  ${name.padEnd(12)} ${delivery.toFixed(2)} µs of CPU a delivery, ${(idle[index]! / IDLE_MS).toFixed(1)} ms a second when idle, ${memory.toFixed(1)} kB each\n`);
  }
  const ratios = { deliveries: median(busy.map(([streams, pages]) => pages! / streams!)), idle: idle[1]! / idle[0]!, memory: sides[1]!.memory / sides[0]!.memory };
  const isInside = Object.values(ratios).every((ratio) => ratio <= LIMIT);
  process.stdout.write(`  live pages against streams: ${Object.entries(ratios).map(([part, ratio]) => `${part} ${ratio.toFixed(2)}x`).join(', ')} (limit ${LIMIT})${isInside ? '' : '  MISSED'}\n`);
  return isInside;
}

async function settledMemory(civic: Subject): Promise<number> {
  for (let time = 0; time < 5; time++) {
    await civic.tidy();
    await sleep(300);
  }
  return memoryOf(civic);
}

/** Follows as `templates/assets/live.js` does. */
async function openPages({ port }: Subject, count: number): Promise<Followers> {
  const sockets: WebSocket[] = [];
  let received = 0;
  let next = 0;
  async function open(number: number): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, { origin: `http://127.0.0.1:${port}`, localAddress: `127.0.0.${2 + Math.floor(number / PER_ADDRESS)}`, perMessageDeflate: false });
    sockets.push(socket);
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () => socket.send('{"type":"hello","id":1,"version":"2","subs":["/signals"]}'));
      socket.on('message', (data: Buffer) => {
        const text = data.toString('latin1');
        if (text.startsWith('{"type":"pub"')) received += text.split('"isGone"').length - 1;
        else if (text.startsWith('{"type":"ping"')) socket.send('{"type":"ping","id":1}');
        else if (text.startsWith('{"type":"hello"')) resolve();
        else reject(new Error(text));
      });
    });
  }
  await Promise.all(Array.from({ length: OPENED_AT_ONCE }, async () => { while (next < count) await open(next++); }));
  return { received: () => received, close() { for (const socket of sockets) socket.terminate(); } };
}
