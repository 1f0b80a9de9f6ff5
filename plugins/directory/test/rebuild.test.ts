import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { stoppedClock, testDatabases } from 'civic/testing';
import type { ActorsChanged } from '../events.ts';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KC = 'kansas-city,missouri';
const silent = { out() {}, err() {}, print() {}, progress() {}, style: (_: unknown, text: string) => text, json: false, signal: new AbortController().signal };

const hasEnded = (id: string) => ({ by, actors }: ActorsChanged) => by === 'time' && actors.some((actor) => actor.id === id);

for (const database of testDatabases()) {
  describe(`What is read on ${database}`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-02-01T12:00:00.000Z');
    let kit: DirectoryKit;
    const ids: string[] = [];
    const heard: ActorsChanged[] = [];
    const listener = definePlugin({ name: 'listener', summary: 'Hears what other nodes hear', register: (_server, civic) => civic.watch('directory.actors_changed', ({ payload }) => heard.push(payload)) });

    before(async () => {
      kit = await directoryKit({ database, clock, plugins: [listener] });
      for (const [index, type] of ['person', 'organization', 'campaign', 'initiative', 'event'].entries()) {
        const body = actorPayload({ name: `Actor ${index}`, type, place: [KC, 'st-louis,missouri'], issue_area: ['housing_affordability', 'public_transit'], url: `https://example.org/${index % 3}` });
        ids.push((await kit.send('POST', '/api/entities', body, 'reviewer')).body.id);
      }
      await kit.send('POST', '/api/entities', actorPayload({ name: 'Private', place: KC, visibility: 'workspace' }), 'member');
      await kit.send('POST', `/api/entities/${ids[0]}/merge`, { into: ids[1] }, 'reviewer').then(() => kit.send('POST', `/api/entities/${ids[1]}/merge`, { into: ids[2] }, 'reviewer'));
      await kit.send('DELETE', `/api/entities/${ids[3]}`, undefined, 'reviewer');
    });
    after(() => kit.close());

    const check = () => kit.composition.checks.find(({ name }) => name === 'directory')!.run();
    const rebuild = () => kit.composition.commands.find(({ name }) => name === 'directory rebuild')!.run({ terminal: silent, positionals: [], options: {}, cwd: process.cwd() });
    const everything = async () => {
      const paths = [`/api/places/${KC}/entities`, `/api/places/${KC}/sources`, `/api/places/${KC}/coverage`, '/api/entities?facets=true&include=claims,sources', '/api/entities?query=actor&sort=recent', '/api/issue-areas', `/api/entities/${ids[2]}`];
      return Promise.all(paths.map(async (path) => (await kit.get(path)).text));
    };

    it('is the same when it is rebuilt from the ledger', async () => {
      const before = await everything();
      await rebuild();
      expect(await everything()).to.equal(before);
      expect(await check()).to.include({ status: 'ok' });
    });

    it('is recounted by doctor, which reports what is wrong and how to fix it', async () => {
      await kit.db.write(async (tx) => {
        await tx('directory_counts').where({ issue_area: 'public_transit' }).update({ actors: 7 });
        await tx('directory_actors').where({ id: ids[4] }).delete();
      });
      const { status, detail, fix } = await check();
      expect([status, fix]).to.equal(['failed', 'bin/civic directory rebuild']);
      expect(detail).to.match(/counters are wrong; 3 actors are in the ledger, 2 can be read; 3 of 2 actors can be searched/);
      await rebuild();
      expect(await check()).to.include({ status: 'ok' });
    });

    it('names the actor whose rows were changed outside of Civic, and rebuilds the others', async () => {
      const claim = { property: 'name', status: 'active' };
      const { key, value } = await kit.db.read('directory_claims').where(claim).whereIn('record_key', kit.db.read('directory_records').where({ id: ids[2] }).select('key')).first();
      const store = (text: string) => kit.db.write((tx) => tx('directory_claims').where({ key }).update({ value: text }));
      await store('{"not":"a name"}');
      await expect(rebuild()).to.reject(Error, new RegExp(`^The actor ${ids[2]} was not rebuilt: .`));
      expect((await kit.get(`/api/entities/${ids[4]}`)).status).to.equal(200);
      await store(JSON.stringify(JSON.parse(value)));
      await rebuild();
      expect(await check()).to.include({ status: 'ok' });
    });

    // On SQLite a full disk takes a mounted file system.
    if (database === 'postgres') it('names no actor when the disk is full', async () => {
      await kit.db.write(async (tx) => {
        await tx.raw("create function full_disk() returns trigger language plpgsql as $$ begin raise exception 'no room' using errcode = '53100'; end $$");
        await tx.raw('create trigger full_disk before insert on directory_actors for each row execute function full_disk()');
      });
      await expect(rebuild()).to.reject(Error, 'The disk is full.');
      await kit.db.write((tx) => tx.raw('drop function full_disk() cascade'));
      await rebuild();
      expect(await check()).to.include({ status: 'ok' });
    });

    it('no longer shows a claim that has ended', async () => {
      const body = actorPayload({ name: 'Ann Council', type: 'person' });
      body.claims.push({ property: 'affiliation', value: { entity_id: null, name: 'City Council', role: 'Member', since: '2022', until: '2026-03' }, source_local_id: 's', expires_at: '2026-03-01T00:00:00.000Z' } as never);
      const { id } = (await kit.send('POST', '/api/entities', body, 'reviewer')).body;
      const affiliations = async () => (await kit.get(`/api/entities/${id}`)).body.affiliations.length;
      expect(await affiliations()).to.equal(1);
      clock.set('2026-03-02T00:00:00.000Z');
      for (let tries = 0; tries < 200 && (await affiliations()) > 0; tries++) await new Promise((resolve) => { setTimeout(resolve, 50); });
      expect(await affiliations()).to.equal(0);
      // Other nodes know of it by the event alone.
      for (let tries = 0; tries < 200 && !heard.some(hasEnded(id)); tries++) await new Promise((resolve) => { setTimeout(resolve, 50); });
      expect(heard.some(hasEnded(id))).to.be.true();
      expect((await kit.get(`/api/entities/${id}/claims?property=affiliation`)).body.total).to.equal(1);
    });
  });
}
