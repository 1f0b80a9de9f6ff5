import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases, type TestResponse } from 'civic/testing';
import { createHash } from 'node:crypto';
import { actorPayload, directoryKit, OTHER_WORKSPACE, WORKSPACE, type DirectoryKit, type ActorProperties } from './kit.ts';
import { upload } from './transfer.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KC = 'kansas-city,missouri';
const statuses = (answers: TestResponse[]) => answers.map(({ status }) => status).sort();

for (const database of testDatabases()) {
  describe(`What must not happen on ${database}`, { timeout: 60_000 }, () => {
    let kit: DirectoryKit;

    before(async () => { kit = await directoryKit({ database }); });
    after(() => kit.close());

    const enter = async (what: ActorProperties, who = 'editor') => {
      const answer = await kit.send('POST', '/api/entities', actorPayload(what), who);
      expect(answer.status, answer.text).to.equal(201);
      return answer.body;
    };
    const phone = (id: string, number: number, headers = {}) => kit.send('PATCH', `/api/entities/${id}`, {
      sources: [{ local_id: 's', url: 'https://example.org/phones' }], add: [{ property: 'phone', value: `816-555-01${10 + number}`, source_local_id: 's' }],
    }, 'editor', headers);
    /** Of the kit's own format. */
    const line = ({ id, name, url = 'https://example.org/lines' }: { id?: string; name: string; url?: string }) => JSON.stringify({
      id, type: 'organization', sources: [{ id: '01890000-0000-7000-8000-0000000000fe', url }], claims: [{ property: 'name', value: name, source_id: '01890000-0000-7000-8000-0000000000fe' }],
    });
    const several = <T>(work: (number: number) => Promise<T>) => Promise.all([1, 2, 3, 4].map(work));

    it('a forged cursor is an error of the server', async () => {
      const forged = (path: string, query: object, after: unknown) => {
        const text = JSON.stringify([query, after]);
        return `${path}?cursor=${Buffer.from(text).toString('base64url')}${createHash('sha256').update(`${path}\n${text}`).digest('base64url').slice(0, 8)}`;
      };
      const { id } = await enter({ name: 'Cursor Club' });
      const paths = [`/api/places/${KC}/sources`, `/api/places/${KC}/entities`, '/api/entities', ...['claims', 'sources', 'history'].map((part) => `/api/entities/${id}/${part}`)];
      for (const path of paths) {
        for (const after of [[], ['x'], ['x', 1, 2], [null, null], [1, 'x'], [true, 1]]) {
          const { status, body } = await kit.get(forged(path, {}, after));
          expect([status, body.code], `${path} ${JSON.stringify(after)}`).to.equal([400, 'invalid_cursor']);
        }
      }
      for (const [query, after] of [[{ sort: 'source_count' }, [3, 9]], [{ sort: 'recent' }, ['2026-01-01T00:00:00.000Z', 9]], [{ query: 'club' }, [1, 9]], [{ query: '!' }, ['a', 9]]] as const) {
        expect((await kit.get(forged('/api/entities', query, after))).status, JSON.stringify(query)).to.equal(200);
      }
    });

    it('the largest valid change has too many members', async () => {
      const id = '01890000-0000-7000-8000-00000000dead';
      const time = '2026-01-01T00:00:00Z';
      const times = <Item>(most: number, item: Item) => Array<Item>(most).fill(item);
      const { status, body, text } = await kit.send('PATCH', `/api/entities/${id}`, {
        sources: times(100, null).map((_, i) => ({ local_id: `s${i}`, url: 'https://example.org/', title: 'T', publication: 'P', kind: 'report', published_at: time, retrieved_at: time, excerpt: 'E', content_hash: 'H' })),
        add: times(500, { property: 'affiliation', value: { entity_id: null, name: 'N', role: 'R', since: null, until: null }, source_local_id: 's0', excerpt: 'E', locator: { start: 0, end: 1 }, confidence: 1, expires_at: null }),
        retract: times(500, id),
        rank: times(500, { claim_id: id, rank: 'normal' }),
      }, 'editor');
      expect([status, body.code], text).to.equal([404, 'unknown_actor']);
    });

    it('public actors stay apart for the workspaces they came from', async () => {
      const [left, right] = [await enter({ name: 'Of a workspace' }, 'editor'), await enter({ name: 'Of none' }, 'reviewer')];
      const { status, text } = await kit.send('POST', `/api/entities/${left.id}/merge`, { into: right.id }, 'reviewer');
      expect(status, text).to.equal(200);
    });

    it('a private actor has no workspace, and all callers see it as a duplicate', async () => {
      const hidden = await kit.send('POST', '/api/entities', actorPayload({ name: 'Quiet Society', visibility: 'workspace' }), 'reviewer');
      expect(hidden.status).to.equal(400);
      expect(hidden.body.errors[0].pointer).to.equal('/visibility');
      const file = await kit.send('POST', '/api/imports?format=ndjson', '{}', 'reviewer', { 'content-type': 'application/x-ndjson' });
      expect(file.status).to.equal(400);
      expect(file.body.errors[0].parameter).to.equal('visibility');
    });

    it('strangers learn into what something private was merged', async () => {
      const [left, right] = [await enter({ name: 'Own one', visibility: 'workspace' }, 'member'), await enter({ name: 'Own two', visibility: 'workspace' }, 'member')];
      expect((await kit.send('POST', `/api/entities/${left.id}/merge`, { into: right.id }, 'member')).status).to.equal(200);
      expect((await kit.get(`/api/entities/${left.id}`, 'member')).body.merged_into).to.equal(right.id);
      const answers = [
        await kit.get(`/api/entities/${left.id}`),
        await kit.get(`/api/entities/${left.id}/history`, 'stranger'),
        await kit.get(`/api/entities/${left.id}/judgements`, 'stranger'),
        await kit.send('DELETE', `/api/entities/${left.id}`, undefined, 'stranger'),
        await kit.send('POST', '/api/judgements', { left_id: left.id, right_id: right.id, verdict: 'unsure' }, 'stranger'),
      ];
      for (const { status, text, headers } of answers) {
        expect(status).to.equal(404);
        expect(text).not.to.contain(right.id);
        expect(headers.link).to.be.undefined();
      }
    });

    it('a number too large for a column, a day that is none, or a given source id is an error of ours', async () => {
      const body = actorPayload({ name: 'Hostile' });
      for (const member of [{ locator: { start: 0, end: 2 ** 31 } }, { expires_at: '2026-02-30T00:00:00Z' }, { expires_at: '+012345-01-01T00:00:00Z' }]) {
        const { status, text } = await kit.send('POST', '/api/entities', { ...body, claims: [{ ...body.claims[0], ...member }] }, 'editor');
        expect(status, text).to.equal(400);
      }
      const { status } = await kit.send('POST', '/api/entities', { ...body, sources: [{ ...body.sources[0], id: '01890000-0000-7000-8000-0000000000ff' }] }, 'editor');
      expect(status).to.equal(400);
    });

    it('a patch without a change passes for one', async () => {
      const { id } = await enter({ name: 'Unchanged' });
      expect((await kit.send('PATCH', `/api/entities/${id}`, {}, 'editor')).status).to.equal(400);
    });

    it('an import goes into what another workspace has for itself, or is kept out by it', async () => {
      const irs = 'EIN,NAME,STREET,CITY,STATE,ZIP,SUBSECTION\n431999001,REGISTERED CHOIR,1 MAIN ST,KANSAS CITY,MO,64108,03\n';
      for (const who of ['member', 'stranger', 'reviewer', 'stranger']) {
        const { body, text } = await upload(kit, `format=irs${who === 'reviewer' ? '&visibility=public' : ''}`, irs, who, 'text/csv');
        expect(body.state, text).to.equal('completed');
      }
      const records = await kit.db.read('directory_records').where('slug', 'like', 'registered-choir%').orderBy('key').select('visibility', 'workspace_id');
      expect(records).to.equal([{ visibility: 'workspace', workspace_id: WORKSPACE }, { visibility: 'workspace', workspace_id: OTHER_WORKSPACE }, { visibility: 'public', workspace_id: null }]);
      expect((await kit.get('/api/entities?query=registered+choir')).body.total).to.equal(1);
      const { id } = await enter({ name: 'Known by its id', visibility: 'workspace' }, 'member');
      const { body } = await upload(kit, 'format=ndjson&visibility=public', line({ id, name: 'Taken over' }), 'reviewer');
      expect(body.counts).to.include({ created: 1, rejected: 0 });
      expect((await kit.get(`/api/entities/${id}`, 'member')).body.claim_count).to.equal(2);
    });

    it('a member adds by import to what the workspace has published', async () => {
      const { id } = await enter({ name: 'Once its own', visibility: 'workspace' }, 'editor');
      expect((await kit.send('POST', `/api/entities/${id}/publish`, undefined, 'editor')).status).to.equal(200);
      expect((await upload(kit, 'format=ndjson', line({ id, name: 'Now another' }), 'member')).body.faults).to.equal([{ row: 1, detail: 'it is in the directory already, where only reviewers may add to it' }]);
    });

    it('two addresses of one source id break an import', async () => {
      for (const number of [1, 2]) {
        const { body } = await upload(kit, 'format=ndjson&visibility=public', line({ name: `Same id ${number}`, url: `https://example.org/same-id/${number}` }), 'reviewer');
        expect(body.counts, JSON.stringify(body)).to.include({ created: 1, rejected: 0 });
      }
    });

    it('of several who read the same, more than one may change it', async () => {
      const { id } = await enter({ name: 'Wanted by four' });
      const { headers } = await kit.get(`/api/entities/${id}`, 'editor');
      const answers = await several((number) => phone(id, number, { 'if-match': String(headers.etag) }));
      expect(statuses(answers)).to.equal([200, 412, 412, 412]);
    });

    it('a merge is undone more than once', async () => {
      const [left, right] = [await enter({ name: 'Split left' }), await enter({ name: 'Split right' })];
      await kit.send('POST', `/api/entities/${left.id}/merge`, { into: right.id }, 'editor');
      expect(statuses(await several(() => kit.send('POST', `/api/entities/${right.id}/split`, {}, 'editor')))).to.equal([200, 409, 409, 409]);
    });

    it('those who merge, change and delete at once trip over each other', async () => {
      for (let round = 0; round < 5; round++) {
        const ids: string[] = [];
        for (const name of ['First', 'Second', 'Third']) ids.push((await enter({ name: `${name} of ${round}`, place: KC })).id);
        const [a, b, c] = ids as [string, string, string];
        const merge = (id: string, into: string) => kit.send('POST', `/api/entities/${id}/merge`, { into }, 'editor');
        const answers = await Promise.all([merge(a, b), merge(b, a), merge(b, c), merge(c, a), phone(a, 1), phone(b, 2), kit.send('DELETE', `/api/entities/${c}`, undefined, 'editor'), phone(c, 3)]);
        for (const { status, text } of answers) expect([200, 204, 404, 409], text).to.include(status);
      }
      expect(await kit.composition.checks.find(({ name }) => name === 'directory')!.run()).to.include({ status: 'ok' });
    });
  });
}
