import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';
import type { testDatabases } from '../../core/testing/database.ts';
import { parseArguments } from '../support/arguments.ts';
import { clusterMissing, createCluster, type Cluster } from '../support/cluster.ts';
import { killDiscovery } from './discovery.ts';
import { soakBugs, soakCrowds, soakOracle } from './firehose/soak.ts';
import { killRepeatedly, type KillReport } from './kill.ts';
import { soakNodes } from './nodes.ts';
import { soakSchemathesis } from './schemathesis.ts';
import { killWhileWatching } from './watches/kills.ts';

const HELP = `npm run soak -- [kill] [oracle] [bugs] [crowds] [watches] [discovery] [generated] [schemathesis] [nodes] [--database sqlite|postgres]

kill    kills server processes with kill -9 while writers write, and compares what was acknowledged with what is there.
        On Postgres two nodes share the work, and the database itself is crashed now and then too. About three seconds
        a round.  [--rounds 100] [--writers 50]
oracle  the Firehose: writers write, readers of all kinds are cut off again and again, servers die; everybody must have got
        what a brute-force filter over the log says.  [--signals 10000] [--cuts 1000] [--seed 1]
bugs    plants mistakes in copies of the kit, each of which the oracle must find.  [--seed 1]
schemathesis  tests what /openapi.json promises with generated requests, anonymous and as administrator; about five minutes. Needs
        python3 with venv and pip; test/crash/schemathesis-allowed.ts lists what the tool misreads, and why.  [--long] [--seed 1]
generated  the test files that generate their input, with more of it: configurations, addresses, HTTP requests, searches, drafts of actors.
        Also the replay of a whole calendar of Legistar over HTTP.
nodes   the tests on SQLite on Node 20, 22, 24 and 26, by each driver of SQLite that the version
        has. Installs the versions from the npm registry into civic-nodes-<user id> of the temporary folder.  [--newest]
watches  kills servers while they compare signals with watches and queue mails: each signal belongs in the digest and in one immediate mail,
        once. On Postgres with two nodes.  [--watch-kills 30] [--seed 1]
discovery  kills the server of discovery runs over a web on this machine, and compares the candidates with those of a run that nothing
        disturbed; no page may be stored twice.  [--run-kills 100]
crowds  1,000 streams when the server is asked to stop, 10,000 sessions over a restart, 10,000 parked requests.

All of them without a name. Exits 1 when anything was lost, doubled, reordered, damaged or missed.`;

type Dialect = ReturnType<typeof testDatabases>[number];

async function killOn(database: Dialect, rounds: number, writers: number): Promise<KillReport> {
  const onProgress = (words: string): void => say(`${database}: ${words}`);
  return onCluster(database, (cluster) => killRepeatedly({ url: cluster?.url ?? null, rounds, writers, checkEach: 10, ...(cluster && { cluster }), onProgress }));
}

/** With an empty Postgres of its own, or none for SQLite. */
async function onCluster<T>(database: Dialect, work: (cluster: Cluster | null) => Promise<T>): Promise<T> {
  if (database === 'sqlite') return work(null);
  const missing = clusterMissing();
  if (missing) throw new Error(missing);
  const cluster = await createCluster();
  try {
    return await work(cluster);
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

function say(words: string): void {
  console.log(`${new Date().toISOString()} ${words}`);
}

const { values, positionals } = parseArguments(HELP, {
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '100' }, writers: { type: 'string', default: '50' }, database: { type: 'string' },
    signals: { type: 'string', default: '10000' }, cuts: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' }, 'watch-kills': { type: 'string', default: '30' }, 'run-kills': { type: 'string', default: '100' },
    long: { type: 'boolean', default: false }, newest: { type: 'boolean', default: false }, help: { type: 'boolean' },
  },
});
const databases = values.database ? [values.database as Dialect] : ['sqlite', 'postgres'] as const;
const firehose = { databases, seed: Number(values.seed), signals: Number(values.signals), cuts: Number(values.cuts), say };

async function soakKill(): Promise<string[]> {
  const reports: Record<string, KillReport> = {};
  for (const database of databases) reports[database] = await killOn(database, Number(values.rounds), Number(values.writers));
  console.log(`\n${table(reports)}\n`);
  return Object.entries(reports).flatMap(([database, report]) => report.faults.map((fault) => `${database}: ${fault}`));
}

async function soakWatches(): Promise<string[]> {
  const found: string[] = [];
  for (const database of databases) {
    const { faults: wrong, ...counts } = await onCluster(database, (cluster) => killWhileWatching({ url: cluster?.url ?? null, kills: Number(values['watch-kills']), seed: Number(values.seed), onProgress: (words) => say(`${database}: ${words}`) }));
    say(`${database}: ${JSON.stringify(counts)}`);
    found.push(...wrong.map((fault) => `${database}, seed ${values.seed}: ${fault}`));
  }
  return found;
}

async function soakDiscovery(): Promise<string[]> {
  const found: string[] = [];
  for (const database of databases) {
    const { faults: wrong, ...counts } = await onCluster(database, (cluster) => killDiscovery({ url: cluster?.url ?? null, kills: Number(values['run-kills']), towns: 4, onProgress: (words) => say(`${database}: ${words}`) }));
    say(`${database}: ${JSON.stringify(counts)}`);
    found.push(...wrong.map((fault) => `${database}: ${fault}`));
  }
  return found;
}

/** The test files that read CIVIC_TEST_SOAK. */
const GENERATED = ['config/test/property', 'http/test/fetch-refusal', 'fuzz/http', 'directory/test/search', 'directory/test/plain', 'ingest/test/legistar-http', 'test/discovery/web'];

async function soakGenerated(): Promise<string[]> {
  const { status } = spawnSync(process.execPath, [join(projectRoot, 'dist/test/run.js'), ...GENERATED], { stdio: 'inherit', env: { ...process.env, CIVIC_TEST_SOAK: '1' } });
  return status === 0 ? [] : ['a test of generated input failed'];
}

const soaks: Record<string, () => Promise<string[]>> = {
  kill: soakKill,
  oracle: () => soakOracle(firehose),
  bugs: () => soakBugs(firehose),
  crowds: () => soakCrowds(firehose),
  watches: soakWatches,
  discovery: soakDiscovery,
  generated: soakGenerated,
  schemathesis: () => soakSchemathesis({ isLong: values.long, seed: Number(values.seed), say }),
  nodes: () => soakNodes({ isNewestOnly: values.newest, say }),
};

if (values.help || positionals.some((name) => !soaks[name]) || (values.database && !['sqlite', 'postgres'].includes(values.database))) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}
const faults: string[] = [];
for (const name of positionals.length > 0 ? positionals : Object.keys(soaks)) faults.push(...await soaks[name]!());
console.log(faults.length ? `\n${faults.join('\n')}` : '\nNothing was lost, doubled, reordered, damaged or missed.');
process.exitCode = faults.length ? 1 : 0;
