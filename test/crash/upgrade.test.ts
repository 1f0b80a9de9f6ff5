import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pino from 'pino';
import { openDatabase, type OpenDatabase } from '../../core/database/connect.ts';
import { migrate } from '../../core/database/migrate.ts';
import { projectRoot } from '../../core/root.ts';
import { until } from '../../core/test/wait.ts';
import { emptyDatabase, testDatabases } from '../../core/testing/database.ts';
import { createInstance, type Instance } from '../support/civic.ts';
import { runCivicInProcess } from '../support/in-process.ts';
import { serveInProcess } from '../support/serving.ts';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

type EmptyDatabase = Awaited<ReturnType<typeof emptyDatabase>>;

const PLANTS = "await schema.createTable('garden_plants', { key: 'id', name: 'text' }); await schema.tx('garden_plants').insert({ name: 'oak' });";
const ELM = "await schema.tx('garden_plants').insert({ name: 'elm' });";

for (const dialect of testDatabases()) {
  describe(`An upgrade on ${dialect}`, { timeout: 120_000 }, () => {
    let database: EmptyDatabase;
    let instance: Instance;
    let garden: string;
    beforeEach(async () => {
      database = await emptyDatabase(dialect);
      instance = createInstance();
      garden = join(instance.folder, 'garden');
      mkdirSync(join(garden, 'migrations'), { recursive: true });
      writeFileSync(join(garden, 'package.json'), '{ "type": "module" }');
      writeFileSync(join(garden, 'index.js'), "export default { name: 'garden', summary: 'Plants', migrations: `${import.meta.dirname}/migrations`, register() {} };");
      configure(database.url);
      write('001_plants', PLANTS);
      await opened(database.url, (db) => migrate(db, [{ plugin: 'garden', folder: join(garden, 'migrations') }]));
    });
    afterEach(async () => {
      instance.remove();
      await database.drop();
    });

    function configure(url: string | null): void {
      writeFileSync(instance.configFile, JSON.stringify({ data_dir: join(instance.folder, 'data'), database: { url }, plugins: { garden: { from: garden } } }));
    }
    function write(name: string, body: string): void {
      writeFileSync(join(garden, 'migrations', `${name}.js`), `export async function up(schema) { ${body} }\n`);
    }
    async function opened<T>(url: string | null, fn: (db: OpenDatabase) => Promise<T>): Promise<T> {
      const db = await openDatabase({ url, dataDir: join(instance.folder, 'data'), pool: 2, log: pino({ level: 'silent' }) });
      return fn(db).finally(() => db.close());
    }
    /** What the database holds: its migrations, and the plants. */
    const state = (url = database.url): Promise<{ migrations: string[]; plants: string[] }> => opened(url, async (db) => ({
      migrations: await db.read('core_migrations').where({ plugin: 'garden' }).orderBy('name').pluck('name'),
      plants: await db.read('garden_plants').orderBy('key').pluck('name'),
    }));
    /** By a shell, once: a start costs a second of CPU, and the only command on Postgres is a command line. */
    async function runShown(command: string): Promise<void> {
      if (dialect === 'sqlite') {
        await promisify(execFile)('sh', ['-c', command], { cwd: projectRoot });
        return;
      }
      const [program, ...args] = command.trim().split(' ');
      expect([program, (await runCivicInProcess(args)).code]).to.equal(['bin/civic', 0]);
    }
    const backups = (): string[] => (existsSync(join(instance.folder, 'data/backups')) ? readdirSync(join(instance.folder, 'data/backups')) : []);

    it('that is killed in the middle of a migration leaves nothing of it, and the next start finishes', async () => {
      const reached = join(instance.folder, 'reached');
      write('002_trees', `${ELM} const fs = await import('node:fs'); if (!fs.existsSync('${reached}')) { fs.writeFileSync('${reached}', ''); await new Promise((resolve) => setTimeout(resolve, 60_000)); }`);
      const killed = await instance.start();
      await until(() => existsSync(reached));
      await killed.stop('SIGKILL');
      expect(await state()).to.equal({ migrations: ['001_plants'], plants: ['oak'] });

      const served = await serveInProcess(instance.configFile);
      expect(await state()).to.equal({ migrations: ['001_plants', '002_trees'], plants: ['oak', 'elm'] });
      await served.stop();
    });

    // How a failure is told does not depend on the database.
    if (dialect === 'sqlite') {
      it('that fails names the plugin and the file in one line, changes nothing, and leaves no backup of what is still there', async () => {
        write('002_broken', `${ELM} await schema.tx.raw('create tabel nonsense');`);
        const { code, stderr } = await instance.civicInProcess('serve', '--port', '0');
        expect(code).to.equal(1);
        const words = stderr.split('\n').filter((line) => line && !line.startsWith('Backing up'));
        expect(words).to.have.length(1);
        expect(words.join()).to.startWith('The migration 002_broken of the plugin garden failed, and nothing of it was kept: ').and.to.endWith(`(${join(garden, 'migrations/002_broken.js')})`);
        expect(await state()).to.equal({ migrations: ['001_plants'], plants: ['oak'] });
        expect(backups()).to.equal([]);
      });

      it('that fails half-way keeps the backup made before it', async () => {
        write('002_trees', ELM);
        write('003_broken', 'throw new Error("too dry");');
        expect((await instance.civicInProcess('serve', '--port', '0')).stderr).to.contain('The migration 003_broken of the plugin garden failed, and nothing of it was kept: too dry');
        expect(await state()).to.equal({ migrations: ['001_plants', '002_trees'], plants: ['oak', 'elm'] });
        expect(backups()).to.have.length(1);
      });
    }

    it('is gone back from by the commands that the older version shows, to the letter', async () => {
      write('002_trees', ELM);
      expect((await instance.civicInProcess('migrate')).code).to.equal(0);
      rmSync(join(garden, 'migrations/002_trees.js'));

      const refused = await instance.civicInProcess('serve', '--port', '0');
      expect(refused.code).to.equal(1);
      expect(refused.stderr).to.startWith('The database is newer than this version of civic: the plugin garden has run the migration 002_trees, which this version does not have.\nRun the newer version again, or go back');
      const commands = refused.stderr.split('\n').filter((line) => line.startsWith('  '));
      expect(commands).to.have.length(dialect === 'sqlite' ? 2 : 1);

      let empty: EmptyDatabase | null = null;
      if (dialect === 'postgres') {
        expect(refused.stderr).to.contain('create an empty database, name it in database.url, and run:');
        empty = await emptyDatabase('postgres');
        configure(empty.url);
      }
      for (const command of commands) await runShown(command);
      expect(await state(empty?.url)).to.equal({ migrations: ['001_plants'], plants: ['oak'] });
      expect((await instance.civicInProcess('migrate')).stdout).to.equal('The database is up to date.\n');
      await empty?.drop();
    });
  });
}
