import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { join } from 'node:path';
import { slowness, until } from '../../core/test/wait.ts';
import { createInstance, serveCivic, testPlugins, type Ended, type Instance, type Served } from '../support/civic.ts';
import { clusterMissing, createCluster, type Cluster } from '../support/cluster.ts';
import { runCivicInProcess } from '../support/in-process.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const plugins = Object.fromEntries(['notes', 'digest'].map((name) => [name, { from: join(testPlugins, name) }]));
const missing = clusterMissing();

describe('A Postgres', { timeout: 120_000 }, () => {
  if (missing) {
    console.log(`skipped: ${missing}`);
    it('that refuses or goes away', { skip: true }, () => undefined);
    return;
  }
  let cluster: Cluster;
  let instance: Instance;
  before(async () => {
    cluster = await createCluster();
    instance = createInstance({ plugins, log: { access: 'warn', format: 'json' } });
  });
  after(async () => {
    instance.remove();
    await cluster.remove();
  });

  const addressed = (change: (url: URL) => void): string => {
    const url = new URL(cluster.url);
    change(url);
    return url.href;
  };
  const run = (url: string, ...args: string[]): Promise<Ended> => runCivicInProcess([...args, '--config', instance.configFile], { env: { CIVIC_DATABASE_URL: url } });

  async function expectLine(url: string, words: string): Promise<void> {
    const { code, stderr } = await run(url, 'serve', '--port', '0');
    expect(code).to.equal(1);
    expect(stderr).to.endWith(`${words}\n`);
    expect(stderr.trim().split('\n')).to.have.length(1);
    expect(stderr).to.not.contain('secret');
  }

  it('that refuses is named in one line with what to do, and without the password', async () => {
    await cluster.requirePassword('alice', 'right-secret');
    await cluster.query('create role bob login');
    await cluster.query('create database empty');
    await Promise.all([
      expectLine(addressed((url) => { url.username = 'alice'; url.password = 'wrong-secret'; }), 'cannot be used: the user or the password was refused. Check both in database.url.'),
      expectLine(addressed((url) => { url.username = 'alice'; }), 'cannot be used: it asks for a password, and database.url has none.'),
    ]);
    await Promise.all([
      expectLine(addressed((url) => { url.pathname = '/nothing'; }), 'cannot be used: there is no such database. Create it with createdb nothing.'),
      expectLine(addressed((url) => { url.username = 'bob'; url.pathname = '/empty'; }), 'As its owner, run there: grant create on schema public to bob'),
    ]);
  });

  it('that is in order is found so by doctor', async () => {
    const url = addressed((url) => { url.username = 'alice'; url.password = 'right-secret'; });
    await run(url, 'migrate');
    const { code, stdout } = await run(url, 'doctor');
    expect(stdout).to.contain(['✓ database: Postgres ', '✓ migrations: all applied', '✓ database clock: agrees with this machine']);
    expect(stdout).to.not.contain('secret');
    expect(code).to.equal(0);
  });

  describe('of a running server', () => {
    // One server for all: it outlives whatever happens to its database.
    let served: Served;
    before(async () => { served = await serveCivic(['--config', instance.configFile], { env: { CIVIC_DATABASE_URL: cluster.url } }); });
    after(async () => { await served.stop(); });

    const get = (path: string): Promise<Response> => fetch(served.url + path);
    const post = (text: string): Promise<Response> => fetch(`${served.url}/api/notes`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ text }) });

    it('that goes away is answered with 503 and no cause, and works again by itself when it is back', async () => {
      const digested = async (): Promise<number> => (await (await get('/api/digest')).json() as { data: unknown[] }).data.length;
      expect((await post('before')).status).to.equal(201);
      let isAway = false;
      const seen = new Set<number>();
      const busy = Array.from({ length: 8 }, async () => { while (!isAway) seen.add((await post('during')).status); });
      await cluster.stop('SIGQUIT');
      isAway = true;
      await Promise.all(busy);
      expect([...seen].filter((status) => status !== 201 && status !== 503)).to.equal([]);

      const refused = await post('away');
      expect(refused.status).to.equal(503);
      expect(refused.headers.get('retry-after')).to.equal('5');
      const problem = await refused.json() as object;
      expect(problem).to.include({ code: 'database_unavailable', detail: 'The database does not answer.' });
      expect(JSON.stringify(problem)).to.not.match(/ECONN|127\.0\.0\.1/);
      expect((await get('/api/notes')).status).to.equal(503);
      expect((await get('/health')).status).to.equal(200);
      const unready = await get('/health/ready');
      expect(unready.status).to.equal(503);
      expect(await unready.text()).to.contain('not_ready').and.to.not.match(/ECONN|postgres/);

      await cluster.start();
      await until(async () => (await get('/health/ready')).status === 200);
      expect((await post('after')).status).to.equal(201);
      const { total } = await (await get('/api/notes')).json() as { total: number };
      await until(async () => await digested() === total);
      expect(served.child.exitCode).to.be.null();
    });

    it('that is frozen is answered with 503 within 5 seconds on every route that needs it, and works again when it goes on', { skip: process.platform !== 'linux' }, async () => {
      const timed = async (work: Promise<Response>): Promise<[number, boolean]> => {
        const asked = performance.now();
        const { status } = await work;
        // The promise is 5 s; the rest is for a machine that does other things, too.
        return [status, performance.now() - asked < 6000 * slowness];
      };
      expect((await post('before')).status).to.equal(201);
      cluster.freeze();
      try {
        // More than the pool has connections.
        const asked = [...Array.from({ length: 30 }, () => timed(get('/api/notes'))), ...Array.from({ length: 10 }, () => timed(post('frozen'))), timed(get('/health/ready'))];
        expect(await timed(get('/health'))).to.equal([200, true]);
        for (const answer of await Promise.all(asked)) expect(answer).to.equal([503, true]);
        // Known by now, so it is answered at once.
        expect(await timed(get('/api/notes'))).to.equal([503, true]);
        expect((await (await get('/api/notes')).json() as { code: string }).code).to.equal('database_unavailable');
        expect((await get('/health/ready')).status).to.equal(503);
      } finally {
        cluster.thaw();
      }
      await until(async () => (await get('/health/ready')).status === 200);
      expect((await post('after')).status).to.equal(201);
      expect((await get('/api/notes')).status).to.equal(200);
      expect(served.output()).to.contain('The database server has not responded for 4 s').and.to.contain('The database server responds again');
    });

    it('that is slow is no reason to cut a query', async () => {
      // A statement that another transaction holds up for longer than a server may be silent.
      const holding = cluster.query('begin; lock table notes_notes in access exclusive mode; select pg_sleep(7); commit');
      await until(async () => (await cluster.query("select 1 from pg_locks where mode = 'AccessExclusiveLock' and granted and relation = 'notes_notes'::regclass")).length > 0);
      expect((await get('/api/notes')).status).to.equal(200);
      await holding;
    });

    it('that stays away does not keep a server from stopping', async () => {
      await cluster.stop('SIGQUIT');
      const asked = performance.now();
      expect(await served.stop(), served.output()).to.equal(0);
      expect(performance.now() - asked).to.be.below(30_000 * slowness);
      expect(served.output()).to.not.contain('did not stop cleanly');
      await cluster.start();
    });
  });
});
