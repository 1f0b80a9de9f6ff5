import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../core/root.ts';
import { slowness, until } from '../core/test/wait.ts';
import { hasNodeSqlite } from '../core/database/sqlite/choose.ts';
import { createCheckout, type Checkout } from './support/checkout.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

// Built once; tests of what comes after a build take a copy.
let built: Checkout;
before(async () => {
  built = createCheckout();
  await built.civic();
});
after(() => built.throwAway());

describe('bin/civic on a fresh clone', () => {
  let checkout: Checkout;
  beforeEach(() => { checkout = createCheckout(); });
  afterEach(() => checkout.throwAway());

  it('installs production packages, gets the driver, builds and runs on a fresh clone', async () => {
    const { code, stdout, stderr } = await checkout.civic(['one', 'two']);
    expect(stderr.split('\n').filter((line) => line && !line.startsWith('  still')).map((line) => line.split(' (')[0])).to.equal(['Installing 2 packages', 'Getting the SQLite driver', 'Building']);
    expect(JSON.parse(stdout)).to.equal({ argv: ['one', 'two'], threads: '8' });
    expect(code).to.equal(2);
    expect(checkout.npmCalls()).to.equal(['ci --omit=dev', 'rebuild sqlite3']);
    expect(checkout.has('node_modules/@types')).to.be.false();
    expect(checkout.has('dist/core/cli/main.d.ts')).to.be.true();
    expect(JSON.parse(checkout.read('dist/core/cli/main.js.map')).sources).to.equal(['../../../core/cli/main.ts']);
    expect(checkout.has('.civic/lock')).to.be.false();
    expect(checkout.has('.civic-dist')).to.be.false();
  });

  it('compiles the driver when the prebuilt one does not run here', async () => {
    checkout.fakeCompiler();
    const { code, stderr } = await checkout.civic([], { env: { FAKE_NPM: 'broken-prebuilt' } });
    expect(code).to.equal(0);
    expect(stderr).to.contain('does not run here; compiling it');
    expect(checkout.npmCalls()).to.equal(['ci --omit=dev', 'rebuild sqlite3', 'rebuild sqlite3']);
  });

  it('installs once when two start at once, and both run', async () => {
    checkout.fakeCompiler();
    const env = { FAKE_NPM_UNTIL: join(checkout.home, 'go') };
    const both = [checkout.start(['bin/civic', 'a'], { env }), checkout.start(['bin/civic', 'a'], { env })];
    await Promise.any(both.map((one) => one.says('waiting for it')));
    writeFileSync(env.FAKE_NPM_UNTIL, '');
    expect((await Promise.all(both.map((one) => one.ended))).map(({ code }) => code)).to.equal([1, 1]);
    expect(checkout.npmCalls()).to.equal(['ci --omit=dev', 'rebuild sqlite3']);
  });

  it('says what to do when npm fails, shows its last lines, and recovers', async () => {
    checkout.fakeCompiler();
    const compiler = ['compiler', 'apt install python3 make g++'] as const;
    for (const [failure, advice] of [['network', 'check the connection'], ['disk', 'The disk is full'], ...(hasNodeSqlite() ? [] : [compiler])] as const) {
      const { code, stdout, stderr } = await checkout.civic([], { env: { FAKE_NPM: failure } });
      expect(code).to.equal(1);
      expect(stdout).to.equal('');
      expect(stderr).to.contain([advice, 'line 30', '.log']);
      expect(stderr).not.to.contain('line 5\n');
      expect(checkout.has('.civic/lock')).to.be.false();
      expect(checkout.has('dist')).to.be.false();
    }
    checkout.npmCalls();
    expect((await checkout.civic()).code).to.equal(0);
    expect(checkout.npmCalls().at(-1)).to.equal('rebuild sqlite3');
  });

  it('runs on the SQLite of Node where the driver cannot be compiled, and does not try again', { skip: !hasNodeSqlite() }, async () => {
    checkout.fakeCompiler();
    const { code, stderr } = await checkout.civic([], { env: { FAKE_NPM: 'compiler' } });
    expect(code).to.equal(0);
    expect(stderr).to.contain([`The SQLite driver sqlite3 cannot be installed here (see `, `; the SQLite of Node ${process.versions.node} is used instead.`]);
    checkout.npmCalls();
    const again = await checkout.civic();
    expect([again.code, again.stderr, checkout.npmCalls()]).to.equal([0, '', []]);
  });

  it('says where to get npm when there is none', async () => {
    const path = join(checkout.root, '..', 'only-node');
    mkdirSync(path);
    symlinkSync(process.execPath, join(path, 'node'));
    const { code, stderr } = await checkout.civic([], { path });
    expect(code).to.equal(1);
    expect(stderr).to.contain('npm was not found');
  });

  it('ends npm on Ctrl-C, leaves no lock, and the next start continues', async () => {
    checkout.fakeCompiler();
    const started = checkout.start(['bin/civic'], { env: { FAKE_NPM_UNTIL: '/nowhere/go' } });
    await until(() => checkout.has('node_modules/typescript') && checkout.read('.civic/lock').includes('child'));
    process.kill(started.pid, 'SIGINT');
    const { code, stderr } = await started.ended;
    expect(code).to.equal(130);
    expect(stderr).to.contain('Stopped.');
    expect(checkout.has('.civic/lock')).to.be.false();
    expect((await checkout.civic()).code).to.equal(0);
    expect(checkout.npmCalls()).to.equal(['ci --omit=dev', 'ci --omit=dev', 'rebuild sqlite3']);
  });

  it('waits for the npm of a killed start, then goes on from there', async () => {
    checkout.fakeCompiler();
    const go = join(checkout.home, 'go');
    const started = checkout.start(['bin/civic'], { env: { FAKE_NPM_UNTIL: go } });
    await until(() => checkout.has('node_modules/typescript') && checkout.read('.civic/lock').includes('child'));
    process.kill(started.pid, 'SIGKILL');
    await started.ended;
    expect(checkout.has('.civic/lock')).to.be.true();
    const next = checkout.start(['bin/civic']);
    await next.says('waiting for it');
    writeFileSync(go, '');
    expect((await next.ended).code).to.equal(0);
    expect(checkout.npmCalls()).to.equal(['ci --omit=dev', 'rebuild sqlite3']);
  });

  it('says so where it cannot write', async () => {
    const folders = ['', 'core', 'core/cli'].map((folder) => join(checkout.root, folder));
    for (const folder of folders) chmodSync(folder, 0o555);
    const { code, stderr } = await checkout.civic([], isRoot ? { uid: NOBODY } : {});
    for (const folder of folders) chmodSync(folder, 0o755);
    expect(code).to.equal(1);
    expect(stderr).to.contain(['cannot be written to', 'EACCES']);
  });

  it('prepares data at the end of a build, reports why it failed, and builds again at the next start', async () => {
    checkout.write('core/build.ts', "throw new Error('no data to prepare');\n");
    const failed = await checkout.civic();
    expect(failed.code).to.equal(1);
    expect(failed.stderr).to.contain(['Preparing data failed.', 'no data to prepare', 'prepare.log']);
    checkout.write('core/build.ts', "import { writeFileSync } from 'node:fs';\nwriteFileSync(new URL('./prepared', import.meta.url), 'ready');\n");
    expect((await checkout.civic()).code).to.equal(0);
    expect(checkout.read('dist/core/prepared')).to.equal('ready');
    expect(checkout.has('.civic/old-dist')).to.be.false();
  });

  it('leaves a linked node_modules alone', async () => {
    const elsewhere = join(checkout.root, '..', 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'kept'), '');
    symlinkSync(elsewhere, join(checkout.root, 'node_modules'));
    const { code, stderr } = await checkout.civic();
    expect(code).to.equal(1);
    expect(stderr).to.contain('node_modules is a link');
    expect(checkout.npmCalls()).to.equal([]);
    expect(readFileSync(join(elsewhere, 'kept'), 'utf8')).to.equal('');
  });
});

describe('bin/civic once it is built', () => {
  let checkout: Checkout;
  beforeEach(() => {
    checkout = createCheckout(built);
    checkout.npmCalls();
  });
  afterEach(() => checkout.throwAway());

  it('says nothing, asks npm nothing and costs under 150 ms of CPU when there is nothing to do', async () => {
    checkout.fakeCompiler();
    for (let file = 0; file < 400; file++) checkout.write(`core/many/file${file}.ts`, `export const value = ${file};\n`);
    await checkout.civic();
    expect((await checkout.civic()).stderr).to.equal('');
    // CPU time, not wall time: other tests run beside this one.
    const timed = 'const before = process.cpuUsage(); require("./bin/bootstrap.js").bootstrap().then(() => { const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000); })';
    const times = [];
    for (let round = 0; round < 6; round++) times.push(Number((await checkout.start(['-e', timed]).ended).stdout));
    expect(Math.min(...times)).to.be.below(150 * slowness);
    expect(checkout.npmCalls()).to.equal([]);
  });

  it('builds again after a change, and leaves no file of the build before', async () => {
    checkout.write('core/old.ts', 'export const old = 1;\n');
    await checkout.civic();
    expect(checkout.has('dist/core/old.js')).to.be.true();
    checkout.remove('core/old.ts');
    expect((await checkout.civic()).stderr).to.match(/^Building \(.*\)\n(  still .*\n)*$/);
    expect(checkout.has('dist/core/old.js')).to.be.false();
    expect(checkout.npmCalls()).to.equal([]);
  });

  it('builds for a user what a type check would refuse', async () => {
    checkout.write('core/wrong.ts', 'export const wrong: number = process.env.HOME;\n');
    expect((await checkout.civic()).code).to.equal(0);
  });

  it('does not build again when files were only copied or touched', async () => {
    utimesSync(join(checkout.root, 'core/cli/main.ts'), new Date(), new Date());
    expect((await checkout.civic()).stderr).to.equal('');
  });

  it('does not build again for tests, which a start does not run', async () => {
    checkout.write('core/test/new.test.ts', 'export {};\n');
    checkout.write('test/new.test.ts', 'export {};\n');
    expect((await checkout.civic()).stderr).to.equal('');
    expect(checkout.has('dist/core/test/new.test.js')).to.be.false();
  });

  it('takes an install made by hand as it is', async () => {
    checkout.remove('node_modules/.civic-install');
    expect((await checkout.civic()).stderr).to.equal('');
    expect(checkout.npmCalls()).to.equal([]);
  });

  it('changes only what differs when the lock file changes, and keeps a compiled driver', async () => {
    checkout.fakeCompiler();
    const lock = JSON.parse(checkout.read('package-lock.json'));
    lock.packages['node_modules/yaml'] = { version: '1.0.0' };
    checkout.write('package-lock.json', JSON.stringify(lock));
    expect((await checkout.civic()).code).to.equal(0);
    expect(checkout.npmCalls()).to.equal(['install --no-save --omit=dev']);
    expect(checkout.has('node_modules/yaml')).to.be.true();
  });

  it('takes over a lock whose holder is gone, half-written or silent on another host', async () => {
    checkout.fakeCompiler();
    const long = new Date(Date.now() - 3_600_000);
    const lock = join(checkout.root, '.civic/lock');
    for (const content of [JSON.stringify({ pid: 2 ** 22 + 1, host: hostname() }), '{"pi', JSON.stringify({ pid: 1, host: 'elsewhere' })]) {
      checkout.write('.civic/lock', content);
      utimesSync(lock, long, long);
      checkout.remove('dist');
      expect((await checkout.civic()).code).to.equal(0);
      expect(checkout.has('.civic/lock')).to.be.false();
    }
  });

  it('writes nothing and runs where it cannot write', async () => {
    utimesSync(join(checkout.root, 'core/cli/main.ts'), new Date(), new Date());
    checkout.remove('.civic');
    const stamp = checkout.read('dist/.civic-build');
    const folders = ['', 'dist', 'node_modules'].map((folder) => join(checkout.root, folder));
    for (const folder of folders) chmodSync(folder, 0o555);
    chmodSync(join(checkout.root, 'dist/.civic-build'), 0o444);
    const ended = await checkout.civic(['a'], isRoot ? { uid: NOBODY } : {});
    for (const folder of folders) chmodSync(folder, 0o755);
    expect(ended).to.equal({ code: 1, stdout: '{"argv":["a"],"threads":"8"}\n', stderr: '' });
    expect(checkout.read('dist/.civic-build')).to.equal(stamp);
    expect(checkout.has('.civic')).to.be.false();
  });

  it('just runs when it came without sources', async () => {
    for (const file of ['tsconfig.json', 'core', 'package-lock.json', 'node_modules', '.civic', 'dist/.civic-build']) checkout.remove(file);
    expect(await checkout.civic(['a'])).to.equal({ code: 1, stdout: '{"argv":["a"],"threads":"8"}\n', stderr: '' });
    expect(checkout.npmCalls()).to.equal([]);
  });
});

describe('bin/bootstrap.js --dev', () => {
  let checkout: Checkout;
  beforeEach(() => { checkout = createCheckout(); });
  afterEach(() => checkout.throwAway());

  it('adds development packages to a production install, which stay when bin/civic installs, and its build serves bin/civic', async () => {
    checkout.throwAway();
    checkout = createCheckout(built);
    checkout.npmCalls();
    const { code, stderr } = await checkout.dev();
    expect(code).to.equal(0);
    expect(stderr).to.contain('Building and checking types');
    expect(checkout.npmCalls()).to.equal(['install --no-save --include=dev']);
    expect((await checkout.civic()).stderr).to.equal('');
    expect((await checkout.dev()).stderr).to.equal('');
    checkout.write('core/test/new.test.ts', 'export {};\n');
    expect((await checkout.dev()).code).to.equal(0);
    expect(checkout.has('dist/core/test/new.test.js')).to.be.true();

    const lock = JSON.parse(checkout.read('package-lock.json'));
    lock.packages['node_modules/yaml'] = { version: '1.0.0' };
    checkout.write('package-lock.json', JSON.stringify(lock));
    expect((await checkout.civic()).code).to.equal(0);
    expect(checkout.npmCalls()).to.equal(['install --no-save --include=dev']);
  });

  it('checks plugins against the sources of civic, fails with the compiler\'s errors, and the build before stays', async () => {
    checkout.write('core/index.ts', 'export const name: string = "civic";\n');
    checkout.write('plugins/a/index.ts', 'import { name } from "civic";\nexport const upper: string = name.toUpperCase();\n');
    expect((await checkout.dev()).code).to.equal(0);
    const before = checkout.read('dist/core/index.js');
    checkout.write('core/index.ts', 'export const name: number = 1;\n');
    const { code, stderr } = await checkout.dev();
    expect(code).to.equal(1);
    expect(stderr).to.contain('plugins/a/index.ts(2,35): error TS2339');
    expect(checkout.read('dist/core/index.js')).to.equal(before);
    expect(checkout.has('.civic/lock')).to.be.false();
  });
});

it('names the versions of Node that it runs on', () => {
  const { unsupportedNode } = createRequire(import.meta.url)(join(projectRoot, 'bin/bootstrap.js'));
  expect(unsupportedNode('18.19.0')).to.contain(['20.19 or newer', '18.19.0']);
  expect(unsupportedNode('20.18.3')).to.contain('20.19 or newer');
  for (const version of ['20.19.0', '22.12.0', '25.1.0', '26.10.0', '28.0.0']) expect(unsupportedNode(version)).to.be.null();
});
