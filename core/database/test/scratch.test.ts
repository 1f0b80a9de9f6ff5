import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reserveKeys } from '../dialect.ts';
import type { OpenDatabase } from '../connect.ts';
import { databasesOfDrivers, openWith, type TestDatabase } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const { dialect, name, create } of databasesOfDrivers()) {
  describe(`A scratch copy on ${name}`, () => {
    let database: TestDatabase;
    let db: OpenDatabase;
    before(async () => {
      database = await create();
      db = await openWith(database, "await schema.createTable('notes_notes', { key: 'id', text: 'text' }); await schema.createSearchIndex('notes_search');");
      await db.write((tx) => tx('notes_notes').insert([{ text: 'a' }, { text: 'b' }]));
    });
    after(() => database.drop());

    const texts = (from: Pick<OpenDatabase, 'read'>): Promise<string[]> => from.read('notes_notes').orderBy('key').pluck('text');
    const copies = async (): Promise<string[]> => (dialect === 'sqlite'
      ? readdirSync(database.dataDir).filter((name) => name.startsWith('scratch-'))
      : (await db.read.raw("select nspname as name from pg_namespace where nspname like 'civic\\_scratch\\_%'")).map(({ name }: { name: string }) => name));

    it('has what the database had, and neither sees what the other writes', async () => {
      const seen = await db.scratch('notes_', async (copy) => {
        await copy.write(async (tx) => {
          const [key] = await reserveKeys(tx, 'notes_notes', 1);
          expect(key).to.equal(3);
          await tx('notes_notes').insert({ key, text: 'copy' });
        });
        // The writer of the database waits for nothing meanwhile.
        await db.write((tx) => tx('notes_notes').insert({ text: 'here' }));
        if (dialect === 'sqlite') for (const name of await copies()) expect(statSync(join(database.dataDir, name)).mode & 0o077, name).to.equal(0);
        return texts(copy);
      });
      expect(seen).to.equal(['a', 'b', 'copy']);
      expect(await texts(db)).to.equal(['a', 'b', 'here']);
      expect(await copies()).to.equal([]);
    });

    it('is deleted when its work fails, and so are those that a killed process left behind', async () => {
      const old = `${new Date('2026-01-01').getTime().toString(36)}_0123456789ab`;
      const recent = `${Date.now().toString(36)}_0123456789ab`;
      for (const name of [old, recent]) {
        if (dialect === 'sqlite') for (const ending of ['', '-wal']) writeFileSync(join(database.dataDir, `scratch-${name}.db${ending}`), '');
        else await db.write((tx) => tx.raw('create schema ??', [`civic_scratch_${name}`]));
      }
      await expect(db.scratch('notes_', async () => { throw new Error('no'); })).to.reject('no');
      expect(await copies()).to.equal(dialect === 'sqlite' ? [`scratch-${recent}.db`, `scratch-${recent}.db-wal`] : [`civic_scratch_${recent}`]);
    });
  });
}
