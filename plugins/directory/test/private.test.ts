import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { definePlugin } from 'civic';
import { MOST_IN_BLOCK } from '../matching/block.ts';
import { separateOrigins } from '../migrations/012_workspace_origins.ts';
import { actorPayload, directoryKit, OTHER_WORKSPACE, WORKSPACE, type DirectoryKit, type ActorProperties } from './kit.ts';
import { exported, upload } from './transfer.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KC = 'kansas-city,missouri';
const UNKNOWN = '01890000-0000-7000-8000-00000000abcd';

for (const database of testDatabases()) {
  describe(`Private actors on ${database}`, { timeout: 60_000 }, () => {
    const clock = stoppedClock('2026-06-01T12:00:00.000Z');
    let kit: DirectoryKit;
    const heard = new Set<string>();
    const listener = definePlugin({
      name: 'listener',
      summary: 'Collects events',
      needs: ['directory'],
      register(_server, civic) { civic.watch('directory.actors_changed', ({ payload }) => { for (const { id } of payload.actors) heard.add(id); }); },
    });
    before(async () => { kit = await directoryKit({ database, clock, plugins: [listener] }); });
    after(() => kit.close());

    const enter = async (what: ActorProperties, who: string) => {
      const { status, body, text, headers } = await kit.send('POST', '/api/entities', actorPayload(what), who);
      expect(status, text).to.equal(201);
      return { ...body, link: String(headers.link ?? '') };
    };
    const line = ({ id, name, ...claims }: { id?: string; name: string; [property: string]: unknown }) => JSON.stringify({
      id, type: 'organization', sources: [{ id: 'a', url: 'https://example.org/lines' }], claims: Object.entries({ name, ...claims }).map(([property, value]) => ({ property, value, source_id: 'a' })),
    });
    const imported = async (lines: string[], who: string, visibility: string) => {
      const { body } = await upload(kit, `format=ndjson&visibility=${visibility}`, lines.join('\n'), who);
      expect(body.faults).to.equal([]);
      return body.counts;
    };

    it('do not take the slug of a public one', async () => {
      await imported([line({ id: 'aaaaaaaa-0000-7000-8000-000012345678', name: 'Slug Club' })], 'member', 'workspace');
      await imported([line({ id: 'bbbbbbbb-0000-7000-8000-000012345678', name: 'Slug Club' })], 'reviewer', 'public');
      const { status, body } = await kit.get('/api/entities/by-slug/slug-club-12345678');
      expect([status, body.id]).to.equal([200, 'bbbbbbbb-0000-7000-8000-000012345678']);
    });

    it('change no byte of what is public, nor when it was made', async () => {
      const { id } = await enter({ name: 'Plain sight', place: KC, issue_area: 'housing_affordability', url: 'https://example.org/plain' }, 'reviewer');
      const paths = [`/api/places/${KC}/coverage`, `/api/places/${KC}/entities`, `/api/places/${KC}/sources`, `/api/places/${KC}/feed.json`, '/api/entities?facets=true', '/api/issue-areas', '/api/issue-areas/housing_affordability',
        '/api/entities?query=quozlander', '/api/entities?query=quozlandre', '/reconcile?query=Quozlander'];
      const read = () => Promise.all(paths.map(async (path) => {
        const { status, text, headers } = await kit.get(path);
        return `${path} ${status} ${String(headers.etag)} ${createHash('sha1').update(text).digest('hex')}`;
      }));
      while (!heard.has(id)) await sleep(20);
      // Kept from now on: a response that is made while a change is noticed is not.
      for (let time = clock.now(), before = ''; ; time += 1000) {
        clock.set(new Date(time).toISOString());
        const { text } = await kit.get(paths[0]!);
        if (text === before) break;
        before = text;
      }
      const first = await read();
      clock.set(new Date(clock.now() + 30_000).toISOString());
      const hidden = await enter({ name: 'Quozlander', place: KC, issue_area: 'housing_affordability', url: 'https://example.org/plain', visibility: 'workspace' }, 'member');
      await kit.send('PATCH', `/api/entities/${hidden.id}`, { sources: [{ local_id: 's', url: 'https://example.org/plain' }], add: [{ property: 'description', value: 'Quozlander again', source_local_id: 's' }] }, 'member');
      while (!heard.has(hidden.id)) await sleep(20);
      expect(await read()).to.equal(first);
      expect((await kit.send('DELETE', `/api/entities/${hidden.id}`, undefined, 'member')).status).to.equal(204);
      expect(await read()).to.equal(first);
    });

    it('do not crowd public duplicates out', async () => {
      const open = await enter({ name: 'Crowded House Society', place: KC, phone: '+1 816 555 0177' }, 'reviewer');
      const crowd = Array.from({ length: MOST_IN_BLOCK + 5 }, (_, at) => line({ name: 'Crowded House Society', place: KC, phone: '+1 816 555 0177', description: `Number ${at}` }));
      await imported(crowd, 'stranger', 'workspace');
      for (const who of ['reviewer', 'editor']) {
        const again = await enter({ name: 'Crowded House Society', place: KC, phone: '+1 816 555 0177' }, who);
        expect(again.link, who).to.include(open.id);
        await kit.send('DELETE', `/api/entities/${again.id}`, undefined, who);
      }
    });

    it('leave no trace in the origins of public ones', async () => {
      const irs = (name: string, ein: number) => `EIN,NAME,STREET,CITY,STATE,ZIP,SUBSECTION\n${ein},${name},1 MAIN ST,KANSAS CITY,MO,64108,03\n`;
      const load = async (who: string, visibility: string, name = 'ORIGIN CHOIR', ein = 431777001) => (await upload(kit, `format=irs&join=false&visibility=${visibility}`, irs(name, ein), who, 'text/csv')).body.counts;
      for (const [who, visibility] of [['member', 'workspace'], ['stranger', 'workspace'], ['reviewer', 'public']] as const) {
        expect((await load(who, visibility)).created, who).to.equal(1);
        expect((await load(who, visibility)).unchanged, who).to.equal(1);
      }
      await load('editor', 'workspace', 'PUBLISHED CHOIR', 431777002);
      const [own] = (await kit.get('/api/entities?query=published+choir&visibility=workspace', 'editor')).body.data;
      expect((await kit.send('POST', `/api/entities/${own.id}/publish`, undefined, 'editor')).status).to.equal(200);
      expect((await load('reviewer', 'public', 'PUBLISHED CHOIR', 431777002)).unchanged).to.equal(1);
      const text = await exported(kit);
      const origins = [...text.matchAll(/"origin":"([^"]*177700[^"]*)"/g)].map(([, origin]) => origin).sort();
      expect(origins).to.equal(['irs:43-1777001', 'irs:43-1777002']);
      for (const workspace of [WORKSPACE, OTHER_WORKSPACE]) expect(text).to.not.include(workspace);
      const [{ origins: kept }] = (await kit.get('/api/exports/entities?format=ndjson&visibility=workspace', 'member')).text.split('\n').filter((row) => row.includes('ORIGIN CHOIR') && row.includes('"visibility":"workspace"')).map((row) => JSON.parse(row));
      expect(kept.map(({ origin }: { origin: string }) => origin)).to.equal(['irs:43-1777001']);
    });

    it('of an earlier version keep their origins apart', async () => {
      const record = async (name: string, visibility: string, who: string) => (await kit.db.read('directory_records').where({ id: (await enter({ name, visibility }, who)).id }).first('key')).key as number;
      const [mine, theirs, open, published] = [await record('Origin mine', 'workspace', 'member'), await record('Origin theirs', 'workspace', 'stranger'), await record('Origin open', 'public', 'reviewer'), await record('Origin published', 'public', 'editor')];
      await kit.db.write(async (tx) => {
        await tx('directory_origins').insert([
          { origin: 'old:1', record_key: mine }, { origin: `${OTHER_WORKSPACE} old:1`, record_key: theirs }, { origin: 'public old:1', record_key: open }, { origin: `${WORKSPACE} old:2`, record_key: published },
        ]);
        await separateOrigins(tx);
      });
      const rows = await kit.db.read('directory_origins').where('origin', 'like', '%old:%').select('origin', 'record_key');
      expect(Object.fromEntries(rows.map(({ origin, record_key }) => [origin, record_key]))).to.equal({ [`${WORKSPACE} old:1`]: mine, [`${OTHER_WORKSPACE} old:1`]: theirs, 'old:1': open, 'old:2': published });
    });

    it('neither prevent public ones with the same id nor are revealed by them', async () => {
      const id = '01890000-0000-7000-8000-0000000000dd';
      expect((await imported([line({ id, name: 'Had the id first' })], 'member', 'workspace')).created).to.equal(1);
      for (const [who, visibility] of [['reviewer', 'public'], ['stranger', 'workspace']] as const) {
        expect(await imported([line({ id, name: `Wanted the id ${who}` })], who, visibility)).to.include({ created: 1 });
        expect(await imported([line({ id, name: `Wanted the id ${who}` })], who, visibility)).to.include({ unchanged: 1 });
      }
      expect((await kit.get('/api/entities?query=wanted+the+id')).body.total).to.equal(1);
      expect((await kit.get(`/api/entities/${id}`, 'member')).body.name).to.equal('Had the id first');
      expect((await kit.get(`/api/entities/${id}`)).status).to.equal(404);
    });

    it('are named neither in the judgements nor in the history of one that was published', async () => {
      const [shown, other, joined] = [await enter({ name: 'Comes out', visibility: 'workspace' }, 'editor'), await enter({ name: 'Stays in', visibility: 'workspace' }, 'editor'), await enter({ name: 'Was in', visibility: 'workspace' }, 'editor')];
      const judged = await kit.send('POST', '/api/judgements', { left_id: shown.id, right_id: other.id, verdict: 'different', reason: 'Our secret reason' }, 'editor');
      expect((await kit.send('POST', `/api/entities/${joined.id}/merge`, { into: shown.id, reason: 'Our secret reason' }, 'editor')).status).to.equal(200);
      expect((await kit.send('POST', `/api/entities/${shown.id}/split`, {}, 'editor')).status).to.equal(200);
      expect((await kit.send('POST', `/api/entities/${shown.id}/publish`, undefined, 'editor')).status).to.equal(200);
      expect((await kit.get(`/api/entities/${shown.id}/judgements`, 'editor')).body.total).to.equal(2);
      for (const who of [undefined, 'stranger', 'reviewer', 'editor']) {
        const history = await kit.get(`/api/entities/${shown.id}/history`, who);
        expect([history.body.total, history.body.data.map(({ action }: { action: string }) => action)]).to.equal([2, ['published', 'created']]);
        const texts = [history.text];
        if (who && who !== 'editor') {
          const list = await kit.get(`/api/entities/${shown.id}/judgements`, who);
          expect(list.body.total).to.equal(0);
          texts.push(list.text);
          const gone = await kit.send('DELETE', `/api/judgements/${judged.body.id}`, undefined, who);
          expect([gone.status, gone.body.code]).to.equal([404, 'unknown_judgement']);
        }
        for (const hidden of [other.id, joined.id, 'secret']) expect(texts.join()).to.not.include(hidden);
      }
      expect((await kit.get(`/api/entities/${shown.id}/history?limit=1`)).body.next_cursor).to.be.a.string();
    });

    it('do not exist for other workspaces, by the same words as what never was', async () => {
      const [hidden, second, open] = [await enter({ name: 'Hidden', visibility: 'workspace' }, 'member'), await enter({ name: 'Hidden too', visibility: 'workspace' }, 'member'), await enter({ name: 'Seen' }, 'reviewer')];
      await kit.send('POST', `/api/entities/${second.id}/merge`, { into: hidden.id }, 'member');
      const claim = { sources: [{ local_id: 's', url: 'https://example.org/x' }], add: [{ property: 'phone', value: '816-555-0100', source_local_id: 's' }] };
      const attempts: ((id: string) => [string, string, unknown])[] = [
        ...['', '/claims', '/sources', '/history', '/related', '/duplicates', '/judgements'].map((part) => (id: string): [string, string, unknown] => ['GET', `/api/entities/${id}${part}`, undefined]),
        (id) => ['PATCH', `/api/entities/${id}`, claim],
        (id) => ['DELETE', `/api/entities/${id}`, undefined],
        (id) => ['POST', `/api/entities/${id}/merge`, { into: open.id }],
        (id) => ['POST', `/api/entities/${open.id}/merge`, { into: id }],
        (id) => ['POST', `/api/entities/${id}/split`, {}],
        (id) => ['POST', `/api/entities/${id}/publish`, undefined],
        (id) => ['POST', '/api/judgements', { left_id: id, right_id: open.id, verdict: 'different' }],
        (id) => ['POST', '/api/judgements', { left_id: open.id, right_id: id, verdict: 'unsure' }],
      ];
      for (const who of ['stranger', 'reviewer']) {
        for (const attempt of attempts) {
          const answers = [];
          for (const id of [UNKNOWN, UNKNOWN.toUpperCase(), hidden.id, hidden.id.toUpperCase(), second.id]) {
            const [method, path, payload] = attempt(id);
            const { status, body, headers } = await kit.send(method, path, payload, who);
            const { request_id: _request, ...shown } = body;
            answers.push(JSON.stringify({ status, shown, link: headers.link ?? null }).replaceAll(id, 'ID'));
          }
          expect(JSON.parse(answers[0]!).status, answers[0]).to.equal(404);
          expect([...new Set(answers)], who).to.equal([answers[0]]);
        }
      }
    });

    it('are published by a reviewer of their workspace: first who asks, then what exists, then what is allowed', async () => {
      const hidden = await enter({ name: 'Unpublished', visibility: 'workspace' }, 'member');
      const outcomes = [];
      for (const who of [undefined, 'reader', 'stranger', 'reviewer', 'member', 'editor', 'editor', 'member']) {
        const { status, body } = await kit.send('POST', `/api/entities/${hidden.id}/publish`, undefined, who);
        outcomes.push([who, status, body.code ?? body.visibility]);
      }
      expect(outcomes).to.equal([
        [undefined, 401, 'authentication_required'], ['reader', 403, 'insufficient_scope'], ['stranger', 404, 'unknown_actor'], ['reviewer', 404, 'unknown_actor'],
        ['member', 403, 'permission_required'], ['editor', 200, 'public'], ['editor', 409, 'already_public'], ['member', 403, 'permission_required'],
      ]);
    });
  });
}
