import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import type { OpenDatabase } from '../database/connect.ts';
import { databases, quiet, type TestDatabase } from '../database/test/support.ts';
import { createJobs, type Jobs } from '../jobs.ts';
import { startChild, type Child } from './processes/child.ts';
import { prepare } from './processes/notes.ts';
import { startWorker } from './processes/worker.ts';
import { until } from './wait.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after, beforeEach, afterEach } = lab;

interface Heard {
  plugin: string;
  number: number;
  by: string;
}

for (const { dialect, create } of databases()) {
  describe(`jobs over processes on ${dialect}`, { timeout: 120_000 }, () => {
    let database: TestDatabase;
    let children: Child[];
    let here: { stop(): Promise<void> }[];
    before(async () => { database = await create(); });
    after(() => database.drop());
    beforeEach(() => { [children, here] = [[], []]; });
    afterEach(async () => {
      for (const worker of here) await worker.stop();
      for (const child of children) await child.kill('SIGKILL');
      await database.reset();
    });

    /** A worker that will be killed, so that it has a process of its own. */
    async function doomedWorker(by: string, holdsThird = false): Promise<Child> {
      const child = await startChild('jobs', { url: database.url, dataDir: database.dataDir, by, holdsThird });
      children.push(child);
      return child;
    }
    async function workerHere(by: string, die = async (): Promise<void> => undefined): Promise<void> {
      here.push(await startWorker(await database.open(), { by, die }));
    }
    function declared(db: OpenDatabase): Jobs {
      const jobs = createJobs({ db: () => db, log: quiet, clock: systemClock, role: 'web', concurrency: 1, networkConcurrency: 2, pollSeconds: 0.2 }).of('notes');
      jobs.define({ name: 'notes.work', lease_seconds: 9, async run() {} });
      jobs.define({ name: 'notes.due', by_key: true, lane: 'network', lease_seconds: 9, async run() {} });
      jobs.define({ name: 'notes.deadly', lease_seconds: 1, max_attempts: 2, async run() {} });
      return jobs;
    }
    async function enqueue(name: string, count: number, from = 0): Promise<string[]> {
      const db = await database.open();
      await prepare(db);
      const jobs = declared(db);
      const ids = await db.write(async (tx) => {
        const ids: string[] = [];
        for (let number = from; number < from + count; number++) ids.push(await jobs.enqueue(tx, name, number));
        return ids;
      });
      await db.close();
      return ids;
    }

    /** Expects that each number was worked on once, or again where the killed worker had begun it. */
    async function expectStories(db: OpenDatabase, count: number): Promise<Heard[]> {
      const rows: Heard[] = await db.read('notes_heard').select('plugin', 'number', 'by').orderBy('key');
      let cutShort = 0;
      for (let number = 0; number < count; number++) {
        const story = rows.filter((row) => row.number === number).map(({ plugin, by }) => `${plugin} ${by === 'doomed' ? 'doomed' : 'other'}`).join(', ');
        // What the killed worker had begun is begun again; it may have ended without having said so.
        expect(story).to.match(/^(begin doomed, (end doomed, )?)?begin (doomed|other), end \3$/);
        if (story.startsWith('begin doomed') && story.endsWith('end other')) cutShort += 1;
      }
      expect(cutShort).to.be.at.least(1);
      expect(cutShort).to.be.at.most(4);
      expect(rows.filter(({ by }) => by !== 'doomed').length).to.be.above(0);
      return rows;
    }

    it('runs everything, and nothing twice at once, when a worker is killed in the middle of it', async () => {
      let count = 0;
      const more = async (): Promise<void> => {
        await enqueue('notes.work', 60, count);
        count += 60;
      };
      await enqueue('notes.work', 0);
      if (dialect === 'postgres') await workerHere('other');
      else await more();
      const doomed = await doomedWorker('doomed', true);
      // The other one may be quick to take them all.
      while (doomed.messages.length <= 8) {
        if (dialect === 'postgres') await more();
        await sleep(200);
      }
      await doomed.kill('SIGKILL');
      if (dialect === 'sqlite') await workerHere('other');

      const db = await database.open();
      const open = () => db.read('core_jobs').where({ name: 'notes.work' }).whereNot({ state: 'completed' }).count('* as count').first();
      await until(async () => Number((await open())!.count) === 0);

      const rows = await expectStories(db, count);
      if (dialect === 'postgres') expect(new Set(rows.map(({ by }) => by)).size).to.equal(2);
    });

    it('runs each key that is due, and none twice, when one of three workers is killed', async () => {
      await enqueue('notes.work', 0);
      const db = await database.open();
      const jobs = declared(db);
      const keys: string[] = [];
      // SQLite has one server process at a time, so there the second worker comes after the first.
      if (dialect === 'postgres') for (const by of ['second', 'third']) await workerHere(by);
      const doomed = await doomedWorker('doomed', true);
      // The others may be quick to take them all.
      while (doomed.messages.length <= 4) {
        const more = Array.from({ length: 30 }, (_, index) => String(keys.length + index));
        await db.write(async (tx) => { for (const key of more) await jobs.setDue(tx, 'notes.due', key, { at: new Date().toISOString(), every_seconds: 3600 }); });
        keys.push(...more);
        await sleep(200);
      }
      await doomed.kill('SIGKILL');
      if (dialect === 'sqlite') await workerHere('second');
      await until(async () => new Set(await db.read('notes_heard').where({ plugin: 'end' }).pluck('number')).size === keys.length);
      await until(async () => (await db.read('core_jobs').where({ name: 'notes.due' }).whereNot({ state: 'completed' })).length === 0);
      await expectStories(db, keys.length);
      const next = await jobs.dueTimes(db.read, 'notes.due', keys);
      expect([...next.values()].filter((at) => Date.parse(at) > Date.now() + 3000_000)).to.have.length(keys.length);
    });

    it('gives up a job that kills its worker again and again', async () => {
      const [id] = await enqueue('notes.deadly', 1);
      for (const attempt of ['first', 'second']) {
        // It may die before it is ready.
        const child = await doomedWorker(attempt).catch(() => null);
        await child?.ended;
      }
      let ran = 0;
      await workerHere('third', async () => { ran += 1; });
      const db = await database.open();
      const job = () => db.read('core_jobs').where({ id }).first('state', 'attempts', 'error');
      await until(async () => (await job()).state === 'failed');
      expect(await job()).to.equal({ state: 'failed', attempts: 2, error: 'The worker died or stopped answering' });
      expect(ran).to.equal(0);
    });
  });
}
