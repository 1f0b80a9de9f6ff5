import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId, type Caller } from '../../core/index.ts';
import { testDatabases } from '../../core/testing.ts';
import { rebuildCounts } from '../../plugins/flags/counts-store.ts';
import { newReceipt } from '../../plugins/flags/receipt.ts';
import { rebuildQueue } from '../../plugins/flags/review/queue.ts';
import { BASE, consoleKit, until, type ConsoleKit, type Reader } from '../console/kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PLACE = 'gladstone,missouri';
const JOB = 'flags.repair_counts';
const PLUGINS = ['directory', 'flags'];
const editor: Partial<Caller> = { role: 'reviewer', scope: ['entities:write'], workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member' };
const decider: Partial<Caller> = { account_id: '01890000-0000-7000-8000-00000000dead', role: 'reviewer', scope: ['flags:review'] };
const STORED = {
  flags_sums: ['target_type', 'target_id', 'status', 'suspicion', 'flag_type'], flags_queue: ['target_type', 'target_id', 'state', 'place_key'],
  flags_queue_totals: ['place_key', 'state', 'target_type', 'severity'], flags_counts: ['place_key', 'status', 'flag_type', 'target_type'],
};
const COUNTED: Record<string, string> = { flags_queue_totals: 'targets', flags_counts: 'flags' };

async function createActor(kit: ConsoleKit, name: string): Promise<string> {
  const claim = (property: string, value: string) => ({ property, value, source_local_id: 's' });
  const { body } = await kit.request('POST', '/api/entities', { as: editor, payload: { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: `https://example.org/${encodeURIComponent(name)}` }], claims: [claim('name', name), claim('place', PLACE)] } });
  return body.id;
}

/** Inserts a flag as a node of an older version does, which knows no stored counts. */
async function insertUncounted(kit: ConsoleKit, target_id: string, more: object = {}): Promise<string> {
  const id = newId(Date.now());
  const at = new Date().toISOString();
  await kit.db.write(async (tx) => {
    const [{ key }] = await tx('flags_flags').insert({ id, receipt: newReceipt(), target_type: 'entity', target_id, flag_type: 'closed', reason: 'Closed since May', reason_hash: id, status: 'open', created_at: at, updated_at: at, ...more }).returning('key');
    await tx('flags_places').insert({ place_key: PLACE, flag_key: key });
  });
  return id;
}

let sent = 0;
async function report(kit: ConsoleKit, entity_id: string, flag_type = 'stale'): Promise<string> {
  const { status, body, text } = await kit.request('POST', '/api/entity-flags', { payload: { entity_id, reason: `Moved ${sent++}`, flag_type } });
  expect(status, text).to.equal(201);
  return body.id;
}

async function decide(kit: ConsoleKit, id: string, status: string): Promise<void> {
  expect((await kit.request('PATCH', `/api/flags/${id}`, { payload: { status }, as: decider })).status).to.equal(200);
}

const list = async (kit: ConsoleKit, query: string) => (await kit.request('GET', `/api/flags?${query}`, { as: decider })).body as { data: { id: string }[]; total: number };

async function stored(kit: ConsoleKit): Promise<object> {
  return Object.fromEntries(await Promise.all(Object.entries(STORED).map(async ([table, order]) => {
    const rows = kit.db.read(table).orderBy(order);
    return [table, await (COUNTED[table] ? rows.whereNot(COUNTED[table], 0) : rows)];
  })));
}

async function rebuild(kit: ConsoleKit): Promise<void> {
  for (const one of [rebuildQueue, rebuildCounts]) await one({ from: null, write: (work) => kit.db.write(work, { long: true }), progress: async () => undefined });
}

/** Runs the job as its schedule does, and waits for its end. */
async function repair(kit: ConsoleKit): Promise<void> {
  const jobs = kit.composition.jobs.of('flags');
  const id = await kit.db.write((tx) => jobs.enqueue(tx, JOB, {}));
  await until(async () => ['completed', 'failed'].includes((await jobs.byId(id))!.state));
  expect((await jobs.byId(id))!.error).to.be.null();
}

/** Compares the stored counts with those that a rebuild gives. */
async function expectExact(kit: ConsoleKit): Promise<void> {
  const kept = await stored(kit);
  await rebuild(kit);
  expect(kept).to.equal(await stored(kit));
}

for (const database of testDatabases()) {
  describe(`Stored counts of flags that another version left wrong on ${database}`, () => {
    let kit: ConsoleKit;
    let reviewer: Reader;
    before(async () => {
      kit = await consoleKit({ database, plugins: PLUGINS });
      reviewer = await kit.signedIn('reviewer');
      await repair(kit);
    });
    after(() => kit.close());

    it('do not hide flags from the list of the API', async () => {
      const id = await insertUncounted(kit, await createActor(kit, 'Listed'), { flag_type: 'wrong_place' });
      for (const query of ['flag_type=wrong_place', `flag_type=wrong_place&place=${PLACE}`]) expect((await list(kit, query)).data.map((flag) => flag.id)).to.equal([id]);
    });

    it('are never shown as negative numbers', async () => {
      const actor = await createActor(kit, 'Negative');
      const ids = [await insertUncounted(kit, actor), await insertUncounted(kit, actor), await insertUncounted(kit, actor)];
      await decide(kit, ids[0]!, 'dismissed');
      expect((await kit.request('GET', `/api/entities/${actor}`)).body.flags, 'a sum below one is counted again at once').to.include({ open: 2, total: 3 });
      expect((await list(kit, 'status=open&flag_type=closed')).total).to.equal(0);
      const { text } = await reviewer.get('/console/reports');
      expect(text).to.contain('Negative').and.not.match(/>\s*-\d/);
    });

    it('are repaired by the job, in the queue, the list of the API and the directory', async () => {
      const actor = await createActor(kit, 'Repaired');
      const counted = await report(kit, actor);
      const ids = [await insertUncounted(kit, actor), await insertUncounted(kit, actor, { suspicion: 'links' })];
      await kit.db.write((tx) => tx('flags_flags').where({ id: counted }).update({ status: 'dismissed' }));
      expect((await reviewer.get('/console/reports?state=suspected')).text).to.not.contain('Repaired');
      await repair(kit);
      expect((await reviewer.get('/console/reports?state=suspected')).text).to.contain('Repaired');
      expect((await reviewer.get('/console/reports')).text).to.contain('Repaired');
      expect((await kit.request('GET', `/api/entities/${actor}`)).body.flags).to.include({ open: 1, total: 2 });
      const { data, total } = await list(kit, 'status=open&flag_type=closed');
      expect(data.map(({ id }) => id)).to.include(ids);
      expect(total).to.equal(data.length);
      await expectExact(kit);
    });

    it('are repaired where only the queue or its totals are wrong', async () => {
      const actor = await createActor(kit, 'Queued');
      await report(kit, actor);
      const kept = await stored(kit);
      await kit.db.write(async (tx) => {
        await tx('flags_queue').where({ target_id: actor }).del();
        await tx('flags_queue_totals').where({ place_key: PLACE }).update({ targets: -3, reports: 7 });
        await tx('flags_counts').where({ place_key: PLACE }).del();
      });
      await repair(kit);
      expect(await stored(kit)).to.equal(kept);
    });

    it('are left alone where they are right', async () => {
      const kept = await stored(kit);
      await repair(kit);
      expect(await stored(kit)).to.equal(kept);
    });
  });
}

if (testDatabases().includes('postgres')) {
  describe('Stored counts of flags on two nodes', { timeout: 120_000 }, () => {
    let nodes: ConsoleKit[];
    let reviewers: Reader[];
    let actors: string[];
    before(async () => {
      const here = await consoleKit({ database: 'postgres', plugins: PLUGINS });
      const there = await consoleKit({ plugins: PLUGINS, config: { public_url: BASE, database: { url: here.composition.config.database.url! } } });
      nodes = [here, there];
      reviewers = await Promise.all(nodes.map((node) => node.signedIn('reviewer')));
      actors = await Promise.all(Array.from({ length: 6 }, (_, index) => createActor(here, `Busy ${index}`)));
    });
    after(async () => {
      for (const node of nodes.toReversed()) await node.close();
    });

    /** Reports, decides and undoes on both nodes until the work is done. Returns how many reports were made. */
    async function writeDuring(work: () => Promise<void>): Promise<number> {
      let isDone = false;
      let made = 0;
      const writer = async (node: ConsoleKit, reviewer: Reader, from: number) => {
        for (let round = from; !isDone; round++) {
          const id = await report(node, actors[round % actors.length]!, ['stale', 'closed', 'other'][round % 3]);
          made++;
          if (round % 4 !== 0) await decide(node, id, round % 4 === 1 ? 'accepted' : 'dismissed');
          if (round % 4 !== 3) continue;
          const { flag_key } = await node.db.read('flags_flags').join('flags_steps', 'flags_steps.flag_key', 'flags_flags.key').where('flags_flags.id', id).first('flags_steps.flag_key');
          const { batch } = await node.db.read('flags_steps').where({ flag_key }).first('batch');
          expect((await reviewer.post('/console/reports/undo', { batch })).status).to.equal(303);
        }
      };
      const writers = nodes.flatMap((node, index) => [writer(node, reviewers[index]!, index), writer(node, reviewers[index]!, index + 3)]);
      try {
        await work();
      } finally {
        isDone = true;
        await Promise.all(writers);
      }
      return made;
    }

    it('are exact after rebuilds while both nodes write', async () => {
      const made = await writeDuring(async () => {
        for (let round = 0; round < 12; round++) await rebuild(nodes[round % 2]!);
      });
      expect(made).to.be.above(12);
      await expectExact(nodes[0]!);
    });

    it('are exact after repairs while both nodes write', async () => {
      const made = await writeDuring(async () => {
        for (let round = 0; round < 12; round++) {
          await insertUncounted(nodes[1]!, actors[round % actors.length]!);
          await repair(nodes[round % 2]!);
        }
      });
      expect(made).to.be.above(12);
      await expectExact(nodes[0]!);
    });
  });
}
