import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { up } from '../migrations/020_held_contacts.ts';
import type { DirectoryService } from '../offered/service.ts';
import { directoryKit, type DirectoryKit } from './kit.ts';
import { runCommand, testFolder, upload } from './transfer.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const HOUR = 3_600_000;
const CALLER = { account_id: '01890000-0000-7000-8000-000000000001', role: 'reviewer', scope: ['entities:write'], workspace_id: null, workspace_role: null } as never;
const DEADLOCK_MS = 1000;

for (const database of testDatabases()) {
  describe(`Held contacts on ${database}`, { timeout: 60_000 }, () => {
    let kit: DirectoryKit;
    let service: DirectoryService;
    const folder = testFolder();
    let made = 0;

    const begin = (id: string) => kit.db.write((tx) => service.holdContacts(tx, id, new Date(Date.now() + 72 * HOUR).toISOString()));
    const hold = async (id: string) => (await begin(id))?.id ?? null;
    const end = (holdId: string | null) => kit.db.write((tx) => service.endHold(tx, holdId!));
    const actor = async (id: string) => (await kit.get(`/api/entities/${id}`)).body;
    const contactsOf = async (id: string) => { const { email, phone } = (await actor(id)).contact; return [email, phone]; };
    /** Of the person, whatever the status. */
    const stated = async (id: string, who?: string) => (await kit.get(`/api/entities/${id}/claims?limit=100`, who)).body.data.filter(({ property }: any) => property === 'email' || property === 'phone').map(({ value }: any) => value);
    async function create(name: string, claims: Record<string, string>, { type = 'person', visibility = 'public', url = `https://example.org/${made++}` } = {}): Promise<any> {
      const created = await kit.send('POST', '/api/entities', {
        type, visibility, sources: [{ local_id: 's', url, kind: 'org_website' }], claims: Object.entries({ name, ...claims }).map(([property, value]) => ({ property, value, source_local_id: 's' })),
      }, visibility === 'public' ? 'reviewer' : 'member');
      expect(created.status, created.text).to.equal(201);
      return created.body;
    }
    const patch = (id: string, body: object) => kit.send('PATCH', `/api/entities/${id}`, { sources: [{ local_id: 's', url: `https://example.org/${made++}`, kind: 'org_website' }], ...body }, 'reviewer');
    const claimOf = (of: any, property: string) => of.claims.find((one: any) => one.property === property).id;
    const add = (id: string, property: string, value: string) => patch(id, { add: [{ property, value, source_local_id: 's' }] });
    const merge = async (id: string, into: string) => expect((await kit.send('POST', `/api/entities/${id}/merge`, { into }, 'reviewer')).status).to.equal(200);
    const split = async (id: string) => expect((await kit.send('POST', `/api/entities/${id}/split`, {}, 'reviewer')).status).to.equal(200);
    /** All that anyone can read, and the events. */
    async function everywhere(...ids: string[]): Promise<string> {
      const paths = ['/api/exports/entities?format=ndjson', '/api/exports/entities?format=csv', '/api/exports/entities?format=popolo', '/api/entities?limit=100&include=claims', '/api/places/gladstone,missouri/entities', '/api/entities/feed.atom', '/api/places/gladstone,missouri/feed.json',
        ...ids.flatMap((id) => ['', '?include=claims', '/claims?limit=100', '/claims?status=retracted', '/history', '/sources', '/duplicates'].map((part) => `/api/entities/${id}${part}`))];
      const texts = await Promise.all(paths.map(async (path) => (await kit.get(path, 'reader')).text));
      for (const id of ids) texts.push(JSON.stringify((await kit.tool('get_entity', { id })).data));
      return texts.join('\n');
    }
    const expectNowhere = async (secrets: RegExp, ...ids: string[]) => expect((await everywhere(...ids)).match(secrets)?.[0]).to.be.undefined();
    const recordId = () => `0f0e0d0c-0000-4000-8000-${String(++made).padStart(12, '0')}`;
    /** Rows of a CSV file about one person. */
    const rows = (id: string, name: string, claims: Record<string, string>, { url = `https://house.mo.gov/${made++}`, status = '' } = {}) => Object.entries({ name, ...claims })
      .map(([property, value]) => `${id},person,${property},"${value}",${property === 'name' ? '' : status},${url},government_record`);
    async function imported(...people: string[][]): Promise<any> {
      const done = await upload(kit, 'format=csv&visibility=public&join=true', ['actor_id,actor_type,property,value,status,source_url,source_kind', ...people.flat()].join('\n'), 'reviewer');
      expect([done.body.state, done.body.counts?.rejected], done.text).to.equal(['completed', 0]);
      return done.body.counts;
    }

    before(async () => {
      const reports = definePlugin({ name: 'reports', summary: 'Holds contacts for tests', needs: ['directory'], register: (_server, civic) => ({ async start() { service = civic.service('directory'); } }) });
      kit = await directoryKit({ database, plugins: [reports] });
    });
    after(async () => {
      await kit.close();
      folder.remove();
    });

    it('stay hidden when two rows of one import are the same person', async () => {
      const ada = await create('Ada Harrow', { email: 'ada@two.example', phone: '816-555-0101' });
      const holdId = await hold(ada.id);
      const [one, two] = [recordId(), recordId()];
      const same = { place: 'gladstone,missouri', website: 'https://adeline.example/me' };
      const counts = await imported(rows(one, 'Adeline Quist', { ...same, email: 'ada@two.example' }), rows(two, 'Adeline Quist', { ...same, phone: '+1 816 555 0101' }));
      expect([counts.created, counts.joined]).to.equal([2, 1]);
      expect(await contactsOf(one)).to.equal([null, null]);
      await expectNowhere(/ada@two|555.0101/i, one, ada.id);
      await end(holdId);
      expect(await contactsOf(one)).to.equal(['ada@two.example', '+1 816 555 0101']);
      expect(await contactsOf(ada.id)).to.equal(['ada@two.example', '816-555-0101']);
    });

    it('stay hidden when an import on the command line joins a row into another person', async () => {
      const ada = await create('Ada Joined', { email: 'ada@joined.example' });
      const other = await create('Bertrand Lowe', { website: 'https://bertrand.example/me', place: 'gladstone,missouri', phone: '816-555-0102' });
      const holdId = await hold(ada.id);
      const file = folder.file('joined.json', JSON.stringify({ persons: [{ id: 'lowe', name: 'Bertrand Lowe', area: { name: 'Gladstone, MO' }, links: [{ url: 'https://bertrand.example/me', note: 'website' }], email: 'ADA@joined.example', sources: [{ url: 'https://house.mo.gov/lowe' }] }] }));
      const { value } = await runCommand(kit, 'import', ['popolo', file], { json: true });
      expect(value.counts.joined, JSON.stringify(value)).to.equal(1);
      expect(await contactsOf(other.id)).to.equal([null, '816-555-0102']);
      await expectNowhere(/ada@joined/i, other.id);
      await end(holdId);
      expect(await contactsOf(other.id)).to.equal(['ADA@joined.example', '816-555-0102']);
    });

    it('stay hidden when another person gets them from another source, with a status, or by an edit', async () => {
      const ada = await create('Ada Further', { email: 'ada@further.example', phone: '816-555-0103' });
      const id = recordId();
      const url = `https://house.mo.gov/${made++}`;
      await imported(rows(id, 'Carla Finch', { place: 'gladstone,missouri' }, { url }));
      const holdId = await hold(ada.id);
      await imported(rows(id, 'Carla Finch', { email: 'ada@further.example' }));
      expect(await contactsOf(id), 'another source').to.equal([null, null]);
      for (const status of ['active', 'disputed', 'active']) await imported(rows(id, 'Carla Finch', { email: 'ada@further.example' }, { url, status }));
      expect(await contactsOf(id), 'an explicit status').to.equal([null, null]);
      const patched = await add(id, 'phone', '(816) 555-0103');
      expect([patched.status, patched.body.contact.phone], patched.text).to.equal([200, null]);
      const created = await create('Dora Finch', { email: 'dora@further.example' });
      await add(created.id, 'email', 'ada@further.example');
      expect(await contactsOf(created.id), 'their own stays').to.equal(['dora@further.example', null]);
      await expectNowhere(/ada@further|555.0103/i, id, created.id);
      await end(holdId);
      expect(await contactsOf(id)).to.equal(['ada@further.example', '(816) 555-0103']);
      expect(await stated(created.id)).to.only.include(['dora@further.example', 'ada@further.example']);
    });

    it('stay hidden when a private person who has them is published, and are not hidden before', async () => {
      const ada = await create('Ada Public', { email: 'ada@published.example' });
      const own = await create('Ernest Vale', { email: 'ada@published.example', website: 'https://vale.example/' }, { visibility: 'workspace' });
      const holdId = await hold(ada.id);
      await kit.send('PATCH', `/api/entities/${own.id}`, { sources: [{ local_id: 's', url: 'https://example.org/vale' }], add: [{ property: 'description', value: 'A person', source_local_id: 's' }] }, 'member');
      expect((await kit.get(`/api/entities/${own.id}`, 'member')).body.contact.email, 'the entry of the workspace').to.equal('ada@published.example');
      expect((await kit.send('POST', `/api/entities/${own.id}/publish`, {}, 'editor')).status).to.equal(200);
      expect((await actor(own.id)).contact).to.include({ email: null, website: 'https://vale.example/' });
      await expectNowhere(/ada@published/, own.id);
      await end(holdId);
      expect(await contactsOf(own.id)).to.equal(['ada@published.example', null]);
    });

    it('are hidden again in all people when a hold begins again', async () => {
      const ada = await create('Ada Again', { email: 'ada@again.example' });
      const first = await hold(ada.id);
      const other = await create('Fiona Marsh', { email: 'ada@again.example', phone: '816-555-0104' });
      await end(first);
      expect(await contactsOf(other.id)).to.equal(['ada@again.example', '816-555-0104']);
      const second = await hold(ada.id);
      expect([await contactsOf(ada.id), await contactsOf(other.id)]).to.equal([[null, null], [null, '816-555-0104']]);
      await expectNowhere(/ada@again/, ada.id, other.id);
      await end(second);
      expect([await contactsOf(ada.id), await contactsOf(other.id)]).to.equal([['ada@again.example', null], ['ada@again.example', '816-555-0104']]);
    });

    it('are hidden of people who had them before, but not when many people share them', async () => {
      const [ada, twin, office] = [await create('Ada Shared', { email: 'ada@shared.example', phone: '816-555-0105' }), await create('A. Shared', { email: 'ada@shared.example', phone: '816-555-0105' }), await create('Shared Office', { email: 'ada@shared.example' }, { type: 'organization' })];
      const staff = [];
      for (const name of ['Greta One', 'Hugo Two', 'Ida Three', 'Jon Four', 'Kim Five', 'Leo Six']) staff.push(await create(name, { phone: '816-555-0105' }));
      const holdId = await hold(ada.id);
      expect([await contactsOf(ada.id), await contactsOf(twin.id), await contactsOf(office.id)]).to.equal([[null, null], [null, '816-555-0105'], ['ada@shared.example', null]]);
      await add(staff[0].id, 'website', 'https://greta.example/');
      expect(await contactsOf(staff[0].id), 'the number of an office').to.equal([null, '816-555-0105']);
      await end(holdId);
      expect([await contactsOf(ada.id), await contactsOf(twin.id)]).to.equal([['ada@shared.example', '816-555-0105'], ['ada@shared.example', '816-555-0105']]);
    });

    it('are shown again when more than five other people have them, except in the entry of the held person', async () => {
      const ada = await create('Ada Office', { email: 'ada@office.example', phone: '816-555-0110' });
      const twin = await create('A. Office', { email: 'ada@office.example', phone: '816-555-0110' });
      const holdId = await hold(ada.id);
      const staff = [twin];
      for (const name of ['Alma Two', 'Bert Three', 'Cora Four', 'Dean Five']) staff.push(await create(name, { phone: '+1 816 555 0110' }));
      for (const { id } of staff) expect((await contactsOf(id))[1], 'five others').to.be.null();
      const sixth = await create('Edna Six', { phone: '816-555-0110' });
      expect(sixth.contact.phone).to.equal('816-555-0110');
      for (const { id } of staff) expect((await contactsOf(id))[1], 'six others').to.match(/816.555.0110/);
      expect([await contactsOf(ada.id), await contactsOf(twin.id)]).to.equal([[null, null], [null, '816-555-0110']]);
      await expectNowhere(/ada@office/, ada.id, twin.id);
      await add(ada.id, 'website', 'https://office.example/');
      const seventh = await create('Fred Seven', { phone: '816-555-0110' });
      expect([await contactsOf(ada.id), await contactsOf(seventh.id)]).to.equal([[null, null], [null, '816-555-0110']]);
      await end(holdId);
      expect([await contactsOf(ada.id), await contactsOf(twin.id)]).to.equal([['ada@office.example', '816-555-0110'], ['ada@office.example', '816-555-0110']]);
    });

    it('stay hidden in the entries of all held people when an office has them', async () => {
      const [ada, twin] = [await create('Ada Desk', { phone: '816-555-0111' }), await create('A. Desk', { phone: '816-555-0111' })];
      const [first, second] = [await hold(ada.id), await hold(twin.id)];
      const ids = Array.from({ length: 6 }, () => recordId());
      await imported(...ids.map((id, index) => rows(id, `Desk ${'abcdef'[index]!.repeat(5)}`, { phone: '816-555-0111' })));
      for (const id of ids) expect(await contactsOf(id)).to.equal([null, '816-555-0111']);
      expect([await contactsOf(ada.id), await contactsOf(twin.id)]).to.equal([[null, null], [null, null]]);
      await end(first);
      expect([await contactsOf(ada.id), await contactsOf(twin.id)]).to.equal([[null, '816-555-0111'], [null, null]]);
      await end(second);
      expect(await contactsOf(twin.id)).to.equal([null, '816-555-0111']);
    });

    it('that an import adds to the held person and to many others are those of an office', async () => {
      const own = recordId();
      await imported(rows(own, 'Ada Switchboard', { email: 'ada@switchboard.example' }));
      const holdId = await hold(own);
      const ids = Array.from({ length: 6 }, () => recordId());
      await imported(rows(own, 'Ada Switchboard', { phone: '816-555-0112' }), ...ids.map((id, index) => rows(id, `Line ${'abcdef'[index]!.repeat(5)}`, { phone: '816-555-0112' })));
      expect(await contactsOf(own)).to.equal([null, null]);
      for (const id of ids) expect(await contactsOf(id)).to.equal([null, '816-555-0112']);
      await end(holdId);
      expect(await contactsOf(own)).to.equal(['ada@switchboard.example', '816-555-0112']);
    });

    it('of other entries are named when a hold begins', async () => {
      const [ada, twin] = [await create('Ada Named', { email: 'ada@named.example' }), await create('A. Named', { email: 'ada@named.example' })];
      await create('Named Office', { email: 'ada@named.example' }, { type: 'organization' });
      const begun = await begin(ada.id);
      expect(begun!.others).to.equal([twin.id]);
      await end(begun!.id);
    });

    it('that two holds hide are shown when both have ended', async () => {
      const [ada, twin] = [await create('Ada Both', { email: 'ada@both.example' }), await create('A. Both', { email: 'ada@both.example' })];
      const [first, second] = [await hold(ada.id), await hold(twin.id)];
      expect([first, second].every((id) => typeof id === 'string'), 'each report holds').to.be.true();
      await end(first);
      expect([await contactsOf(ada.id), await contactsOf(twin.id)]).to.equal([[null, null], [null, null]]);
      await expectNowhere(/ada@both/, ada.id, twin.id);
      await end(second);
      expect([await contactsOf(ada.id), await contactsOf(twin.id)]).to.equal([['ada@both.example', null], ['ada@both.example', null]]);
    });

    it('that are added to the held person are hidden of others, too', async () => {
      const ada = await create('Ada More', { email: 'ada@more.example' });
      const before_ = await create('Mona Vance', { phone: '816-555-0106', email: 'mona@more.example' });
      const holdId = await hold(ada.id);
      await add(ada.id, 'phone', '816 555 0106');
      const later = await create('Nils Orr', { phone: '816-555-0106' });
      expect([await contactsOf(before_.id), await contactsOf(later.id)]).to.equal([['mona@more.example', null], [null, null]]);
      await expectNowhere(/555.0106/, ada.id, before_.id, later.id);
      await end(holdId);
      expect([await contactsOf(before_.id), await contactsOf(later.id)]).to.equal([['mona@more.example', '816-555-0106'], [null, '816-555-0106']]);
    });

    it('of retracted statements are hidden, and stay retracted or restored as reviewers decided', async () => {
      const ada = await create('Ada Taken', { email: 'old@taken.example', phone: '816-555-0107' });
      await patch(ada.id, { sources: [], retract: [claimOf(ada, 'email')] });
      expect(await everywhere(ada.id)).to.contain('old@taken.example');
      const holdId = await hold(ada.id);
      await expectNowhere(/old@taken|555.0107/, ada.id);
      const sources = (await actor(ada.id)).sources.length;
      const done = await kit.db.write((tx) => service.edit(tx, { kind: 'change', id: ada.id, sources: [], add: [], retract: [claimOf(ada, 'phone')] }, CALLER));
      await expectNowhere(/old@taken|555.0107/, ada.id);
      expect((await service.heldContacts(kit.db.read, ada.id))).to.be.null();
      await kit.db.write((tx) => service.undoEdit(tx, done, CALLER));
      expect((await service.heldContacts(kit.db.read, ada.id))!.claims.map(({ value }) => value)).to.equal(['816-555-0107']);
      await expectNowhere(/old@taken|555.0107/, ada.id);
      expect((await actor(ada.id)).sources.length).to.equal(sources);
      await end(holdId);
      expect(await contactsOf(ada.id)).to.equal([null, '816-555-0107']);
      const { data } = (await kit.get(`/api/entities/${ada.id}/claims?status=retracted`)).body;
      expect(data.map(({ value }: any) => value)).to.equal(['old@taken.example']);
    });

    it('stay hidden when an organization turns out to be a person', async () => {
      const ada = await create('Ada Typed', { email: 'ada@typed.example' });
      const firm = await create('Olga Typed', { email: 'ada@typed.example' }, { type: 'organization' });
      const holdId = await hold(ada.id);
      expect(await contactsOf(firm.id)).to.equal(['ada@typed.example', null]);
      const typed = await patch(firm.id, { add: [{ property: 'type', value: 'person', source_local_id: 's' }], retract: [claimOf(firm, 'type')] });
      expect(typed.status, typed.text).to.equal(200);
      expect([typed.body.type, typed.body.contact.email]).to.equal(['person', null]);
      await end(holdId);
      expect(await contactsOf(firm.id)).to.equal(['ada@typed.example', null]);
    });

    it('stay hidden through merges, splits and deletions', async () => {
      const ada = await create('Ada Parts', { email: 'ada@parts.example' });
      const holdId = await hold(ada.id);
      const other = await create('Paul Reed', { email: 'ada@parts.example', phone: '816-555-0108' });
      const third = await create('Quinn Reed', { email: 'quinn@parts.example' });
      await merge(other.id, third.id);
      expect(await contactsOf(third.id)).to.equal(['quinn@parts.example', '816-555-0108']);
      await expectNowhere(/ada@parts/, third.id);
      await split(third.id);
      expect([await contactsOf(other.id), await contactsOf(third.id)]).to.equal([[null, '816-555-0108'], ['quinn@parts.example', null]]);
      expect((await kit.send('DELETE', `/api/entities/${ada.id}`, undefined, 'reviewer')).status).to.be.within(200, 204);
      await create('Rosa Reed', { email: 'ada@parts.example' });
      await add(other.id, 'website', 'https://reed.example/');
      await expectNowhere(/ada@parts/, other.id, third.id);
      expect(await end(holdId)).to.be.true();
      expect(await contactsOf(other.id)).to.equal(['ada@parts.example', '816-555-0108']);
    });

    it('still identify people who ask not to be listed', async () => {
      const ada = await create('Ada Unlisted', { email: 'ada@unlisted.example' });
      const holdId = await hold(ada.id);
      const other = await create('Sven Unlisted', { email: 'ada@unlisted.example' });
      const { value } = await runCommand(kit, 'unlisted add', [], { json: true, email: 'ada@unlisted.example', delete: true });
      expect(value.listed.map(({ id }: any) => id), JSON.stringify(value)).to.only.include([ada.id, other.id]);
      expect([(await kit.get(`/api/entities/${ada.id}`)).status, (await kit.get(`/api/entities/${other.id}`)).status]).to.equal([404, 404]);
      await end(holdId);
      expect([(await kit.get(`/api/entities/${ada.id}`)).status, (await kit.get(`/api/entities/${other.id}`)).status]).to.equal([404, 404]);
    });

    it('keep a person whom the register has from being changed', async () => {
      const ada = await create('Ada Register', { email: 'ada@register.example' });
      const holdId = await hold(ada.id);
      await runCommand(kit, 'unlisted add', [], { json: true, email: 'ada@register.example' });
      const changed = await add(ada.id, 'website', 'https://register.example/');
      expect([changed.status, changed.body.code], changed.text).to.equal([409, 'unlisted_person']);
      await end(holdId);
    });

    it('of holds that began before an update are hidden of others, too', async () => {
      const ada = await create('Ada Update', { email: 'Ada@update.example', phone: '816-555-0109' });
      const holdId = await hold(ada.id);
      await kit.db.write(async (tx) => {
        await tx('directory_held_contacts').delete();
        await up({ tx, createTable: async () => undefined } as never);
      });
      const other = await create('Willa Update', { email: 'ada@update.example', phone: '(816) 555 0109' });
      expect(await contactsOf(other.id)).to.equal([null, null]);
      await end(holdId);
      expect(await contactsOf(other.id)).to.equal(['ada@update.example', '(816) 555 0109']);
      expect(await kit.db.read('directory_held_contacts').where('contact', 'like', '%update.example')).to.equal([]);
    });

    it('are hidden by holds that begin and end at once beside imports, and shown when all have ended', async () => {
      const people: any[] = [];
      for (let index = 0; index < 3; index++) people.push(await create(`Crowd ${index}`, { email: 'ada@crowd.example', place: 'gladstone,missouri' }));
      const first = await hold(people[0].id);
      const later = [recordId()];
      const holds = await Promise.all([...people.slice(1).map(({ id }) => hold(id)), create('Crowd A', { email: 'ada@crowd.example' }).then(() => null), ...later.map(async (id, index) => {
        await imported(rows(id, `Later ${index}`, { place: 'gladstone,missouri', email: 'ADA@crowd.example' }));
        return null;
      })]);
      await expectNowhere(/ada@crowd/i, people[0].id, later[0]!);
      await Promise.all([first, holds[0]!].map(end));
      await expectNowhere(/ada@crowd/i, people[0].id, later[0]!);
      const [last] = await Promise.all([end(holds[1]!), create('Crowd last', { email: 'ada@crowd.example' }), add(people[1].id, 'website', 'https://crowd.example/')]);
      expect(last).to.be.true();
      for (const id of [...people.map((one) => one.id), ...later]) expect((await actor(id)).contact.email.toLowerCase()).to.equal('ada@crowd.example');
      expect(await kit.db.read('directory_held_claims').join('directory_claims', 'key', 'claim_key').whereRaw("lower(value) = '\"ada@crowd.example\"'")).to.equal([]);
    });

    if (database === 'postgres') {
      /** Runs a write whose transaction stays open until the second one waits for it, or has ended. */
      async function overlapping(first: Parameters<typeof kit.db.write>[0], second: () => Promise<unknown>, stayOpen: () => Promise<unknown> = () => sleep(DEADLOCK_MS / 2)): Promise<void> {
        let isOpen = () => undefined as void;
        const opened = new Promise<void>((resolve) => { isOpen = resolve; });
        const one = kit.db.write(async (tx) => {
          await first(tx);
          isOpen();
          await stayOpen();
        });
        await opened;
        await Promise.all([one, second()]);
      }

      it('are hidden while the history of changes is vacuumed', async () => {
        const ada = await create('Ada Vacuum', { email: 'ada@vacuum.example' });
        let holdId: string | null = null;
        let isWritten = false;
        // The lock that a vacuum takes.
        await overlapping(async (tx) => { await tx.raw('lock table directory_changes in share update exclusive mode'); }, async () => {
          holdId = await hold(ada.id);
          await create('Wanda Vacuum', { email: 'ada@vacuum.example' });
          isWritten = true;
        }, async () => {
          for (let tries = 0; !isWritten && tries < 100; tries++) await sleep(100);
          expect(isWritten, 'before the vacuum ends').to.be.true();
        });
        await expectNowhere(/ada@vacuum/, ada.id);
        await end(holdId);
      });

      it('are hidden without a deadlock while the same person is edited', async () => {
        const [ada, twin] = [await create('Ada Order', { email: 'ada@order.example' }), await create('A. Order', { email: 'ada@order.example' })];
        for (const { id } of [ada, twin]) {
          let holdId: string | null = null;
          const change = { kind: 'change' as const, id, sources: [{ local_id: 's', url: `https://example.org/order/${id}` }], add: [{ property: 'description' as const, value: 'A person', source_local_id: 's' }], retract: [] };
          const before = Number((await kit.db.read('pg_stat_database').whereRaw('datname = current_database()').first('deadlocks')).deadlocks);
          await Promise.all([...Array.from({ length: 5 }, (_, round) => kit.db.write((tx) => service.edit(tx, { ...change, add: [{ ...change.add[0]!, value: `A person ${round}` }] } as never, CALLER))), hold(ada.id).then((begun) => { holdId = begun; })]);
          expect([await contactsOf(ada.id), await contactsOf(twin.id)]).to.equal([[null, null], [null, null]]);
          await end(holdId);
          expect(Number((await kit.db.read('pg_stat_database').whereRaw('datname = current_database()').first('deadlocks')).deadlocks)).to.equal(before);
        }
      });

      it('are hidden of a person who is entered while a hold begins', async () => {
        const [ada, other] = [await create('Ada Race', { email: 'ada@race.example' }), await create('Tom Race', {})];
        let holdId: string | null = null;
        const change = { kind: 'change' as const, id: other.id, sources: [{ local_id: 's', url: 'https://example.org/race' }], add: [{ property: 'email' as const, value: 'ada@race.example', source_local_id: 's' }], retract: [] };
        await overlapping((tx) => service.edit(tx, change as never, CALLER), async () => { holdId = await hold(ada.id); });
        expect([await contactsOf(ada.id), await contactsOf(other.id)]).to.equal([[null, null], [null, null]]);
        await end(holdId);
        expect(await contactsOf(other.id)).to.equal(['ada@race.example', null]);
      });

      it('are shown of a person who is entered while the hold ends', async () => {
        const ada = await create('Ada End', { email: 'ada@end.example' });
        const ids: string[] = [];
        for (let round = 0; round < 2; round++) {
          const holdId = await hold(ada.id);
          const entry = async () => { ids.push((await create(`Uma End ${round}`, { email: 'ada@end.example' })).id); };
          if (round === 0) await overlapping((tx) => service.endHold(tx, holdId!), entry);
          else {
            const other = await create('Vera End', {});
            const change = { kind: 'change' as const, id: other.id, sources: [{ local_id: 's', url: 'https://example.org/end' }], add: [{ property: 'email' as const, value: 'ada@end.example', source_local_id: 's' }], retract: [] };
            ids.push(other.id);
            await overlapping((tx) => service.edit(tx, change as never, CALLER), () => end(holdId));
          }
        }
        for (const id of [ada.id, ...ids]) expect(await contactsOf(id)).to.equal(['ada@end.example', null]);
        expect(await kit.db.read('directory_held_claims').join('directory_claims', 'key', 'claim_key').where('value', '"ada@end.example"')).to.equal([]);
      });
    }
  });
}
