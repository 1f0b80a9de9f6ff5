import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { openDatabase } from '../../database/connect.ts';
import { quiet } from '../../database/test/support.ts';
import { createInstance, testPlugins, type Instance, type Served } from '../../../test/support/civic.ts';
import { runCivicInProcess } from '../../../test/support/in-process.ts';
import { until } from '../../test/wait.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Makes the database look as one that an older version, without this default plugin, has written. */
async function forgetDefaultPlugin({ folder }: Instance, name: string): Promise<void> {
  const db = await openDatabase({ url: null, dataDir: join(folder, 'data'), pool: 1, log: quiet });
  await db.write(async (tx) => {
    const { value } = await tx('core_meta').where({ key: 'default_plugins' }).first('value');
    await tx('core_meta').where({ key: 'default_plugins' }).update({ value: JSON.stringify(JSON.parse(value).filter((known: string) => known !== name)) });
  });
  await db.close();
}

const plugins = { notes: { from: join(testPlugins, 'notes') }, digest: { from: join(testPlugins, 'digest') } };

describe('bin/civic serve', () => {
  let instance: Instance;
  // The server of the test before, where nothing needs a new one: a start takes a second of CPU.
  let served: Served;
  before(() => { instance = createInstance({ plugins }); });
  after(async () => {
    await served.stop();
    instance.remove();
  });

  it('says where to look next, serves, and stops with exit code 0', async () => {
    served = await instance.serve();
    expect(await (await fetch(`${served.url}/health`)).json()).to.include({ status: 'ok' });
    await until(() => served.output().includes('Ctrl-C'));
    expect(served.output()).to.contain(['is running at', 'notes, digest', '/docs', 'Ctrl-C stops it', 'Creating the database']);
    expect(served.output()).to.contain([
      '  Plugins   notes, digest\n  Off       accounts, console, directory, discovery, firehose, flags, ingest, mcp, oauth, ratelimit, reader, site, workspaces (bin/civic plugin list describes them)\n',
      '  Warning   accounts is off. Without it, users cannot sign in and the API rejects every write.\n',
      "  Warning   ratelimit is off. Without it, one client can use all of the server's capacity.\n",
    ]);
    expect(served.output()).to.not.contain('  New ');
    expect(await served.stop('SIGINT')).to.equal(0);
    expect(served.output()).to.contain('Stopping…');
    expect(served.output()).to.not.contain('did not stop cleanly');
  });

  it('says where it listens when a proxy answers for it, and does not offer to write a config file that is there', async () => {
    writeFileSync(instance.configFile, JSON.stringify({ data_dir: join(instance.folder, 'data'), public_url: 'https://civic.example.org/town', plugins }));
    const texts = join(instance.folder, 'data/theme/texts.en.yaml');
    mkdirSync(dirname(texts));
    writeFileSync(texts, 'core:\n  welcome:\n    read_doc: Read\n');
    served = await instance.serve();
    await until(() => served.output().includes('Ctrl-C'));
    expect(served.output()).to.contain(['running at https://civic.example.org/town/', `on 127.0.0.1:${new URL(served.url).port}`, 'bin/civic config show']);
    expect(served.output(), 'a mistake in the theme').to.contain(`  Warning   ${texts}:3: core.welcome.read_doc is no text of the kit: did you mean "welcome.read_docs"?\n`);
    expect(served.output()).to.not.contain('bin/civic init');
  });

  it('keeps what it acknowledged over a restart and a kill', async () => {
    expect(served.output()).to.not.contain('Creating the database');
    const posted = await fetch(`${served.url}/api/notes`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":"kept"}' });
    expect(posted.status).to.equal(201);
    await served.stop('SIGKILL');
    await forgetDefaultPlugin(instance, 'firehose');
    served = await instance.serve();
    const notes = await (await fetch(`${served.url}/api/notes`)).json() as { data: { text: string }[] };
    expect(notes.data.map((note) => note.text)).to.equal(['kept']);
    await until(() => served.output().includes('Ctrl-C'));
    expect(served.output(), 'a default plugin that an upgrade brought').to.contain(
      `  New       firehose is a new default plugin. To run it, add "firehose:" under "plugins:" in ${instance.configFile}; to decline it, add "firehose: { enabled: false }".\n`,
    );
    const { stdout } = await instance.civicInProcess('doctor');
    expect(stdout).to.contain(['! plugins: off: accounts, console, directory, discovery, firehose, flags, ingest, mcp, oauth, ratelimit, reader, site, workspaces. accounts is off. Without it', '! new plugin: firehose is a new default plugin.']);
  });

  describe('while it runs', () => {
    let socket: string;
    before(() => { socket = join(instance.folder, 'data/civic.sock'); });

    it('lets commands that write run inside it, and says so by doing it', async () => {
      expect(statSync(socket).mode & 0o777).to.equal(0o600);
      const added = await instance.civicInProcess('notes', 'add', 'from the command line');
      expect(added).to.include({ code: 0, stderr: '' });
      expect(added.stdout).to.match(/^Left the note [0-9a-f-]{36}\n$/);
      const failed = await instance.civicInProcess('notes', 'add', 'bad');
      expect(failed).to.equal({ code: 1, stdout: '', stderr: 'That is not a nice thing to write\n' });
      const counted = await instance.civicInProcess('notes', 'count', '--json');
      expect(JSON.parse(counted.stdout)).to.equal({ count: 2 });
    });

    it('refuses a second server on the same data folder', async () => {
      const second = await instance.civicInProcess('serve', '--port', '0');
      expect(second.code).to.equal(1);
      expect(second.stderr).to.contain('Another civic process is running on the data folder');
      expect((await fetch(`${served.url}/health`)).status).to.equal(200);
    });

    it('is checked by doctor', async () => {
      const { port } = new URL(served.url);
      const { code, stdout } = await runCivicInProcess(['doctor', '--config', instance.configFile], { env: { CIVIC_HTTP_PORT: port } });
      expect(stdout).to.match(/✓ port: .*the running server/);
      expect(stdout).to.contain(['✓ node', '✓ disk', '✓ database: SQLite, intact (driver ', '✓ migrations: all applied', '✓ notes: notes']);
      expect(code).to.equal(0);
    });

    it('survives words on its socket that it does not understand, stops while a client holds it, and removes it', async () => {
      for (const words of ['hello', 'null', '{}', '{"name":"notes add"}']) {
        const caller = connect(socket).on('error', () => undefined).resume();
        caller.write(`${words}\n`);
        await once(caller, 'close');
      }
      expect((await fetch(`${served.url}/health`)).status).to.equal(200);
      const idle = connect(socket).on('error', () => undefined);
      await once(idle, 'connect');
      expect(await served.stop()).to.equal(0);
      idle.destroy();
      expect(existsSync(socket)).to.be.false();
    });
  });
});
