import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { bulkInsert, newId } from '../../core/index.ts';
import type { Caller } from '../../core/plugin.ts';
import { rebuildCounts } from '../../plugins/flags/counts-store.ts';
import { rebuildQueue } from '../../plugins/flags/review/queue.ts';
import { SUSPICIONS } from '../../plugins/flags/suspicion.ts';
import { ENTITY_FLAG_TYPES, SOURCE_FLAG_TYPES, STATUSES } from '../../plugins/flags/types.ts';
import { newReceipt } from '../../plugins/flags/receipt.ts';
import { consoleKit } from '../../test/console/kit.ts';
import { randomFrom } from '../directory/generate.ts';

/** A server with flags, and with a reviewer who is signed in. */
const [, , database, wanted] = process.argv;
const ACTORS = 300;
/** Of ten targets one has many flags. */
const TARGETS = 60_000;
const AT_ONCE = 10_000;
const DAY_MS = 86_400_000;
const PLACES = ['kansas-city,missouri', 'gladstone,missouri', 'st-louis,missouri', 'columbia,missouri', 'springfield,missouri'];
const EDITOR: Partial<Caller> = { role: 'reviewer', scope: ['entities:write'], workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member' };

const kit = await consoleKit({ database: database as 'sqlite' | 'postgres', plugins: ['directory', 'flags'], listen: true });
const random = randomFrom(8);
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;

async function createActor(number: number): Promise<{ actor: string; source: string }> {
  const claim = (property: string, value: string) => ({ property, value, source_local_id: 's' });
  const { body } = await kit.request('POST', '/api/entities', {
    as: EDITOR,
    payload: {
      type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: `https://example.org/${number}`, title: `Page ${number}` }],
      claims: [claim('name', `Neighbours ${number}`), claim('phone', `816-555-${String(number).padStart(4, '0')}`), claim('website', `https://example.org/home/${number}`), claim('place', pick(PLACES))],
    },
  });
  return { actor: body.id as string, source: body.sources[0].id as string };
}

/** Targets without a row in the directory are those that were deleted; the queue names them by their id. */
async function targets(): Promise<{ type: 'entity' | 'source'; id: string }[]> {
  const known: { type: 'entity' | 'source'; id: string }[] = [];
  for (let number = 0; number < ACTORS; number++) {
    const { actor, source } = await createActor(number);
    known.push({ type: 'entity', id: actor }, { type: 'source', id: source });
  }
  return [...known, ...Array.from({ length: TARGETS - known.length }, (_, index) => ({ type: index % 5 === 0 ? 'source' as const : 'entity' as const, id: randomUUID() }))];
}

function flagRow(key: number, all: { type: 'entity' | 'source'; id: string }[]) {
  const target = random() < 0.1 ? all[Math.floor(random() * 600)]! : pick(all);
  const status = random() < 0.7 ? 'open' : pick(STATUSES);
  const created_at = new Date(Date.now() - Math.floor(random() * 200 * DAY_MS)).toISOString();
  return {
    key, id: newId(Date.parse(created_at)), receipt: newReceipt(), target_type: target.type, target_id: target.id, claim_id: null, flag_type: pick<string>(target.type === 'entity' ? ENTITY_FLAG_TYPES : SOURCE_FLAG_TYPES),
    reason: `The office moved, and the number no longer works. Report ${key}.`, reason_hash: `h${key}`, account_id: null, open_key: null, status, suspicion: random() < 0.05 ? pick(SUSPICIONS) : null, note: null, decided_by: null,
    decided_at: status === 'open' ? null : created_at, signal_id: null, proposed_value: null, proposed_source: null, created_at, updated_at: created_at,
  };
}

/** Does what autovacuum does within a minute. A transaction cannot run it. */
async function vacuum(): Promise<void> {
  const url = new URL(process.env.CIVIC_TEST_PG_URL!);
  url.pathname = (await kit.db.read.first(kit.db.read.raw('current_database() as name'))).name;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query('vacuum analyze');
  await client.end();
}

const all = await targets();
for (let from = 0; from < Number(wanted); from += AT_ONCE) {
  const rows = Array.from({ length: Math.min(AT_ONCE, Number(wanted) - from) }, (_, index) => flagRow(from + index + 1, all));
  const places = rows.flatMap(({ key }) => [...new Set([random() < 0.5 ? PLACES[0]! : pick(PLACES), pick(PLACES)])].map((place_key) => ({ place_key, flag_key: key })));
  await kit.db.write(async (tx) => {
    await bulkInsert(tx, 'flags_flags', rows);
    await bulkInsert(tx, 'flags_places', places);
  }, { long: true });
}
for (const rebuild of [rebuildQueue, rebuildCounts]) await rebuild({ from: null, write: (work) => kit.db.write(work, { long: true }), progress: async () => undefined });
if (database === 'postgres') await vacuum();
const reviewer = await kit.signedIn('reviewer');
// Sessions are for pages; the API takes keys.
const { key } = await kit.run('key create', { account: reviewer.id, scopes: ['flags:review'] });
const crowded = await kit.db.read('flags_flags').where({ status: 'open', target_id: all[0]!.id }).whereNull('suspicion').first('id');
process.send!({ port: Number(new URL(kit.url).port), cookie: reviewer.cookie(), key, report: crowded.id, targets: Number((await kit.db.read('flags_queue').where({ place_key: '' }).count({ count: '*' }).first())!.count) });
process.on('message', () => { const { user, system } = process.cpuUsage(); process.send!({ cpu: user + system }); });
process.on('disconnect', () => { void kit.close(); });
