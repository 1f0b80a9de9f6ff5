import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArguments } from '../../test/support/arguments.ts';
import type { BenchOptions } from './databases.ts';
import { benchCold } from './cold.ts';
import { benchDepth } from './depth.ts';
import { benchImport, benchJoining } from './import.ts';
import { benchNodes } from './nodes.ts';
import { benchReads } from './reads.ts';

/** In this order: the import fills the databases that the others read. */
const PARTS: Record<string, (options: BenchOptions) => Promise<boolean>> = { import: benchImport, joining: benchJoining, reads: benchReads, cold: benchCold, depth: benchDepth, nodes: benchNodes };

/** Runs the parts that `args` name, or all. */
export async function benchDirectory(args: string[], usage: string): Promise<boolean> {
  const { values, positionals } = parseArguments(usage, {
    args,
    allowPositionals: true,
    options: { actors: { type: 'string', default: '50000' }, folder: { type: 'string' }, postgres: { type: 'string' }, only: { type: 'string' } },
  });
  const options: BenchOptions = {
    actors: Number(values.actors), folder: values.folder ?? join(tmpdir(), 'civic-bench-directory'), postgres: values.postgres ?? null, only: (values.only ?? null) as BenchOptions['only'],
  };
  let isInside = true;
  for (const [name, run] of Object.entries(PARTS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    isInside = await run(options) && isInside;
  }
  return isInside;
}
