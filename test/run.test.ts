import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../core/root.ts';
import { isRunning } from '../core/test/processes.ts';
import { until } from '../core/test/wait.ts';

export const notQuick = 'it starts processes';
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
    expect(output).to.contain(['no moon: not here', 'all that needs Postgres: not here', 'Slowest files:', 'Files that use most CPU:', 'part/test/good']);
    expect(output).to.match(/\n2 files in \d+ s, with \d+ s of CPU\n/);
    expect(code).to.equal(0);
  });

  it('fails on a failing test, a crash and a file without tests, and shows what they wrote', () => {
    write('bad', `it('one', () => { throw new Error('it broke'); }); it('two', () => {});`);
    write('crash', `it('one', () => {}); it('two', () => process.exit(3));`);
    write('empty', '');
    const { code, output, last } = run();
    expect(output).to.contain(['it broke', 'part/test/bad: 1 of 2 failed', 'part/test/crash: ended early with exit code 3', 'part/test/empty: runs no test']);
    expect(last).to.match(/^[12] passed, 3 failed$/);
    expect(code).to.equal(1);
  });

  it('ends a file that hangs, and shows what it wrote', () => {
    write('hang', `console.log('before the loop'); it('one', () => { for (;;); });`);
    const { code, output, last } = run({ stallSeconds: 1 });
    expect(output).to.match(/part\/test\/hang: no test ended and nothing was written for \d+ s/).and.contain('before the loop');
    expect(last).to.equal('0 passed, 1 failed');
    expect(code).to.equal(1);
  });

  it('lets a file take its time as long as its tests end', () => {
    write('long', `for (let i = 0; i < 8; i++) it('part ' + i, () => new Promise((done) => setTimeout(done, 500)));`);
    expect(run({ stallSeconds: 2 }).last).to.equal('8 passed, 0 failed');
  });

  it('runs no file a second time: what would pass then has failed', () => {
    write('unsteady', `import { existsSync, writeFileSync } from 'node:fs'; it('one', () => { if (existsSync('${folder}/tried')) return; writeFileSync('${folder}/tried', ''); throw new Error('not yet'); });`);
    const { code, last } = run();
    expect([code, last]).to.equal([1, '0 passed, 1 failed']);
  });

  it('runs files in one process, and in a new one those that ask for it or come after a failure', () => {
    const pid = `import { appendFileSync } from 'node:fs'; appendFileSync('${folder}/pids', process.pid + '\\n');`;
    write('a', `${pid} it('one', () => {});`);
    write('b', `${pid} it('two', () => {});`);
    write('c', `${pid}\nexport const ownProcess = 'it counts processes'; it('three', () => {});`);
    write('d', `${pid} it('four', () => { throw new Error('it broke'); });`);
    write('e', `${pid} it('five', () => {});`);
    expect(run({ jobs: 1 }).last).to.equal('4 passed, 1 failed');
    const [a, b, c, d, e] = readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n');
    expect(b).to.equal(a);
    expect(new Set([a, c, d, e]).size).to.equal(4);
  });

  it('fails on what a file leaves behind for the next one in its process', () => {
    write('variable', `it('one', () => { process.env.CIVIC_LEFT = 'yes'; });`);
    write('clock', `it('one', () => { Date.now = () => 0; });`);
    write('listener', `it('one', () => { process.on('SIGTERM', () => {}); });`);
    write('folder', `it('one', () => { process.chdir('${folder}'); });`);
    write('next', `it('one', () => { if (process.env.CIVIC_LEFT || Date.now() === 0) throw new Error('not clean'); });`);
    const { code, output, last } = run({ jobs: 1 });
    for (const [name, left] of [['variable', 'the variable CIVIC_LEFT'], ['clock', 'another Date.now'], ['listener', 'listeners of process for SIGTERM'], ['folder', `the working folder ${folder}`]]) {
      expect(output).to.contain(`\n  part/test/${name}: left behind for the next file: ${left}\n`);
    }
    expect(last).to.equal('5 passed, 4 failed');
    expect(code).to.equal(1);
  });

  it('leaves out Postgres, browsers and crash tests with --quick, also beside filters', () => {
    const said = `import { testDatabases } from '${new URL('../core/testing/database.js', import.meta.url).href}'; import { missingBrowser } from '${new URL('./support/browser.js', import.meta.url).href}';
      const dialects = testDatabases(); const browser = missingBrowser();
      it('one', () => { if (dialects.join() !== 'sqlite' || !browser) throw new Error(dialects + browser); });`;
    write('apple', said);
    write('pear', said);
    for (const name of ['crash', 'journeys']) {
      mkdirSync(join(folder, 'test', name), { recursive: true });
      writeFileSync(join(folder, 'test', name, 'apple.test.js'), `${HEAD} it('slow', () => {});`);
    }
    const { output, last } = run({ quick: true });
    expect(last).to.equal('2 passed, 0 failed');
    expect(output).to.contain('all that needs Postgres: npm test -- --quick leaves it out');
    expect(run({ quick: true, filters: ['apple'] }).last).to.equal('1 passed, 0 failed');
    expect(run({ filters: ['test/crash'] }).last).to.equal('1 passed, 0 failed');
  });

  it('leaves out files that are not quick with --quick, prints how many and why, and runs those that start processes with --processes', () => {
    write('apple', `it('one', () => {});`);
    for (const name of ['pear', 'plum']) write(name, `export const notQuick = 'it starts processes'; it('two', () => {});`);
    write('quince', `export const notQuick = "it waits for a day's end"; it('three', () => {});`);
    const quick = run({ quick: true });
    expect(quick.last).to.equal('1 passed, 0 failed');
    expect(quick.output).to.contain("Left out by --quick:\n  2 files: it starts processes\n  1 file: it waits for a day's end\n");
    const processes = run({ quick: true, processes: true });
    expect(processes.last).to.equal('3 passed, 0 failed');
    expect(processes.output).to.contain("Left out by --quick:\n  1 file: it waits for a day's end\n");
    const none = run({ quick: true, filters: ['pear'] });
    expect([none.code, none.last]).to.equal([1, '0 passed, 0 failed']);
    expect(none.output).to.contain('  1 file: it starts processes\n').and.not.contain('No test file');
    expect(run().last).to.equal('4 passed, 0 failed');
  });

  it('names its options when one is unknown', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'run.js'), '--quik'], { encoding: 'utf8', env });
    expect([status, stdout]).to.equal([2, '']);
    expect(stderr).to.contain(["Unknown option '--quik'", '--quick      only SQLite']).and.not.contain('    at ');
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

  it('fails on what a test file left running, and ends it', async () => {
    write('forgets', `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
      it('one', () => { writeFileSync('${folder}/pid', String(spawn('sleep', ['60'], { stdio: 'ignore' }).pid)); });`);
    const { code, output } = run();
    expect(output).to.contain('part/test/forgets: left behind for the next file: 1 running process\n');
    expect(code).to.equal(1);
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
