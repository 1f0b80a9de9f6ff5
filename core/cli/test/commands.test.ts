import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInstance, runCivic, testPlugins, type Instance } from '../../../test/support/civic.ts';
import { runCivicInProcess } from '../../../test/support/in-process.ts';
import { hasNodeSqlite } from '../../database/sqlite/choose.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('bin/civic', () => {
  let instance: Instance;
  before(() => { instance = createInstance({ plugins: { notes: { from: join(testPlugins, 'notes'), secret: 'hush-hush' } } }); });
  after(() => { instance.remove(); });

  it('lists its commands and those of the plugins, with no database', async () => {
    const { code, stdout } = await runCivicInProcess(['--help'], { env: { CIVIC_CONFIG: instance.configFile } });
    expect(code).to.equal(0);
    expect(stdout).to.contain(['serve', 'doctor', 'plugin new', 'notes add', 'Leave a note']);
    expect(existsSync(join(instance.folder, 'data'))).to.be.false();
  });

  it('explains one command', async () => {
    const { code, stdout } = await instance.civicInProcess('serve', '--help');
    expect(code).to.equal(0);
    expect(stdout).to.contain(['Start the server', '--port <number>', '--role <role>', 'Examples']);
  });

  it('says that options come after the command', async () => {
    const { code, stderr } = await runCivicInProcess(['--data', instance.folder, 'doctor']);
    expect(code).to.equal(2);
    expect(stderr).to.contain('Options come after the command: bin/civic doctor --data');
  });

  it('ends quietly when the reader of its output has ended', async () => {
    const { stderr } = await runCivic(['--help'], { through: ['sh', '-c', '"$0" "$@" | true'] });
    expect(stderr).to.equal('');
  });

  it('prints its version', async () => {
    for (const word of ['--version', '-v']) {
      const { code, stdout } = await runCivicInProcess([word]);
      expect(code, word).to.equal(0);
      expect(stdout, word).to.match(/^\d+\.\d+\.\d+\n$/);
    }
  });

  it('answers an unknown command with the nearest one and exit code 2', async () => {
    const { code, stderr, stdout } = await instance.civicInProcess('serv');
    expect(code).to.equal(2);
    expect(stderr).to.contain('did you mean "serve"?');
    expect(stdout).to.equal('');
  });

  it('answers the first word of several commands with all of them', async () => {
    const { code, stderr } = await instance.civicInProcess('notes');
    expect(code).to.equal(2);
    expect(stderr).to.contain(['"notes" needs another word:', 'bin/civic notes add', 'bin/civic notes count']);
    const asked = await instance.civicInProcess('notes', '--help');
    expect([asked.code, asked.stderr]).to.equal([0, '']);
    expect(asked.stdout).to.match(/bin\/civic notes add +\S/).and.contain('bin/civic notes count');
  });

  it('answers an unknown option with the nearest one and exit code 2', async () => {
    const { code, stderr } = await instance.civicInProcess('serve', '--prot', '9000');
    expect(code).to.equal(2);
    expect(stderr).to.contain(['There is no option --prot: did you mean --port?', 'bin/civic serve --help']);
  });

  it('refuses a missing or superfluous argument', async () => {
    const [missing, superfluous] = await Promise.all([instance.civicInProcess('notes', 'add'), instance.civicInProcess('notes', 'add', 'one', 'two')]);
    expect(missing.code).to.equal(2);
    expect(missing.stderr).to.contain(['The argument <text> is missing', 'bin/civic notes add --help']);
    expect(superfluous.code).to.equal(2);
    expect(superfluous.stderr).to.contain('Unexpected argument "two"');
  });

  it('runs a command of a plugin without a server, making the database on the way', async () => {
    const added = await instance.civicInProcess('notes', 'add', 'first', '--json');
    expect(added.code).to.equal(0);
    expect(JSON.parse(added.stdout).text).to.equal('first');
    const counted = await instance.civicInProcess('notes', 'count');
    expect(counted.stdout).to.equal('1\n');
  });

  it('ends a command that fails with its words and exit code 1', async () => {
    const { code, stderr, stdout } = await instance.civicInProcess('notes', 'add', 'bad');
    expect({ code, stdout, stderr }).to.equal({ code: 1, stdout: '', stderr: 'That is not a nice thing to write\n' });
  });

  it('masks secrets in what config show prints, with and without --json', async () => {
    for (const args of [['config', 'show'], ['config', 'show', '--json'], ['config', 'show', '--origin'], ['config', 'show', '--origin', '--json']]) {
      const { code, stdout } = await instance.civicInProcess(...args);
      expect(code).to.equal(0);
      expect(stdout).to.contain('motto');
      expect(stdout).to.not.contain('hush-hush');
    }
  });

  it('prints the origin of each value', async () => {
    const { stdout } = await runCivicInProcess(['config', 'show', '--origin', '--config', instance.configFile, '--data', '/nowhere/special'], { env: { CIVIC_HTTP_PORT: '9999' } });
    expect(stdout).to.match(/port: 9999\s+# .*CIVIC_HTTP_PORT/);
    expect(stdout).to.match(/data_dir: \/nowhere\/special\s+# .*--data/);
    expect(stdout).to.match(/secret: .*# .*civic\.yaml:\d+/);
    expect(stdout).to.match(/motto: Be kind\s+# .*default/);
  });

  it('checks a config file and reports all mistakes at once', async () => {
    const broken = createInstance('plugins:\n  notez:\nhttp:\n  prot: 80\n  port: "80"\n');
    const { code, stderr } = await broken.civicInProcess('config', 'check');
    expect(code).to.equal(1);
    expect(stderr).to.contain(['notez', 'prot', 'http.port', 'civic.yaml:2', 'civic.yaml:4', 'civic.yaml:5']);
    broken.remove();
  });

  it('explains an option', async () => {
    const { code, stdout } = await instance.civicInProcess('config', 'help', 'http.port');
    expect(code).to.equal(0);
    expect(stdout).to.contain(['http.port', 'CIVIC_HTTP_PORT']);
    const unknown = await instance.civicInProcess('config', 'help', 'http.prot');
    expect(unknown.code).to.equal(1);
  });

  it('writes a config file that passes its own check, and never over another', async () => {
    const file = join(instance.folder, 'new/civic.yaml');
    const first = await runCivicInProcess(['init', '--config', file]);
    expect(first.code).to.equal(0);
    const checked = await runCivicInProcess(['config', 'check', '--config', file]);
    expect(checked.code).to.equal(0);
    expect(readFileSync(file, 'utf8')).to.contain(['  #port: 8080', '# The port', '\nplugins:']);
    writeFileSync(file, 'name: Mine\n');
    const second = await runCivicInProcess(['init', '--config', file]);
    expect(second.code).to.equal(1);
    expect(second.stderr).to.contain('exists, and was not changed');
    expect(readFileSync(file, 'utf8')).to.equal('name: Mine\n');
  });

  it('names the line that would switch on the plugin a command belongs to', async () => {
    const { code, stderr } = await runCivicInProcess(['hellothere', 'say']);
    expect(code).to.equal(2);
    expect(stderr).to.contain('There is no command');
  });

  it('lists plugins', async () => {
    const { stdout } = await instance.civicInProcess('plugin', 'list', '--json');
    expect(JSON.parse(stdout)[0]).to.include({ name: 'notes', state: 'on', summary: 'Notes anybody may leave' });
  });

  it('says what migrate would do, does it, and then has nothing to do', async () => {
    const fresh = createInstance({ plugins: { notes: { from: join(testPlugins, 'notes') } } });
    const planned = await fresh.civicInProcess('migrate', '--dry-run');
    expect(planned.stdout).to.contain('notes/001_notes');
    const applied = await fresh.civicInProcess('migrate', '--json');
    expect(JSON.parse(applied.stdout)).to.part.include({ plugin: 'notes', name: '001_notes' });
    const again = await fresh.civicInProcess('migrate');
    expect(again.stdout).to.equal('The database is up to date.\n');
    fresh.remove();
  });

  it('refuses --role web on SQLite with the reason', async () => {
    const { code, stderr } = await instance.civicInProcess('serve', '--role', 'web');
    expect(code).to.equal(1);
    expect(stderr).to.contain('needs Postgres: one process writes a SQLite file');
  });

  it('refuses a role that does not exist as wrong usage', async () => {
    const { code, stderr } = await instance.civicInProcess('serve', '--role', 'boss');
    expect(code).to.equal(2);
    expect(stderr).to.contain('--role is web, worker or all');
  });

  it('names a port that is in use and what to do, before it creates anything', async () => {
    const fresh = createInstance();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await fresh.civicInProcess('serve', '--port', String(port));
    other.close();
    expect(code).to.equal(1);
    expect(stderr).to.equal(`Port ${port} on 127.0.0.1 is in use by another program, perhaps another civic server: stop it, or choose another port with --port or http.port\n`);
    expect(existsSync(join(fresh.folder, 'data'))).to.be.false();
    fresh.remove();
  });

  it('names a SQLite driver that Node does not have, before it creates anything', { skip: hasNodeSqlite() }, async () => {
    const fresh = createInstance({ database: { driver: 'node' } });
    for (const command of [['serve', '--port', '0'], ['migrate']]) {
      const { code, stderr } = await fresh.civicInProcess(...command);
      expect(code).to.equal(1);
      expect(stderr).to.startWith('database.driver is node, but Node ').and.endWith('or set database.driver to auto\n').and.not.contain('Creating');
      expect(existsSync(join(fresh.folder, 'data'))).to.be.false();
    }
    fresh.remove();
  });

  it('finds a SQLite driver that Node does not have by config check, and accepts it beside Postgres', { skip: hasNodeSqlite() }, async () => {
    const fresh = createInstance({ database: { driver: 'node' } });
    const words = await fresh.civicInProcess('config', 'check');
    const json = await fresh.civicInProcess('config', 'check', '--json');
    fresh.remove();
    expect([words.code, json.code]).to.equal([1, 1]);
    expect(words.stderr).to.contain([`${fresh.configFile}:4:`, 'database.driver is node, but Node ', 'Fix:  use Node 22.16 or newer of 22, or Node 24 or newer, or set database.driver to auto', 'docs/configuration.md#database']);
    const { ok, errors } = JSON.parse(json.stdout) as { ok: boolean; errors: { path: string }[] };
    expect([ok, errors.map(({ path }) => path)]).to.equal([false, ['database.driver']]);
    const onPostgres = createInstance({ database: { driver: 'node', url: 'postgres://nobody@127.0.0.1:1/none' } });
    expect((await onPostgres.civicInProcess('config', 'check')).code).to.equal(0);
    onPostgres.remove();
    const byVariable = await runCivicInProcess(['config', 'check', '--config', instance.configFile], { env: { CIVIC_DATABASE_DRIVER: 'node' } });
    expect(byVariable.stderr).to.contain(['environment variable CIVIC_DATABASE_DRIVER', 'set database.driver to auto']);
  });

  it('names a data folder that cannot be made', async () => {
    const file = join(instance.folder, 'a-file');
    writeFileSync(file, '');
    const { code, stderr } = await instance.civicInProcess('serve', '--port', '0', '--data', join(file, 'data'));
    expect(code).to.equal(1);
    expect(stderr).to.contain(`The data folder ${join(file, 'data')} cannot be used: ${file} is a file`);
  });

  it('refuses a folder where the database file should be', async () => {
    const folder = join(instance.folder, 'odd');
    mkdirSync(join(folder, 'civic.db'), { recursive: true });
    const { code, stderr } = await instance.civicInProcess('serve', '--port', '0', '--data', folder);
    expect(code).to.equal(1);
    expect(stderr).to.contain('civic.db');
    expect(stderr).to.not.contain('    at ');
  });

  it('refuses a database file that is none', async () => {
    const folder = join(instance.folder, 'junk');
    mkdirSync(folder);
    writeFileSync(join(folder, 'civic.db'), 'this is not a database, it is a letter to the council\n'.repeat(100));
    const { code, stderr } = await instance.civicInProcess('serve', '--port', '0', '--data', folder);
    expect(code).to.equal(1);
    expect(stderr).to.contain('civic.db');
    expect(stderr).to.not.contain('    at ');
  });

  it('says in one line that Postgres cannot be reached, or that the password is wrong, and never shows it', async () => {
    const { code, stderr } = await runCivic(['serve', '--port', '0', '--config', instance.configFile], { env: { CIVIC_DATABASE_URL: 'postgres://civic:top-secret@127.0.0.1:1/civic' } });
    expect(code).to.equal(1);
    expect(stderr).to.contain('127.0.0.1:1');
    expect(stderr).to.not.contain('top-secret');
    expect(stderr).to.not.contain('    at ');
  });
});
