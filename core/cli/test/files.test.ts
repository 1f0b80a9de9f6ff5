import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInstance, testPlugins, type Instance } from '../../../test/support/civic.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

// Every right for everybody, unless a program says otherwise.
const WIDE = { through: ['sh', '-c', 'umask 000; exec "$@"', 'sh'] };

describe('The data folder', () => {
  let instance: Instance;
  let data: string;
  before(() => {
    instance = createInstance({ plugins: { notes: { from: join(testPlugins, 'notes') } } }, WIDE);
    data = join(instance.folder, 'data');
  });
  after(() => { instance.remove(); });

  /** What other users may access, with its mode. */
  function openToOthers(path: string): string[] {
    const mode = statSync(path).mode & 0o777;
    const inner = statSync(path).isDirectory() ? readdirSync(path).flatMap((name) => openToOthers(join(path, name))) : [];
    return (mode & 0o077) === 0 ? inner : [`${path} ${mode.toString(8)}`, ...inner];
  }

  it('and all in it belong to this user alone, whatever the umask', async () => {
    const served = await instance.serve();
    expect(readdirSync(data)).to.include(['civic.db', 'civic.db-wal', 'writer.lock', 'civic.sock']);
    expect(openToOthers(data)).to.equal([]);
    const elsewhere = join(instance.folder, 'elsewhere');
    const mask = process.umask(0);
    const backups = [await instance.civicInProcess('backup'), await instance.civicInProcess('backup', elsewhere)];
    process.umask(mask);
    expect(backups.map(({ code }) => code)).to.equal([0, 0]);
    expect([...openToOthers(data), ...openToOthers(elsewhere)]).to.equal([]);
    expect(await served.stop()).to.equal(0);
  });

  it('are named by doctor when other users can read them, with the command that changes it', async () => {
    expect((await instance.civicInProcess('doctor')).stdout).to.contain('✓ file modes: ');
    spawnSync('chmod', ['-R', 'a+rX', data]);
    const { stdout } = await instance.civicInProcess('doctor');
    expect(stdout).to.contain([`file modes: other users of this machine can access ${data}`, `chmod -R go= ${data}`]);
  });

  it('are closed to other users by the next start', async () => {
    spawnSync('chmod', ['-R', 'a+rX', data]);
    chmodSync(join(data, 'civic.db'), 0o666);
    const served = await instance.serve();
    expect(openToOthers(data).filter((line) => !line.includes('/backups/'))).to.equal([]);
    expect(await served.stop()).to.equal(0);
    expect((await instance.civicInProcess('doctor')).stdout).to.contain('✓ file modes: ');
  });
});
