import { median } from '../harness.ts';
import { withPublisher, type Streams } from './clients.ts';
import { cpuOf, type Subject } from './subjects.ts';

export interface Load {
  signals: number;
  publishers: number;
  /** The next one is published when everybody has the last: nothing can be sent together. */
  isEachAwaited?: boolean;
}

export interface Sample {
  /** Server CPU microseconds a delivery: the steadiest figure on a busy machine. */
  cpu: number;
  perSecond: number;
}

export interface Audience {
  subject: Subject;
  streams: Streams;
  subscribers: number;
}

export async function deliver({ subject, streams, subscribers }: Audience, { signals, publishers, isEachAwaited }: Load): Promise<Sample> {
  const before = streams.received();
  const cpu = cpuOf(subject);
  const started = performance.now();
  let next = 0;
  await withPublisher(subject, publishers, async (publish) => {
    await Promise.all(Array.from({ length: publishers }, async () => {
      while (next < signals) {
        const number = ++next;
        await publish();
        if (isEachAwaited) await streams.until(before + number * subscribers);
      }
    }));
    await streams.until(before + signals * subscribers);
  });
  const deliveries = signals * subscribers;
  return { cpu: (cpuOf(subject) - cpu) / deliveries, perSecond: (deliveries * 1000) / (performance.now() - started) };
}

/** Loads each in turn, round by round, so that noise of the machine hits all alike. The first round only warms up. */
export async function deliverInTurn(audiences: Audience[], load: Load, rounds: number): Promise<Sample[][]> {
  const samples = audiences.map((): Sample[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, audience] of audiences.entries()) {
      const sample = await deliver(audience, load);
      if (round > 0) samples[index]!.push(sample);
    }
  }
  return samples;
}

/** Median over rounds of one against the other in the same round. */
export function ratioOf(part: keyof Sample, ours: Sample[], others: Sample[]): number {
  return median(ours.map((sample, round) => sample[part] / others[round]![part]));
}

export function lineOf(name: string, samples: Sample[], note = ''): string {
  const cpu = median(samples.map((sample) => sample.cpu));
  const best = Math.min(...samples.map((sample) => sample.cpu));
  const perSecond = median(samples.map((sample) => sample.perSecond));
  return `  ${name.padEnd(12)} ${cpu.toFixed(2).padStart(6)} µs (best round ${best.toFixed(2)})  ${Math.round(perSecond).toLocaleString('en-US').padStart(9)} deliveries/s${note && `  ${note}`}\n`;
}
