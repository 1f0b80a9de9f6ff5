import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compose, type Composition } from '../core/compose.ts';
import { createBackup } from '../core/database/backup.ts';
import { restoreBackup } from '../core/database/restore.ts';
import { createLogger } from '../core/log.ts';
import { prepare } from '../core/prepare.ts';
import { emptyDatabase, testDatabases } from '../core/testing/database.ts';
import { run } from '../plugins/directory/test/command.ts';
import { actorPayload, directoryKit, type DirectoryKit } from '../plugins/directory/test/kit.ts';
import { runCommand } from '../plugins/directory/test/transfer.ts';

export const notQuick = 'it fills the gazetteer';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

// One in a region of the gazetteer, one in a region that is added with it.
const DIVISIONS = `id,name
ocd-division/country:us/state:mo/place:alder_falls,Alder Falls city
ocd-division/country:xx/region:north/place:alder,Alder
`;
const PLACES = ['alder-falls,missouri', 'alder,north'];

/** A composition on a database that nothing has been done to. */
async function composeOn(dataDir: string, url: string | null): Promise<Composition> {
  const { config, plugins } = await prepare({ env: {}, args: {}, text: JSON.stringify({ data_dir: dataDir, database: { url }, plugins: { directory: {} } }) });
  return compose({ config, plugins, log: await createLogger({ level: 'silent', access: 'warn', format: 'json' }), strict: true });
}

async function get(composition: Composition, url: string): Promise<any> {
  const { statusCode, payload } = await composition.server.inject({ method: 'GET', url });
  return { status: statusCode, ...JSON.parse(payload) };
}

async function doctor(composition: Composition): Promise<Record<string, string>> {
  const found = composition.checks.filter(({ plugin }) => plugin === 'directory').map(async (check) => [check.name, (await check.run()).status] as const);
  return Object.fromEntries(await Promise.all(found));
}

describe('A backup with added places', { timeout: 120_000 }, () => {
  let source: DirectoryKit;
  const folder = mkdtempSync(join(tmpdir(), 'civic-restored-'));
  before(async () => {
    source = await directoryKit();
    writeFileSync(join(folder, 'divisions.csv'), DIVISIONS);
    expect((await runCommand(source, 'places import', [join(folder, 'divisions.csv')])).value).to.include({ keys: PLACES });
    for (const place of PLACES) await source.send('POST', '/api/entities', actorPayload({ name: `Friends of ${place}`, place }), 'reviewer');
    await createBackup(source.db, join(folder, 'backup'));
  });
  after(async () => {
    await source.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function expectWhole(composition: Composition): Promise<void> {
    expect(await doctor(composition)).to.equal({ gazetteer: 'ok', taxonomy: 'ok', directory: 'ok', unlisted: 'ok' });
    for (const place of PLACES) {
      expect((await get(composition, `/api/places/${place}`)).status).to.equal(200);
      const { total, data } = await get(composition, `/api/places/${place}/entities`);
      expect([total, data[0].places.map(({ place_key }: { place_key: string }) => place_key)]).to.equal([1, [place]]);
    }
  }

  for (const dialect of testDatabases()) describe(`on ${dialect}`, () => {
    let url: string | null;
    let drop: () => Promise<void>;
    before(async () => { ({ url, drop } = await emptyDatabase(dialect)); });
    after(() => drop());

    /** Opens the database as a command or a start does, and closes it again. */
    async function opened(schema: 'any' | 'migrate', work: (composition: Composition) => Promise<void>): Promise<void> {
      const composition = await composeOn(join(folder, dialect), url);
      try {
        await composition.open({ writes: true, schema });
        await work(composition);
      } finally {
        await composition.stop();
      }
    }

    it('is restored with its places, and the actors in them', () => opened('any', async (composition) => {
      await restoreBackup(composition.db, join(folder, 'backup'), composition.migrations);
      await composition.fillReadModels();
      await composition.start();
      await expectWhole(composition);
    }));

    // Loading the places takes seconds, so one database shows one way.
    it(`that was restored without its places is reported by doctor, and fixed by ${dialect === 'sqlite' ? 'the next start of a newer version' : 'a rebuild'}`, async () => {
      await opened('any', async (composition) => {
        await composition.db.write((tx) => tx('directory_listings').delete());
        expect(await doctor(composition)).to.equal({ gazetteer: 'ok', taxonomy: 'ok', directory: 'failed', unlisted: 'ok' });
        await composition.db.write(async (tx) => {
          await tx('directory_places').where('key', '>', 2_100_000_000).delete();
        });
        expect(await doctor(composition)).to.include({ gazetteer: 'failed' });
        if (dialect === 'sqlite') await composition.db.write(async (tx) => { await tx('core_read_models').where({ name: 'places' }).update({ version: 0 }); });
        else await run({ composition }, 'directory rebuild');
      });
      await opened('migrate', expectWhole);
    });
  });
});
