import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { OpenDatabase } from '../connect.ts';
import { databasesOfDrivers, openWith, type TestDatabase } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const TABLE = "await schema.createTable('notes_words', { key: 'id', word: 'text' }, { unique: [['word']] });";

for (const { name, create } of databasesOfDrivers()) {
  describe(`Statements that come again, on ${name}`, () => {
    let database: TestDatabase;
    let db: OpenDatabase;

    before(async () => {
      database = await create();
      db = await openWith(database, TABLE);
    });
    after(() => database.drop());

    const put = (word: string) => db.write((tx) => tx('notes_words').insert({ word }));
    const has = async (word: string) => (await db.read('notes_words').where({ word }).first())?.word ?? null;

    it('see what was written since, each with its own values', async () => {
      for (const word of ['one', 'two', 'three']) {
        expect(await has(word)).to.be.null();
        await put(word);
        expect(await has(word)).to.equal(word);
      }
      expect(await db.write((tx) => tx('notes_words').where({ word: 'three' }).delete())).to.equal(1);
      expect(await db.write((tx) => tx('notes_words').where({ word: 'three' }).delete())).to.equal(0);
    });

    it('work again after they failed, and report an error in the SQL each time', async () => {
      await expect(put('one')).to.reject();
      await put('four');
      await expect(put('four')).to.reject();
      expect(await has('four')).to.equal('four');
      for (const _ of [1, 2]) await expect((async () => db.read.raw('select nothing from nowhere'))()).to.reject();
    });

    it('notice that a table changed', async () => {
      expect(await db.read('notes_words').where({ word: 'one' }).first()).to.equal({ key: 1, word: 'one' });
      await db.write((tx) => tx.raw("alter table notes_words add column mood text default 'fine'"));
      expect(await db.read('notes_words').where({ word: 'one' }).first()).to.equal({ key: 1, word: 'one', mood: 'fine' });
    });

    it('may run at the same time in one transaction, and block no other query', async () => {
      const words = await db.snapshot((tx) => Promise.all(['one', 'two', 'one'].map((word) => tx('notes_words').where({ word }).first('word'))));
      expect(words.map(({ word }) => word)).to.equal(['one', 'two', 'one']);
      await Promise.all(Array.from({ length: 50 }, (_, index) => put(`word ${index}`)));
      expect(Number((await db.read('notes_words').count({ count: '*' }).first())!.count)).to.equal(53);
    });

    it('are let go when there are many', async () => {
      for (let index = 0; index < 500; index++) expect(await db.read.raw(`select ${index} as number`)).to.equal([{ number: index }]);
      expect(await has('one')).to.equal('one');
    });
  });
}
