import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { appendFileSync, chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../core/test/wait.ts';
import { createInstance, runCivic, serveCivic, testPlugins, type Ended, type Instance } from '../support/civic.ts';
import { startCommandLine, type CommandLine } from '../support/command-line.ts';
import { afterMounting, mountFor, mountMissing, seenBy } from '../support/mount.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const plugins = Object.fromEntries(['notes', 'digest'].map((name) => [name, { from: join(testPlugins, name) }]));
const missing = mountMissing();
const NOBODY = 65534;

/** A person reads this: no stack, no name of an error of ours. */
function expectWords({ code, stderr }: Ended, words: string[]): void {
  expect(code).to.equal(1);
  expect(stderr).to.contain(words);
  expect(stderr).to.not.match(/ {4}at |Error:/);
}

describe('A disk that cannot be written', () => {
  if (missing) console.log(`skipped: ${missing}`);
  let instance: Instance;
  let data: string;
  // One process for all commands that fail: only the disk below the data folder changes between them.
  let commands: CommandLine | null = null;
  before(async () => {
    instance = createInstance({ plugins });
    data = join(instance.folder, 'data');
    await instance.civicInProcess('notes', 'add', 'kept');
    if (!missing) commands = startCommandLine({ through: ['unshare', '-m'] });
  });
  after(async () => {
    await commands?.end();
    instance.remove();
  });

  /** Runs commands, each given as its arguments, on a disk that a script mounts at the data folder. */
  async function runOn(script: string, ...given: string[][]): Promise<Ended[]> {
    const ended: Ended[] = [];
    mountFor(commands!.pid, script);
    for (const args of given) ended.push(await commands!.run(...args, '--config', instance.configFile));
    mountFor(commands!.pid, `umount ${data}`);
    return ended;
  }

  it('is named as read-only, with what to do', { skip: Boolean(missing) }, async () => {
    const [started, checked] = await runOn(`mount --bind ${data} ${data}; mount -o remount,ro,bind ${data}`, ['serve', '--port', '0'], ['doctor']);
    expectWords(started!, [`The data folder ${data} cannot be used: ${data} is on a disk that is mounted read-only.`, 'To fix it, mount it for writing, or choose another folder with --data or data_dir.']);
    expect(checked!.stdout).to.contain([`✗ data folder: ${data} is on a disk that is mounted read-only`]);
  });

  it('is named as another user’s, with the command that makes it theirs', { skip: process.getuid?.() !== 0 }, async () => {
    chmodSync(instance.folder, 0o755);
    const ended = await runCivic(['serve', '--port', '0', '--config', instance.configFile], { uid: NOBODY });
    chmodSync(instance.folder, 0o700);
    expectWords(ended, [`${data} may not be written by this user (nobody)`, `chown -R nobody ${data}`]);
  });

  it('is named as full when nothing can start on it', { skip: Boolean(missing) }, async () => {
    const full = `mount -t tmpfs -o size=1m tmpfs ${data}; cat /dev/zero > ${data}/filler 2>/dev/null || true`;
    for (const ended of await runOn(full, ['serve', '--port', '0'], ['notes', 'add', 'x'])) expectWords(ended, [`the disk of ${data} is full.\nTo fix it, make room there`]);
    const [nearly] = await runOn(`mount -t tmpfs -o size=150k tmpfs ${data}`, ['migrate']);
    expectWords(nearly!, ['The disk is full', 'bin/civic doctor says more']);
  });

  it('answers 503 storage_full when it fills up, keeps what was acknowledged, and works again once there is room', { skip: Boolean(missing), timeout: 120_000 }, async () => {
    const served = await serveCivic(['--config', instance.configFile], { through: afterMounting(`mount -t tmpfs -o size=4m tmpfs ${data}`) });
    const filler = join(seenBy(served.child.pid!, data), 'filler');
    const headers = { 'content-type': 'application/json' };
    const post = (text: string): Promise<Response> => fetch(`${served.url}/api/notes`, { method: 'POST', headers, body: JSON.stringify({ text }) });
    const kept: string[] = [];
    const keep = async (text: string): Promise<number> => {
      const { status } = await post(text);
      if (status === 201) kept.push(text);
      return status;
    };

    expect(await keep('before')).to.equal(201);
    expect(() => { for (;;) appendFileSync(filler, Buffer.alloc(4096)); }).to.throw(/ENOSPC/);
    const statuses = await Promise.all(Array.from({ length: 40 }, (_, number) => keep(`${number} ${'x'.repeat(400)}`)));
    expect(statuses.filter((status) => status !== 201 && status !== 503)).to.equal([]);
    const refused = await post('y'.repeat(500));
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.equal('5');
    const problem = await refused.json() as { code: string; detail: string };
    expect(problem).to.include({ code: 'storage_full', detail: 'The disk is full.' });
    expect(JSON.stringify(problem)).to.not.contain('SQLITE');
    expect((await fetch(`${served.url}/api/notes`)).status).to.equal(200);
    const unready = await fetch(`${served.url}/health/ready`);
    expect(unready.status).to.equal(503);
    expect((await unready.json() as { checks: object[] }).checks).to.include({ name: 'database', status: 'failed' });

    rmSync(filler);
    await until(async () => (await fetch(`${served.url}/health/ready`)).status === 200);
    expect(await keep('after')).to.equal(201);
    const notes = await (await fetch(`${served.url}/api/notes?limit=100`)).json() as { data: { text: string }[] };
    expect(notes.data.map(({ text }) => text).sort()).to.equal(kept.sort());
    await until(async () => (await (await fetch(`${served.url}/api/digest`)).json() as { data: unknown[] }).data.length === kept.length);
    expect(await served.stop()).to.equal(0);
    expect(served.output()).to.not.contain('did not stop cleanly');
  });
});
