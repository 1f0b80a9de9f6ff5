import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFieldPolicy } from '../policy/fields.ts';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';
import { upload } from './transfer.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const KC = 'kansas-city,missouri';
const PHONE = '+18165550199';
const PRIVATE = { plugins: { directory: { field_policy: { organization: { phone: 'private' } } } } };

/** A person whose phone stands on a source of its own. */
function person(kind: string | undefined, url = 'https://valley.example/people') {
  const payload = actorPayload({ name: 'Ada Brandt', type: 'person', place: KC });
  const source = { local_id: 'p', url, ...(kind && { kind }) };
  return { ...payload, sources: [...payload.sources, source], claims: [...payload.claims, { property: 'phone', value: PHONE, source_local_id: 'p' }] };
}

describe('The field policy', () => {
  const ad = { type: 'person', visibility: 'public' } as const;
  const source = (kind: string, url = 'https://x.example/') => ({ kind: kind as never, url });

  it('keeps the phone of a person private unless its source is official, and all else public', () => {
    const { hides } = createFieldPolicy({});
    for (const kind of ['government_record', 'org_website', 'dataset']) expect(hides(ad, 'phone', source(kind)), kind).to.be.false();
    for (const kind of ['other', 'news_article', 'social_media']) expect(hides(ad, 'phone', source(kind)), kind).to.be.true();
    expect(hides(ad, 'phone', source('other', 'https://house.mo.gov/members'))).to.be.false();
    expect(hides(ad, 'phone', source('other', 'https://house.mo.gov.example/members'))).to.be.true();
    expect([hides(ad, 'email', source('other')), hides({ type: 'organization', visibility: 'public' }, 'phone', source('other')), hides({ type: 'person', visibility: 'workspace' }, 'phone', source('other'))]).to.equal([false, false, false]);
  });

  it('is checked with the config file, and errors name the type, property and rule', async () => {
    const field_policy = { person: { phone: 'hidden', name: 'private' }, persons: { email: 'private' } };
    const error = await expect(directoryKit({ config: { plugins: { directory: { field_policy } } } })).to.reject();
    for (const text of ['field_policy.person.phone must be one of public, official, private, but it is the text "hidden"', 'field_policy.person.name is not known', 'did you mean person?']) expect((error as Error).message).to.contain(text);
  });

  it('has another stamp when a rule differs, and the same when the file repeats a default', () => {
    const stamp = (rules: object) => createFieldPolicy(rules).stamp;
    expect(stamp({ person: { phone: 'official' } })).to.equal(stamp({}));
    expect(new Set([stamp({}), stamp({ person: { phone: 'public' } }), stamp({ person: { phone: 'private' } }), stamp({ event: { event_location: 'private' } })]).size).to.equal(4);
  });
});

for (const database of testDatabases()) {
  describe(`The field policy on ${database}`, { timeout: 60_000 }, () => {
    let kit: DirectoryKit;
    before(async () => { kit = await directoryKit({ database }); });
    after(() => kit.close());

    it('rejects a public claim that it keeps private, and names the policy and the claim', async () => {
      const { status, body } = await kit.send('POST', '/api/entities', person(undefined), 'reviewer');
      expect([status, body.code, body.errors]).to.equal([400, 'field_policy', [{ pointer: '/claims/2', detail: 'the field policy keeps the phone of a public person private unless the source is official' }]]);
      expect((await kit.get('/api/entities')).body.total).to.equal(0);
    });

    it('accepts it from an official source, from one that is known to be official, and in a workspace', async () => {
      const official = await kit.send('POST', '/api/entities', person('org_website'), 'reviewer');
      expect([official.status, official.body.contact.phone]).to.equal([201, PHONE]);
      const known = await kit.send('POST', '/api/entities', person(undefined), 'reviewer');
      expect([known.status, known.body.contact.phone]).to.equal([201, PHONE]);
      const own = await kit.send('POST', '/api/entities', { ...person(undefined, 'https://elsewhere.example/'), visibility: 'workspace' }, 'editor');
      expect([own.status, own.body.contact.phone]).to.equal([201, PHONE]);
      const shown = await kit.send('POST', `/api/entities/${own.body.id}/publish`, null, 'editor');
      expect([shown.status, shown.body.contact.phone, JSON.stringify(shown.body).includes(PHONE)]).to.equal([200, null, false]);
    });

    it('rejects it in a change of a public actor', async () => {
      const { id } = (await kit.send('POST', '/api/entities', actorPayload({ name: 'Bo Reyes', type: 'person' }), 'reviewer')).body;
      const add = [{ property: 'email', value: 'bo@valley.example', source_local_id: 's' }, { property: 'phone', value: PHONE, source_local_id: 's' }];
      const refused = await kit.send('PATCH', `/api/entities/${id}`, { sources: [{ local_id: 's', url: 'https://news.example/bo' }], add }, 'reviewer');
      expect([refused.status, refused.body.code, refused.body.errors[0].pointer]).to.equal([400, 'field_policy', '/add/1']);
      expect((await kit.get(`/api/entities/${id}`)).body.contact.email).to.be.null();
    });

    it('leaves the claim out of an import, and the report says so', async () => {
      const rows = ['actor_id,actor_type,property,value,source_url', ...[['name', 'Cleo Park'], ['phone', PHONE]].map(([property, value]) => `0f0e0d0c-0000-4000-8000-000000000001,person,${property},${value},https://paper.example/cleo`)].join('\n');
      const { body } = await upload(kit, 'format=csv&visibility=public', rows, 'reviewer');
      expect([body.state, body.counts.created, body.counts.rejected]).to.equal(['completed', 1, 0]);
      expect(body.notes.map(({ detail }: { detail: string }) => detail)).to.equal(['left out: the field policy keeps the phone of a public person private unless the source is official']);
      expect((await kit.get('/api/entities/0f0e0d0c-0000-4000-8000-000000000001')).body.claims.map(({ property }: { property: string }) => property).sort()).to.equal(['name', 'type']);
    });
  });

  describe(`A stricter field policy on ${database}`, { timeout: 120_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-policy-'));
    let [before_, kit]: DirectoryKit[] = [];
    let [id, onlyPhone, twin] = ['', '', ''];

    before(async () => {
      before_ = await directoryKit({ database, ...(database === 'sqlite' && { config: { data_dir: folder } }) });
      const create = async (body: object) => (await before_!.send('POST', '/api/entities', body, 'reviewer')).body;
      const made = await create({ ...person('other', 'https://phones.example/'), type: 'organization' });
      [id, onlyPhone] = [made.id, made.sources.find(({ url }: { url: string }) => url === 'https://phones.example/').id];
      expect(made.contact.phone).to.equal(PHONE);
      twin = (await create(actorPayload({ name: 'Ada Brandt', phone: PHONE, place: KC }))).id;
      // SQLite belongs to one process; the database of Postgres lasts as long as the server that created it.
      const { url } = before_.composition.config.database;
      if (database === 'sqlite') await before_.close();
      kit = await directoryKit({ config: { ...PRIVATE, ...(database === 'sqlite' ? { data_dir: folder } : { database: { url } }) } });
    });
    after(async () => {
      await kit!.close();
      if (database === 'postgres') await before_!.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const everywhere = async (): Promise<string[]> => {
      const paths = [
        `/api/entities/${id}`, '/api/entities?include=claims,sources', `/api/places/${KC}/entities`, `/api/places/${KC}/entities?include=claims`, '/api/entities?query=ada',
        ...['claims', 'sources', 'history', 'related', 'duplicates'].map((part) => `/api/entities/${id}/${part}`), `/api/entities/${twin}/duplicates`,
        `/api/places/${KC}/feed.atom`, `/api/places/${KC}/feed.json`, '/api/issue-areas/housing_affordability/feed.json',
        ...['ndjson', 'csv', 'popolo', 'hsds', 'schemaorg'].map((format) => `/api/exports/entities?format=${format}`),
        `/reconcile?queries=${encodeURIComponent(JSON.stringify({ q0: { query: 'Ada Brandt', properties: [{ pid: 'phone', v: PHONE }] } }))}`,
        `/reconcile?extend=${encodeURIComponent(JSON.stringify({ ids: [id], properties: [{ id: 'phone' }] }))}`,
      ];
      const responses = await Promise.all(paths.map(async (path) => ({ path, ...await kit!.get(path) })));
      for (const { path, status } of responses) expect(status, path).to.equal(200);
      const told = await kit!.tool('get_entity', { id });
      return [...responses.map(({ path, text }) => `${path} ${text}`), JSON.stringify(told)].filter((text) => /8165550199|816-?\)? ?555-0199/.test(text.replace(/^\S*/, ''))).map((text) => text.slice(0, 300));
    };
    const stamps = async () => (await kit!.db.read('directory_actors').distinct('model').pluck('model')) as number[];

    it('hides what is stored in every response at once, before the rows are rebuilt', async () => {
      // The job may have replaced the rows already: these are rows as the other policy derived them.
      await kit!.db.write(async (tx) => {
        for (const row of await tx('directory_actors').select('key', 'body')) {
          const actor = JSON.parse(row.body);
          await tx('directory_actors').where({ key: row.key }).update({ model: 1, body: JSON.stringify({ ...actor, contact: { ...actor.contact, phone: PHONE } }) });
        }
      });
      expect(await everywhere()).to.equal([]);
    });

    it('shows no source that only hidden claims cite', async () => {
      expect((await kit!.get(`/api/sources/${onlyPhone}`)).status).to.equal(404);
      expect((await kit!.get(`/api/entities/${id}/sources`)).body.total).to.equal(1);
      // As the rows of the other policy left it in the list of the place.
      await kit!.db.write(async (tx) => {
        const { key, retrieved_at } = await tx('directory_sources').where({ id: onlyPhone }).first('key', 'retrieved_at');
        const { place } = await tx('directory_listings').first('place');
        await tx('directory_place_sources').insert({ place, source_key: key, retrieved_at, uses: 1 }).onConflict(['place', 'source_key']).ignore();
      });
      const listed = (await kit!.get(`/api/places/${KC}/sources`)).body;
      expect([listed.total, listed.data.map(({ id: source }: { id: string }) => source)]).to.equal([2, listed.data.filter(({ id: source }: { id: string }) => source !== onlyPhone).map(({ id: source }: { id: string }) => source)]);
    });

    it('does not reveal by a comparison that two have the same hidden phone', async () => {
      const [candidate] = (await kit!.get(`/api/entities/${twin}/duplicates`)).body.data;
      const phone = candidate.explanation.find(({ field }: { field: string }) => field === 'phone');
      expect(phone).to.include({ left: null, right: null, weight: 0 });
    });

    it('hides it after the rebuild, keeps the ledger, and shows it again when the rule is gone', async () => {
      await kit!.composition.commands.find(({ name }) => name === 'directory rebuild')!.run({ terminal: { out() {}, err() {}, print() {}, progress() {}, style: (_: unknown, text: string) => text, json: false, signal: new AbortController().signal } as never, positionals: [], options: {}, cwd: process.cwd() });
      for (let tries = 0; tries < 100 && (await stamps()).length > 1; tries++) await sleep(20);
      expect((await stamps()).length).to.equal(1);
      expect(await everywhere()).to.equal([]);
      expect(await kit!.db.read('directory_claims').where({ property: 'phone', status: 'active' }).pluck('value')).to.equal([JSON.stringify(PHONE), JSON.stringify(PHONE)]);
      if (database === 'postgres') expect((await before_!.get(`/api/entities/${id}`)).body.claims.map(({ property }: { property: string }) => property)).to.include('phone');
    });
  });
}
