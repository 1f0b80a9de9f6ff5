import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { bulkInsert, newId, type Caller } from '../../core/index.ts';
import { testDatabases } from '../../core/testing.ts';
import { rebuildCounts } from '../../plugins/flags/counts-store.ts';
import { hashOfReason } from '../../plugins/flags/suspicion.ts';
import { rebuildQueue } from '../../plugins/flags/review/queue.ts';
import { newReceipt } from '../../plugins/flags/receipt.ts';
import { consoleKit, type ConsoleKit, type Reader } from '../console/kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const CROWD = 60_000;
const ROUNDS = 9;
/** With a count of all flags of the target in each transaction, the ratio is 2.5 and more. */
const MOST_TIMES = 1.8;
const SAME = 'Every report has this text.';
const editor: Partial<Caller> = { role: 'reviewer', scope: ['entities:write'], workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member' };
const decider: Partial<Caller> = { account_id: '01890000-0000-7000-8000-00000000dead', role: 'reviewer', scope: ['flags:review'] };
const STORED = { flags_sums: ['target_type', 'target_id', 'status', 'suspicion', 'flag_type'], flags_queue: ['target_type', 'target_id', 'state', 'place_key'], flags_queue_totals: ['place_key', 'state', 'target_type', 'severity'] };

for (const database of testDatabases()) {
  describe(`An actor with ${CROWD} flags on ${database}`, () => {
    let kit: ConsoleKit;
    let reviewer: Reader;
    let crowded: string;
    let others: string[];
    before(async () => {
      kit = await consoleKit({ database, plugins: ['directory', 'flags'], config: { plugins: { flags: { max_repeats: 2 } } } });
      reviewer = await kit.signedIn('reviewer');
      crowded = await actor('Crowded');
      others = await Promise.all(Array.from({ length: ROUNDS + 3 }, (_, index) => actor(`Other ${index}`)));
      await kit.db.write((tx) => bulkInsert(tx, 'flags_flags', Array.from({ length: CROWD }, (_, index) => flagRow(index))), { long: true });
      await rebuild();
      // As autovacuum does within a minute.
      if (database === 'postgres') await kit.db.write((tx) => tx.raw('analyze flags_flags'));
    });
    after(() => kit.close());

    async function actor(name: string): Promise<string> {
      const claim = (property: string, value: string) => ({ property, value, source_local_id: 's' });
      const { body } = await kit.request('POST', '/api/entities', { as: editor, payload: { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: `https://example.org/${encodeURIComponent(name)}` }], claims: [claim('name', name), claim('place', 'gladstone,missouri')] } });
      return body.id;
    }
    function flagRow(index: number) {
      const at = new Date(Date.now() - CROWD + index).toISOString();
      return {
        id: newId(Date.parse(at)), receipt: newReceipt(), target_type: 'entity', target_id: crowded, claim_id: null, flag_type: 'stale', reason: SAME, reason_hash: hashOfReason(SAME), account_id: null, open_key: null, status: 'open',
        suspicion: null, note: null, decided_by: null, decided_at: null, signal_id: null, proposed_value: null, proposed_source: null, created_at: at, updated_at: at,
      };
    }
    async function rebuild(): Promise<void> {
      for (const one of [rebuildQueue, rebuildCounts]) await one({ from: null, write: (work) => kit.db.write(work, { long: true }), progress: async () => undefined });
    }
    let sent = 0;
    async function flag(entity_id: string, fields: object = {}): Promise<string> {
      const { status, body, text } = await kit.request('POST', '/api/entity-flags', { payload: { entity_id, reason: `Moved ${sent++}`, flag_type: 'stale', ...fields } });
      expect(status, text).to.equal(201);
      return body.id;
    }
    const decide = async (id: string, status: string) => expect((await kit.request('PATCH', `/api/flags/${id}`, { payload: { status }, as: decider })).status).to.equal(200);
    async function undo(): Promise<void> {
      const { batch } = await kit.db.read('flags_steps').orderBy('key', 'desc').first('batch');
      const undone = await reviewer.post('/console/reports/undo', { batch });
      expect(undone.headers.location, undone.text).to.equal('/console/reports?done=undone&count=1');
    }
    const counts = async (id: string) => (await kit.request('GET', `/api/entities/${id}`)).body.flags;

    /** Returns how many times as long the steps take on the actor as on one without flags; the medians, because other work disturbs some rounds. */
    async function ratios(): Promise<Record<string, number>> {
      const times: Record<string, { crowded: number[]; other: number[] }> = {};
      const timed = async <Result>(step: string, on: 'crowded' | 'other', work: () => Promise<Result>): Promise<Result> => {
        const started = performance.now();
        const result = await work();
        (times[step] ??= { crowded: [], other: [] })[on].push(performance.now() - started);
        return result;
      };
      for (let round = 0; round < ROUNDS; round++) {
        for (const on of ['other', 'crowded'] as const) {
          const target = on === 'crowded' ? crowded : others[round]!;
          const id = await timed('create', on, () => flag(target));
          await timed('decide', on, () => decide(id, 'dismissed'));
          await timed('undo', on, undo);
        }
      }
      const middle = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
      return Object.fromEntries(Object.entries(times).map(([step, { crowded: some, other }]) => [step, middle(some) / middle(other)]));
    }

    it('takes one more, a decision and its undo about as fast as an actor without flags', async () => {
      expect(Object.entries(await ratios()).filter(([, ratio]) => !(ratio < MOST_TIMES))).to.equal([]);
      expect(await counts(crowded)).to.include({ open: CROWD + ROUNDS, total: CROWD + ROUNDS });
    });

    it('takes the text of all of them as fast as another text, and that text is suspected spam on a third actor', async () => {
      const times = [];
      for (let round = 0; round < ROUNDS; round++) {
        const started = performance.now();
        await flag(crowded, { reason: SAME });
        const between = performance.now();
        await flag(crowded);
        times.push((between - started) / (performance.now() - between));
      }
      expect(times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!).to.be.below(MOST_TIMES);
      const suspicions = [];
      for (const other of others.slice(ROUNDS)) suspicions.push((await kit.db.read('flags_flags').where({ id: await flag(other, { reason: SAME }) }).first('suspicion')).suspicion);
      expect(suspicions).to.equal([null, 'repeated', 'repeated']);
    });

    it('has pages of a report and of a decision on many that sort no flags of the target', async () => {
      const queries: { sql: string; bindings: unknown[] }[] = [];
      const listen = (query: { sql: string; bindings: unknown[] }) => { if (/from .flags_flags. where .*target_id.* order by/.test(query.sql)) queries.push(query); };
      const { id } = await kit.db.read('flags_flags').where({ target_id: crowded }).first('id');
      kit.db.read.on('query', listen);
      try {
        expect((await reviewer.get(`/console/reports/${id}`)).status).to.equal(200);
        for (const [state, type] of [['open', ''], ['open', 'stale'], ['suspected', '']]) expect((await reviewer.post('/console/reports/confirm', { decision: 'dismissed', state: state!, type: type!, 'target[]': `entity:${crowded}` })).status).to.equal(200);
      } finally {
        kit.db.read.removeListener('query', listen);
      }
      expect(queries).to.have.length(5);
      for (const { sql, bindings } of queries) {
        const plan = JSON.stringify(await kit.db.write((tx) => tx.raw(`explain ${database === 'sqlite' ? 'query plan ' : ''}${sql.replaceAll(/\$\d+/g, '?')}`, bindings as never)));
        expect(plan, sql).to.match(/index/i).and.not.match(/sort|temp b-tree|bitmap|seq scan/i);
      }
    });

    it('has the stored rows that a rebuild gives, after flags of all states came and went', async () => {
      const [oldest] = await kit.db.read('flags_flags').where({ target_id: crowded }).orderBy('key').limit(1);
      await decide(oldest.id, 'accepted');
      await decide(oldest.id, 'resolved');
      const urgent = await flag(crowded, { flag_type: 'privacy' });
      await flag(crowded, { flag_type: 'privacy', reason: '[url]x[/url]' });
      await decide(urgent, 'dismissed');
      await undo();
      await decide(await flag(others[0]!, { reason: '<a href="x">' }), 'dismissed');
      await decide(await flag(others[1]!, { reason: '<a href="x">y' }), 'accepted');
      const stored = async () => Object.fromEntries(await Promise.all(Object.entries(STORED).map(async ([table, order]) => [table, await (table === 'flags_queue_totals' ? kit.db.read(table).whereNot({ targets: 0 }) : kit.db.read(table)).orderBy(order)])));
      const kept = await stored();
      const shown = await counts(crowded);
      await rebuild();
      expect(await stored()).to.equal(kept);
      const [{ open, total }] = await kit.db.read('flags_flags').where({ target_id: crowded }).whereNull('suspicion').select(kit.db.read.raw("count(*) as total, sum(case when status = 'open' then 1 else 0 end) as open"));
      expect(shown).to.include({ open: Number(open), total: Number(total) });
    });
  });
}
