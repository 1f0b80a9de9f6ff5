import { openStreams } from './clients.ts';
import { deliverInTurn, lineOf, ratioOf, type Audience, type Load } from './delivery.ts';
import type { FirehoseBench } from './run.ts';
import { sampleOf, startBare, startCivic } from './subjects.ts';

const LIMIT = 1.3;
const ROUNDS = 5;
/** So many in a round, whatever the number of streams, unless they are few. */
const DELIVERIES = 200_000;
const MOST_SIGNALS = 200;

/** Server CPU a delivery against a Node that writes the same bytes to the same number of sockets and does nothing else. */
export async function benchFanout({ subscribers }: FirehoseBench): Promise<boolean> {
  let isInside = true;
  for (const count of subscribers) isInside = await measure(count) && isInside;
  return isInside;
}

async function measure(subscribers: number): Promise<boolean> {
  const civic = await startCivic();
  const { frame } = await sampleOf(civic);
  const bare = await startBare(frame);
  const audiences: Audience[] = [];
  try {
    for (const subject of [bare, civic]) audiences.push({ subject, subscribers, streams: await openStreams(subject, subscribers) });
    const signals = Math.min(MOST_SIGNALS, Math.ceil(DELIVERIES / subscribers));
    const alone = await compare('each signal awaited by all', audiences, { signals, publishers: 1, isEachAwaited: true });
    const apace = await compare('one publisher, one signal after the other', audiences, { signals, publishers: 1 });
    return alone && apace;
  } finally {
    for (const { streams } of audiences) streams.close();
    await Promise.all([bare.stop(), civic.stop()]);
  }
}

async function compare(name: string, audiences: Audience[], load: Load): Promise<boolean> {
  const { subscribers } = audiences[0]!;
  const before = audiences.map(({ streams }) => ({ bytes: streams.bytes(), received: streams.received() }));
  const samples = await deliverInTurn(audiences, load, ROUNDS);
  const sizes = audiences.map(({ streams }, index) => `${Math.round((streams.bytes() - before[index]!.bytes) / (streams.received() - before[index]!.received))} bytes`);
  const ratio = ratioOf('cpu', samples[1]!, samples[0]!);
  process.stdout.write(`\nFan-out to ${subscribers.toLocaleString('en-US')} streams, ${name}: server CPU a delivery, publishing over HTTP included\n`);
  for (const [index, { subject }] of audiences.entries()) process.stdout.write(lineOf(subject.name, samples[index]!, sizes[index]));
  process.stdout.write(`  ${ratio.toFixed(2)}x the CPU of the bare server (limit ${LIMIT})${ratio > LIMIT ? '  MISSED' : ''}\n`);
  return ratio <= LIMIT;
}
