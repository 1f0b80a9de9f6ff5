import { parseArguments } from '../../test/support/arguments.ts';
import { benchFanout } from './fanout.ts';
import { benchMatching } from './matching.ts';
import { benchMemory } from './memory.ts';
import { benchNchan } from './nchan.ts';
import { benchWriters } from './writers.ts';

export interface FirehoseBench {
  /** Each is measured. */
  subscribers: number[];
  /** A Postgres where databases may be made; a cluster of its own when null. */
  postgres: string | null;
}

const PARTS: Record<string, (options: FirehoseBench) => Promise<boolean>> = { matching: benchMatching, fanout: benchFanout, nchan: benchNchan, memory: benchMemory, writers: benchWriters };

/** Runs the parts that `args` name, or all. */
export async function benchFirehose(args: string[], usage: string): Promise<boolean> {
  const { values, positionals } = parseArguments(usage, { args, allowPositionals: true, options: { subscribers: { type: 'string', multiple: true }, postgres: { type: 'string' } } });
  const options: FirehoseBench = { subscribers: values.subscribers?.map(Number) ?? [1000, 5000], postgres: values.postgres ?? null };
  let isInside = true;
  for (const [name, run] of Object.entries(PARTS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    isInside = await run(options) && isInside;
  }
  return isInside;
}
