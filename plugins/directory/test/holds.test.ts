import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { stoppedClock, testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DirectoryService } from '../offered/service.ts';
import { directoryKit, type DirectoryKit } from './kit.ts';

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
    const hold = (id: string, hours = 72) => kit.db.write((tx) => service.holdContacts(tx, id, until(hours)));
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
      for (const name of ['name', 'places', 'issue_areas', 'status', 'updated_at', 'flags', 'visibility']) expect(held[name], name).to.equal(whole[name]);
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
  });
}
