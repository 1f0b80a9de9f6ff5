import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { join } from 'node:path';
import { until } from '../../core/test/wait.ts';
import { emptyDatabase, testDatabases } from '../../core/testing/database.ts';
import { createInstance, testPlugins, type Instance, type Served, type Starting } from '../support/civic.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const plugins = Object.fromEntries(['notes', 'digest', 'chores'].map((name) => [name, { from: join(testPlugins, name) }]));

interface Chore {
  id: string;
  done: number;
  runs: { process: number; attempt: number; ended_at: string | null }[];
}

if (testDatabases().includes('postgres')) {
  describe('A web node and two workers on one Postgres', { timeout: 120_000 }, () => {
    let database: Awaited<ReturnType<typeof emptyDatabase>>;
    let instance: Instance;
    let web: Served;
    let workers: Starting[];

    before(async () => {
      database = await emptyDatabase('postgres');
      instance = createInstance({ database: { url: database.url }, plugins, log: { access: 'warn', format: 'json' }, jobs: { poll_seconds: 0.2 } });
      // All at once, on an empty database: one of them migrates, the others wait for it.
      [web, ...workers] = await Promise.all([instance.serve('--role', 'web'), instance.start('--role', 'worker'), instance.start('--role', 'worker')]);
      await until(() => workers.every((worker) => worker.output().includes('runs background jobs')));
    });
    after(async () => {
      await Promise.all([web, ...workers].map((node) => node.stop('SIGKILL')));
      instance.remove();
      await database.drop();
    });

    async function post<T>(path: string, payload: object): Promise<T> {
      const answer = await fetch(web.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(payload) });
      expect(answer.status).to.equal(201);
      return await answer.json() as T;
    }
    async function get<T>(path: string): Promise<T> {
      return await (await fetch(web.url + path)).json() as T;
    }
    const choreNow = (id: string): Promise<Chore> => get(`/api/chores/${id}`);
    const workerOf = (chore: Chore): Starting | undefined => workers.find(({ child }) => child.pid === chore.runs.at(-1)?.process);

    it('serves no requests: a worker has no address, and logs its role', () => {
      for (const worker of workers) expect(worker.output()).to.contain('runs background jobs').and.to.not.contain('is running at');
    });

    it('digests a note once, however many nodes there are', async () => {
      const note = await post<{ id: string }>('/api/notes', { text: 'for everybody' });
      await until(async () => (await get<{ data: unknown[] }>('/api/digest')).data.length > 0);
      expect(await get('/api/digest')).to.equal({ data: [{ seq: 1, text: note.id }] });
    });

    it('notifies watchers on every node, whatever its role', async () => {
      const note = await post<{ id: string }>('/api/notes', { text: 'look' });
      const heard = (node: Served): number => node.output().split('\n').filter((line) => line.includes('Heard of a note') && line.includes(note.id)).length;
      await until(() => [web, ...workers].every((node) => heard(node) > 0));
      expect([web, ...workers].map(heard)).to.equal([1, 1, 1]);
    });

    it('does chores on workers only', async () => {
      const chores = await Promise.all(Array.from({ length: 12 }, () => post<Chore>('/api/chores', { milliseconds: 20 })));
      for (const { id } of chores) await until(async () => (await choreNow(id)).done === 1);
      const runs = (await Promise.all(chores.map(({ id }) => choreNow(id)))).flatMap((chore) => chore.runs);
      expect(runs).to.have.length(12);
      expect(runs.map((run) => run.process)).to.not.include(web.child.pid);
    });

    it('hands a chore over at once, as the same attempt, when its worker is asked to stop in the middle of it', async () => {
      const { id } = await post<Chore>('/api/chores', { milliseconds: 6000 });
      await until(async () => (await choreNow(id)).runs.length === 1);
      const first = workerOf(await choreNow(id))!;
      expect(await first.stop()).to.equal(0);
      await until(async () => (await choreNow(id)).runs.length === 2);
      await until(async () => (await choreNow(id)).done === 1);
      const { runs } = await choreNow(id);
      // One that was found when its lease was over would be at its second attempt.
      expect(runs.map(({ attempt, ended_at }) => ({ attempt, isEnded: ended_at !== null }))).to.equal([{ attempt: 1, isEnded: false }, { attempt: 1, isEnded: true }]);
      expect(runs[1]!.process).to.not.equal(runs[0]!.process);
      expect(first.output()).to.not.contain('did not stop');
    });
  });
} else {
  describe('Nodes', () => {
    it('share one Postgres', { skip: true }, () => undefined);
  });
}
