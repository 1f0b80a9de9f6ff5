import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { migrate, newerMigrations, pendingMigrations } from '../migrate.ts';
import { databases, writeMigrations, type TestDatabase } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const FIRST = "await schema.createTable('notes_a', { key: 'id' });";
const SECOND = "await schema.createTable('notes_b', { key: 'id' });";

for (const { dialect, create } of databases()) {
  describe(`migrations on ${dialect}`, () => {
    let database: TestDatabase;
    before(async () => { database = await create(); });
    beforeEach(() => database.reset());
    after(() => database.drop());

    const set = (files: Record<string, string>, plugin = 'notes') => writeMigrations(database.dataDir, plugin, files);

    it('runs what is pending in the order of the names, core first, and nothing twice', async () => {
      const db = await database.open();
      const one = await set({ '002_second': SECOND, '001_first': FIRST });
      const pending = (await pendingMigrations(db, [one])).map(({ plugin, name }) => `${plugin} ${name}`);
      expect(pending[0]).to.equal('core 001_core');
      expect(pending.slice(-2)).to.equal(['notes 001_first', 'notes 002_second']);
      const done = await migrate(db, [one]);
      expect(done.map(({ plugin, name }) => `${plugin} ${name}`)).to.equal(pending);
      expect(await migrate(db, [one])).to.equal([]);
      expect(await pendingMigrations(db, [one])).to.equal([]);
    });

    it('calls beforeFirst for a database with a past, and not for a new one or without pending migrations', async () => {
      const db = await database.open();
      let calls = 0;
      const beforeFirst = async () => { calls++; };
      await migrate(db, [await set({ '001_first': FIRST })], { beforeFirst });
      expect(calls).to.equal(0);
      const longer = await set({ '001_first': FIRST, '002_second': SECOND });
      await migrate(db, [longer], { beforeFirst });
      await migrate(db, [longer], { beforeFirst });
      expect(calls).to.equal(1);
    });

    it('stops before the first migration when the backup fails', async () => {
      const db = await database.open();
      await migrate(db, [await set({ '001_first': FIRST })]);
      const longer = await set({ '001_first': FIRST, '002_second': SECOND });
      await expect(migrate(db, [longer], { beforeFirst: () => Promise.reject(new Error('no room')) })).to.reject('no room');
      expect(await db.read.schema.hasTable('notes_b')).to.be.false();
    });

    it('refuses a newer database and names the plugin and the migration', async () => {
      const db = await database.open();
      await migrate(db, [await set({ '001_first': FIRST, '002_second': SECOND })]);
      const older = await set({ '001_first': FIRST });
      expect(await newerMigrations(db, [older])).to.equal([{ plugin: 'notes', name: '002_second' }]);
      await expect(migrate(db, [older])).to.reject(/^The database is newer than this version of civic: the plugin notes has run the migration 002_second, which this version does not have\./);
    });

    it('does not mind the migrations of a plugin that is off', async () => {
      const db = await database.open();
      await migrate(db, [await set({ '001_first': FIRST })]);
      expect(await migrate(db, [])).to.equal([]);
    });

    it('keeps nothing of a migration that fails, and says where in one line', async () => {
      const db = await database.open();
      const broken = await set({ '001_first': FIRST, '002_broken': `${SECOND} await schema.tx('notes_b').insert({}); throw new Error('half way');` });
      const error = (await expect(migrate(db, [broken])).to.reject(/^The migration 002_broken of the plugin notes failed, and nothing of it was kept: half way \(.*002_broken\.js\)$/)) as Error;
      expect(error.message).to.not.contain('\n');
      expect(await db.read.schema.hasTable('notes_b')).to.be.false();
      expect(await db.read('core_tables').where({ plugin: 'notes' }).pluck('name')).to.equal(['notes_a']);
      expect((await pendingMigrations(db, [broken])).map(({ name }) => name)).to.equal(['002_broken']);
    });

    it('says what is wrong with a file that is not a migration', async () => {
      const db = await database.open();
      const files = await set({});
      await writeFile(join(files.folder, '001_empty.js'), 'export const down = 1;\n');
      await expect(migrate(db, [files])).to.reject(/001_empty of the plugin notes failed.*it does not export a function up/);
      await writeFile(join(files.folder, '001_empty.js'), 'export async function up( {\n');
      await expect(migrate(db, [{ ...files, folder: files.folder }])).to.reject(/001_empty of the plugin notes failed/);
      await writeFile(join(files.folder, 'second.js'), '');
      await expect(migrate(db, [files])).to.reject('The plugin notes has a migration named second.js: name it like 001_first.js');
      await expect(migrate(db, [{ plugin: 'notes', folder: '/nowhere' }])).to.reject('The plugin notes names a folder of migrations that is not there: /nowhere');
    });

    it('leaves nothing of a migration that was killed in the middle', { timeout: 60_000 }, async () => {
      const db = await database.open();
      await migrate(db, []);
      await db.close();
      const killed = await set({ '001_first': `${FIRST} console.log('half'); await new Promise((resolve) => setTimeout(resolve, 60000));` });
      const script = `
        const { openDatabase } = await import(${JSON.stringify(new URL('../connect.js', import.meta.url).href)});
        const { migrate } = await import(${JSON.stringify(new URL('../migrate.js', import.meta.url).href)});
        const db = await openDatabase({ url: ${JSON.stringify(database.url)}, dataDir: ${JSON.stringify(database.dataDir)}, pool: 2, log: { debug() {}, info() {}, warn() {} } });
        await migrate(db, [${JSON.stringify(killed)}]);`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
      await new Promise((resolve) => child.stdout.once('data', resolve));
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
      const again = await database.open();
      expect(await again.read.schema.hasTable('notes_a')).to.be.false();
      await migrate(again, [await set({ '001_first': FIRST })]);
      expect(await again.read.schema.hasTable('notes_a')).to.be.true();
    });

    if (dialect !== 'sqlite') it('serves several nodes that start at once', async () => {
      const nodes = await Promise.all([database.open(), database.open(), database.open()]);
      const both = await set({ '001_first': FIRST, '002_second': SECOND });
      const done = await Promise.all(nodes.map((node) => migrate(node, [both])));
      expect(done.flat().filter(({ plugin }) => plugin === 'notes').map(({ name }) => name)).to.equal(['001_first', '002_second']);
    });
  });
}
