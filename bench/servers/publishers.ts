import { definePlugin, newId, type Civic, type Tx } from 'civic';
import { setTimeout as sleep } from 'node:timers/promises';
import { compose } from '../../core/compose.ts';
import { createLogger } from '../../core/log.ts';
import { prepare } from '../../core/prepare.ts';
import { queryFieldsOf } from '../../plugins/firehose/log/fields.ts';
import { termsOf } from '../../plugins/firehose/log/store.ts';
import { SIGNAL_TYPES, type FirehoseService, type Signal } from '../../plugins/firehose/types.ts';
import { draft } from '../firehose/signals.ts';

/** Sixteen writers of one node, told when and in which way to write; says what was committed when. */
const [, , folder, url] = process.argv;
const WRITERS = 16;
/** Of the transactions, this share waits up to so long before it commits. */
const HELD = 0.3;
const HELD_MS = 4;

let civic!: Civic;
let firehose!: FirehoseService;
const bench = definePlugin({
  name: 'bench',
  summary: 'Publishes',
  needs: ['firehose'],
  register(_server, given) {
    civic = given as Civic;
    firehose = civic.service('firehose');
    firehose.produces(SIGNAL_TYPES);
  },
});
const settings = { data_dir: folder, database: { url, pool: WRITERS + 4 }, http: { port: 0 }, log: { level: 'warn', access: 'warn', format: 'json' }, plugins: { firehose: {}, bench: {} } };
const { config, plugins } = await prepare({ env: {}, args: {}, text: JSON.stringify(settings), given: [bench as never] });
const composition = await compose({ config, plugins, log: await createLogger(config.log) });
await composition.open({ writes: true, schema: 'migrate' });
await composition.start();

const { evidence: [source], ...said } = draft();
const evidence = { source_id: null, publisher: null, title: null, published_at: null, captured_at: null, passage: null, locator: null, content_hash: null, ...source! };
const usual = { actors: [], relevance: 0.9, review_state: 'not_required', visibility: 'public', evidence: [evidence], changes: [], supersedes: null, origin: null };

await civic.db.write(async (tx) => {
  await tx.raw(`create table bench_log (seq bigserial primary key, at timestamptz(3), signal_id uuid unique, facts text, signal text,
    type text, source_class text, audience text, detected bigint, occurred bigint, relevance double precision)`);
  for (const column of ['detected', 'occurred', 'relevance']) await tx.raw(`create index on bench_log (${column}, seq)`);
  await tx.raw('create table bench_terms (term text, detected bigint, seq bigint, primary key (term, detected, seq))');
  await tx.raw('create index on bench_terms (seq)');
});

/** What somebody writes who believes that numbers become visible in their order. */
async function insertNaively(tx: Tx): Promise<string> {
  const at = civic.clock.iso();
  const signal = { ...said, ...usual, id: newId(), detected_at: at } as Signal;
  const fields = queryFieldsOf(signal, null);
  const { type, source_class, audience, detected, occurred, relevance } = fields;
  const row = { at, signal_id: signal.id, facts: JSON.stringify(fields), signal: JSON.stringify(signal), type, source_class, audience, detected, occurred, relevance };
  const [{ seq }] = await tx('bench_log').insert(row).returning('seq');
  await tx('bench_terms').insert(termsOf(fields).map((term) => ({ term, detected, seq })));
  return signal.id;
}

async function publish(tx: Tx): Promise<string> {
  return (await firehose.publish(tx, [draft()]))[0]!;
}

async function write(seconds: number, insert: (tx: Tx) => Promise<string>): Promise<[id: string, at: number][]> {
  const commits: [string, number][] = [];
  const end = performance.now() + seconds * 1000;
  await Promise.all(Array.from({ length: WRITERS }, async () => {
    while (performance.now() < end) {
      const id = await civic.db.write(async (tx) => {
        const made = await insert(tx);
        if (Math.random() < HELD) await sleep(Math.random() * HELD_MS);
        return made;
      });
      commits.push([id, performance.timeOrigin + performance.now()]);
    }
  }));
  return commits;
}

async function numbered(seq: number): Promise<void> {
  while ((await civic.db.read('firehose_head').first('last_seq')).last_seq < seq) await sleep(1);
}

let published = 0;
process.on('disconnect', () => process.exit());
process.on('message', async ({ way, seconds }: { way: 'naive' | 'firehose'; seconds: number }) => {
  const started = performance.now();
  const commits = await write(seconds, way === 'naive' ? insertNaively : publish);
  if (way === 'firehose') await numbered(published += commits.length);
  process.send!({ commits, perSecond: (commits.length * 1000) / (performance.now() - started) });
});
process.send!({});
