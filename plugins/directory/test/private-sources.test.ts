import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ActorsChanged } from '../events.ts';
import { splitSources } from '../migrations/009_workspace_sources.ts';
import { directoryKit, OTHER_WORKSPACE, WORKSPACE, type DirectoryKit } from './kit.ts';
import { exported, upload } from './transfer.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KC = 'kansas-city,missouri';
const SECRET = { title: 'Secret title', publication: 'Secret press', kind: 'report', published_at: '2026-01-02T00:00:00.000Z', retrieved_at: '2026-03-01T00:00:00.000Z', excerpt: 'Secret words', content_hash: 'secret-hash' };
const OPEN = { title: 'Open title', publication: 'Open press', retrieved_at: '2026-02-01T00:00:00.000Z' };

let number = 0;
const newUrl = () => `https://cited.example/${++number}`;

interface Cited {
  url: string;
  visibility?: 'public' | 'workspace';
  source?: Record<string, unknown>;
  name?: string;
}

const body = ({ url, visibility = 'workspace', source = {}, name = `Cites ${url}` }: Cited) => ({
  type: 'organization', visibility, sources: [{ local_id: 's', url, ...source }],
  claims: [{ property: 'name', value: name, source_local_id: 's' }, { property: 'place', value: KC, source_local_id: 's' }],
});

for (const database of testDatabases()) {
  describe(`Sources of a workspace on ${database}`, { timeout: 60_000 }, () => {
    let kit: DirectoryKit;
    const changes: ActorsChanged[] = [];
    const listener = definePlugin({
      name: 'listener',
      summary: 'Collects events',
      needs: ['directory'],
      register(_server, civic) { civic.watch('directory.actors_changed', ({ payload }) => { changes.push(payload); }); },
    });

    before(async () => { kit = await directoryKit({ database, plugins: [listener] }); });
    after(() => kit.close());

    const cite = async (what: Cited, who: string) => {
      const { status, body: actor, text } = await kit.send('POST', '/api/entities', body(what), who);
      expect(status, text).to.equal(201);
      return actor;
    };
    const source = async (id: string, who?: string) => {
      const { status, body: found } = await kit.get(`/api/sources/${id}`, who);
      return status === 200 ? found : status;
    };
    /** All that an anonymous caller can read about the place, its actors and sources. */
    const publicTexts = async (ids: string[]) => {
      const paths = [`/api/places/${KC}/sources?limit=100`, `/api/places/${KC}/entities?limit=100&include=claims,sources`, `/api/places/${KC}/feed.json`, `/api/places/${KC}/coverage`,
        ...ids.flatMap((id) => ['', '/sources', '/claims', '/history', '/related'].map((part) => `/api/entities/${id}${part}`))];
      const texts = await Promise.all(paths.map(async (path) => (await kit.get(path)).text));
      return [...texts, await exported(kit)].join('\n');
    };

    it('keep their metadata and ids to themselves, whoever cites the URL first', async () => {
      const url = newUrl();
      const own = await cite({ url, source: SECRET }, 'member');
      const foreign = await cite({ url }, 'stranger');
      const open = await cite({ url, visibility: 'public', source: OPEN }, 'reviewer');
      expect(own.sources[0]).to.include(SECRET);
      expect(foreign.sources[0]).to.include({ title: null, publication: null, kind: 'other', published_at: null, excerpt: null, content_hash: null });
      expect(open.sources[0]).to.include({ ...OPEN, kind: 'other', published_at: null, excerpt: null, content_hash: null, entity_ids: [open.id] });
      const ids = [own, foreign, open].map(({ sources }) => sources[0].id);
      expect(new Set(ids).size).to.equal(3);
      expect(await source(ids[0], 'member')).to.include({ ...SECRET, entity_ids: [own.id] });
      for (const who of [undefined, 'stranger', 'reviewer']) expect(await source(ids[0], who)).to.equal(404);
      const text = await publicTexts([open.id]);
      expect(text).to.include(ids[2]);
      for (const hidden of [ids[0], ids[1], 'Secret', 'secret', own.id, foreign.id]) expect(text).to.not.include(hidden);
    });

    it('do not change what is public by a later retrieval', async () => {
      const url = newUrl();
      const open = await cite({ url, visibility: 'public', source: OPEN }, 'reviewer');
      const before = await kit.get(`/api/entities/${open.id}`);
      const own = await cite({ url, source: SECRET }, 'member');
      expect(own.sources[0]).to.include(SECRET);
      const patch = { sources: [{ local_id: 's', url, ...SECRET, title: 'Secret again' }], add: [{ property: 'description', value: 'More', source_local_id: 's' }] };
      expect((await kit.send('PATCH', `/api/entities/${own.id}`, patch, 'member')).status).to.equal(200);
      const after = await kit.get(`/api/entities/${open.id}`);
      expect([after.text, after.headers.etag]).to.equal([before.text, before.headers.etag]);
    });

    it('begin with the public metadata of the page', async () => {
      const url = newUrl();
      await cite({ url, visibility: 'public', source: OPEN }, 'reviewer');
      const own = await cite({ url, source: { title: 'Our title' } }, 'member');
      expect(own.sources[0]).to.include({ title: 'Our title', publication: 'Open press' });
    });

    it('become public with the actor, under the same id where no private actor cites them', async () => {
      const [alone, shared, known] = [newUrl(), newUrl(), newUrl()];
      const open = await cite({ url: known, visibility: 'public', source: OPEN }, 'reviewer');
      const kept = await cite({ url: shared, source: SECRET, name: 'Stays private' }, 'editor');
      const actor = await cite({ url: alone, source: SECRET, name: 'Becomes public' }, 'editor');
      const added = await kit.send('PATCH', `/api/entities/${actor.id}`, {
        sources: [{ local_id: 'a', url: shared }, { local_id: 'b', url: known, title: 'Better title', retrieved_at: '2026-04-01T00:00:00Z' }],
        add: [{ property: 'description', value: 'One', source_local_id: 'a' }, { property: 'phone', value: '816-555-0100', source_local_id: 'b' }],
      }, 'editor');
      const byUrl = (found: { sources: { url: string; id: string; title: string }[] }, url: string) => found.sources.find((one) => one.url === url)!;
      const published = await kit.send('POST', `/api/entities/${actor.id}/publish`, undefined, 'editor');
      expect(published.status, published.text).to.equal(200);
      const shown = (await kit.get(`/api/entities/${actor.id}`)).body;
      expect(shown.claims.length).to.equal(added.body.claims.length);
      expect(byUrl(shown, alone)).to.include({ ...SECRET, id: byUrl(added.body, alone).id });
      expect(byUrl(shown, known)).to.include({ id: open.sources[0].id, title: 'Better title', publication: 'Open press' });
      expect(byUrl(shown, shared)).to.include({ title: SECRET.title });
      expect(byUrl(shown, shared).id).to.not.equal(kept.sources[0].id);
      expect(await source(kept.sources[0].id, 'editor')).to.include({ entity_ids: [kept.id] });
      expect(await source(kept.sources[0].id)).to.equal(404);
      expect((await kit.get(`/api/places/${KC}/sources?limit=100`)).body.data.map(({ id }: { id: string }) => id)).to.include(shown.sources.map(({ id }: { id: string }) => id));
      // A source that was there before is no news, whichever row it is now.
      const told = () => changes.find(({ actors }) => actors.some(({ id, change }) => id === actor.id && change === 'published'));
      while (!told()) await sleep(20);
      expect(told()!.effects).to.equal([]);
      expect(await kit.composition.checks.find(({ name }) => name === 'directory')!.run()).to.include({ status: 'ok' });
    });

    it('are kept apart in imports too', async () => {
      const url = newUrl();
      const line = (name: string, title: string) => JSON.stringify({
        type: 'organization', sources: [{ id: '01890000-0000-7000-8000-0000000000aa', url, title }], claims: [{ property: 'name', value: name, source_id: '01890000-0000-7000-8000-0000000000aa' }],
      });
      expect((await upload(kit, 'format=ndjson', line('Imported secretly', 'Secret'), 'member')).body.counts.created).to.equal(1);
      expect((await upload(kit, 'format=ndjson&visibility=public', line('Imported openly', 'Open'), 'reviewer')).body.counts.created).to.equal(1);
      const [found] = (await kit.get('/api/entities?query=imported+openly&include=sources')).body.data;
      expect(found.sources[0]).to.include({ id: '01890000-0000-7000-8000-0000000000aa', title: 'Open' });
    });

    it('of an earlier version move to their workspaces', async () => {
      const [mine, shared, mixed, open] = [newUrl(), newUrl(), newUrl(), newUrl()];
      const first = await cite({ url: mine, source: SECRET, name: 'Mine' }, 'member');
      const left = await cite({ url: shared, source: SECRET, name: 'Left' }, 'member');
      const right = await cite({ url: shared, name: 'Right' }, 'stranger');
      const poisoned = await cite({ url: mixed, source: SECRET, name: 'Poisoning' }, 'stranger');
      const victim = await cite({ url: mixed, visibility: 'public', name: 'Poisoned' }, 'reviewer');
      const good = await cite({ url: open, visibility: 'public', source: OPEN, name: 'Good' }, 'reviewer');
      const later = await cite({ url: open, name: 'Cites what is good' }, 'member');
      await kit.db.write(async (tx) => {
        // As it was: one row for each URL, with what was said first.
        for (const [from, into] of [[right, left], [victim, poisoned], [later, good]]) {
          const [{ key: old }, { key }] = [await tx('directory_sources').where({ id: from.sources[0].id }).first('key'), await tx('directory_sources').where({ id: into.sources[0].id }).first('key')];
          await tx('directory_claims').where({ source_key: old }).update({ source_key: key });
          await tx('directory_place_sources').where({ source_key: old }).update({ source_key: key });
          await tx('directory_actors').where({ id: from.id }).update({ sources: String(key) });
          await tx('directory_sources').where({ key: old }).delete();
        }
        await tx('directory_sources').whereIn('url', [mine, shared, mixed, open]).update({ workspace_id: null });
        await splitSources(tx);
      });
      const owners = new Map((await kit.db.read('directory_sources').whereIn('url', [mine, shared, mixed, open]).select('url', 'workspace_id', 'title')).map(({ url, workspace_id, title }) => [`${url} ${workspace_id}`, title]));
      expect(Object.fromEntries(owners)).to.equal({
        [`${mine} ${WORKSPACE}`]: SECRET.title, [`${shared} ${WORKSPACE}`]: SECRET.title, [`${shared} ${OTHER_WORKSPACE}`]: null,
        [`${mixed} ${OTHER_WORKSPACE}`]: SECRET.title, [`${mixed} null`]: null, [`${open} null`]: OPEN.title, [`${open} ${WORKSPACE}`]: OPEN.title,
      });
      expect((await kit.get(`/api/entities/${first.id}`, 'member')).body.sources[0]).to.include({ ...SECRET, id: first.sources[0].id });
      expect((await kit.get(`/api/entities/${victim.id}`)).text).to.not.include('Secret');
      expect((await kit.get(`/api/entities/${good.id}`)).body.sources[0]).to.include(OPEN);
      for (const [id, who] of [[left.id, 'member'], [right.id, 'stranger'], [poisoned.id, 'stranger'], [later.id, 'member']] as const) {
        const { body: found } = await kit.get(`/api/entities/${id}`, who);
        expect(found.sources[0].entity_ids).to.equal([id]);
        const [{ sources }] = await kit.db.read('directory_actors').where({ id }).select('sources');
        expect(await kit.db.read('directory_sources').where({ key: Number(sources) }).pluck('id')).to.equal([found.sources[0].id]);
      }
    });
  });
}
