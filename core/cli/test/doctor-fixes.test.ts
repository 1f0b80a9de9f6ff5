import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInstance, testPlugins, type Instance } from '../../../test/support/civic.ts';
import { startCommandLine, type CommandLine } from '../../../test/support/command-line.ts';
import { runCivicInProcess } from '../../../test/support/in-process.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

describe('The fixes that doctor prints', () => {
  let instance: Instance;
  let data: string;
  let nobody: CommandLine;
  before(async () => {
    instance = createInstance({ plugins: { notes: { from: join(testPlugins, 'notes') } } });
    data = join(instance.folder, 'data');
    chmodSync(instance.folder, 0o755);
    await instance.civicInProcess('migrate');
    nobody = startCommandLine(isRoot ? { uid: NOBODY } : {});
  });
  after(async () => {
    await nobody.end();
    instance.remove();
  });

  const asNobody = (...args: string[]) => nobody.run(...args, '--config', instance.configFile);

  it('create a missing data folder, and never change the owner of the folder above it', { skip: !isRoot }, async () => {
    for (const folder of [join(instance.folder, 'new'), join(instance.folder, 'new/deep er'), '/civicx']) {
      const { code, stdout } = await asNobody('doctor', '--data', folder);
      expect(code).to.equal(1);
      expect(stdout).to.contain(`install -d -o nobody -m 700 ${folder.includes(' ') ? `'${folder}'` : folder}, or choose another folder`);
      expect(stdout).to.not.contain('chown');
    }
    const served = await asNobody('serve', '--port', '0', '--data', join(instance.folder, 'new'));
    expect(served.code).to.equal(1);
    expect(served.stderr).to.contain('install -d -o nobody').and.not.contain('chown').and.not.contain('Creating the database');
  });

  it('do not change the owner of a folder that holds other things', { skip: !isRoot }, async () => {
    const shared = join(instance.folder, 'shared');
    mkdirSync(join(shared, 'mail'), { recursive: true });
    chmodSync(shared, 0o755);
    const { stdout } = await asNobody('doctor', '--data', shared);
    expect(stdout).to.contain(`install -d -o nobody -m 700 ${shared}/civic`).and.not.contain('chown');
  });

  it('give a database file to this user', { skip: !isRoot }, async () => {
    chownSync(data, NOBODY, NOBODY);
    const { stdout } = await asNobody('doctor');
    expect(stdout).to.contain(['civic.db cannot be opened: it may not be read and written by this user (nobody)', `Do: chown nobody ${data}/civic.db`]);
    chownSync(join(data, 'civic.db'), NOBODY, NOBODY);
    chmodSync(join(data, 'civic.db'), 0o400);
    expect((await asNobody('doctor')).stdout).to.contain(`Do: chmod 600 ${data}/civic.db`);
    chmodSync(join(data, 'civic.db'), 0o600);
    for (const path of [data, join(data, 'civic.db')]) chownSync(path, 0, 0);
  });

  it('move a file that is no database aside, and restore a backup', async () => {
    const file = join(data, 'civic.db');
    const good = readFileSync(file);
    writeFileSync(file, 'no database '.repeat(1000));
    const { code, stdout } = await instance.civicInProcess('doctor');
    writeFileSync(file, good);
    expect(code).to.equal(1);
    expect(stdout).to.contain(['it is not an SQLite database', `Do: stop the server, run mkdir ${data}/damaged && mv ${file}* ${data}/damaged, then bin/civic restore <backup folder>`, '- migrations: not checked']);
    expect(stdout).to.not.contain('see data_dir');
  });

  it('name a port that another program uses', async () => {
    const other = createServer((_request, response) => { response.end('something else'); }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, stdout } = await runCivicInProcess(['doctor', '--config', instance.configFile], { env: { CIVIC_HTTP_PORT: String(port) } });
    other.close();
    expect(code).to.equal(0);
    expect(stdout).to.contain([`! port: port ${port} on 127.0.0.1 is in use by another program`, 'choose another port with --port or http.port']);
  });
});

describe('doctor on a broken config', () => {
  it('counts every error, and lists what it did not check', async () => {
    const instance = createInstance('public_url: nowhere\nhttp:\n  prot: 80\n');
    const { code, stdout, stderr } = await instance.civicInProcess('doctor');
    instance.remove();
    expect(code).to.equal(1);
    for (const name of ['port', 'public address', 'proxy', 'database', 'migrations', 'checks of plugins']) expect(stdout).to.contain(`- ${name}: not checked: the configuration has errors`);
    expect(stdout.match(/^✗ /gm)).to.have.length(2);
    expect(stdout).to.contain('✓ disk: ').and.not.contain('✓ public address');
    expect(stderr).to.contain('2 things need fixing; 9 checks were skipped.');
  });

  it('checks no data folder that the config does not give', async () => {
    const instance = createInstance('data_dir: [\n');
    const { stdout } = await instance.civicInProcess('doctor');
    instance.remove();
    expect(stdout).to.contain('- data folder: not checked: the configuration has errors').and.contain('✓ node: ');
  });
});
