import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { OpenDatabase } from '../connect.ts';
import { bulkInsert, databaseNow, jsonText, keysetAfter, reserveKeys, type KeysetColumn } from '../dialect.ts';
import { databasesOfDrivers, openWith, type TestDatabase } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const TABLES = `
  await schema.createTable('notes_all', { key: 'id', id: 'uuid', name: 'text', n: 'int', big: 'bigint', ratio: 'real?', ok: 'bool', at: 'time?', data: 'json?' }, { unique: [['id']], index: [['n', 'name', 'key']] });
  await schema.createTable('notes_bytes', { key: 'id', bytes: 'blob?', name: 'text' }, { unique: [['name']] });`;

const id = (number: number) => `0190a1b2-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
const canonical = ({ number, list }: { number: number; list: string[] }) => ({ number, list });
const without = (whole: object, name: string) => Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name));
const row = (number: number) => ({
  id: id(number), name: `it's "${number}" \\ ü 😀`, n: number % 7, big: 2 ** 52 + number, ratio: number / 3, ok: number % 2 === 0,
  at: number % 5 ? new Date(1.7e12 + number).toISOString() : null, data: number % 4 ? JSON.stringify({ number, list: ['x'] }) : null,
});

for (const { dialect, name, create } of databasesOfDrivers()) {
  describe(`dialect on ${name}`, () => {
    let database: TestDatabase;
    let db: OpenDatabase;
    before(async () => {
      database = await create();
      db = await openWith(database, TABLES);
    });
    after(() => database.drop());
    beforeEach(() => db.write(async (tx) => {
      await tx('notes_all').delete();
      await tx('notes_bytes').delete();
    }));

    it('inserts 5,000 rows as they are, in their order', async () => {
      const rows = Array.from({ length: 5000 }, (_, index) => row(index));
      await db.write((tx) => bulkInsert(tx, 'notes_all', rows));
      const stored = await db.read('notes_all').orderBy('key');
      const plain = (found: { data: string | null; ok: unknown }) => JSON.stringify({ ...found, ok: Number(found.ok), data: found.data && canonical(JSON.parse(found.data)) });
      expect(stored.map(({ key: _key, ...found }) => plain(found)).join('\n')).to.equal(rows.map(plain).join('\n'));
    });

    it('adds to counters that are there, and starts those that are not', async () => {
      const counted = (numbers: number[]) => db.write((tx) => bulkInsert(tx, 'notes_all', numbers.map((number) => ({ ...row(number), n: 2, name: `at ${numbers.length}` })), { onConflict: { columns: ['id'], merge: ['name'], add: ['n'] } }));
      await counted([1]);
      await counted([1, 2]);
      expect(await db.read('notes_all').orderBy('id').select('n', 'name')).to.equal([{ n: 4, name: 'at 2' }, { n: 2, name: 'at 2' }]);
    });

    it('reserves keys that no other caller gets', async () => {
      const keys = await Promise.all([3, 2].map((count) => db.write(async (tx) => {
        const taken = await reserveKeys(tx, 'notes_bytes', count);
        await bulkInsert(tx, 'notes_bytes', taken.map((key) => ({ key, name: `k${key}` })));
        return taken;
      })));
      await db.write((tx) => tx('notes_bytes').insert({ name: 'after' }));
      expect(await db.write((tx) => reserveKeys(tx, 'notes_bytes', 0))).to.equal([]);
      expect(new Set(keys.flat()).size).to.equal(5);
      expect(await db.read('notes_bytes').pluck('key')).to.have.length(6);
    });

    it('inserts bytes', async () => {
      const rows = Array.from({ length: 100 }, (_, index) => ({ name: `b${index}`, bytes: index ? Buffer.from([index, 0, 255]) : null }));
      await db.write((tx) => bulkInsert(tx, 'notes_bytes', rows));
      expect(await db.read('notes_bytes').orderBy('key').select('name', 'bytes')).to.equal(rows);
    });

    it('fails as a whole on a repeated row, leaves it, or merges it', async () => {
      await db.write((tx) => bulkInsert(tx, 'notes_all', [row(1)]));
      await expect(db.write((tx) => bulkInsert(tx, 'notes_all', [row(2), row(1)]))).to.reject();
      expect(await db.read('notes_all').pluck('id')).to.equal([id(1)]);
      const renamed = [{ ...row(1), name: 'first', n: 9 }, { ...row(1), name: 'last', n: 9 }, row(3)];
      await db.write((tx) => bulkInsert(tx, 'notes_all', renamed, { onConflict: 'ignore' }));
      expect(await db.read('notes_all').orderBy('id').pluck('name')).to.equal([row(1).name, row(3).name]);
      await db.write((tx) => bulkInsert(tx, 'notes_all', renamed, { onConflict: { columns: ['id'], merge: ['name'] } }));
      expect(await db.read('notes_all').where('id', id(1)).first('name', 'n')).to.equal({ name: 'last', n: 1 });
    });

    it('refuses rows with other columns than the first', async () => {
      await expect(db.write((tx) => bulkInsert(tx, 'notes_bytes', [{ name: 'a' }, { name: 'b', bytes: Buffer.from('b') }]))).to.reject('Not all rows for notes_bytes have the columns of the first');
      await expect(db.write((tx) => bulkInsert(tx, 'notes_all', [row(1), { ...without(row(2), 'ratio'), rato: 1 }]))).to.reject('Not all rows for notes_all have the columns of the first');
    });

    it('refuses unknown columns and numbers that are none', async () => {
      await expect(db.write((tx) => bulkInsert(tx, 'notes_all', [{ nme: 1 }]))).to.reject('The table notes_all has no column nme');
      await expect(db.write((tx) => bulkInsert(tx, 'notes_nothing', [{ a: 1 }]))).to.reject('The table notes_nothing was not made by a migration');
      await expect(db.write((tx) => bulkInsert(tx, 'notes_all', [{ ...row(1), ratio: NaN }]))).to.reject('NaN cannot be stored');
    });

    it('looks into JSON and answers text', async () => {
      const data = JSON.stringify({ a: { 'b c': 'text' }, n: 5, yes: true, no: false, none: null });
      await db.write((tx) => bulkInsert(tx, 'notes_all', [{ ...row(1), data }]));
      const look = async (path: string[]) => (await db.read('notes_all').select({ found: jsonText(db.read, 'data', path) }))[0].found;
      expect(await Promise.all([['a', 'b c'], ['n'], ['yes'], ['no'], ['none'], ['missing', 'x']].map(look))).to.equal(['text', '5', 'true', 'false', null, null]);
      expect(await db.read('notes_all').whereRaw('? = ?', [jsonText(db.read, 'data', ['a', 'b c']), 'text']).pluck('id')).to.equal([id(1)]);
    });

    for (const directions of ['asc asc asc', 'desc desc desc', 'desc asc desc', 'asc desc asc']) {
      it(`pages through every row once, ordered ${directions}`, async () => {
        await db.write((tx) => bulkInsert(tx, 'notes_all', Array.from({ length: 60 }, (_, index) => ({ ...row(index), name: `n${index % 4}` }))));
        const order = directions.split(' ').map((direction, index) => ({ column: ['n', 'name', 'key'][index]!, direction }) as KeysetColumn);
        const all = await db.read('notes_all').orderBy(order.map(({ column, direction }) => ({ column, order: direction }))).pluck('id');
        const paged: string[] = [];
        for (let after: (string | number)[] | null = null; ;) {
          const query = db.read('notes_all').limit(7);
          keysetAfter(query, order, after);
          const page = await query;
          if (page.length === 0) break;
          paged.push(...page.map((found) => found.id));
          after = order.map(({ column }) => page.at(-1)[column]);
        }
        expect(paged).to.equal(all);
      });
    }

    if (dialect !== 'postgres') it('starts a page with one search of the index', async () => {
      const query = db.read('notes_all');
      keysetAfter(query, [{ column: 'n', direction: 'asc' }, { column: 'name', direction: 'asc' }, { column: 'key', direction: 'asc' }], [3, 'a', 1]);
      const { sql, bindings } = query.toSQL();
      const plan = await db.read.raw(`explain query plan ${sql}`, bindings as string[]);
      expect(plan.map((step: { detail: string }) => step.detail).join()).to.match(/^SEARCH notes_all USING INDEX notes_all_n_name_key_idx/);
    });

    it('reports the time of the database', async () => {
      const now = await databaseNow(db.read);
      expect(now).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Math.abs(Date.parse(now) - Date.now())).to.be.below(60_000);
    });
  });
}
