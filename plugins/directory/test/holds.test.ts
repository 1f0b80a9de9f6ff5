import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { stoppedClock, testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DirectoryService } from '../offered/service.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';
import { runCommand, upload } from './transfer.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const START = '2026-03-01T12:00:00.000Z';
const HOUR = 3_600_000;
const SECRETS = ['ada@private.example', '816-555-0142', '+18165550142'];
const CALLER = { account_id: '01890000-0000-7000-8000-000000000001', role: 'reviewer', scope: ['entities:write'], workspace_id: null, workspace_role: null } as never;

for (const database of testDatabases()) {
  describe(`Holds of contacts on ${database}`, { timeout: 60_000 }, () => {
    const clock = stoppedClock(START);
    const events: any[] = [];
    let kit: DirectoryKit;
    let service: DirectoryService;
    let ada: any;
    let office: any;
    let whole: any;

    const until = (hours: number) => new Date(clock.now() + hours * HOUR).toISOString();
    const hold = async (id: string, hours = 72) => (await kit.db.write((tx) => service.holdContacts(tx, id, until(hours))))?.id ?? null;
    const end = (holdId: string) => kit.db.write((tx) => service.endHold(tx, holdId));
    const actor = async (id = ada.id) => (await kit.get(`/api/entities/${id}`)).body;
    const create = async (type: string, name: string, more: object[] = []) => (await kit.send('POST', '/api/entities', {
      type, visibility: 'public', sources: [{ local_id: 's', url: `https://example.org/${encodeURIComponent(name)}`, title: name, kind: 'org_website' }, { local_id: 'c', url: `https://example.org/contact/${encodeURIComponent(name)}` }],
      claims: [{ property: 'name', value: name, source_local_id: 's' }, { property: 'place', value: 'gladstone,missouri', source_local_id: 's' }, ...more],
    }, 'reviewer')).body;
    const contacts = [{ property: 'email', value: 'ada@private.example', source_local_id: 'c' }, { property: 'phone', value: '816-555-0142', source_local_id: 's' }, { property: 'website', value: 'https://ada.example/', source_local_id: 's' }];
    /** All that anyone can read about the person. */
    async function everything(): Promise<string> {
      const paths = [
        `/api/entities/${ada.id}`, `/api/entities/${ada.id}?include=claims`, `/api/entities/${ada.id}/claims`, `/api/entities/${ada.id}/claims?property=email`, `/api/entities/${ada.id}/history`, `/api/entities/${ada.id}/sources`,
        '/api/entities?query=ada', '/api/entities?place=gladstone,missouri&include=claims', '/api/places/gladstone,missouri/entities', '/api/exports/entities?format=ndjson', '/api/exports/entities?format=csv', '/api/exports/entities?format=popolo',
        '/api/entities/feed.atom', '/api/places/gladstone,missouri/feed.atom', '/api/places/gladstone,missouri/feed.json', ...ada.sources.map(({ id }: any) => `/api/sources/${id}`),
      ];
      const texts = await Promise.all(paths.map(async (path) => (await kit.get(path, 'reader')).text));
      texts.push(JSON.stringify((await kit.tool('get_entity', { id: ada.id })).data), JSON.stringify((await kit.tool('search_entities', { query: 'ada' })).data));
      return texts.join('\n');
    }

    before(async () => {
      const reports = definePlugin({
        name: 'reports', summary: 'Holds contacts for tests', needs: ['directory'],
        register(_server, civic) {
          civic.watch('directory.actors_changed', ({ payload }) => { events.push(payload); });
          return { async start() { service = civic.service('directory'); } };
        },
      });
      kit = await directoryKit({ database, clock, plugins: [reports], config: { jobs: { poll_seconds: 1 } } });
      ada = await create('person', 'Ada Example', contacts);
      office = await create('organization', 'Ada Office', [{ property: 'email', value: 'office@public.example', source_local_id: 'c' }]);
      whole = await actor();
    });
    after(() => kit.close());

    it('hide the e-mail and phone of a person everywhere, and nothing else', async () => {
      expect(whole.contact).to.include({ email: 'ada@private.example', website: 'https://ada.example/' });
      const before = await everything();
      for (const secret of SECRETS.slice(0, 2)) expect(before.includes(secret), secret).to.be.true();
      events.length = 0;
      const id = await hold(ada.id);
      expect(id).to.be.a.string();
      const text = await everything();
      for (const secret of SECRETS) expect(text.includes(secret), secret).to.be.false();
      const held = await actor();
      expect(held.contact).to.equal({ ...whole.contact, email: null, phone: null });
      for (const name of ['name', 'places', 'issue_areas', 'status', 'updated_at', 'flags', 'visibility', 'source_count', 'sources']) expect(held[name], name).to.equal(whole[name]);
      expect(held.claims).to.equal(whole.claims.filter(({ property }: any) => property !== 'email' && property !== 'phone'));
      for (const { id: source } of whole.sources) {
        expect((await kit.get(`/api/sources/${source}`)).body, 'its sources stay').to.include({ id: source, entity_ids: [ada.id] });
      }
      expect((await kit.get(`/api/entities/${ada.id}/sources`)).body.total).to.equal(whole.source_count);
      expect((await kit.get('/api/places/gladstone,missouri/sources')).body.data.map(({ id: source }: any) => source)).to.include(whole.sources.map(({ id: source }: any) => source));
      expect((await actor(office.id)).contact.email).to.equal('office@public.example');
      expect(await hold(ada.id), 'one at a time').to.be.null();
      expect((await service.heldContacts(kit.db.read, ada.id))!.claims.map(({ property, value }) => [property, value])).to.equal([['email', 'ada@private.example'], ['phone', whole.contact.phone]]);
      expect(await end(id!)).to.be.true();
      expect(await actor()).to.equal(whole);
      expect(await end(id!)).to.be.false();
      expect(await service.heldContacts(kit.db.read, ada.id)).to.be.null();
      for (let tries = 0; events.length < 2 && tries < 100; tries++) await sleep(50);
      expect(events.map(({ actors, effects, lost }) => [actors, effects, lost]), 'no news about the person').to.equal([[[], [], []], [[], [], []]]);
    });

    it('are for public people with such contacts only', async () => {
      const plain = await create('person', 'Plain Person');
      for (const id of [office.id, plain.id, '01890000-0000-7000-8000-00000000dead']) expect(await hold(id), id).to.be.null();
      const secret = (await kit.send('POST', '/api/entities', { type: 'person', visibility: 'workspace', sources: [{ local_id: 'c', url: 'https://example.org/x' }, { local_id: 's', url: 'https://example.org/y' }], claims: [{ property: 'name', value: 'Secret', source_local_id: 'c' }, ...contacts] }, 'member')).body;
      expect(await hold(secret.id)).to.be.null();
    });

    it('hide contacts that an edit or a merge adds, and keep what a reviewer retracts', async () => {
      const id = await hold(ada.id);
      const added = await kit.send('PATCH', `/api/entities/${ada.id}`, { sources: [{ local_id: 'n', url: 'https://example.org/new' }], add: [{ property: 'email', value: 'other@private.example', source_local_id: 'n' }] }, 'reviewer');
      expect(added.status, added.text).to.equal(200);
      expect([added.body.contact.email, added.text.includes('other@private.example')]).to.equal([null, false]);
      const twin = await create('person', 'Ada Twin', [{ property: 'email', value: 'twin@private.example', source_local_id: 'c' }]);
      await kit.send('POST', `/api/entities/${twin.id}/merge`, { into: ada.id }, 'reviewer');
      expect((await actor()).contact.email).to.be.null();
      const { claims } = (await service.heldContacts(kit.db.read, ada.id))!;
      expect(claims.map(({ value }) => value)).to.include(['other@private.example', 'twin@private.example']);
      const wanted = claims.filter(({ value }) => value !== 'other@private.example' && value !== whole.contact.phone).map(({ id: claim }) => claim);
      await kit.db.write((tx) => service.edit(tx, { kind: 'change', id: ada.id, sources: [], add: [], retract: wanted }, CALLER));
      await end(id!);
      expect((await actor()).contact).to.include({ email: 'other@private.example', phone: whole.contact.phone });
    });

    it('end by themselves', async () => {
      await hold(ada.id, 2);
      clock.advance(HOUR);
      await sleep(1500);
      expect((await actor()).contact.email).to.be.null();
      clock.advance(HOUR + 120_000);
      for (let tries = 0; (await actor()).contact.email === null && tries < 200; tries++) await sleep(100);
      expect((await actor()).contact.email).to.equal('other@private.example');
    });

    it('outlast a rebuild of the read model', async () => {
      const id = await hold(ada.id);
      await kit.composition.commands.find(({ name }) => name === 'directory rebuild')!.run({ terminal: { json: true, signal: new AbortController().signal, out: () => undefined, err: () => undefined, print: () => undefined, progress: () => undefined, style: (_style: string, text: string) => text }, positionals: [], options: {}, cwd: '.' } as never);
      expect((await actor()).contact.email).to.be.null();
      await end(id!);
    });

    it('hide contacts that an import brings for the person', async () => {
      const id = '0f0e0d0c-0000-4000-8000-0000000000aa';
      const csv = (more: string[][]) => ['actor_id,actor_type,property,value,source_url,source_kind', ...[['name', 'Cleo Park'], ['place', 'gladstone,missouri'], ['website', 'https://cleo-park.example/me'], ...more].map(([property, value]) => `${id},person,${property},"${value}",https://house.mo.gov/cleo,government_record`)].join('\n');
      expect((await upload(kit, 'format=csv&visibility=public', csv([['email', 'cleo@private.example']]), 'reviewer')).body.counts.created).to.equal(1);
      expect((await actor(id)).contact.email).to.equal('cleo@private.example');
      const holdId = await hold(id);
      const again = await upload(kit, 'format=csv&visibility=public', csv([['email', 'cleo@private.example'], ['email', 'second@private.example'], ['phone', '816-555-0177']]), 'reviewer');
      expect(again.body.state, again.text).to.equal('completed');
      const held = await kit.get(`/api/entities/${id}`);
      expect([held.body.contact.email, held.body.contact.phone]).to.equal([null, null]);
      for (const secret of ['cleo@private.example', 'second@private.example', '555-0177']) expect(held.text.includes(secret), secret).to.be.false();
      await end(holdId!);
      const shown = (await actor(id)).claims.map(({ value }: any) => value);
      expect(shown).to.include(['cleo@private.example', 'second@private.example', '816-555-0177']);
    });

    it('hide the same contacts of a person who is entered meanwhile, however they are written, and show them with the others', async () => {
      const eve = await create('person', 'Eve Harrow', [{ property: 'email', value: 'eve@private.example', source_local_id: 'c' }, { property: 'phone', value: '816-555-0188', source_local_id: 's' }]);
      const holdId = await hold(eve.id);
      const again = await create('person', 'E. J. Harrow', [{ property: 'email', value: 'Eve@Private.Example', source_local_id: 'c' }, { property: 'phone', value: '+1 (816) 555-0188', source_local_id: 's' }, { property: 'website', value: 'https://harrow.example/', source_local_id: 's' }]);
      expect((await actor(again.id)).merged_into, 'a separate entry').to.be.undefined();
      expect((await actor(again.id)).contact).to.include({ email: null, phone: null, website: 'https://harrow.example/' });
      expect((await kit.get('/api/exports/entities?format=ndjson', 'reader')).text).to.not.match(/eve@private|555-0188/i);
      const others = [await create('person', 'Finn Holt', [{ property: 'email', value: 'finn@private.example', source_local_id: 'c' }]), await create('organization', 'Harrow Office', [{ property: 'phone', value: '816-555-0188', source_local_id: 's' }])];
      expect([(await actor(others[0].id)).contact.email, (await actor(others[1].id)).contact.phone]).to.equal(['finn@private.example', '816-555-0188']);
      expect(await end(holdId!)).to.be.true();
      expect((await actor(again.id)).contact).to.include({ email: 'Eve@Private.Example', phone: '+1 (816) 555-0188' });
      expect((await actor(eve.id)).contact.email).to.equal('eve@private.example');
    });

    it('end although another one cannot be ended', async () => {
      const [broken, sound] = [await create('person', 'Broken Person', [{ property: 'email', value: 'broken@private.example', source_local_id: 'c' }]), await create('person', 'Sound Person', [{ property: 'email', value: 'sound@private.example', source_local_id: 'c' }])];
      for (const { id } of [broken, sound]) expect(await hold(id, 1)).to.be.a.string();
      const breakClaim = (from: string, to: string) => kit.db.write((tx) => tx('directory_claims').where({ value: from }).update({ value: to }));
      await breakClaim('"broken@private.example"', 'broken@private.example');
      clock.advance(HOUR + 120_000);
      for (let tries = 0; (await actor(sound.id)).contact.email === null && tries < 200; tries++) await sleep(100);
      expect((await actor(sound.id)).contact.email).to.equal('sound@private.example');
      await breakClaim('broken@private.example', '"broken@private.example"');
      expect((await actor(broken.id)).contact.email).to.be.null();
      clock.advance(120_000);
      for (let tries = 0; (await actor(broken.id)).contact.email === null && tries < 200; tries++) await sleep(100);
      expect((await actor(broken.id)).contact.email, 'tried again').to.equal('broken@private.example');
    });

    it('that a node of an older version began hide the contacts of others within minutes', async () => {
      const person = (name: string) => create('person', name, [{ property: 'email', value: 'older@private.example', source_local_id: 'c' }]);
      const older = await person('Older Person');
      const holdId = await hold(older.id);
      await kit.db.write((tx) => tx('directory_held_contacts').where({ contact: 'e:older@private.example' }).delete());
      const twin = await person('O. Person');
      expect((await actor(twin.id)).contact.email).to.equal('older@private.example');
      clock.advance(120_000);
      for (let tries = 0; (await actor(twin.id)).contact.email !== null && tries < 200; tries++) await sleep(100);
      expect((await actor(twin.id)).contact.email).to.be.null();
      await end(holdId!);
      expect([(await actor(older.id)).contact.email, (await actor(twin.id)).contact.email]).to.equal(['older@private.example', 'older@private.example']);
    });

    it('that began while the clock was a year ahead do not last a year', async () => {
      const one = await create('person', 'Clock Person', [{ property: 'email', value: 'clock@private.example', source_local_id: 'c' }]);
      clock.advance(365 * 24 * HOUR);
      await hold(one.id);
      clock.advance(-365 * 24 * HOUR);
      clock.advance(120_000);
      for (let tries = 0; (await actor(one.id)).contact.email === null && tries < 100; tries++) await sleep(100);
      expect((await actor(one.id)).contact.email).to.equal('clock@private.example');
    });
  });

  describe(`Holds of contacts after a restart on ${database}`, { timeout: 120_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-holds-'));
    let service: DirectoryService;
    let [first, kit]: DirectoryKit[] = [];
    const reports = definePlugin({ name: 'reports', summary: 'Holds contacts for tests', needs: ['directory'], register: (_server, civic) => ({ async start() { service = civic.service('directory'); } }) });
    const start = (config: object = {}) => directoryKit({ database, plugins: [reports], config: { ...(database === 'sqlite' && { data_dir: folder }), ...config } });
    after(async () => {
      await kit?.close();
      if (database === 'postgres') await first?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it('last, and end when their flag is decided', async () => {
      first = await start();
      const payload = actorPayload({ name: 'Restart Person', type: 'person', email: 'restart@private.example' } as never);
      const { id } = (await first.send('POST', '/api/entities', payload, 'reviewer')).body;
      const holdId = (await first.db.write((tx) => service.holdContacts(tx, id, new Date(Date.now() + 72 * HOUR).toISOString())))?.id;
      expect(holdId).to.be.a.string();
      const { url } = first.composition.config.database;
      if (database === 'sqlite') await first.close();
      kit = await start(database === 'sqlite' ? {} : { database: { url } });
      const held = await kit.get(`/api/entities/${id}`);
      expect([held.body.contact.email, held.text.includes('restart@private.example'), held.body.source_count]).to.equal([null, false, 1]);
      expect(await kit.db.write((tx) => service.endHold(tx, holdId!))).to.be.true();
      expect((await kit.get(`/api/entities/${id}`)).body.contact.email).to.equal('restart@private.example');
    });

    it('do not keep invented people from being removed, and release the real ones they were merged with', async () => {
      await runCommand(kit!, 'demo load', []);
      const found = (await kit!.get('/api/entities?entity_type=person&limit=100')).body.data.filter(({ contact }: any) => contact.email !== null);
      expect(found.length > 1).to.be.true();
      const real = (await kit!.send('POST', '/api/entities', actorPayload({ name: 'Real Person', type: 'person', email: 'real@private.example' } as never), 'reviewer')).body;
      for (const { id } of found.slice(0, 2)) expect(await kit!.db.write((tx) => service.holdContacts(tx, id, new Date(Date.now() + HOUR).toISOString()))).to.include({ others: [] });
      expect((await kit!.send('POST', `/api/entities/${real.id}/merge`, { into: found[0].id }, 'reviewer')).status).to.equal(200);
      await runCommand(kit!, 'demo remove', []);
      expect((await kit!.get(`/api/entities/${real.id}`)).body.contact?.email).to.equal('real@private.example');
    });
  });
}
