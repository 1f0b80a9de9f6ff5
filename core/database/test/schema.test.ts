import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { OpenDatabase } from '../connect.ts';
import { migrate } from '../migrate.ts';
import { createSchema, indexName } from '../schema.ts';
import { recordedTables } from '../tables.ts';
import type { Columns, Schema, TableOptions } from '../types.ts';
import { databases, type TestDatabase } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

for (const { dialect, create } of databases()) {
  describe(`schema on ${dialect}`, () => {
    let database: TestDatabase;
    let db: OpenDatabase;
    before(async () => { database = await create(); });
    beforeEach(async () => {
      await database.reset();
      db = await database.open();
      await migrate(db, []);
    });
    after(() => database.drop());

    const change = (fn: (schema: Schema) => Promise<void>) => db.write((tx) => fn(createSchema(tx, 'notes')));
    const table = (columns: Columns, options?: TableOptions) => change((schema) => schema.createTable('notes_a', columns, options));
    const recorded = async () => (await recordedTables(db.read)).filter(({ plugin }) => plugin === 'notes');

    it('records tables and columns as they are made, changed and dropped', async () => {
      await table({ key: 'id', name: 'text' }, { unique: [['name']] });
      await change(async (schema) => {
        await schema.addColumns('notes_a', { at: 'time?', rank: 'int?' });
        await schema.addIndex('notes_a', ['at', 'rank']);
        await schema.addIndex('notes_a', ['at'], { unique: true });
        await schema.dropIndex('notes_a', ['at'], { unique: true });
        await schema.dropColumn('notes_a', 'rank');
        await schema.createTable('notes_b', { id: 'uuid', part: 'int' }, { primary: ['id', 'part'], derived: true });
        await schema.createSearchIndex('notes_search');
      });
      expect((await recorded()).map(({ name, derived }) => [name, derived])).to.equal([['notes_a', false], ['notes_b', true], ['notes_search', true]]);
      expect((await recorded())[0]!.definition).to.equal({ columns: [['key', 'id'], ['name', 'text'], ['at', 'time?']], primary: ['key'], unique: [['name']], index: [], references: {}, search: false });
      await change(async (schema) => {
        await schema.dropTable('notes_b');
        await schema.dropTable('notes_search');
      });
      expect((await recorded()).map(({ name }) => name)).to.equal(['notes_a']);
    });

    it('refuses what it cannot keep, by name', async () => {
      await expect(change((schema) => schema.createTable('other_a', { key: 'id' }))).to.reject('The table other_a does not belong to the plugin notes: its name must start with notes_');
      await expect(table({ name: 'text' })).to.reject('The table notes_a has no primary key: add a column of kind id, or name one in primary');
      await expect(table({ key: 'id', Name: 'text' })).to.reject('"Name" cannot name a column of notes_a: use lower-case letters, digits and _');
      await expect(table({ key: 'id', size: 'number' as 'int' })).to.reject('The column notes_a.size has the unknown kind "number": there are id, uuid, text, int, bigint, real, bool, time, json, blob, each also with ? behind it');
      await expect(table({ key: 'id' }, { index: [['name']] })).to.reject('The table notes_a has no column name');
      await expect(table({ key: 'id', other: 'bigint' }, { references: { other: 'directory_actors.key' } })).to.reject('The table directory_actors does not belong to the plugin notes: its name must start with notes_');
      await expect(table({ name: 'text?' }, { primary: ['name'] })).to.reject('The primary key notes_a.name cannot be null');
      await table({ key: 'id' });
      await expect(change((schema) => schema.addColumns('notes_a', { name: 'text' }))).to.reject('The column notes_a.name is added to rows that have no value for it: make it "text?"');
      expect((await recorded()).length).to.equal(1);
    });

    it('refuses values that are not of the kind', async () => {
      await table({ key: 'id', uuid: 'uuid?', at: 'time?', data: 'json?', flag: 'bool?', size: 'int?' });
      const insert = (row: object) => db.write((tx) => tx('notes_a').insert(row));
      for (const row of [{ uuid: 'short' }, { at: 'soon' }, { data: '{' }, { flag: 'maybe' }, { size: 'ten' }]) await expect(insert(row)).to.reject();
      await insert({ uuid: '0190a1b2-0000-7000-8000-00000000000a', at: '2026-12-31T23:59:59.999Z', data: 'null', flag: false, size: 3 });
      expect(await db.read('notes_a').count({ rows: '*' })).to.equal([{ rows: 1 }]);
    });

    it('deletes children with their parent', async () => {
      await table({ key: 'id' });
      await change((schema) => schema.createTable('notes_b', { key: 'id', a_key: 'bigint' }, { references: { a_key: 'notes_a.key' } }));
      await db.write(async (tx) => {
        await tx('notes_a').insert({ key: 5 });
        await tx('notes_b').insert({ a_key: 5 });
        await tx('notes_a').delete();
      });
      expect(await db.read('notes_b')).to.equal([]);
    });

    it('sorts text by code point, whatever the language of the database', async () => {
      await table({ key: 'id', name: 'text' });
      await db.write((tx) => tx('notes_a').insert(['b', 'A', 'é', 'a', 'B', '𝒜', 'z'].map((name) => ({ name }))));
      expect(await db.read('notes_a').orderBy('name').pluck('name')).to.equal(['A', 'B', 'a', 'b', 'z', 'é', '𝒜']);
    });

    it('runs raw statements for its own database only', async () => {
      await change((schema) => schema.raw({ [dialect]: 'create table notes_raw (a integer)' }));
      await change((schema) => schema.raw({ [dialect === 'sqlite' ? 'postgres' : 'sqlite']: 'not a statement' }));
      expect(await db.read.schema.hasTable('notes_raw')).to.be.true();
    });
  });
}

describe('names of indexes', () => {
  it('are the same each time and fit into 63 bytes', () => {
    expect(indexName('notes_a', ['b', 'c'], true)).to.equal('notes_a_b_c_key');
    const long = indexName('notes_with_a_long_name', ['a_column_with_a_long_name', 'another_column_with_a_long_name'], false);
    expect(long.length).to.equal(63);
    expect(long).to.equal(indexName('notes_with_a_long_name', ['a_column_with_a_long_name', 'another_column_with_a_long_name'], false));
    expect(long).to.not.equal(indexName('notes_with_a_long_name', ['a_column_with_a_long_name', 'another_column_with_a_long_nama'], false));
  });
});
