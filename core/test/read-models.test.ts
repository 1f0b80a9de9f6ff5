import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stoppedClock } from '../clock.ts';
import { compose, type Composition } from '../compose.ts';
import { createLogger } from '../log.ts';
import { definePlugin, type Plugin } from '../plugin.ts';
import { prepare } from '../prepare.ts';
import type { ReadModel, Rebuild } from '../read-models.ts';
import { emptyDatabase, testDatabases } from '../testing/database.ts';
import { until } from './wait.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach, afterEach } = lab;

interface Sums {
  version?: number;
  inBackground?: boolean;
  tables?: string[];
  hears?: boolean;
  rebuild?: (run: Rebuild) => Promise<void>;
  hasOtherVersions?: ReadModel['hasOtherVersions'];
}

const HOUR = 3600_000;

for (const dialect of testDatabases()) {
  describe(`Read models on ${dialect}`, { timeout: 60_000 }, () => {
    let folder: string;
    let database: Awaited<ReturnType<typeof emptyDatabase>>;
    let rebuilds: string[];
    let clock: ReturnType<typeof stoppedClock>;
    const running: Composition[] = [];

    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'civic-read-models-'));
      mkdirSync(join(folder, 'migrations'));
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
      writeFileSync(join(folder, 'migrations/001_sums.js'), `export async function up(schema) {
        await schema.createTable('sums_numbers', { key: 'id', number: 'int' });
        await schema.createTable('sums_totals', { version: 'int', total: 'int' }, { primary: ['version'], derived: true });
      }\n`);
    });
    after(() => rmSync(folder, { recursive: true, force: true }));
    beforeEach(async () => {
      rebuilds = [];
      clock = stoppedClock();
      database = await emptyDatabase(dialect);
    });
    afterEach(async () => {
      for (const composition of running.splice(0)) await composition.stop();
      await database.drop();
      rmSync(join(folder, 'data'), { recursive: true, force: true });
    });

    function sums({ version = 1, inBackground = false, tables = ['sums_totals'], hears = false, rebuild, hasOtherVersions }: Sums): Plugin {
      const model: ReadModel = {
        name: 'totals', version, tables, inBackground, followsEvents: hears, hasOtherVersions,
        async rebuild(run) {
          rebuilds.push(`${run.from} to ${version}`);
          await rebuild?.(run);
          await run.write(async (tx) => {
            const [{ total }] = await tx('sums_numbers').sum({ total: 'number' }) as [{ total: number | null }];
            await tx('sums_totals').delete();
            await tx('sums_totals').insert({ version, total: Number(total ?? 0) });
          });
          await run.progress(1, 1);
        },
      };
      return definePlugin({
        name: 'sums', summary: 'Adds up', migrations: join(folder, 'migrations'),
        register(_server, civic) {
          civic.readModel(model);
          if (hears) civic.on('notes.added' as never, async () => undefined);
          return { async start() { rebuilds.push('started'); } };
        },
      });
    }

    async function composed(options: Sums | null): Promise<Composition> {
      const given = options ? [sums(options)] : [];
      const text = JSON.stringify({ data_dir: join(folder, 'data'), http: { port: 0 }, database: { url: database.url }, jobs: { poll_seconds: 0.1 }, plugins: options ? { sums: {} } : {} });
      const { config, plugins } = await prepare({ env: {}, args: {}, text, given });
      return compose({ config, plugins, log: await createLogger({ level: 'silent', access: 'warn', format: 'json' }), clock, strict: true });
    }
    async function started(options: Sums | null): Promise<Composition> {
      const composition = await composed(options);
      running.push(composition);
      await composition.open({ writes: true, schema: 'migrate' });
      await composition.start();
      return composition;
    }
    async function stop(composition: Composition): Promise<void> {
      running.splice(running.indexOf(composition), 1);
      await composition.stop();
    }
    const totals = (composition: Composition) => composition.db.read('sums_totals').select('version', 'total');
    const check = (composition: Composition) => composition.checks.find(({ name }) => name === 'read models')!.run();

    it('are filled before the first start, and not again by the next', async () => {
      const first = await started({});
      expect(rebuilds).to.equal(['null to 1', 'started']);
      await stop(first);
      const second = await started({});
      expect(rebuilds).to.equal(['null to 1', 'started', 'started']);
      expect(await check(second)).to.equal({ status: 'ok', detail: 'sums/totals 1' });
    });

    it('are rebuilt before the start by a higher and by a lower version', async () => {
      await stop(await started({ version: 2 }));
      await stop(await started({ version: 3 }));
      const older = await started({ version: 2 });
      expect(rebuilds).to.equal(['null to 2', 'started', '2 to 3', 'started', '3 to 2', 'started']);
      expect(await totals(older)).to.equal([{ version: 2, total: 0 }]);
    });

    it('are rebuilt by a job when their rows can be served', async () => {
      await stop(await started({ inBackground: true }));
      let go: () => void = () => undefined;
      let count: () => void = () => undefined;
      const held = new Promise<void>((resolve) => { go = resolve; });
      const counted = new Promise<void>((resolve) => { count = resolve; });
      const next = await started({ version: 2, inBackground: true, rebuild: async ({ progress }) => { await counted; await progress(3, 10); await held; } });
      await until(() => rebuilds.includes('1 to 2'));
      // The job has not counted its rows yet.
      expect(await check(next)).to.equal({ status: 'warning', detail: 'sums/totals is being rebuilt', fix: 'a running server rebuilds them, as its log shows; bin/civic serve starts one' });
      count();
      expect(rebuilds.indexOf('1 to 2')).to.be.above(rebuilds.lastIndexOf('started'));
      expect(await totals(next)).to.equal([{ version: 1, total: 0 }]);
      await until(async () => (await check(next)).progress?.done === 3);
      expect(await check(next)).to.include({ status: 'warning', detail: 'sums/totals is being rebuilt: 3 of 10', progress: { done: 3, total: 10 } });
      go();
      await until(async () => (await check(next)).status === 'ok');
      expect(await totals(next)).to.equal([{ version: 2, total: 0 }]);
    });

    it('are rebuilt by an older version when a newer one has replaced some rows and was stopped', async () => {
      await stop(await started({ inBackground: true }));
      let isHalfway = false;
      const newer = await started({
        version: 2, inBackground: true,
        async rebuild({ write, progress }) {
          await write(async (tx) => { await tx('sums_totals').insert({ version: 2, total: 0 }); });
          isHalfway = true;
          for (;;) await progress(1, 2);
        },
      });
      await until(() => isHalfway);
      await stop(newer);
      let go: () => void = () => undefined;
      const held = new Promise<void>((resolve) => { go = resolve; });
      const older = await started({ inBackground: true, rebuild: () => held });
      expect(await totals(older)).to.have.length(2);
      expect((await check(older)).status).to.equal('warning');
      go();
      await until(async () => (await check(older)).status === 'ok');
      expect(await totals(older)).to.equal([{ version: 1, total: 0 }]);
      expect(rebuilds.at(-1)).to.equal('0 to 1');
    });

    it('are rebuilt once the cause of many failed attempts is gone, without a restart', async () => {
      await stop(await started({ inBackground: true }));
      let isFull = true;
      const next = await started({ version: 2, inBackground: true, rebuild: async ({ progress }) => { await progress(3, 10); if (isFull) throw new Error('disk full'); } });
      const newest = () => next.jobs.newest('sums.rebuild_totals_2');
      for (let attempts = 1; attempts <= 5; attempts++) {
        await until(async () => { const job = await newest(); return job?.attempts === attempts && job.state !== 'running'; });
        if (attempts < 5) clock.set((await newest())!.run_at);
      }
      expect((await newest())!.state).to.equal('failed');
      const result = await check(next);
      expect([result.status, result.progress]).to.equal(['warning', undefined]);
      expect(result.detail).to.contain('the last attempt failed: disk full');
      isFull = false;
      clock.advance(HOUR);
      await until(async () => (await check(next)).status === 'ok');
      expect(await totals(next)).to.equal([{ version: 2, total: 0 }]);
    });

    it('have no progress while it is unknown how much there is to do', async () => {
      await stop(await started({ inBackground: true }));
      let go: () => void = () => undefined;
      const held = new Promise<void>((resolve) => { go = resolve; });
      const next = await started({ version: 2, inBackground: true, rebuild: () => held });
      await until(() => rebuilds.includes('1 to 2'));
      const result = await check(next);
      go();
      expect(result).to.include({ status: 'warning', detail: 'sums/totals is being rebuilt' });
      expect(result.progress).to.be.undefined();
    });

    it('that a node of another version has written are rebuilt, by the version that was started last', async () => {
      const hasOther = (version: number): Sums => ({ version, inBackground: true, hasOtherVersions: async (reader) => await reader('sums_totals').whereNot({ version }).first('version') !== undefined });
      await stop(await started(hasOther(1)));
      const writeAs = (composition: Composition, version: number) => composition.db.write(async (tx) => { await tx('sums_totals').insert({ version, total: 7 }); });
      const newer = await started(hasOther(2));
      await until(async () => (await check(newer)).status === 'ok');
      await writeAs(newer, 1);
      expect(await check(newer)).to.include({ status: 'warning', detail: 'some rows of sums/totals are not of version 2 and wait for their rebuild' });
      clock.advance(HOUR);
      await until(async () => (await check(newer)).status === 'ok');
      expect(await totals(newer)).to.equal([{ version: 2, total: 0 }]);
      await writeAs(newer, 1);
      await stop(newer);
      const again = await started(hasOther(2));
      await until(async () => (await check(again)).status === 'ok');
      expect(await totals(again)).to.equal([{ version: 2, total: 0 }]);
      expect(rebuilds.filter((entry) => entry !== 'started')).to.equal(['null to 1', '1 to 2', '2 to 2', '2 to 2']);
      // A start of another version, as on another node, takes over for good.
      await again.db.write(async (tx) => { await tx('core_read_models').where({ plugin: 'sums' }).update({ target: 1, version: 1 }); });
      await writeAs(again, 1);
      const ran = async () => (await again.jobs.newest('sums.rebuild_totals_2'))!;
      const before = await ran();
      clock.advance(HOUR);
      await until(async () => { const job = await ran(); return job.id !== before.id && job.state === 'completed'; });
      expect((await check(again)).detail).to.equal('sums/totals is rebuilt to version 1 by another version of civic, and this one has version 2');
      expect(await totals(again)).to.have.length(2);
    });

    it('are not served when a rebuild before the start did not finish', async () => {
      const broken = await composed({ rebuild: async () => { throw new Error('not now'); } });
      running.push(broken);
      await expect(broken.open({ writes: true, schema: 'migrate' })).to.reject('The plugin sums failed to rebuild its read model totals: not now');
      expect((await check(broken)).status).to.equal('failed');
      await stop(broken);
      // Rows that an unfinished attempt left do not count, also where rows can be served.
      await started({ inBackground: true });
      expect(rebuilds).to.equal(['null to 1', 'null to 1', 'started']);
    });

    it('that were filled before versions were stored are of version 0', async () => {
      const first = await started({});
      await first.db.write((tx) => tx('core_read_models').delete());
      await stop(first);
      await started({});
      expect(rebuilds).to.equal(['null to 1', 'started', '0 to 1', 'started']);
    });

    it('that follow events are rebuilt when the plugin was off, and others are not', async () => {
      await stop(await started({ hears: true }));
      await stop(await started(null));
      rebuilds.length = 0;
      await stop(await started({ hears: true }));
      expect(rebuilds).to.equal(['1 to 1', 'started']);
      await stop(await started(null));
      await stop(await started({}));
      expect(rebuilds).to.equal(['1 to 1', 'started', 'started']);
    });

    it('name tables that are derived and the plugin\'s own', async () => {
      const opened = async (options: Sums) => {
        const composition = await composed(options);
        running.push(composition);
        await composition.open({ writes: true, schema: 'migrate' });
      };
      await expect(opened({ tables: ['sums_numbers'] })).to.reject('The plugin sums failed to rebuild its read model totals: its table sums_numbers is not one that a migration created with derived: true');
      await expect(opened({ tables: ['directory_actors'] })).to.reject(/names the table directory_actors: the tables of the plugin begin with sums_/);
      await expect(opened({ version: 0 })).to.reject(/has the version 0: use a whole number from 1 on/);
    });
  });
}
