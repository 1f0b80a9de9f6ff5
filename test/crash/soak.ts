import { parseArgs } from 'node:util';
import type { testDatabases } from '../../core/testing/database.ts';
import { clusterMissing, createCluster } from '../support/cluster.ts';
import { killRepeatedly, type KillReport } from './kill.ts';

const HELP = `npm run soak -- kill [--rounds 100] [--writers 50] [--database sqlite|postgres]

Kills server processes with kill -9 while writers write, on each database, and compares what was acknowledged
with what is there. On Postgres two nodes share the work, and the database itself is crashed now and then too.
Takes about three seconds a round; exits 1 when anything was lost, doubled, reordered or damaged.`;

type Dialect = ReturnType<typeof testDatabases>[number];

async function kill(database: Dialect, rounds: number, writers: number): Promise<KillReport> {
  const onProgress = (words: string): void => { console.log(`${new Date().toISOString()} ${database}: ${words}`); };
  if (database === 'sqlite') return killRepeatedly({ url: null, rounds, writers, checkEach: 10, onProgress });
  const missing = clusterMissing();
  if (missing) throw new Error(missing);
  const cluster = await createCluster();
  try {
    return await killRepeatedly({ url: cluster.url, rounds, writers, checkEach: 10, cluster, onProgress });
  } finally {
    await cluster.remove();
  }
}

function table(reports: Record<string, KillReport>): string {
  const rows = Object.entries(reports).map(([database, { answers, seconds, faults, ...counts }]) => ({
    database, ...counts, ...Object.fromEntries(Object.entries(answers).map(([status, count]) => [`answered ${status}`, count])), seconds: Math.round(seconds), faults: faults.length,
  }));
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.map((name) => [name.padEnd(14), ...rows.map((row) => String((row as Record<string, unknown>)[name] ?? 0).padStart(12))].join(' ')).join('\n');
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '100' }, writers: { type: 'string', default: '50' }, database: { type: 'string' }, help: { type: 'boolean' } },
});
if (values.help || (positionals[0] ?? 'kill') !== 'kill' || (values.database && !['sqlite', 'postgres'].includes(values.database))) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}
const reports: Record<string, KillReport> = {};
for (const database of values.database ? [values.database as Dialect] : ['sqlite', 'postgres'] as const) {
  reports[database] = await kill(database, Number(values.rounds), Number(values.writers));
}
console.log(`\n${table(reports)}`);
const faults = Object.entries(reports).flatMap(([database, report]) => report.faults.map((fault) => `${database}: ${fault}`));
console.log(faults.length ? `\n${faults.join('\n')}` : '\nNothing was lost, doubled, reordered or damaged.');
process.exitCode = faults.length ? 1 : 0;
