import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInstance, testPlugins, type Instance } from '../../../test/support/civic.ts';
import { serveInProcess } from '../../../test/support/serving.ts';
import { openDatabase } from '../../database/connect.ts';
import { quiet } from '../../database/test/support.ts';
import { emptyDatabase, testDatabases } from '../../testing/database.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const plugins = { notes: { from: join(testPlugins, 'notes'), secret: 'hush-hush' }, digest: { from: join(testPlugins, 'digest') } };

describe('bin/civic backup and restore', () => {
  let instance: Instance;
  before(async () => {
    instance = createInstance({ plugins });
    for (const text of ['first', 'second']) await instance.civicInProcess('notes', 'add', text);
  });
  after(() => { instance.remove(); });

  it('back up beside a running server, with secrets masked', async () => {
    const served = await instance.serve();
    const { code, stdout } = await instance.civicInProcess('backup', '--json');
    await served.stop();
    expect(code).to.equal(0);
    const { path } = JSON.parse(stdout);
    expect(String(path)).to.startWith(join(instance.folder, 'data/backups'));
    expect(readdirSync(join(path, 'tables'))).to.include(['notes_notes.ndjson.gz', 'digest_entries.ndjson.gz', 'core_event_log.ndjson.gz']);
    expect(readFileSync(join(path, 'config.yaml'), 'utf8')).to.contain('motto').and.to.not.contain('hush-hush');
  });

  it('restore into an empty instance, and never into one that holds something', async () => {
    const folder = join(instance.folder, 'copy');
    await instance.civicInProcess('backup', folder);
    const other = createInstance({ plugins });
    const restored = await other.civicInProcess('restore', folder);
    expect(restored.stderr).to.not.contain('Error');
    expect(restored.code).to.equal(0);
    expect(restored.stdout).to.startWith('Restored ');
    expect((await other.civicInProcess('notes', 'count')).stdout).to.equal('2\n');
    const again = await other.civicInProcess('restore', folder);
    expect(again.code).to.equal(1);
    expect(again.stderr).to.contain('The database is not empty');
    expect((await other.civicInProcess('notes', 'count')).stdout).to.equal('2\n');
    other.remove();
  });

  it('restore a tar file of a backup, and no other file', async () => {
    const folder = join(instance.folder, 'packed');
    await instance.civicInProcess('backup', folder);
    const pack = (name: string, ...args: string[]): string => {
      const file = join(instance.folder, `${name}.tar`);
      expect(spawnSync('tar', ['-cf', file, '-C', instance.folder, ...args]).status).to.equal(0);
      return file;
    };
    const other = createInstance({ plugins });
    mkdirSync(join(instance.folder, 'outside'));
    writeFileSync(join(instance.folder, 'outside', 'evil.sh'), 'echo');
    symlinkSync('/etc/passwd', join(instance.folder, 'outside', 'manifest.json'));
    const whole = pack('whole', 'packed');
    const cut = join(instance.folder, 'cut.tar');
    const content = readFileSync(whole);
    // Inside a file: cut between two of them, a tar file is only shorter. A header has 512 bytes, with the size at 124.
    let header = 0;
    const sizeAt = (offset: number) => Number.parseInt(content.toString('latin1', offset + 124, offset + 135), 8);
    while (sizeAt(header) < 50) header += 512;
    writeFileSync(cut, content.subarray(0, header + 512 + sizeAt(header) / 2));
    for (const [file, reason] of [
      [cut, 'cannot be read as a tar file'],
      [pack('foreign', 'packed', 'outside/evil.sh'), 'it holds outside/evil.sh'], [pack('link', 'outside/manifest.json'), 'it holds outside/manifest.json'],
      [pack('above', '--transform', 's,^outside/evil.sh,../evil.sh,', '-P', 'outside/evil.sh'), 'evil.sh'], [join(folder, 'manifest.json'), 'cannot be read as a tar file'],
    ] as const) {
      const { code, stderr } = await other.civicInProcess('restore', file);
      expect([code, stderr.includes(reason)], `${file}: ${stderr}`).to.equal([1, true]);
    }
    expect([existsSync(join(other.folder, 'evil.sh')), existsSync(join(other.folder, 'data', 'evil.sh'))]).to.equal([false, false]);
    const restored = await other.civicInProcess('restore', whole);
    expect(restored.code, restored.stderr).to.equal(0);
    expect((await other.civicInProcess('notes', 'count')).stdout).to.equal('2\n');
    expect(readdirSync(join(other.folder, 'data')).filter((name) => name.startsWith('restoring-'))).to.equal([]);
    other.remove();
  });

  it('print a restore command that works as it is printed', async () => {
    const { stdout } = await instance.civicInProcess('backup');
    const [, command] = /^To restore it into a new data folder: (bin\/civic restore .*)$/m.exec(stdout) ?? [];
    expect(command, stdout).to.exist();
    const restored = spawnSync('sh', ['-c', command!], { cwd: join(import.meta.dirname, '../../../..'), encoding: 'utf8' });
    expect(restored.status, restored.stderr).to.equal(0);
    const folder = join(instance.folder, 'data-restored');
    expect((await instance.civicInProcess('notes', 'count', '--data', folder)).stdout).to.equal('2\n');
    expect((await instance.civicInProcess('backup')).stdout).to.contain(`${folder}-2`);
    // A database that the config names is not the one to restore into.
    writeFileSync(instance.configFile, JSON.stringify({ data_dir: join(instance.folder, 'data'), database: { url: `sqlite:${join(instance.folder, 'data/civic.db')}` }, plugins }));
    const named = /^To restore it into a new data folder: (.*)$/m.exec((await instance.civicInProcess('backup')).stdout)![1]!;
    writeFileSync(instance.configFile, JSON.stringify({ data_dir: join(instance.folder, 'data'), plugins }));
    expect(named).to.startWith(`CIVIC_DATABASE_URL=sqlite:${folder}-2/civic.db bin/civic restore `);
  });

  it('hold the tables of plugins that are off', async () => {
    const folder = join(instance.folder, 'off');
    writeFileSync(instance.configFile, JSON.stringify({ data_dir: join(instance.folder, 'data') }));
    await instance.civicInProcess('backup', folder);
    writeFileSync(instance.configFile, JSON.stringify({ data_dir: join(instance.folder, 'data'), plugins }));
    expect(existsSync(join(folder, 'tables/notes_notes.ndjson.gz'))).to.be.true();
  });

  it('say so when there is nothing to back up yet, and make nothing', async () => {
    const fresh = createInstance();
    const { code, stderr } = await fresh.civicInProcess('backup');
    expect(code).to.equal(1);
    expect(stderr).to.match(/^There is no database at .*civic\.db yet: bin\/civic serve or bin\/civic migrate creates it\n$/);
    expect(existsSync(join(fresh.folder, 'data'))).to.be.false();
    fresh.remove();
  });

  it('rebuild derived tables, also when the first attempt fails', async () => {
    const written = (files: Record<string, string>): void => {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(instance.folder, 'sums', name), text);
    };
    mkdirSync(join(instance.folder, 'sums/migrations'), { recursive: true });
    written({
      'package.json': '{ "type": "module" }',
      'migrations/001_first.js': "export const up = (schema) => schema.createTable('sums_total', { key: 'id', reason: 'text' }, { derived: true });\n",
      'index.js': `import { existsSync } from 'node:fs';
        export default { name: 'sums', summary: 'Adds up', migrations: import.meta.dirname + '/migrations', register: (server, civic) => civic.readModel({
          name: 'total', version: 1, tables: ['sums_total'],
          async rebuild({ from, write }) {
            if (existsSync(import.meta.dirname + '/broken')) throw new Error('not now');
            await write((tx) => tx('sums_total').insert({ reason: from === null ? 'empty' : 'other version' }));
          },
        }) };\n`,
    });
    const withSums = { plugins: { ...plugins, sums: { from: join(instance.folder, 'sums') } } };
    const folder = join(instance.folder, 'with-sums');
    const [source, target] = [createInstance(withSums), createInstance(withSums)];
    await source.civicInProcess('migrate');
    await source.civicInProcess('backup', folder);
    written({ broken: '' });
    const failed = await target.civicInProcess('restore', folder);
    expect(failed).to.include({ code: 1 });
    expect(failed.stderr).to.contain(['The plugin sums failed to rebuild its read model total: not now', 'Everything is restored; bin/civic serve tries that again']);
    rmSync(join(instance.folder, 'sums/broken'));
    await (await serveInProcess(target.configFile)).stop();
    await target.civicInProcess('migrate');
    const db = await openDatabase({ url: null, dataDir: join(target.folder, 'data'), pool: 1, log: quiet });
    expect(await db.read('sums_total').pluck('reason')).to.equal(['empty']);
    await db.close();
    source.remove();
    target.remove();
  });

  it('refuse a damaged backup and leave the target empty', async () => {
    const folder = join(instance.folder, 'damaged');
    await instance.civicInProcess('backup', folder);
    writeFileSync(join(folder, 'tables/notes_notes.ndjson.gz'), 'rubbish');
    const other = createInstance({ plugins });
    const { code, stderr } = await other.civicInProcess('restore', folder);
    expect(code).to.equal(1);
    expect(stderr).to.contain('notes_notes');
    expect(stderr).to.not.contain('    at ');
    expect((await other.civicInProcess('notes', 'count')).code).to.equal(1);
    other.remove();
    rmSync(folder, { recursive: true });
  });

  if (testDatabases().includes('postgres')) {
    it('move an instance to Postgres and back with nothing changed', async () => {
      const database = await emptyDatabase('postgres');
      const onPostgres = createInstance({ plugins, database: { url: database.url } });
      const back = createInstance({ plugins });
      const folders = ['there', 'back', 'again'].map((name) => join(instance.folder, name));
      await instance.civicInProcess('backup', folders[0]!);
      expect((await onPostgres.civicInProcess('restore', folders[0]!)).code).to.equal(0);
      await onPostgres.civicInProcess('backup', folders[1]!);
      expect((await back.civicInProcess('restore', folders[1]!)).code).to.equal(0);
      await back.civicInProcess('backup', folders[2]!);
      const digests = folders.map((folder) => JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')).tables.map(({ name, rows, sha256 }: Record<string, unknown>) => ({ name, rows, sha256 })));
      expect(digests[1]).to.equal(digests[0]);
      expect(digests[2]).to.equal(digests[0]);
      const added = await onPostgres.civicInProcess('notes', 'add', 'third');
      expect(added.code).to.equal(0);
      onPostgres.remove();
      back.remove();
      await database.drop();
    });
  }
});
