import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, type OpenDatabase } from '../../core/database/connect.ts';
import { quiet } from '../../core/database/test/support.ts';
import { projectRoot } from '../../core/root.ts';
import { until } from '../../core/test/wait.ts';
import { testDatabases } from '../../core/testing/database.ts';
import { createInstance, type Instance, type Served } from '../support/civic.ts';
import { serveInProcess, type ServedHere } from '../support/serving.ts';
import { readyDatabase } from '../support/template.ts';
import { actorModel, modelUnder } from '../../plugins/directory/actors/model.ts';
import { createFieldPolicy, STAMPS } from '../../plugins/directory/policy/fields.ts';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

const PLACE = 'kansas-city,missouri';
const KEY = { 'x-api-key': 'reviewer', 'content-type': 'application/json' };

// A rebuild reads 200 actors at a time: these are two batches.
const ACTORS = 220;
const HEADER = 'actor_id,actor_type,property,value,source_url\n';

function actorRows(number: number): string {
  const row = (property: string, value: string) => `0f0e0d0c-0000-4000-8000-${String(number).padStart(12, '0')},organization,${property},"${value}",https://example.org/${number}\n`;
  return row('name', `Association ${number}`) + (number === ACTORS ? row('place', PLACE) : '');
}

/** The versions of the read model: the one of this code, and the next. */
const PRESENT = actorModel.version;
const NEXT = PRESENT + 1;

/**
 * The directory as it is, or as its next version could be: an actor has one more field. The rebuild notes that it began, and rests after
 * each step while the file `hold` exists. A key is accepted, so that there are changes beside the rebuild.
 */
const directoryOf = (version: 'present' | 'next', folder: string): string => `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { directoryPlugin } from '${join(projectRoot, 'dist/plugins/directory/index.js')}';
import { actorModel } from '${join(projectRoot, 'dist/plugins/directory/actors/model.js')}';

const directory = directoryPlugin(${version === 'present'} ? actorModel : {
  version: actorModel.version + 1,
  derive(cluster, known) {
    const derived = actorModel.derive(cluster, known);
    return derived && { ...derived, row: { ...derived.row, body: JSON.stringify({ ...JSON.parse(derived.row.body), initial: derived.name[0] }) } };
  },
});
const reviewer = { account_id: '01890000-0000-7000-8000-000000000001', via: 'key', scope: ['entities:write', 'directory:read'], role: 'reviewer', plan: 'team', capabilities: [], workspace_id: null, workspace_role: null };

function resting(model) {
  return { ...model, async rebuild(run) {
    appendFileSync('${folder}/rebuilds', 'begun\\n');
    await model.rebuild({ ...run, async progress(done, total) {
      await run.progress(done, total);
      writeFileSync('${folder}/progress', String(done));
      while (existsSync('${folder}/hold')) await sleep(10);
    } });
  } };
}

export default { ...directory, register(server, civic) {
  civic.identify((request) => (request.headers['x-api-key'] === 'reviewer' ? reviewer : null));
  return directory.register(server, Object.create(civic, { readModel: { value: (model) => civic.readModel(model.name === 'actors' ? resting(model) : model) } }));
} };
`;

for (const dialect of testDatabases()) {
  describe(`A new version of the read model of actors on ${dialect}`, { timeout: 300_000 }, () => {
    let database: Awaited<ReturnType<typeof readyDatabase>>;
    let instance: Instance;
    let ids: string[];
    const served: (Served | ServedHere)[] = [];
    const file = (name: string): string => join(instance.folder, name);

    before(async () => {
      instance = createInstance();
      database = await readyDatabase(dialect, { directory: {} }, file('data'));
      for (const version of ['present', 'next'] as const) {
        mkdirSync(file(version));
        writeFileSync(file(`${version}/package.json`), '{ "type": "module" }');
        writeFileSync(file(`${version}/index.js`), directoryOf(version, instance.folder));
      }
      configure({});
      writeFileSync(file('actors.csv'), HEADER + Array.from({ length: ACTORS }, (_, at) => actorRows(at + 1)).join(''));
      expect((await instance.civicInProcess('import', 'csv', file('actors.csv'))).code).to.equal(0);
      ids = await opened((db) => db.read('directory_actors').orderBy('key').pluck('id'));
    });
    after(async () => {
      instance.remove();
      await database.drop();
    });
    afterEach(async () => {
      rmSync(file('hold'), { force: true });
      for (const server of served.splice(0)) await server.stop();
    });

    function configure(directory: object): void {
      writeFileSync(instance.configFile, JSON.stringify({ data_dir: file('data'), public_url: 'https://civic.example', database: { url: database.url }, plugins: { directory } }));
    }
    function kept<T extends Served | ServedHere>(server: T): T {
      served.push(server);
      return server;
    }
    /** A server to kill needs its own process; all others run in this one. */
    const serveToKill = async (): Promise<Served> => kept(await instance.serve());
    const serve = async (): Promise<ServedHere> => kept(await serveInProcess(instance.configFile));
    async function opened<T>(work: (db: OpenDatabase) => Promise<T>): Promise<T> {
      const db = await openDatabase({ url: database.url, dataDir: file('data'), pool: 2, log: quiet });
      return work(db).finally(() => db.close());
    }
    async function get(server: { url: string }, path: string, headers: Record<string, string> = {}): Promise<{ status: number; etag: string; body: any }> {
      const response = await fetch(server.url + path, { headers });
      const text = await response.text();
      return { status: response.status, etag: response.headers.get('etag') ?? '', body: text && JSON.parse(text) };
    }
    const initialOf = async (server: { url: string }, id: string): Promise<string | undefined> => (await get(server, `/api/entities/${id}`)).body.initial;
    const readModels = async (server: { url: string }): Promise<any> => (await get(server, '/health/ready')).body.checks.find(({ name }: { name: string }) => name === 'read models');
    const storedModels = (): Promise<number[]> => opened(async (db) => ((await db.read('directory_actors').distinct('model').orderBy('model').pluck('model')) as number[]).map((model) => Math.floor(model / STAMPS)));
    /** As if a minute had passed since a kill: on Postgres another node may still hold the lease of a job until then. */
    const expireLeases = (): Promise<unknown> => opened((db) => db.write((tx) => tx('core_jobs').whereNotNull('lease_until').update({ lease_until: '2020-01-01T00:00:00.000Z' })));
    const rebuilt = (server: { url: string }): Promise<void> => until(async () => (await readModels(server)).status === 'ok', 120_000);

    it('serves the old rows at once, shows its progress, survives a kill, and then serves the new field', async () => {
      configure({});
      const old = await serve();
      const [first, last, deleted] = [ids[0]!, ids.at(-1)!, ids.at(-2)!];
      const [before, feedBefore] = [await get(old, `/api/entities/${last}`), await get(old, `/api/places/${PLACE}/feed.json`)];
      expect([before.body.initial, await readModels(old)]).to.equal([undefined, { name: 'read models', status: 'ok' }]);
      await old.stop();

      writeFileSync(file('hold'), '');
      configure({ from: file('next') });
      const next = await serveToKill();
      await until(() => existsSync(file('progress')));
      expect((await get(next, `/api/entities/${last}`)).etag).to.equal(before.etag);
      expect(await initialOf(next, first)).to.be.a.string();
      await until(async () => (await readModels(next)).progress?.done > 0);
      const { status, progress } = await readModels(next);
      expect([status, progress.done < progress.total]).to.equal(['warning', true]);
      expect((await instance.civicInProcess('doctor')).stdout).to.match(/core: read models: directory\/actors is being rebuilt: 200 of \d+/);
      expect(next.output()).to.contain(`Rebuilding the read model directory/actors: version ${NEXT} replaces version ${PRESENT}`);

      const draft = { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/new', title: 'About', publication: 'Example' }], claims: [{ property: 'name', value: 'Zinnia Club', source_local_id: 's' }, { property: 'place', value: PLACE, source_local_id: 's' }] };
      const made = await fetch(`${next.url}/api/entities`, { method: 'POST', headers: KEY, body: JSON.stringify(draft) });
      const { id: added } = await made.json() as { id: string };
      expect([made.status, await initialOf(next, added)]).to.equal([201, 'Z']);
      expect((await fetch(`${next.url}/api/entities/${deleted}`, { method: 'DELETE', headers: { 'x-api-key': 'reviewer' } })).status).to.equal(204);
      const changed = ids.at(-3)!;
      const { claim_count: claims } = (await get(next, `/api/entities/${changed}`)).body;
      const patch = { sources: [{ local_id: 's', url: 'https://example.org/changed', title: 'News' }], add: [{ property: 'description', value: 'Changed beside the rebuild', source_local_id: 's' }] };
      const patched = await fetch(`${next.url}/api/entities/${changed}`, { method: 'PATCH', headers: KEY, body: JSON.stringify(patch) });
      expect(patched.status, await patched.text()).to.equal(200);
      await next.stop('SIGKILL');
      if (dialect === 'sqlite') cpSync(file('data'), file('killed'), { recursive: true, filter: (path) => !path.endsWith('.sock') });
      expect(await opened(async (db) => (await db.read('core_read_models').where({ name: 'actors' }).first('version')).version)).to.equal(PRESENT);
      if (dialect === 'postgres') await expireLeases();

      rmSync(file('hold'));
      const again = await serve();
      await rebuilt(again);
      const missing = await opened((db) => db.read('directory_actors').whereNot({ model: modelUnder({ ...actorModel, version: NEXT }, createFieldPolicy({})).version }).orWhereNull('model').pluck('id'));
      expect(missing).to.equal([]);
      expect([await initialOf(again, last), await initialOf(again, added), (await get(again, `/api/entities/${deleted}`)).status]).to.equal([before.body.name[0], 'Z', 404]);
      expect((await get(again, `/api/entities/${changed}`)).body.claim_count).to.equal(claims + 1);
      expect((await get(again, `/api/entities/${last}`, { 'if-none-match': before.etag })).status).to.equal(200);
      expect((await get(again, `/api/places/${PLACE}/feed.json`, { 'if-none-match': feedBefore.etag })).status).to.equal(200);
      const doctor = await instance.civicInProcess('doctor');
      expect([new RegExp(`✓ core: read models: directory/places \\d+, directory/actors ${NEXT}`).test(doctor.stdout), doctor.stdout.includes('✓ directory: directory: ')], doctor.stdout).to.equal([true, true]);
    });

    it('is rebuilt by an older version that finds it, which says so', async () => {
      configure({});
      const older = await serve();
      expect((await get(older, `/api/entities/${ids[0]}`)).status).to.equal(200);
      await rebuilt(older);
      expect(older.output()).to.contain(`Rebuilding the read model directory/actors: a newer version of civic filled it (${NEXT}, this one has ${PRESENT})`);
      expect(await initialOf(older, ids[0]!)).to.be.undefined();
    });

    // Once: it has nothing to do with the database, and starts cost seconds.
    if (dialect === 'sqlite') it('is removed by an older version that starts after the rebuild was killed half-way', async () => {
      rmSync(file('data'), { recursive: true });
      renameSync(file('killed'), file('data'));
      expect(await storedModels()).to.equal([PRESENT, NEXT]);
      configure({});
      const older = await serve();
      await rebuilt(older);
      expect(older.output()).to.contain(`Rebuilding the read model directory/actors: version ${PRESENT} replaces rows of unknown versions`);
      expect([await storedModels(), await initialOf(older, ids[0]!)]).to.equal([[PRESENT], undefined]);
    });

    if (dialect === 'postgres') it('is rebuilt once by two nodes that start together', async () => {
      rmSync(file('rebuilds'));
      configure({ from: file('next') });
      const nodes = await Promise.all([serve(), serve()]);
      for (const node of nodes) await rebuilt(node);
      expect(readFileSync(file('rebuilds'), 'utf8')).to.equal('begun\n');
      for (const node of nodes) expect(await initialOf(node, ids.at(-1)!)).to.be.a.string();
    });

    if (dialect === 'postgres') it('finds and rebuilds what a node of an older version has written after the rebuild', async () => {
      configure({ from: file('present') });
      const older = await serve();
      await rebuilt(older);
      configure({ from: file('next') });
      const next = await serve();
      await rebuilt(next);
      const changed = ids[5]!;
      const patch = { sources: [{ local_id: 's', url: 'https://example.org/older', title: 'News' }], add: [{ property: 'description', value: 'Changed by the older version', source_local_id: 's' }] };
      expect((await fetch(`${older.url}/api/entities/${changed}`, { method: 'PATCH', headers: KEY, body: JSON.stringify(patch) })).status).to.equal(200);
      expect([await storedModels(), (await readModels(next)).status, (await readModels(older)).status]).to.equal([[PRESENT, NEXT], 'warning', 'warning']);
      expect((await instance.civicInProcess('doctor')).stdout).to.contain(`some rows of directory/actors are not of version ${NEXT} and wait for their rebuild`);
      await older.stop();
      await next.stop();
      const again = await serve();
      await rebuilt(again);
      expect([await storedModels(), await initialOf(again, changed)]).to.equal([[NEXT], (await get(again, `/api/entities/${changed}`)).body.name[0]]);
    });
  });
}
