import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { testDatabases } from 'civic/testing';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DirectoryService } from '../offered/service.ts';
import { nameForms } from '../unlisted/traits.ts';
import { actorPayload, directoryKit, type ActorProperties, type DirectoryKit } from './kit.ts';
import { runCommand, testFolder, upload } from './transfer.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const KC = 'kansas-city,missouri';
/** Short names are left out: their letters also occur in ids and hashes. */
const SECRETS = ['ada brandt', 'brandt', 'harvest', '5550142', 'facebook.com/adab'];

describe('The register of unlisted people', () => {
  it('compares names without accents, titles, middle names, order and nicknames', () => {
    const [ada] = nameForms('Ada Brandt');
    for (const name of ['ADA BRANDT', 'Áda Brandt', 'Dr. Ada M. Brandt', 'Brandt, Ada', 'Ada Lopez-Brandt', 'Brandt Ada', 'A\u200bda Bra\u00adndt', 'Ada\u200bBrandt', 'Ada\u034f Brandt\ufe0f', 'Ada Brandt, Mayor', 'Ada M. Brandt, PhD']) expect(nameForms(name), name).to.include(ada!);
    expect(nameForms('Robert Hale')).to.equal(nameForms('Bob Hale'));
    for (const name of ['Adam Brandt', 'Ada Brandtner']) expect(nameForms(name), name).to.not.include(ada!);
    expect(nameForms('Ada')).to.equal([]);
  });
});

for (const database of testDatabases()) {
  describe(`The register of unlisted people on ${database}`, { timeout: 120_000 }, () => {
    const folder = testFolder();
    let kit: DirectoryKit;
    let service: DirectoryService;
    let listed = '';
    let entry = '';

    const create = (what: ActorProperties, who = 'reviewer') => kit.send('POST', '/api/entities', actorPayload({ type: 'person', ...what }), who);
    const run = (name: string, options: Record<string, string | boolean> = {}, positionals: string[] = []) => runCommand(kit, `unlisted ${name}`, positionals, options);
    const keyFile = () => join(kit.composition.config.data_dir, 'unlisted.key');

    before(async () => {
      const spy = definePlugin({ name: 'collector', summary: 'Collects actors for tests', needs: ['directory'], register: (_server, civic) => ({ async start() { service = civic.service('directory'); } }) });
      kit = await directoryKit({ database, plugins: [spy] });
      listed = (await create({ name: 'Ada M. Brandt', place: KC, email: 'ada@harvest.example.org' })).body.id;
      await create({ name: 'Ada Brandt', place: 'st-louis,missouri' });
      await create({ name: 'Ada Brandt', type: 'organization', place: KC });
    });
    after(async () => {
      await kit.close();
      folder.remove();
    });

    it('needs no key while it is empty, and finds public entries without one', async () => {
      const { value } = await run('check', { name: 'Ada Brandt', place: KC });
      expect([value.entries, value.listed.map(({ id }: { id: string }) => id)]).to.equal([[], [listed]]);
      expect(existsSync(keyFile())).to.be.false();
    });

    it('rejects a request that recognizes nobody, in words', async () => {
      for (const [options, words] of [
        [{}, /^Enter a name with a place/], [{ name: 'Ada Brandt' }, /^A name needs a place/], [{ name: 'Ada', place: KC }, /^Enter the first and the family name/],
        [{ name: 'Ada Brandt', place: 'Springfield' }, /^No place is surely meant/], [{ email: 'ada' }, /no e-mail address/], [{ phone: '12' }, /no telephone number/], [{ url: 'ada' }, /no address of a page/],
      ] as const) await expect(run('add', options)).to.reject(Error, words);
      expect((await run('list')).out).to.equal('The register is empty.\n');
    });

    it('adds a person by hashes, lists the public entries that match, and deletes them in one step', async () => {
      const { value, out } = await run('add', { name: 'Ada Brandt', place: 'Kansas City, MO', email: 'Ada+list@harvest.example.org', phone: '(816) 555-0142', url: 'https://www.facebook.com/adab', reference: 'Letter 7' });
      entry = value.id;
      expect([value.created, value.kinds, value.listed.map(({ id }: { id: string }) => id), value.deleted]).to.equal([true, ['name', 'email', 'phone', 'url'], [listed], 0]);
      expect(out).to.contain('1 public entry matches. To delete it, run the same command with --delete:');
      const again = await run('add', { name: 'Ada Brandt', place: KC, email: 'ada@harvest.example.org', phone: '816-555-0142', url: 'http://facebook.com/adab/', delete: true });
      expect([again.value.id, again.value.created, again.value.deleted]).to.equal([entry, false, 1]);
      expect((await kit.get(`/api/entities/${listed}`)).status).to.equal(404);
      expect((await kit.get('/api/entities?query=brandt')).body.total).to.equal(2);
    });

    it('rejects an entry of another type that is turned into the person', async () => {
      const { id } = (await create({ name: 'Ada Brandt', type: 'initiative', place: KC })).body;
      const turned = await kit.send('PATCH', `/api/entities/${id}`, { sources: [{ local_id: 's', url: 'https://example.org/ada-person' }], add: [{ property: 'type', value: 'person', source_local_id: 's' }] }, 'reviewer');
      expect([turned.status, turned.body.code]).to.equal([409, 'unlisted_person']);
      expect((await kit.get(`/api/entities/${id}`)).body.type).to.equal('initiative');
      await kit.send('DELETE', `/api/entities/${id}`, null, 'reviewer');
    });

    it('stores nothing that names the person', async () => {
      const rows = JSON.stringify([await kit.db.read('directory_unlisted').select('*'), await kit.db.read('directory_unlisted_hashes').select('*')]).toLowerCase();
      for (const secret of SECRETS) expect(rows, secret).to.not.contain(secret);
      expect(rows).to.not.contain(readFileSync(keyFile(), 'utf8').trim());
      expect((await run('list')).out).to.match(new RegExp(`^${entry}  \\d{4}-\\d\\d-\\d\\d  e-mail address, name and place, telephone number, page or profile  ${KC}  Letter 7\\n$`));
    });

    it('rejects writes about the person by name and place, e-mail, phone or profile, public or private', async () => {
      for (const [what, who] of [
        [{ name: 'Brandt, Áda', place: KC }, 'reviewer'], [{ name: 'Ada Brandt', place: KC, visibility: 'workspace' }, 'member'], [{ name: 'A. Person', email: 'ADA@harvest.example.org' }, 'reviewer'],
        [{ name: 'A. Person', phone: '+1 816 555 0142', visibility: 'workspace' }, 'member'], [{ name: 'A. Person', social: { network: 'facebook', url: 'https://facebook.com/adab?ref=1' } }, 'reviewer'],
        [{ name: 'A. Person', url: 'https://m.facebook.com/adab' }, 'reviewer'],
      ] as const) {
        const { status, body, text } = await create(what as unknown as ActorProperties, who);
        expect([status, body.code], text).to.equal([409, 'unlisted_person']);
        // The id of the request is random.
        for (const secret of SECRETS) expect(text.replace(body.request_id, '').toLowerCase(), secret).to.not.contain(secret);
      }
    });

    it('accepts others: of the same name elsewhere, or of another name in the place', async () => {
      expect((await create({ name: 'Ada Brandt', place: 'springfield,illinois' })).status).to.equal(201);
      expect((await create({ name: 'Adam Brandt', place: KC })).status).to.equal(201);
      expect((await create({ name: 'Ada Brandt' })).status).to.equal(201);
    });

    it('rejects a change that makes an entry match, and publishing one that was private before', async () => {
      const { id } = (await create({ name: 'Ada Brandt' })).body;
      const add = [{ property: 'place', value: KC, source_local_id: 's' }];
      const changed = await kit.send('PATCH', `/api/entities/${id}`, { sources: [{ local_id: 's', url: 'https://news.example/a' }], add }, 'reviewer');
      expect([changed.status, changed.body.code]).to.equal([409, 'unlisted_person']);
      const own = (await create({ name: 'Bo Reyes', place: KC, visibility: 'workspace' }, 'editor')).body.id;
      await run('add', { name: 'Bo Reyes', place: 'missouri' });
      const published = await kit.send('POST', `/api/entities/${own}/publish`, null, 'editor');
      expect([published.status, published.body.code]).to.equal([409, 'unlisted_person']);
    });

    it('skips rows of an import, counts them, and keeps their content out of the report and the rejected rows', async () => {
      const row = (id: number, name: string) => ['name', name, 'place', KC].flatMap((value, at, all) => (at % 2 === 0 ? [`0f0e0d0c-0000-4000-8000-00000000000${id},person,${value},"${all[at + 1]}",https://paper.example/${id}`] : []));
      const file = ['actor_id,actor_type,property,value,source_url', ...row(1, 'Ada Brandt'), ...row(2, 'Cleo Park')].join('\n');
      const { body } = await upload(kit, 'format=csv&visibility=public', file, 'reviewer');
      expect([body.counts.created, body.counts.rejected, body.unlisted]).to.equal([1, 1, 1]);
      expect(body.faults.map(({ detail }: { detail: string }) => detail)).to.equal(['the person asked not to be listed']);
      const rejects = (await kit.get(`/api/imports/${body.id}/rejects`, 'reviewer')).text;
      expect(JSON.parse(rejects).content).to.be.null();
      const path = folder.file('people.csv', file.replaceAll('000000000002', '000000000003').replace('Cleo Park', 'Dee Park'));
      const imported = await runCommand(kit, 'import', ['csv', path], { rejects: join(folder.path, 'rejects') });
      for (const text of [rejects, JSON.stringify(body), imported.out, readFileSync(join(folder.path, 'rejects'), 'utf8')]) expect(text).to.not.contain('Brandt');
      expect((await kit.get('/api/entities/0f0e0d0c-0000-4000-8000-000000000001')).status).to.equal(404);
    });

    it('answers other plugins for what they collect', async () => {
      const draft = (name: string, type = 'person') => actorPayload({ name, type, place: KC }) as never;
      expect(await service.areUnlisted(kit.db.read, [draft('Cleo Park'), draft('Ada Brandt'), draft('Ada Brandt', 'organization')])).to.equal([false, true, false]);
    });

    it('checks a person, and forgets an entry that is removed', async () => {
      expect((await run('check', { name: 'ada brandt', place: KC })).value).to.equal({ entries: [entry], listed: [] });
      expect((await run('check', { phone: '816 555 0199' })).value).to.equal({ entries: [], listed: [] });
      await run('remove', {}, [entry]);
      await expect(run('remove', {}, [entry])).to.reject(Error, /^No entry has the id/);
      expect((await create({ name: 'Ada Brandt', place: KC })).status).to.equal(201);
      expect(await kit.db.read('directory_unlisted_hashes').where({ kind: 'email' })).to.equal([]);
    });

    it('reports entries whose key is lost', async () => {
      const check = () => kit.composition.checks.find(({ name }) => name === 'unlisted')!.run();
      expect(await check()).to.include({ status: 'ok', detail: 'the register of people who are not listed has 1 entry' });
      await kit.db.write((tx) => tx('directory_unlisted').update({ key_id: 'another' }));
      const { status, detail } = await check();
      expect([status, detail]).to.equal(['failed', `1 of 1 entries of the register of people who are not listed match no person: the key in ${keyFile()} is another one`]);
    });
  });
}
