import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../core/root.ts';
import { isRunning } from '../core/test/processes.ts';
import { until } from '../core/test/wait.ts';
import { hasRoomInMemory } from './support/memory.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

const RUNNER = new URL('./support/runner.js', import.meta.url).href;
const HEAD = `import Lab from '@hapi/lab';
export const lab = Lab.script();
const { after, before, describe, it } = lab;
`;

interface Ended {
  code: number | null;
  output: string;
  last: string | undefined;
}

const env = { ...process.env, CIVIC_TEST_PG_URL: '', CIVIC_TEST_PG_MISSING: 'not here', CIVIC_REQUIRE_PG: '' };

/** A folder of test files of its own, and the runner on it. */
function createFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'civic-run-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  const command = (options: object) => ['--input-type=module', '-e', `import { runTests } from '${RUNNER}'; process.exitCode = await runTests(${JSON.stringify({ folder, ...options })});`];
  return {
    folder,
    command,
    write(name: string, body: string, under = 'part/test'): void {
      mkdirSync(join(folder, under), { recursive: true });
      writeFileSync(join(folder, under, `${name}.test.js`), HEAD + body);
    },
    run(options: object = {}, variables: NodeJS.ProcessEnv = {}): Ended {
      const { status, stdout, stderr } = spawnSync(process.execPath, command({ jobs: 1, ...options }), { encoding: 'utf8', env: { ...env, CIVIC_PORT: '1', ...variables } });
      return { code: status, output: stdout + stderr, last: stdout.trim().split('\n').at(-1) };
    },
    remove(): void { rmSync(folder, { recursive: true, force: true }); },
  };
}

describe('npm test on files that pass, fail, crash and leave things behind', () => {
  let files: ReturnType<typeof createFiles>;
  let ended: Ended;
  const fileOf = (name: string): string => join(files.folder, name);
  const pidOf = (name: string): string => readFileSync(fileOf(`pid-${name}`), 'utf8');

  // One run for all, as each run and each failing file starts a process. The runner goes by name.
  before(() => {
    files = createFiles();
    const write = (name: string, body: string): void => files.write(name, `import { existsSync, writeFileSync } from 'node:fs'; writeFileSync('${fileOf(`pid-${name}`)}', String(process.pid));\n${body}`);
    write('a-good', `it('one', () => {}); it('two', () => { if (process.env.CIVIC_PORT) throw new Error('a setting of this shell'); });`);
    write('b-partly', `console.log('skipped: no moon: ' + process.env.CIVIC_TEST_PG_MISSING); it('one', { skip: true }, () => {}); it('two', () => {});`);
    write('c-own', `export const ownProcess = 'it counts processes'; it('one', () => {});`);
    write('d-bad', `it('one', () => { if (existsSync('${fileOf('tried')}')) return; writeFileSync('${fileOf('tried')}', ''); throw new Error('it broke'); }); it('two', () => {});`);
    write('e-crash', `it('one', () => {}); it('two', () => process.exit(3));`);
    write('f-empty', '');
    write('g-leak', `it('one', () => { globalThis.leaked = 1; });`);
    write('h-before', `describe('a', () => { before(() => { throw new Error('no start'); }); it('one', () => {}); });`);
    write('i-after', `describe('a', () => { after(() => { throw new Error('no end'); }); it('one', () => {}); });`);
    write('j-leaves', `import { spawn } from 'node:child_process';
      it('one', () => { process.env.CIVIC_LEFT = 'yes'; Date.now = () => 0; process.on('SIGTERM', () => {}); process.chdir('${files.folder}'); });
      it('two', () => { writeFileSync('${fileOf('pid-left')}', String(spawn('sleep', ['60'], { stdio: 'ignore' }).pid)); });`);
    write('k-next', `it('one', () => { if (process.env.CIVIC_LEFT || Date.now() === 0) throw new Error('not clean'); });`);
    ended = files.run();
  });
  after(() => { files.remove(); });

  it('counts what passes, fails and is skipped, says why tests are skipped, and exits with 1', () => {
    const { code, output, last } = ended;
    // What a test that ended right before a crash reported may be lost.
    expect(last).to.match(/^1[01] passed, 7 failed, 1 skipped$/);
    expect(output).to.contain(['no moon: not here', 'all that needs Postgres: not here', 'Slowest files:', 'Files that use most CPU:', 'part/test/a-good']);
    expect(output).to.match(/\n11 files in \d+ s, with \d+ s of CPU\n/);
    expect(code).to.equal(1);
  });

  it('fails on a failing test, a crash and a file without tests, and shows what they wrote', () => {
    expect(ended.output).to.contain(['it broke', 'part/test/d-bad: 1 of 2 failed\n', 'part/test/e-crash: ended early with exit code 3\n', 'part/test/f-empty: runs no test\n']);
  });

  it('runs no file a second time: d-bad would pass then', () => {
    expect(ended.output.match(/part\/test\/d-bad: 1 of 2 failed\n/g)).to.have.length(1);
  });

  it('fails on a leaked global, a failing before and a failing after, whatever the tests do', () => {
    expect(ended.output).to.contain(['part/test/g-leak: left behind for the next file: the global leaked\n', 'no start', 'no end']);
    expect(ended.output).to.match(/\n {2}part\/test\/h-before: .+\n/).and.match(/\n {2}part\/test\/i-after: .+\n/);
  });

  it('fails on what a file leaves behind for the next one in its process, and ends what it left running', async () => {
    const left = ['the variable CIVIC_LEFT', `the working folder ${files.folder}`, 'listeners of process for SIGTERM', 'another Date.now', '1 running process'];
    expect(ended.output).to.contain(`\n  part/test/j-leaves: left behind for the next file: ${left.join(', ')}\n`);
    expect(ended.output).to.not.contain('k-next: ');
    await until(() => !isRunning(Number(pidOf('left'))));
  });

  it('runs files in one process, and in a new one those that ask for it or come after a failure', () => {
    expect([pidOf('b-partly'), pidOf('d-bad')]).to.equal([pidOf('a-good'), pidOf('a-good')]);
    const others = ['a-good', 'c-own', 'e-crash', 'f-empty', 'g-leak', 'h-before', 'i-after', 'j-leaves', 'k-next'];
    expect(new Set(others.map(pidOf)).size).to.equal(others.length);
  });
});

describe('npm test', () => {
  let files: ReturnType<typeof createFiles>;
  beforeEach(() => { files = createFiles(); });
  afterEach(() => { files.remove(); });

  it('ends a file that hangs and shows what it wrote, but lets a file take its time as long as its tests end', () => {
    files.write('hang', `console.log('before the wait'); it('one', () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });`);
    files.write('long', `for (let i = 0; i < 8; i++) it('part ' + i, () => new Promise((done) => setTimeout(done, 500)));`);
    const { code, output, last } = files.run({ stallSeconds: 2, jobs: 2 });
    expect(output).to.match(/part\/test\/hang: no test ended and nothing was written for \d+ s/).and.contain('before the wait');
    expect(last).to.equal('8 passed, 1 failed');
    expect(code).to.equal(1);
  });

  it('runs a failed file once more with --again, names it, and fails when it fails again', () => {
    const tried = join(files.folder, 'tried');
    files.write('unstable', `import { existsSync, writeFileSync } from 'node:fs'; it('one', () => { if (existsSync('${tried}')) return; writeFileSync('${tried}', ''); throw new Error('it broke'); });`);
    const passed = files.run({ again: true });
    expect([passed.code, passed.last]).to.equal([0, '1 passed, 0 failed']);
    expect(passed.output).to.contain(['it broke', 'Unstable, failed and then passed alone (the first output is above):\n  part/test/unstable: 1 of 1 failed\n']);
    files.write('bad', `it('one', () => { throw new Error('it broke'); });`);
    const failed = files.run({ again: true, filters: ['bad'] });
    expect([failed.code, failed.last]).to.equal([1, '0 passed, 1 failed']);
    expect(failed.output.match(/^FAILED .* part\/test\/bad /gm)).to.have.length(2);
  });

  it('runs no file once more with --again when more than three failed', () => {
    for (const name of ['a', 'b', 'c', 'd']) files.write(name, `it('one', () => { throw new Error('it broke'); });`);
    const { code, output, last } = files.run({ again: true });
    expect([code, last]).to.equal([1, '0 passed, 4 failed']);
    expect(output.match(/^FAILED /gm)).to.have.length(4);
  });

  it('leaves out Postgres, browsers, crash tests and files that are not quick with --quick, also beside filters, and says so', () => {
    const said = `import { testDatabases } from '${new URL('../core/testing/database.js', import.meta.url).href}'; import { missingBrowser } from '${new URL('./support/browser.js', import.meta.url).href}';
      const dialects = testDatabases(); const browser = missingBrowser();
      it('one', () => { if (dialects.join() !== 'sqlite' || !browser) throw new Error(dialects + browser); });`;
    files.write('apple', said);
    files.write('pear', said);
    for (const name of ['crash', 'journeys']) files.write('apple', `it('slow', () => {});`, `test/${name}`);
    for (const name of ['fig', 'grape']) files.write(name, `export const notQuick = 'it starts processes'; it('two', () => {});`);
    files.write('quince', `export const notQuick = "it waits for a day's end"; it('three', () => {});`);
    const quick = files.run({ quick: true });
    expect([quick.code, quick.last]).to.equal([0, '2 passed, 0 failed']);
    expect(quick.output).to.contain('all that needs Postgres: npm test -- --sqlite and --quick leave it out');
    expect(quick.output).to.contain("Left out by --quick:\n  2 files: it starts processes\n  1 file: it waits for a day's end\n");
    const sqlite = files.run({ sqlite: true, filters: ['apple', 'fig', 'quince'] });
    expect([sqlite.code, sqlite.last]).to.equal([0, '3 passed, 0 failed']);
    expect(sqlite.output).to.not.contain('Left out');
    const none = files.run({ quick: true, filters: ['grape'] });
    expect([none.code, none.last]).to.equal([1, '0 passed, 0 failed']);
    expect(none.output).to.contain('  1 file: it starts processes\n').and.not.contain('No test file');
    const whole = files.run({ filters: ['test/crash', 'quince'] });
    expect(whole.last).to.equal('2 passed, 0 failed');
    expect(whole.output).to.not.contain('Left out');
  });

  it('names its options when one is unknown', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'run.js'), '--quik'], { encoding: 'utf8', env });
    expect([status, stdout]).to.equal([2, '']);
    expect(stderr).to.contain(["Unknown option '--quik'", '--quick   the same']).and.not.contain('    at ');
  });

  it('fails when no file has one of the arguments in its name', () => {
    files.write('apple', `it('one', () => {});`);
    const { code, output, last } = files.run({ filters: ['plum'] });
    expect(output).to.contain('No test file has plum in its name');
    expect([code, last]).to.equal([1, '0 passed, 0 failed']);
  });

  it('keeps temporary files in memory, and deletes them with those of killed runs', { skip: !hasRoomInMemory() }, () => {
    const seen = join(files.folder, 'seen');
    files.write('apple', `import { tmpdir } from 'node:os'; import { writeFileSync } from 'node:fs'; it('one', () => { writeFileSync(tmpdir() + '/left', ''); writeFileSync('${seen}', tmpdir()); });`);
    const ended = spawnSync('true').pid;
    const [stale, other] = [ended, process.pid].map((pid) => mkdtempSync(`/dev/shm/civic-files-${pid}-`)) as [string, string];
    expect(files.run({}, { TMPDIR: '' }).code).to.equal(0);
    const used = readFileSync(seen, 'utf8');
    expect(used).to.match(/^\/dev\/shm\/civic-files-\d+-\w{6}$/);
    expect([used, stale, other].map((folder) => existsSync(folder))).to.equal([false, false, true]);
    rmSync(other, { recursive: true });
    files.run({}, { TMPDIR: files.folder });
    expect(readFileSync(seen, 'utf8')).to.equal(files.folder);
  });

  it('ends its files on Ctrl-C', async () => {
    const pid = join(files.folder, 'pid');
    files.write('long', `import { renameSync, writeFileSync } from 'node:fs'; it('one', async () => { writeFileSync('${pid}-new', String(process.pid)); renameSync('${pid}-new', '${pid}'); await new Promise(() => setInterval(() => {}, 1000)); });`);
    const runner = spawn(process.execPath, files.command({}), { env, stdio: 'ignore' });
    const ended = new Promise((resolve) => { runner.on('exit', resolve); });
    await until(() => existsSync(pid));
    runner.kill('SIGINT');
    expect(await ended).to.equal(130);
    await until(() => !isRunning(Number(readFileSync(pid, 'utf8'))));
  });
});
