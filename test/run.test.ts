import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../core/root.ts';
import { isRunning } from '../core/test/processes.ts';
import { until } from '../core/test/wait.ts';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const RUNNER = new URL('./support/runner.js', import.meta.url).href;
const HEAD = `import Lab from '@hapi/lab';
export const lab = Lab.script();
const { after, before, describe, it } = lab;
`;

describe('npm test', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'civic-run-'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
    mkdirSync(join(folder, 'part', 'test'), { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (name: string, body: string) => writeFileSync(join(folder, 'part', 'test', `${name}.test.js`), HEAD + body);
  const command = (options: object) => ['--input-type=module', '-e', `import { runTests } from '${RUNNER}'; process.exitCode = await runTests(${JSON.stringify({ folder, ...options })});`];
  const env = { ...process.env, CIVIC_TEST_PG_URL: '', CIVIC_TEST_PG_MISSING: 'not here', CIVIC_REQUIRE_PG: '' };

  function run(options: object = {}) {
    const { status, stdout, stderr } = spawnSync(process.execPath, command(options), { encoding: 'utf8', env: { ...env, CIVIC_PORT: '1' } });
    return { code: status, output: stdout + stderr, last: stdout.trim().split('\n').at(-1) };
  }

  it('counts what passes, and says why tests are skipped', () => {
    write('good', `it('one', () => {}); it('two', () => { if (process.env.CIVIC_PORT) throw new Error('a setting of this shell'); });`);
    write('partly', `console.log('skipped: no moon: ' + process.env.CIVIC_TEST_PG_MISSING); it('three', { skip: true }, () => {}); it('four', () => {});`);
    const { code, output, last } = run();
    expect(last).to.equal('3 passed, 0 failed, 1 skipped');
    expect(output).to.contain(['no moon: not here', 'all that needs Postgres: not here', 'Slowest files:', 'part/test/good']);
    expect(code).to.equal(0);
  });

  it('fails on a failing test, a crash and a file without tests, also when they are run again, and shows what they wrote', () => {
    write('bad', `it('one', () => { throw new Error('it broke'); }); it('two', () => {});`);
    write('crash', `it('one', () => {}); it('two', () => process.exit(3));`);
    write('empty', '');
    const { code, output, last } = run();
    expect(output).to.contain(['it broke', 'part/test/bad: 1 of 2 failed', 'part/test/crash: ended early with exit code 3', 'part/test/empty: runs no test']);
    expect(output).to.not.contain('Unsteady');
    expect(last).to.match(/^[12] passed, 3 failed$/);
    expect(code).to.equal(1);
  });

  it('ends a file that hangs, and shows what it wrote', () => {
    write('hang', `console.log('before the loop'); it('one', () => { for (;;); });`);
    const { code, output, last } = run({ fileSeconds: 5 });
    expect(output).to.contain(['part/test/hang: still running after 5 s', 'before the loop']);
    expect(last).to.equal('0 passed, 1 failed');
    expect(code).to.equal(1);
  });

  it('runs a file that failed once more when all others are done, and says that it passed only then', () => {
    const disk = `import { existsSync, writeFileSync } from 'node:fs'; const [tried, done] = ['${folder}/tried', '${folder}/done'];`;
    write('unsteady', `${disk} it('one', () => { const isAlone = existsSync(done); writeFileSync(tried, ''); if (!isAlone) throw new Error('not alone'); }); it('two', () => {});`);
    write('slow', `${disk} const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      it('three', async () => { while (!existsSync(tried)) await sleep(20); await sleep(1500); writeFileSync(done, ''); });`);
    const { code, output, last } = run({ jobs: 2 });
    expect(output).to.contain(['not alone', 'Run again, alone: part/test/unsteady\n', '\nUnsteady: passed only when run again alone\n  part/test/unsteady: 1 of 2 failed\n']);
    expect(output).to.not.contain('\nFailed:');
    expect(last).to.equal('3 passed, 0 failed');
    expect(code).to.equal(0);
  });

  it('fails on a leaked global, a failing before and a failing after, whatever the tests do', () => {
    write('leak', `it('one', () => { globalThis.leaked = 1; });`);
    write('before', `describe('a', () => { before(() => { throw new Error('no start'); }); it('one', () => {}); });`);
    write('after', `describe('a', () => { after(() => { throw new Error('no end'); }); it('one', () => {}); });`);
    const { code, output } = run();
    expect(output).to.contain(['part/test/leak: failed outside its tests', 'leaked', 'no start', 'no end']);
    expect(code).to.equal(1);
  });

  it('runs only files whose names have one of the arguments in them', () => {
    write('apple', `it('one', () => {});`);
    write('pear', `it('two', () => {}); it('three', () => {});`);
    expect(run({ filters: ['pea'] }).last).to.equal('2 passed, 0 failed');
    const { code, output, last } = run({ filters: ['plum'] });
    expect(output).to.contain('No test file has plum in its name');
    expect(last).to.equal('0 passed, 0 failed');
    expect(code).to.equal(1);
  });

  it('ends what a test file left running', async () => {
    write('forgets', `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
      it('one', () => { writeFileSync('${folder}/pid', String(spawn('sleep', ['60'], { stdio: 'ignore' }).pid)); });`);
    expect(run().code).to.equal(0);
    await until(() => !isRunning(Number(readFileSync(join(folder, 'pid'), 'utf8'))));
  });

  it('ends its files on Ctrl-C', async () => {
    write('long', `import { renameSync, writeFileSync } from 'node:fs'; it('one', async () => { writeFileSync('${folder}/new', String(process.pid)); renameSync('${folder}/new', '${folder}/pid'); await new Promise(() => setInterval(() => {}, 1000)); });`);
    const runner = spawn(process.execPath, command({}), { env, stdio: 'ignore' });
    const ended = new Promise((resolve) => { runner.on('exit', resolve); });
    await until(() => existsSync(join(folder, 'pid')));
    runner.kill('SIGINT');
    expect(await ended).to.equal(130);
    await until(() => !isRunning(Number(readFileSync(join(folder, 'pid'), 'utf8'))));
  });
});
