import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { setTimeout as sleep } from 'node:timers/promises';
import { stoppedClock, systemClock, type Clock } from '../clock.ts';
import type { OpenDatabase } from '../database/connect.ts';
import { databases, quiet, type TestDatabase } from '../database/test/support.ts';
import { createJobs, type EnqueueOptions, type JobKind, type JobQueue, type JobRecord, type Jobs, type JobsOptions, type RunningJob } from '../jobs.ts';
import { empty, prepare } from './processes/notes.ts';
import { until } from './wait.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach, afterEach } = lab;

for (const { dialect, create } of databases()) {
  describe(`jobs on ${dialect}`, { timeout: 60_000 }, () => {
    let database: TestDatabase;
    let db: OpenDatabase;
    let queues: JobQueue[];

    function queue(kinds: JobKind[], options: Partial<JobsOptions> = {}, on = db): { queue: JobQueue; jobs: Jobs } {
      const queue = createJobs({ db: () => on, log: quiet, clock: systemClock, role: 'all', concurrency: 2, networkConcurrency: 2, pollSeconds: 0.05, ...options });
      const jobs = queue.of('notes');
      for (const kind of kinds) jobs.define(kind);
      queues.push(queue);
      return { queue, jobs };
    }
    async function started(kinds: JobKind[], options: Partial<JobsOptions> = {}, on = db): Promise<Jobs> {
      const made = queue(kinds, options, on);
      await made.queue.start();
      return made.jobs;
    }
    const add = (jobs: Jobs, name: string, payload: unknown = {}, options?: EnqueueOptions) => db.write((tx) => jobs.enqueue(tx, name, payload, options));
    const state = async (jobs: Jobs, id: string) => (await jobs.byId(id))!.state;
    const ended = async (jobs: Jobs, id: string): Promise<JobRecord> => {
      await until(async () => ['completed', 'failed'].includes(await state(jobs, id)));
      return (await jobs.byId(id))!;
    };
    /** Nothing is due, waits or runs. A clock that moves on before would meet a run that is not stored yet, and leave out the next one. */
    const settled = (clock: Clock) => until(async () => {
      const due = await db.read('core_job_schedules').where('next_at', '<=', clock.iso()).first('name');
      const open = await db.read('core_jobs').whereIn('state', ['pending', 'running']).where('run_at', '<=', clock.iso()).first('key');
      return due === undefined && open === undefined;
    });
    const aborted = (signal: AbortSignal) => new Promise<void>((_, reject) => { signal.addEventListener('abort', () => { reject(signal.reason); }); });

    before(async () => {
      database = await create();
      db = await database.open({ pool: 10 });
      await prepare(db);
    });
    after(() => database.drop());
    beforeEach(() => { queues = []; });
    afterEach(async () => {
      for (const queue of queues) await queue.stop(100);
      await empty(db, 'core_jobs', 'core_job_schedules', 'core_job_dues', 'notes_heard');
    });

    it('takes every pace of polling that the config allows, and refuses a lease that would end before it is renewed', () => {
      const slow = queue([{ name: 'notes.send', async run() {} }], { pollSeconds: 60 });
      expect(() => slow.jobs.define({ name: 'notes.hasty', lease_seconds: 100, async run() {} })).to.throw(/has a lease of 100 s: it is renewed each 60 s/);
    });

    it('refuses a period in which nothing could ever run', () => {
      for (const every_seconds of [0, -1, NaN]) expect(() => queue([{ name: 'notes.often', every_seconds, async run() {} }])).to.throw(/The job "notes\.often" cannot run every/);
    });

    it('finds a job by its id in any case, and nothing by what is no id', async () => {
      const { jobs } = queue([{ name: 'notes.send', async run() {} }]);
      const id = await add(jobs, 'notes.send');
      expect((await jobs.byId(id.toUpperCase()))!.id).to.equal(id);
      expect(await jobs.byId('17')).to.be.null();
      expect(await db.write((tx) => jobs.cancel(tx, 'nothing'))).to.be.false();
      expect(await db.write((tx) => jobs.cancel(tx, id.toUpperCase()))).to.be.true();
    });

    it('runs a job after the commit that made it necessary, and keeps its record', async () => {
      const seen: unknown[] = [];
      const clock = stoppedClock('2026-02-01T00:00:00.000Z');
      const jobs = await started([{ name: 'notes.send', async run({ id, payload, attempt }) { seen.push({ id, payload, attempt }); } }], { clock });
      const id = await add(jobs, 'notes.send', { to: 'ann' });
      expect(await ended(jobs, id)).to.equal({
        id, name: 'notes.send', state: 'completed', attempts: 1, progress: { phase: null, done: 0, total: 0 }, error: null,
        created_at: clock.iso(), run_at: clock.iso(), finished_at: clock.iso(),
      });
      expect(seen).to.equal([{ id, payload: { to: 'ann' }, attempt: 1 }]);
    });

    it('starts at once in the process that enqueued, without waiting for a poll', async () => {
      const jobs = await started([{ name: 'notes.send', async run() {} }], { pollSeconds: 600 });
      const others = () => db.read('core_jobs').whereNot({ state: 'completed' }).first('key');
      await until(async () => (await others()) === undefined);
      await sleep(50);
      await ended(jobs, await add(jobs, 'notes.send'));
    });

    it('runs nothing of a transaction that was rolled back', async () => {
      const seen: unknown[] = [];
      const jobs = await started([{ name: 'notes.send', async run({ payload }) { seen.push(payload); } }]);
      await expect(db.write(async (tx) => {
        await jobs.enqueue(tx, 'notes.send', 1);
        throw new Error('no');
      })).to.reject('no');
      await ended(jobs, await add(jobs, 'notes.send', 2));
      expect(seen).to.equal([2]);
    });

    it('refuses kinds and payloads it does not know, and those of other plugins', async () => {
      const { queue: all, jobs } = queue([{ name: 'notes.send', payload: Joi.object({ to: Joi.string().required() }), async run() {} }]);
      await expect(add(jobs, 'notes.lost')).to.reject('The job "notes.lost" is not defined');
      await expect(add(jobs, 'notes.send', { to: 1 })).to.reject('The payload of the job "notes.send" does not fit its schema: "to" must be a string');
      await expect(add(all.of('flags'), 'notes.send', {})).to.reject('The plugin flags cannot enqueue "notes.send": its jobs begin with "flags."');
      expect(() => jobs.define({ name: 'flags.send', async run() {} })).to.throw('The plugin notes cannot define the job "flags.send": its jobs begin with "notes."');
      expect(() => jobs.define({ name: 'notes.send', async run() {} })).to.throw('The job "notes.send" is defined twice');
      expect(() => jobs.define({ name: 'notes.every', every_seconds: 5, payload: Joi.object({ to: Joi.required() }), async run() {} })).to.throw(/does not fit its schema/);
      expect(() => all.of('late', () => { throw new Error('too late'); }).define({ name: 'late.one', async run() {} })).to.throw('too late');
      const id = await add(jobs, 'notes.send', { to: 'ann' });
      expect(await all.of('flags').byId(id)).to.be.null();
      expect(await db.write((tx) => all.of('flags').cancel(tx, id))).to.be.false();
    });

    it('takes the highest priority first, then the oldest, and not before its time', async () => {
      const clock = stoppedClock('2026-02-01T00:00:00.000Z');
      const order: string[] = [];
      const { queue: one, jobs } = queue([{ name: 'notes.send', async run({ payload }) { order.push(payload); } }], { concurrency: 1, clock });
      await add(jobs, 'notes.send', 'first');
      await add(jobs, 'notes.send', 'low', { priority: -1 });
      await add(jobs, 'notes.send', 'high', { priority: 5 });
      await add(jobs, 'notes.send', 'second');
      await add(jobs, 'notes.send', 'later', { priority: 9, run_at: '2026-02-01T01:00:00Z' });
      await one.start();
      await settled(clock);
      await sleep(100);
      expect(order).to.equal(['high', 'first', 'second', 'low']);
      clock.advance(3600_000);
      await until(() => order.length === 5);
    });

    it('runs as many at once as allowed and no more', async () => {
      let now = 0;
      let most = 0;
      const jobs = await started([{ name: 'notes.send', async run() { most = Math.max(most, ++now); await until(() => most >= 3); await sleep(10); now -= 1; } }], { concurrency: 3 });
      const ids = await Promise.all(Array.from({ length: 12 }, () => add(jobs, 'notes.send')));
      for (const id of ids) expect((await ended(jobs, id)).attempts).to.equal(1);
      expect(most).to.equal(3);
    });

    it('adds one job for a unique key while that one waits or runs, and another when it is over', async () => {
      const { queue: one, jobs } = queue([{ name: 'notes.send', async run() {} }, { name: 'notes.other', async run() {} }]);
      const ids = await Promise.all(Array.from({ length: 8 }, () => add(jobs, 'notes.send', {}, { unique_key: 'ann' })));
      expect(new Set(ids).size).to.equal(1);
      expect(await add(jobs, 'notes.send', {}, { unique_key: 'bob' })).to.not.equal(ids[0]!);
      expect(await add(jobs, 'notes.other', {}, { unique_key: 'ann' })).to.not.equal(ids[0]!);
      await one.start();
      await ended(jobs, ids[0]!);
      expect(await add(jobs, 'notes.send', {}, { unique_key: 'ann' })).to.not.equal(ids[0]!);
    });

    it('tries a failing job again, later each time, and gives up after its attempts', async () => {
      const clock = stoppedClock('2026-02-01T00:00:00.000Z');
      const jobs = await started([{ name: 'notes.send', max_attempts: 3, async run({ attempt }) { throw new Error(`no ${attempt}`); } }], { clock });
      const id = await add(jobs, 'notes.send');
      const waits: number[] = [];
      for (const attempt of [1, 2]) {
        await until(async () => (await jobs.byId(id))!.error === `no ${attempt}`);
        const job = (await jobs.byId(id))!;
        expect(job).to.include({ state: 'pending', attempts: attempt });
        waits.push(Date.parse(job.run_at) - clock.now());
        clock.set(job.run_at);
      }
      expect(waits[0]!).to.be.within(1500, 2500);
      expect(waits[1]!).to.be.within(3000, 5000);
      expect(await ended(jobs, id)).to.include({ state: 'failed', attempts: 3, error: 'no 3' });
    });

    it('stores progress now and then, and at the end', async () => {
      let go = () => {};
      const jobs = await started([{ name: 'notes.send', async run({ progress }) {
        await progress(1, 10, 'reading');
        for (let done = 2; done < 10; done++) await progress(done, 10, 'reading');
        await new Promise<void>((resolve) => { go = resolve; });
        await progress(10, 10, 'writing');
      } }]);
      const id = await add(jobs, 'notes.send');
      await until(async () => (await jobs.byId(id))!.progress.done === 9);
      go();
      expect((await ended(jobs, id)).progress).to.equal({ phase: 'writing', done: 10, total: 10 });
    });

    it('cancels what waits at once and what runs by its signal, here and from another node', async () => {
      let running = 0;
      const kind: JobKind = { name: 'notes.send', async run({ signal }) { running += 1; await aborted(signal); } };
      const jobs = await started([kind], { concurrency: 2 });
      const elsewhere = queue([kind], { role: 'web' }).jobs;
      const first = await add(jobs, 'notes.send');
      const second = await add(jobs, 'notes.send');
      const third = await add(jobs, 'notes.send');
      await until(() => running === 2);
      for (const [by, id] of [[jobs, third], [jobs, first], [elsewhere, second]] as const) {
        expect(await db.write((tx) => by.cancel(tx, id))).to.be.true();
        expect(await ended(jobs, id)).to.include({ state: 'failed', error: 'cancelled' });
      }
      expect(running).to.equal(2);
      expect(await db.write((tx) => jobs.cancel(tx, first))).to.be.false();
    });

    it('renews the lease of a job while it runs', async () => {
      let runs = 0;
      let finish = () => {};
      // It is renewed after a third of it: a machine may stand still for the rest.
      const kind: JobKind = { name: 'notes.send', lease_seconds: 9, async run() { runs += 1; await new Promise<void>((resolve) => { finish = resolve; }); } };
      const jobs = await started([kind], { pollSeconds: 0.1 });
      if (dialect === 'postgres') await started([kind], { pollSeconds: 0.1 }, await database.open());
      const id = await add(jobs, 'notes.send');
      const lease = async (): Promise<number> => Date.parse((await db.read('core_jobs').where({ id }).first('lease_until')).lease_until);
      await until(() => runs === 1);
      const first = await lease();
      await until(async () => await lease() > first);
      finish();
      expect(await ended(jobs, id)).to.include({ state: 'completed', attempts: 1 });
      expect(runs).to.equal(1);
    });

    it('notifies a worker that it lost its job, and rejects its further writes', async () => {
      let held: RunningJob | undefined;
      const jobs = await started([{ name: 'notes.send', async run(job) {
        held = job;
        await job.write((tx) => tx('notes_heard').insert({ by: 'before' }));
        await aborted(job.signal);
      } }]);
      const id = await add(jobs, 'notes.send');
      const written = () => db.read('notes_heard').pluck('by');
      await until(async () => (await written()).length === 1);
      await db.write((tx) => tx('core_jobs').where({ id }).update({ token: '00000000-0000-7000-8000-000000000000' }));
      await expect(held!.write((tx) => tx('notes_heard').insert({ by: 'after' }))).to.reject('The job is run by another worker');
      expect(held!.signal.aborted).to.be.true();
      await expect(held!.progress(1, 2)).to.reject();
      await sleep(100);
      expect(await written()).to.equal(['before']);
      expect(await state(jobs, id)).to.equal('running');
    });

    it('lets a worker that lost its job, and did not notice, end nothing', async () => {
      let finish: (() => void) | undefined;
      const jobs = await started([{ name: 'notes.send', run: () => new Promise<void>((resolve) => { finish = resolve; }) }]);
      const id = await add(jobs, 'notes.send');
      await until(() => finish !== undefined);
      await db.write((tx) => tx('core_jobs').where({ id }).update({ token: '00000000-0000-7000-8000-000000000000' }));
      finish!();
      await sleep(100);
      expect(await state(jobs, id)).to.equal('running');
    });

    it('hands over what runs when it stops, at once and without counting the attempt', async () => {
      let finish = () => {};
      const polite = { name: 'notes.polite', run: ({ signal }: RunningJob) => aborted(signal) };
      const deaf = { name: 'notes.deaf', run: () => new Promise<void>((resolve) => { finish = resolve; }) };
      const { queue: first, jobs } = queue([polite, deaf], { concurrency: 2 });
      await first.start();
      const ids = [await add(jobs, 'notes.polite'), await add(jobs, 'notes.deaf'), await add(jobs, 'notes.polite')];
      await until(async () => await state(jobs, ids[0]!) === 'running' && await state(jobs, ids[1]!) === 'running');
      // The deaf one ends only when this is over.
      await first.stop(100);
      for (const id of ids) expect(await jobs.byId(id)).to.include({ state: 'pending', attempts: 0 });

      const quick: JobKind[] = ['notes.polite', 'notes.deaf'].map((name) => ({ name, async run() {} }));
      const next = await started(quick);
      for (const id of ids) expect(await ended(next, id)).to.include({ state: 'completed', attempts: 1 });
      finish();
    });

    it('gives the job of a dead worker to another when its lease is over, until its attempts are used up', async () => {
      const { jobs } = queue([{ name: 'notes.send', max_attempts: 2, async run() {} }]);
      const again = await add(jobs, 'notes.send');
      const over = await add(jobs, 'notes.send');
      const dead = { state: 'running', token: '00000000-0000-7000-8000-000000000000', lease_until: '2020-01-01T00:00:00.000Z' };
      await db.write(async (tx) => {
        await tx('core_jobs').where({ id: again }).update({ ...dead, attempts: 1 });
        await tx('core_jobs').where({ id: over }).update({ ...dead, attempts: 2 });
      });
      const worker = await started([{ name: 'notes.send', max_attempts: 2, async run() {} }]);
      expect(await ended(worker, again)).to.include({ state: 'completed', attempts: 2 });
      expect(await ended(worker, over)).to.include({ state: 'failed', attempts: 2, error: 'The worker died or stopped answering' });
    });

    if (dialect === 'postgres') {
      it('shares work among nodes that take it at the same time, and takes nothing twice', async () => {
        const runs: string[] = [];
        const kind: JobKind = { name: 'notes.send', async run({ id }) { runs.push(id); } };
        const { jobs } = queue([kind], { role: 'web' });
        const ids = await db.write(async (tx) => {
          const ids: string[] = [];
          for (let number = 0; number < 60; number++) ids.push(await jobs.enqueue(tx, 'notes.send', number));
          return ids;
        });
        await Promise.all(Array.from({ length: 4 }, async () => started([kind], {}, await database.open())));
        for (const id of ids) expect(await ended(jobs, id)).to.include({ state: 'completed', attempts: 1 });
        expect(runs.toSorted()).to.equal(ids.toSorted());
      });
    }

    it('only enqueues on a web node, and leaves alone what it does not know', async () => {
      const { queue: web, jobs } = queue([{ name: 'notes.send', async run() {} }, { name: 'notes.other', async run() {} }], { role: 'web' });
      await web.start();
      const ids = [await add(jobs, 'notes.send'), await add(jobs, 'notes.other')];
      await sleep(150);
      expect(await state(jobs, ids[0]!)).to.equal('pending');
      await started([{ name: 'notes.send', async run() {} }], { role: 'worker' });
      await ended(jobs, ids[0]!);
      await sleep(100);
      expect(await state(jobs, ids[1]!)).to.equal('pending');
    });

    it('runs jobs of the network lane beside the others, so that slow servers delay nothing', async () => {
      const ran: string[] = [];
      const jobs = await started([
        { name: 'notes.fetch', lane: 'network', run: ({ signal }) => aborted(signal) },
        { name: 'notes.send', async run({ id }) { ran.push(id); } },
      ], { concurrency: 1, networkConcurrency: 2 });
      for (let count = 0; count < 5; count++) await add(jobs, 'notes.fetch');
      const id = await add(jobs, 'notes.send');
      await ended(jobs, id);
      expect(ran).to.equal([id]);
      const [fetching] = await db.read('core_jobs').where({ name: 'notes.fetch', state: 'running' }).count('* as count');
      expect(Number(fetching!.count)).to.equal(2);
    });

    describe('by key', () => {
      const seconds = (count: number) => new Date(Date.parse('2026-02-01T00:00:00.000Z') + count * 1000).toISOString();
      const noDue = (clock: Clock) => until(async () => {
        const due = await db.read('core_job_dues').where('next_at', '<=', clock.iso()).first('key');
        return due === undefined && await db.read('core_jobs').whereIn('state', ['pending', 'running']).where({ name: 'notes.read' }).first('key') === undefined;
      });

      it('runs each key at its own times, never early, and makes up for a pause with one run', async () => {
        const clock = stoppedClock(seconds(0));
        const runs: string[] = [];
        const jobs = await started([{ name: 'notes.read', by_key: true, lane: 'network', async run({ payload }) { runs.push(`${payload.key} ${clock.iso().slice(14, 19)}`); } }], { clock });
        await db.write(async (tx) => {
          await jobs.setDue(tx, 'notes.read', 'a', { at: seconds(10), every_seconds: 60 });
          await jobs.setDue(tx, 'notes.read', 'b', { at: seconds(20), every_seconds: 600 });
        });
        await sleep(120);
        expect(runs).to.equal([]);
        clock.set(seconds(12));
        await until(() => runs.length === 1);
        await noDue(clock);
        expect(await jobs.dueTimes(db.read, 'notes.read', ['a', 'b', 'c'])).to.equal(new Map([['a', seconds(70)], ['b', seconds(20)]]));
        clock.set(seconds(400));
        await until(() => runs.length === 3);
        await noDue(clock);
        expect(runs.toSorted()).to.equal(['a 00:12', 'a 06:40', 'b 06:40']);
        expect(await jobs.dueTimes(db.read, 'notes.read', ['a', 'b'])).to.equal(new Map([['a', seconds(430)], ['b', seconds(620)]]));
        expect(await db.read('core_jobs').where({ name: 'notes.read' })).to.equal([]);
      });

      it('replaces and removes the times of a key', async () => {
        const clock = stoppedClock(seconds(0));
        const runs: string[] = [];
        const jobs = await started([{ name: 'notes.read', by_key: true, async run({ payload }) { runs.push(payload.key); } }], { clock });
        await db.write(async (tx) => {
          await jobs.setDue(tx, 'notes.read', 'a', { at: seconds(10), every_seconds: 60 });
          await jobs.setDue(tx, 'notes.read', 'b', { at: seconds(10), every_seconds: 60 });
          await jobs.setDue(tx, 'notes.read', 'a', { at: seconds(300), every_seconds: 60 });
          await jobs.removeDue(tx, 'notes.read', 'b');
        });
        clock.set(seconds(200));
        await sleep(150);
        expect(runs).to.equal([]);
        clock.set(seconds(300));
        await until(() => runs.length === 1);
        expect(runs).to.equal(['a']);
      });

      it('does not run a key twice at once, and deletes its failure after a success', async () => {
        const clock = stoppedClock(seconds(0));
        let isBroken = true;
        let runs = 0;
        const { queue: only, jobs } = queue([{ name: 'notes.read', by_key: true, max_attempts: 1, async run() { runs++; if (isBroken) throw new Error('The site is down'); } }], { clock });
        await only.start();
        await db.write((tx) => jobs.setDue(tx, 'notes.read', 'a', { at: seconds(0), every_seconds: 60 }));
        await until(async () => (await only.operations.failed(5)).length === 1);
        isBroken = false;
        clock.set(seconds(60));
        await until(() => runs === 2);
        await until(async () => (await only.operations.failed(5)).length === 0);
      });

      it('runs a key whose time was written while the clock was ahead, after the next hourly cleaning', async () => {
        const clock = stoppedClock(seconds(0));
        let runs = 0;
        const jobs = await started([{ name: 'notes.read', by_key: true, async run() { runs++; } }], { clock });
        await db.write((tx) => jobs.setDue(tx, 'notes.read', 'a', { at: '2027-01-01T00:00:00.000Z', every_seconds: 60 }));
        clock.set(seconds(3600));
        await until(() => runs > 0);
      });

      it('rejects a job that does not run by key, one of another plugin, and a period of nothing', async () => {
        const { jobs } = queue([{ name: 'notes.send', async run() {} }, { name: 'notes.read', by_key: true, async run() {} }]);
        const at = seconds(0);
        for (const name of ['notes.send', 'flags.read', 'notes.unknown']) {
          await expect(db.write((tx) => jobs.setDue(tx, name, 'a', { at, every_seconds: 60 }))).to.reject(`The plugin notes has no job "${name}" with by_key`);
        }
        await expect(db.write((tx) => jobs.setDue(tx, 'notes.read', 'a', { at, every_seconds: 0 }))).to.reject('The job "notes.read" cannot run every 0 seconds');
        expect(() => jobs.define({ name: 'notes.both', by_key: true, every_seconds: 5, async run() {} })).to.throw(/cannot have every_seconds and by_key/);
      });

      if (dialect === 'postgres') {
        it('shares the keys among nodes, each once', async () => {
          const runs: string[] = [];
          const kind: JobKind = { name: 'notes.read', by_key: true, async run({ payload }) { runs.push(payload.key); } };
          const { jobs } = queue([kind], { role: 'web' });
          const keys = Array.from({ length: 60 }, (_, number) => `key-${number}`);
          await db.write(async (tx) => { for (const key of keys) await jobs.setDue(tx, 'notes.read', key, { at: systemClock.iso(), every_seconds: 3600 }); });
          await Promise.all(Array.from({ length: 3 }, async () => started([kind], {}, await database.open())));
          await until(() => runs.length === 60);
          await sleep(200);
          expect(runs.toSorted()).to.equal(keys.toSorted());
        });
      }
    });

    it('runs a schedule on its grid, one at a time, and makes up for a pause with one run', async () => {
      const clock = stoppedClock('2026-02-01T00:00:00.000Z');
      const runs: string[] = [];
      const tick: JobKind = { name: 'notes.tick', every_seconds: 600, async run() { runs.push(clock.iso().slice(11, 19)); } };
      const { queue: first } = queue([tick], { clock });
      await first.start();
      await until(() => runs.length === 1);
      await settled(clock);
      await sleep(120);
      expect(runs).to.equal(['00:00:00']);
      clock.set('2026-02-01T00:10:07.000Z');
      await until(() => runs.length === 2);
      await settled(clock);
      await first.stop();
      clock.set('2026-02-01T01:34:00.000Z');
      if (dialect === 'postgres') await started([tick], { clock }, await database.open());
      await started([tick], { clock });
      await until(() => runs.length === 3);
      await settled(clock);
      await sleep(150);
      expect(runs).to.equal(['00:00:00', '00:10:07', '01:34:00']);
      clock.set('2026-02-01T01:39:59.000Z');
      await sleep(150);
      expect(runs.length).to.equal(3);
      clock.set('2026-02-01T01:40:00.000Z');
      await until(() => runs.length === 4);
    });

    it('does not begin a scheduled job while the one before still runs', async () => {
      const clock = stoppedClock('2026-02-01T00:00:00.000Z');
      let runs = 0;
      let finish = () => {};
      await started([{ name: 'notes.tick', every_seconds: 60, async run() { runs += 1; await new Promise<void>((resolve) => { finish = resolve; }); } }], { clock });
      await until(() => runs === 1);
      clock.advance(60_000);
      await sleep(150);
      expect(runs).to.equal(1);
      finish();
      await settled(clock);
      clock.advance(60_000);
      await until(() => runs === 2);
      finish();
    });

    it('keeps to a shorter period when a schedule is changed', async () => {
      const clock: Clock = stoppedClock('2026-02-01T00:00:00.000Z');
      const { queue: slow } = queue([{ name: 'notes.tick', every_seconds: 86_400, async run() {} }], { clock });
      await slow.start();
      await until(async () => (await db.read('core_job_schedules').where({ name: 'notes.tick' }).first('next_at')).next_at === '2026-02-02T00:00:00.000Z');
      await slow.stop();
      await started([{ name: 'notes.tick', every_seconds: 60, async run() {} }], { clock });
      expect((await db.read('core_job_schedules').where({ name: 'notes.tick' }).first('next_at')).next_at).to.equal('2026-02-01T00:01:00.000Z');
    });

    it('does not wait for a time that was stored while the clock was a day ahead', async () => {
      const clock = stoppedClock();
      const [start, DAY] = [clock.now(), 86_400_000];
      let runs = 0;
      const jobs = await started([
        { name: 'notes.hourly', every_seconds: 3600, async run() { runs += 1; } },
        { name: 'notes.fail', async run() { if (clock.now() >= start + DAY) throw new Error('not yet'); } },
      ], { clock });
      const sending: JobKind = { name: 'notes.send', async run() {} };
      const enqueuing = queue([sending], { clock, role: 'web' }).jobs;
      await until(() => runs === 1);
      await settled(clock);

      clock.advance(DAY);
      await until(() => runs === 2);
      const failing = await add(jobs, 'notes.fail');
      const enqueued = await add(enqueuing, 'notes.send');
      await until(async () => (await jobs.byId(failing))!.error === 'not yet');
      clock.set(start);
      const later = await add(enqueuing, 'notes.send', {}, { run_at: new Date(start + DAY).toISOString() });

      await until(() => runs === 3);
      expect(await ended(jobs, failing)).to.include({ state: 'completed' });
      const worker = await started([sending], { clock });
      expect(await ended(worker, enqueued)).to.include({ state: 'completed' });
      expect(await state(worker, later)).to.equal('pending');
      await settled(clock);
      clock.advance(3_600_000);
      await until(() => runs === 4);
    });

    it('removes finished jobs after a week and says how things are', async () => {
      const clock = stoppedClock('2026-02-01T00:00:00.000Z');
      let isDown = true;
      const { queue: one, jobs } = queue([{ name: 'notes.send', max_attempts: 1, async run() { if (isDown) throw new Error('no'); } }], { clock });
      const id = await add(jobs, 'notes.send');
      clock.advance(90_000);
      expect(await one.status()).to.equal({ pending: 1, running: 0, oldest_pending_seconds: 90, failed_last_day: 0 });
      await one.start();
      await ended(jobs, id);
      expect(await one.status()).to.include({ pending: 0, oldest_pending_seconds: null, failed_last_day: 1 });
      await settled(clock);
      clock.advance(6 * 24 * 3600_000);
      isDown = false;
      const recent = await add(jobs, 'notes.send');
      await ended(jobs, recent);
      await settled(clock);
      clock.advance(2 * 24 * 3600_000);
      await until(async () => (await jobs.byId(id)) === null);
      expect(await state(jobs, recent)).to.equal('completed');
    });
  });
}
