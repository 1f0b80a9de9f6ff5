import { appendFile, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { createBackup } from '../backup.ts';
import type { OpenDatabase } from '../connect.ts';
import { bulkInsert } from '../dialect.ts';
import { databaseDigest } from '../digest.ts';
import { migrate, type MigrationSet } from '../migrate.ts';
import { restoreBackup } from '../restore.ts';
import { createFolder, databases, writeMigrations, type TestDatabase } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const FIRST = `
  await schema.createTable('notes_all', { key: 'id', id: 'uuid', name: 'text', n: 'int', big: 'bigint', ratio: 'real?', ok: 'bool', at: 'time?', data: 'json?', bytes: 'blob?', parent_key: 'bigint?' }, { unique: [['id']], references: { parent_key: 'notes_all.key' } });
  await schema.createTable('notes_pairs', { name: 'text', at: 'time' }, { primary: ['name', 'at'] });
  await schema.tx('notes_pairs').insert({ name: 'made by the migration', at: '2026-01-01T00:00:00.000Z' });
  await schema.createTable('notes_counts', { key: 'id', count: 'int' }, { derived: true });
  await schema.createSearchIndex('notes_search');`;
const SECOND = "await schema.addColumns('notes_all', { added: 'text?' }); await schema.tx('notes_all').update({ added: 'later' });";
const OFF = "await schema.createTable('off_things', { key: 'id', name: 'text' }, { unique: [['name']] });";

const id = (number: number) => `0190a1b2-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
const row = (key: number) => ({
  key, id: id(key), name: `"${key}"\n\\ ü 😀 \u2028`, n: -key, big: Number.MAX_SAFE_INTEGER - key, ratio: key / 7, ok: key % 2 === 0,
  at: key % 3 ? new Date(1.7e12 + key).toISOString() : null, data: key % 4 ? JSON.stringify({ z: key, a: [1.5, 'ü', null], b: { d: true, c: 1e21 } }) : 'null',
  bytes: key % 5 ? Buffer.from([key % 256, 0, 255]) : null, parent_key: key < 300 ? key + 1 : null,
});

async function fill(db: OpenDatabase): Promise<void> {
  await db.write(async (tx) => {
    await bulkInsert(tx, 'notes_all', Array.from({ length: 300 }, (_, index) => row(300 - index)));
    await bulkInsert(tx, 'notes_pairs', ['b', 'B', 'é', 'a'].map((name) => ({ name, at: '2026-02-03T04:05:06.007Z' })));
    await tx('notes_counts').insert({ count: 5 });
    await tx('off_things').insert([{ name: 'one' }, { name: 'two' }]);
    await tx('core_meta').insert({ key: 'instance', value: '{"b":1,"a":2}' });
  });
}

for (const { dialect, create } of databases()) {
  describe(`backups on ${dialect}`, { timeout: 60_000 }, () => {
    let database: TestDatabase;
    let folder: string;
    let notes: MigrationSet;
    let off: MigrationSet;
    let source: OpenDatabase;
    let whole: string;

    before(async () => {
      database = await create();
      folder = await createFolder();
      notes = await writeMigrations(folder, 'notes', { '001_first': FIRST });
      off = await writeMigrations(folder, 'off', { '001_first': OFF });
      source = await database.open();
      await migrate(source, [notes, off]);
      await fill(source);
      whole = join(folder, 'whole');
      await createBackup(source, whole, { config: 'name: test\n' });
    });
    after(() => database.drop());

    it('hold a manifest, the config and a file for each table that is not derived', async () => {
      const manifest = JSON.parse(await readFile(join(whole, 'manifest.json'), 'utf8'));
      expect(manifest.migrations).to.equal({ core: manifest.migrations.core, notes: ['001_first'], off: ['001_first'] });
      const files = await readdir(join(whole, 'tables'));
      expect(files).to.include(['core_meta.ndjson.gz', 'notes_all.ndjson.gz', 'notes_pairs.ndjson.gz', 'off_things.ndjson.gz']);
      expect(files).to.not.include(['notes_counts.ndjson.gz', 'notes_search.ndjson.gz', 'core_migrations.ndjson.gz']);
      expect(await readFile(join(whole, 'config.yaml'), 'utf8')).to.equal('name: test\n');
      const lines = gunzipSync(await readFile(join(whole, 'tables', 'core_meta.ndjson.gz'))).toString();
      expect(lines).to.equal('{"key":"instance","value":"{\\"a\\":2,\\"b\\":1}"}\n');
      expect(await readdir(folder)).to.not.include('whole.partial');
    });

    it('show one moment while others write', async () => {
      const other = await database.open();
      let isOver = false;
      const writing = (async () => {
        for (let number = 0; !isOver; number++) {
          await other.write(async (tx) => {
            await tx('notes_pairs').insert({ name: `w${number}`, at: '2026-01-01T00:00:00.000Z' });
            await tx('off_things').insert({ name: `w${number}` });
          });
        }
      })();
      const manifest = await createBackup(source, join(folder, 'busy'));
      isOver = true;
      await writing;
      await other.write(async (tx) => {
        await tx('notes_pairs').where('name', 'like', 'w%').delete();
        await tx('off_things').where('name', 'like', 'w%').delete();
      });
      await other.close();
      const rows = (name: string) => manifest.tables.find((table) => table.name === name)!.rows;
      expect(rows('notes_pairs') - 5).to.equal(rows('off_things') - 2);
    });

    it('refuse a place that is taken, and leave nothing when they fail or are cancelled', async () => {
      await expect(createBackup(source, whole)).to.reject(`There is already something at ${whole}: name another place for the backup.`);
      const cancelled = join(folder, 'cancelled');
      await expect(createBackup(source, cancelled, { signal: AbortSignal.abort() })).to.reject('The backup was cancelled; nothing was left behind.');
      await writeFile(join(folder, 'file'), '');
      await expect(createBackup(source, join(folder, 'file', 'backup'))).to.reject(/^The backup to .* failed, and nothing was left behind/);
      expect((await readdir(folder)).filter((name) => name.startsWith('cancelled'))).to.equal([]);
    });

    it('are named when a newer database is refused', async () => {
      const backups = join(folder, 'backups');
      await mkdir(backups);
      await createBackup(source, join(backups, 'before'));
      const later = { ...notes, folder: (await writeMigrations(folder, 'notes', { '001_first': FIRST, '002_second': "await schema.createTable('notes_later', { key: 'id' });" })).folder };
      await migrate(source, [later, off]);
      await createBackup(source, join(backups, 'after'));
      const goingBack = { backups, asideCommand: null, restoreCommand: (path: string) => `bin/civic restore ${path}` };
      const error = (await expect(migrate(source, [notes, off], { goingBack })).to.reject()) as Error;
      expect(error.message.split('\n')[0]).to.equal('The database is newer than this version of civic: the plugin notes has run the migration 002_second, which this version does not have.');
      expect(error.message.split('\n').at(-1)).to.equal(`  bin/civic restore ${join(backups, 'before')}`);
      await expect(migrate(source, [notes, off], { goingBack: { ...goingBack, backups: '/nowhere' } })).to.reject(/No backup that fits this version was found in \/nowhere\.$/);
    });

    for (const target of databases()) {
      describe(`restored to ${target.dialect}`, () => {
        let place: TestDatabase;
        let db: OpenDatabase;
        before(async () => { place = await target.create(); });
        after(() => place.drop());
        beforeEach(async () => {
          await place.reset();
          db = await place.open();
        });

        const isEmpty = async () => !(await db.read.schema.hasTable('core_migrations')) && !(await db.read.schema.hasTable('notes_all'));

        it('give equal digests, and equal ones again when they go back', async () => {
          const { migrated } = await restoreBackup(db, whole, [notes, off]);
          expect(migrated).to.equal([]);
          const manifest = JSON.parse(await readFile(join(whole, 'manifest.json'), 'utf8'));
          const digests = await databaseDigest(db);
          for (const { name, derived, rows, sha256 } of manifest.tables) if (!derived) expect(digests[name]).to.equal({ rows, sha256 });
          const again = await createBackup(db, join(folder, `again-${target.dialect}`));
          expect(again.tables).to.equal(manifest.tables);
          const back = await create();
          const home = await back.open();
          await restoreBackup(home, join(folder, `again-${target.dialect}`), [notes, off]);
          expect(await databaseDigest(home)).to.equal(digests);
          await back.drop();
        });

        // What follows does not depend on where the backup came from.
        if (target.dialect !== dialect) return;

        it('keep the tables of plugins that are not at hand, with their keys', async () => {
          await restoreBackup(db, whole, [notes]);
          expect(await db.read('off_things').orderBy('key').pluck('name')).to.equal(['one', 'two']);
          await expect(db.write((tx) => tx('off_things').insert({ name: 'one' }))).to.reject();
          expect(await migrate(db, [notes, off])).to.equal([]);
        });

        it('make the tables of plugins that are off by their own migrations, and no newer than they were', async () => {
          const longer = await writeMigrations(folder, 'off', { '001_first': `${OFF} await schema.raw({ sqlite: 'create index off_raw on off_things (name)', postgres: 'create index off_raw on off_things (name)' });`, '002_second': "await schema.createTable('off_later', { key: 'id' });" });
          const never = await writeMigrations(folder, 'never', { '001_first': "await schema.createTable('never_a', { key: 'id' });" });
          await restoreBackup(db, whole, [notes], { off: [longer, never] });
          await db.write((tx) => tx.raw('drop index off_raw'));
          expect(await db.read.schema.hasTable('off_later')).to.be.false();
          expect(await db.read.schema.hasTable('never_a')).to.be.false();
          expect((await migrate(db, [notes, longer])).map(({ name }) => name)).to.equal(['002_second']);
        });

        it('give new rows new keys and leave derived tables empty', async () => {
          await restoreBackup(db, whole, [notes, off]);
          await db.write((tx) => tx('off_things').insert({ name: 'three' }));
          expect(await db.read('off_things').where({ name: 'three' }).first('key')).to.equal({ key: 3 });
          expect(await db.read('notes_counts')).to.equal([]);
        });

        it('run newer migrations on the rows', async () => {
          const newer = await writeMigrations(folder, 'notes', { '001_first': FIRST, '002_second': SECOND });
          const { migrated } = await restoreBackup(db, whole, [newer, off]);
          expect(migrated).to.equal([{ plugin: 'notes', name: '002_second' }]);
          expect(await db.read('notes_all').where({ added: 'later' }).count({ rows: '*' })).to.equal([{ rows: 300 }]);
        });

        it('return running jobs to the queue for other workers', async () => {
          await migrate(db, []);
          const at = '2026-01-01T00:00:00.000Z';
          const job = { name: 'a', payload: '{}', priority: 0, run_at: at, attempts: 1, max_attempts: 3, lease_seconds: 60, cancel_requested: false, done: 0, total: 0, created_at: at };
          await db.write((tx) => tx('core_jobs').insert([{ ...job, id: id(1), state: 'running', token: id(9), lease_until: at }, { ...job, id: id(2), state: 'completed', token: null, lease_until: null }]));
          await createBackup(db, join(folder, `jobs-${target.dialect}`));
          await place.reset();
          db = await place.open();
          await restoreBackup(db, join(folder, `jobs-${target.dialect}`), []);
          expect(await db.read('core_jobs').orderBy('key').select('state', 'token', 'lease_until', 'attempts')).to.equal([
            { state: 'pending', token: null, lease_until: null, attempts: 1 }, { state: 'completed', token: null, lease_until: null, attempts: 1 },
          ]);
        });

        it('refuse a database that is not empty, and change nothing in it', async () => {
          await db.write((tx) => tx.raw('create table visitors (a integer)'));
          await expect(restoreBackup(db, whole, [notes, off])).to.reject(/^The database is not empty: it has 1 tables \(visitors\)\. A backup is restored into an empty one/);
          expect(await isEmpty()).to.be.true();
        });

        it('leave the database empty when they are cancelled in the middle', async () => {
          const controller = new AbortController();
          const restoring = restoreBackup(db, whole, [notes, off], { signal: controller.signal, onProgress: () => controller.abort() });
          await expect(restoring).to.reject('The restore was cancelled; the database is as empty as before.');
          expect(await isEmpty()).to.be.true();
          await restoreBackup(db, whole, [notes, off]);
        });

        it('refuse damage by name, and leave the database empty', async () => {
          const manifest = await readFile(join(whole, 'manifest.json'), 'utf8');
          const table = 'tables/notes_all.ndjson.gz';
          const lines = gunzipSync(await readFile(join(whole, table))).toString().split('\n');
          const damages: [harm: (path: string) => Promise<void>, words: RegExp][] = [
            [(path) => truncate(join(path, table), 500), /is damaged: tables\/notes_all\.ndjson\.gz cannot be read \(unexpected end of file\)\.$/],
            [(path) => rm(join(path, table)), /is damaged: tables\/notes_all\.ndjson\.gz cannot be read \(ENOENT/],
            [(path) => writeFile(join(path, table), gzipSync(lines.slice(1).join('\n'))), /holds 299 rows instead of 300\.$/],
            [(path) => writeFile(join(path, table), gzipSync(lines.join('\n').replace('ü', 'u'))), /is not what was written \(its digest differs\)\.$/],
            [(path) => appendFile(join(path, 'manifest.json'), '}'), /is damaged: manifest\.json is not JSON\.$/],
            [(path) => rm(join(path, 'manifest.json')), /is not a backup: it has no manifest\.json that can be read\.$/],
            [(path) => writeFile(join(path, 'manifest.json'), manifest.replace('"format": 1', '"format": 2')), /was made by a newer version of civic \(format 2, this version reads 1\)\. Update civic, then restore it\.$/],
            [(path) => writeFile(join(path, 'manifest.json'), manifest.replace('"off_things"', '"off; drop"')), /is damaged: in manifest\.json, "tables\[\d+\]\.name"/],
            [(path) => writeFile(join(path, 'manifest.json'), manifest.replace('"001_first"', '"009_later"')), /was made by a newer version of civic .*the plugin notes had run the migration 009_later/],
          ];
          for (const [index, [harm, words]] of damages.entries()) {
            const path = join(folder, `damaged-${target.dialect}-${index}`);
            await mkdir(join(path, 'tables'), { recursive: true });
            for (const file of ['manifest.json', ...(await readdir(join(whole, 'tables'))).map((name) => `tables/${name}`)]) await writeFile(join(path, file), await readFile(join(whole, file)));
            await harm(path);
            await expect(restoreBackup(db, path, [notes, off])).to.reject(words);
            expect(await isEmpty()).to.be.true();
          }
        });
      });
    }
  });
}
