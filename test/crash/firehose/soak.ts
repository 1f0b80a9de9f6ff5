import { clusterMissing, createCluster, type Cluster } from '../../support/cluster.ts';
import { parkedWaits, sessionsOverRestart, stopWithStreams, type Figures } from './bars.ts';
import { BUGS, findBug, QUICK } from './bugs.ts';
import { copyKit, type Replacement } from './copy.ts';
import { consultOracle, type OracleOptions, type OracleReport } from './oracle.ts';
import { withStand, type Stand } from './stand.ts';

export interface SoakOptions {
  databases: readonly ('sqlite' | 'postgres')[];
  seed: number;
  signals: number;
  cuts: number;
  say: (words: string) => void;
}

/** With an empty database each time. */
async function onDatabase<T>(database: 'sqlite' | 'postgres', fn: (url: () => Promise<string | null>) => Promise<T>): Promise<T> {
  if (database === 'sqlite') return fn(async () => null);
  const missing = clusterMissing();
  if (missing) throw new Error(missing);
  const cluster: Cluster = await createCluster();
  let number = 0;
  try {
    return await fn(async () => {
      await cluster.query(`create database firehose_${++number}`);
      return cluster.url.replace(/\/postgres$/, `/firehose_${number}`);
    });
  } finally {
    await cluster.remove();
  }
}

async function consult(replacements: Replacement[], options: OracleOptions): Promise<OracleReport> {
  if (replacements.length === 0) return consultOracle(options);
  const kit = copyKit(replacements);
  try {
    return await consultOracle({ ...options, root: kit.root });
  } finally {
    kit.remove();
  }
}

function figures(words: string, { faults, ...counts }: OracleReport): string {
  return `${words}: ${Object.entries(counts).map(([name, count]) => `${name} ${Math.round(count)}`).join(', ')}, faults ${faults.length}`;
}

/** The oracle over many signals and cuts, of the kit as it is and of one with little memory. Answers what was wrong. */
export async function soakOracle({ databases, seed, signals, cuts, say }: SoakOptions): Promise<string[]> {
  const faults: string[] = [];
  for (const database of databases) {
    await onDatabase(database, async (url) => {
      for (const [words, replacements, share] of [['as it is', [], 1], ['with little memory', QUICK, 0.2]] as const) {
        const report = await consult([...replacements], {
          url: await url(), seed, signals: signals * share, cuts: cuts * share, followers: 24, writers: 8, kills: Math.ceil(20 * share), restMs: 10, lifeMs: 1500,
          onProgress: (progress) => say(`${database}, ${words}: ${progress}`),
        });
        say(figures(`${database}, ${words}`, report));
        faults.push(...report.faults.map((fault) => `${database}, ${words}, seed ${seed}: ${fault}`));
      }
    });
  }
  return faults;
}

/** Every planted bug must be found. */
export async function soakBugs({ databases, seed, say }: SoakOptions): Promise<string[]> {
  const faults: string[] = [];
  for (const database of databases) {
    await onDatabase(database, async (url) => {
      for (const bug of BUGS.filter((one) => (one.database ?? database) === database)) {
        const found = await findBug(bug, seed, url);
        say(`${database}, planted: ${bug.name}: ${found === null ? 'NOT FOUND' : `found, ${found}`}`);
        if (found === null) faults.push(`${database}, seed ${seed}: the oracle did not find ${bug.name}`);
      }
    });
  }
  return faults;
}

function expectFigures(words: string, found: Figures, wanted: Figures, mostSeconds: number, say: SoakOptions['say']): string[] {
  say(`${words}: ${JSON.stringify(found)}`);
  const wrong = Object.entries(wanted).filter(([name, count]) => found[name] !== count).map(([name, count]) => `${words}: ${name} is ${found[name]}, not ${count}`);
  return found.seconds! <= mostSeconds ? wrong : [...wrong, `${words}: it took ${found.seconds} s, not ${mostSeconds}`];
}

/** The promises about many at once. */
export async function soakCrowds({ databases, say }: SoakOptions): Promise<string[]> {
  const faults: string[] = [];
  for (const database of databases) {
    await onDatabase(database, async (url) => {
      const figuresOf = async (act: (stand: Stand, count: number) => Promise<Figures>, count: number): Promise<Figures> => withStand({ url: await url(), where: () => 'process' }, (stand) => act(stand, count));
      faults.push(
        ...expectFigures(`${database}, SIGTERM with 1,000 streams`, await figuresOf(stopWithStreams, 1000), { unclean: 0 }, 10, say),
        ...expectFigures(`${database}, sessions over a restart`, await figuresOf(sessionsOverRestart, 10_000), { refused: 0, incomplete: 0, reached: 10_000 }, 30, say),
        ...expectFigures(`${database}, parked waits`, await figuresOf(parkedWaits, 10_000), { early: 0, answered_200: 10_000, with_new: 10_000, applied: 10_000 }, 30, say),
      );
    });
  }
  return faults;
}
