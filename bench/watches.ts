import { bulkInsert } from '../core/database/dialect.ts';
import { newId } from '../core/ids.ts';
import type { FollowedEntry, Signal, SignalDraft } from '../plugins/firehose/types.ts';
import type { Person } from '../plugins/workspaces/test/kit.ts';
import { watchKit, type WatchKit } from '../plugins/workspaces/test/watch-kit.ts';
import { indexedTarget, targetHash } from '../plugins/workspaces/watches/keys.ts';
import { storeMatch } from '../plugins/workspaces/watches/matching.ts';
import type { WatchTarget } from '../plugins/workspaces/watches/types.ts';
import { onEachDatabase } from './databases.ts';
import { median } from './harness.ts';

const WATCHES = 10_000;
const PEOPLE = 100;
const PLACES = 1000;
const ISSUES = 50;
const SIGNALS = 200;
const AT = '2026-03-01T12:00:00.000Z';
const ROLLED_BACK = new Error('Measured, and rolled back');
const LIMITS = { match: 5, digest: 50 };

/** How long it takes to compare one signal with many watches and to store what matched, and to read a digest. */
export function benchWatches(): Promise<boolean> {
  return onEachDatabase(measure);
}

async function measure(database: 'sqlite' | 'postgres'): Promise<boolean> {
  const kit = await watchKit(database, { config: { max_records: WATCHES } });
  try {
    const reader = await fill(kit);
    await kit.publish(...Array.from({ length: SIGNALS }, (_, index) => signalOf(index)));
    const matches: number[] = [];
    let rows = 0;
    for (let number = 0; number < SIGNALS; number++) {
      const entry = entryOf(number);
      await kit.db.write(async (tx) => {
        const from = performance.now();
        rows += await storeMatch(tx, entry, { isCivic: true, at: AT, alertAt: AT });
        matches.push(performance.now() - from);
        throw ROLLED_BACK;
      }).catch((error: unknown) => { if (error !== ROLLED_BACK) throw error; });
    }
    const digests: number[] = [];
    for (let round = 0; round < 30; round++) {
      const from = performance.now();
      const { status, body } = await kit.as(reader.key, 'GET', `/api/workspaces/${reader.workspace_id}/digest?limit=100`);
      digests.push(performance.now() - from);
      if (status !== 200 || body.data.length === 0) throw new Error(`The digest responds with ${status} and ${body.data?.length} signals`);
    }
    process.stdout.write(`\n${WATCHES} watches on ${database}, ${(rows / SIGNALS).toFixed(1)} deliveries a signal\n`);
    return [isWithin('one signal', matches, LIMITS.match), isWithin('digest', digests, LIMITS.digest)].every(Boolean);
  } finally {
    await kit.close();
  }
}

/** Prints the median of all rounds, and that of the quietest fifth, in which other work of the machine has least part: it is compared with the limit. */
function isWithin(name: string, rounds: number[], limit: number): boolean {
  const quiet = median(rounds.toSorted((a, b) => a - b).slice(0, Math.ceil(rounds.length / 5)));
  process.stdout.write(`  ${name.padEnd(12)}${quiet.toFixed(2)} ms in quiet rounds (limit ${limit}), ${median(rounds).toFixed(2)} ms in the median\n`);
  return quiet < limit;
}

const place = (number: number) => `town-${number % PLACES},missouri`;
const issue = (number: number) => `issue_${number % ISSUES}`;

/** Stores watches of many members: on places, entries, issues, and queries of places and issues. Returns a member. */
async function fill(kit: WatchKit): Promise<Person> {
  const people: Person[] = [];
  for (let index = 0; index < PEOPLE; index++) people.push(await kit.person());
  const keys = new Map<string, number>();
  for (const person of people) {
    const made = await kit.as(person.key, 'POST', `/api/workspaces/${person.workspace_id}/watches`, { target: { type: 'place', id: 'liberty,missouri' } });
    if (made.status !== 201) throw new Error(made.text);
    keys.set(person.id, Number((await kit.db.read('workspaces_subscribers').where({ account_id: person.id }).first('key')).key));
  }
  const at = new Date().toISOString();
  const watches = Array.from({ length: WATCHES }, (_, index) => ({ person: people[index % PEOPLE]!, target: targetOf(index) }));
  await kit.db.write(async (tx) => {
    await bulkInsert(tx, 'workspaces_watches', watches.map(({ person, target }, index) => ({
      id: newId(), workspace_id: person.workspace_id, subscriber_key: keys.get(person.id), target_type: target.type, target_id: target.type === 'query' ? null : target.id,
      query: target.type === 'query' ? JSON.stringify(target.query) : null, compared: null, target_hash: `${targetHash(target)}${index}`, delivery: index % 4 === 0 ? 'immediate' : 'digest', created_at: at, updated_at: at, created_by: person.id,
    })));
    const rows: { key: number; target_hash: string }[] = await tx('workspaces_watches').select('key', 'target_hash').whereNotNull('target_hash').orderBy('key');
    const stored = rows.slice(PEOPLE);
    await bulkInsert(tx, 'workspaces_watch_keys', stored.flatMap(({ key }, index) => indexedTarget(targetOf(index)).keys.map((one) => ({ ...one, watch_key: key }))));
  });
  // Autovacuum does this in production.
  await kit.db.write((tx) => tx.raw('analyze'));
  return people[0]!;
}

function targetOf(index: number): WatchTarget {
  if (index % 4 === 0) return { type: 'place', id: place(index / 4) };
  if (index % 4 === 1) return { type: 'entity', id: `00000000-0000-7000-8000-${String(index % 2000).padStart(12, '0')}` };
  return { type: 'query', query: { places: index % 4 === 2 ? [place(index), place(index + 1)] : [], issues: [issue(index)], signal_types: [['vote', 'filing', 'public_meeting'][index % 3]!], actor_types: [], source_classes: [] } };
}

function signalOf(number: number): Pick<SignalDraft, 'type' | 'title' | 'places' | 'issues' | 'actors'> {
  return {
    type: 'vote', title: `Signal ${number}`, places: [place(number * 7), place(number * 7 + 3)], issues: [issue(number), issue(number + 11)],
    actors: [{ id: `00000000-0000-7000-8000-${String((number * 4 + 1) % 2000).padStart(12, '0')}`, name: 'An actor', type: 'organization' }],
  };
}

function entryOf(number: number): FollowedEntry {
  const id = newId();
  return { seq: 1_000_000 + number, signal_id: id, isUpdate: false, signal: { id, source_class: 'news', origin: null, ...signalOf(number) } as Signal, workspace_id: null };
}
