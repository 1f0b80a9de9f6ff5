import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId } from 'civic';
import { testDatabases } from 'civic/testing';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { workspacesKit, type Person, type WorkspacesKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const PLACE = 'gladstone,missouri';
const AT = '2026-03-01T12:00:00.000Z';
/** Together longer than what the system keeps for a client that does not read. */
const LONG = 'x'.repeat(60_000);
const MANY = 160;

for (const database of testDatabases()) describe(`Exports of a workspace, on ${database}`, () => {
  let kit: WorkspacesKit;
  let ada: Person;
  let bob: Person;
  before(async () => {
    kit = await workspacesKit(database, { plugins: ['firehose'], listen: true });
    [ada, bob] = [await kit.person(), await kit.person()];
  });
  after(() => kit.close());

  const ask = (person: Person, method: string, path: string, payload?: unknown) => kit.as(person.key, method, `/api/workspaces/${person.workspace_id}${path}`, payload);

  it('have all records in one file, whose parts are imported again', async () => {
    const [kept, gone] = [await kit.actor('River Watch'), await kit.actor('Closed group')];
    const list = (await ask(ada, 'POST', '/lists', { name: 'To call', description: 'Before June' })).body;
    await ask(ada, 'POST', `/lists/${list.id}/items`, { entity_id: kept.id, note: 'First' });
    await ask(ada, 'POST', '/lists', { name: 'Empty' });
    await ask(ada, 'POST', '/notes', { target: { type: 'entity', id: kept.id }, text: 'A note' });
    await ask(ada, 'POST', '/coverage-targets', { place: PLACE, issue_areas: ['housing_affordability'], wanted: 2 });
    await ask(ada, 'POST', '/reviews', { target: { type: 'entity', id: kept.id }, status: 'confirmed' });
    await ask(ada, 'POST', '/briefs', { title: 'Rents', scope: { places: [PLACE] }, entity_ids: [kept.id, gone.id] });
    await ask(ada, 'POST', '/watches', { target: { type: 'place', id: PLACE }, delivery: 'immediate' });
    await ask(ada, 'POST', '/watches', { target: { type: 'query', query: { places: [PLACE], signal_types: ['vote'] } } });
    await kit.request('DELETE', `/api/entities/${gone.id}`, { as: { role: 'reviewer', scope: ['entities:write'] } });

    const exported = await ask(ada, 'GET', '/export');
    expect(exported.headers).to.include({ 'content-disposition': 'attachment; filename="workspace.json"', 'cache-control': 'private, no-store' });
    const file = exported.body;
    expect(file).to.include({ format: 'civic workspace export', version: 1, kind: 'workspace' });
    expect(file.import).to.contain('/notes/import');
    expect(file.not_imported.join(' ')).to.contain('usage').and.to.contain('feeds');
    const import_ = async (path: string, body: unknown) => {
      const { status, text } = await ask(bob, 'POST', path, body);
      expect(status, `${path}: ${text}`).to.be.within(200, 201);
      expect(text).to.contain(path.endsWith('/import') ? '"rejected":[]' : '"id"');
    };
    for (const one of file.lists) await import_('/lists/import', one);
    await import_('/coverage-targets/import', file.coverage_targets);
    await import_('/notes/import', file.notes);
    await import_('/reviews/import', file.reviews);
    for (const one of file.briefs) await import_('/briefs', one);
    for (const one of file.watches) await import_('/watches', one);

    const again = (await ask(bob, 'GET', '/export')).body;
    expect(plain(again)).to.equal(plain(file));
    expect(again.briefs[0].entity_ids).to.equal([kept.id]);
    expect((await kit.as(bob.key, 'GET', `/api/workspaces/${ada.workspace_id}/export`)).status).to.equal(404);
    expect((await ask(ada, 'GET', '/usage')).body.data[0]).to.include({ meter: 'exports', amount: 1 });
  });

  /** What people wrote, without ids, times and authors; the order of an import is that of the file. */
  function plain({ lists, notes, coverage_targets: targets, reviews, briefs, watches }: any) {
    const sorted = (values: unknown[]) => values.map((value) => JSON.stringify(value)).sort();
    return {
      lists: sorted(lists.map(({ records: [{ name, description, items }] }: any) => [name, description, items.map(({ entity_id, note }: any) => [entity_id, note])])),
      notes: sorted(notes.records.map(({ target, text }: any) => [target?.id, text])),
      targets: sorted(targets.records.map(({ place, issue_areas, wanted }: any) => [place.place_key, issue_areas, wanted])),
      reviews: sorted(reviews.records.map(({ target, status, note }: any) => [target.id, status, note])),
      briefs: sorted(briefs.map(({ title, scope, summary_md, entity_ids }: any) => [title, scope, summary_md, entity_ids])),
      watches: sorted(watches.map(({ target, delivery }: any) => [target, delivery])),
    };
  }

  it('keep the name and the description of a list in CSV, and create no list from a CSV that cannot be read', async () => {
    const list = (await ask(ada, 'GET', '/lists')).body.data.find(({ name }: { name: string }) => name === 'To call');
    const csv = (await ask(ada, 'GET', `/lists/${list.id}/export?format=csv`)).text;
    const post = (payload: string) => kit.request('POST', `/api/workspaces/${bob.workspace_id}/lists/import`, { payload, headers: { 'x-api-key': bob.key, 'content-type': 'text/csv' } });
    expect((await post(csv)).body).to.equal({ created: 1, rejected: [] });
    const { data, total } = (await ask(bob, 'GET', '/lists')).body;
    expect(data[0]).to.include({ name: 'To call', description: 'Before June', item_count: 1 });
    expect((await post('entity_id,note\n"open')).body.code).to.equal('invalid_request');
    expect((await ask(bob, 'GET', '/lists')).body.total).to.equal(total);
  });

  it('state in each file what cannot be imported', async () => {
    const stated: Record<string, string> = {
      '/usage/export': '"import":"Usage cannot be imported."', '/usage/export?format=csv': 'Usage cannot be imported.',
      '/notes/export': '"import":', '/notes/export?format=md': 'This file is for reading.',
    };
    const brief = (await ask(ada, 'GET', '/briefs')).body.data[0].id;
    for (const format of ['csv', 'md', 'html']) stated[`/briefs/${brief}/export?format=${format}`] = 'can be imported';
    stated[`/briefs/${brief}/export`] = '"not_imported":';
    for (const [path, words] of Object.entries(stated)) expect((await ask(ada, 'GET', path)).text, path).to.contain(words);
  });

  describe('that a client reads slowly', () => {
    let desk: string;
    let later: string;
    let list: string;
    before(async () => {
      desk = await sharedWorkspace();
      // A file has the latest list first.
      later = await createList('Later in the file');
      list = await createList('Long');
      await fill();
    });

    /** Creates a workspace of Ada with Bob as a member. */
    async function sharedWorkspace(): Promise<string> {
      const { body: { id } } = await kit.as(ada.key, 'POST', '/api/workspaces', { name: 'Desk' });
      await join(id);
      return id;
    }

    async function join(workspaceId: string): Promise<void> {
      const invited = await kit.as(ada.key, 'POST', `/api/workspaces/${workspaceId}/members`, { account_id: bob.id, role: 'member' });
      expect((await kit.as(bob.key, 'POST', `/api/invitations/${invited.body.invitation_id}/accept`)).status).to.equal(200);
    }

    const createList = async (name: string): Promise<string> => (await kit.as(ada.key, 'POST', `/api/workspaces/${desk}/lists`, { name })).body.id;
    const remove = async (id: string) => expect((await kit.as(ada.key, 'DELETE', `/api/workspaces/${desk}/lists/${id}`)).status).to.equal(204);
    const leave = () => kit.as(ada.key, 'DELETE', `/api/workspaces/${desk}/members/${bob.id}`);

    /** Creates many long notes, and entries of the list. */
    async function fill(): Promise<void> {
      const times = { created_at: AT, updated_at: AT, created_by: ada.id };
      await kit.db.write(async (tx) => {
        const { key } = await tx('workspaces_lists').where({ id: list }).first('key');
        await tx('workspaces_list_items').insert(Array.from({ length: MANY }, () => ({ list_key: key, entity_id: newId(), note: LONG, added_at: AT, added_by: ada.id })));
        await tx('workspaces_notes').insert(Array.from({ length: MANY }, () => ({ id: newId(), workspace_id: desk, target_type: null, target_id: null, text: LONG, ...times })));
      });
    }

    /** Requests a file, does something before reading it, and reads it to its end or to where the connection breaks. */
    async function readSlowly(person: Person, path: string, meanwhile: () => Promise<unknown>): Promise<{ status: number; text: string; isBroken: boolean }> {
      const sent = get(`${kit.url}/api/workspaces/${desk}${path}`, { agent: false, headers: { 'x-api-key': person.key } }).on('error', () => undefined);
      const [response] = await once(sent, 'response') as [IncomingMessage];
      await meanwhile();
      const pieces: Buffer[] = [];
      try {
        for await (const piece of response) pieces.push(piece as Buffer);
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).to.equal('ECONNRESET');
      }
      return { status: response.statusCode!, text: Buffer.concat(pieces).toString(), isBroken: !response.complete };
    }

    it('are complete, without lists that are deleted before their turn', async () => {
      const { text, isBroken } = await readSlowly(bob, '/export', () => remove(later));
      expect([isBroken, text.length > 2 * MANY * LONG.length]).to.equal([false, true]);
      expect(JSON.parse(text).lists.map(({ records }: any) => records[0].name)).to.equal(['Long']);
    });

    it('break when the member is removed', async () => {
      for (const path of ['/export', `/lists/${list}/export?format=csv`, '/notes/export?format=md']) {
        const { status, isBroken } = await readSlowly(bob, path, async () => expect((await leave()).status).to.equal(204));
        expect([status, isBroken], path).to.equal([200, true]);
        await join(desk);
      }
    });

    it('reset the connection: to a client of HTTP/1.0 a closed one looks like the end', async () => {
      let isReset = false;
      kit.server.listener.once('connection', (socket: Socket) => {
        const reset = socket.resetAndDestroy.bind(socket);
        socket.resetAndDestroy = () => {
          isReset = true;
          return reset();
        };
      });
      const socket = connect(Number(new URL(kit.url).port), '127.0.0.1').on('error', () => undefined);
      socket.write(`GET /api/workspaces/${desk}/notes/export?format=csv HTTP/1.0\r\nx-api-key: ${bob.key}\r\n\r\n`);
      await once(socket, 'readable');
      await leave();
      await new Promise((resolve) => { socket.once('close', resolve).resume(); });
      expect(isReset).to.be.true();
      await join(desk);
    });

    it('break when the list is deleted', async () => {
      expect((await readSlowly(ada, `/lists/${list}/export?format=csv`, () => remove(list))).isBroken).to.be.true();
    });

    it('break when the account is disabled', async () => {
      const { isBroken } = await readSlowly(bob, '/notes/export', () => kit.run('account disable', { account: bob.id }));
      expect(isBroken).to.be.true();
    });

    it('break when the workspace is deleted', async () => {
      const lines = Array.from({ length: 4000 }, (_, at) => ({ workspace_id: desk, seq: 1_000 + at, at: AT, meter: LONG.slice(0, 6000), amount: 1, actor: ada.id, via: 'key', prev_hash: '', hash: '' }));
      await kit.db.write(async (tx) => {
        for (let from = 0; from < lines.length; from += 500) await tx('workspaces_usage').insert(lines.slice(from, from + 500));
        await tx('workspaces_usage_heads').where({ workspace_id: desk }).update({ seq: 4_999 });
      });
      expect((await readSlowly(ada, '/usage/export?format=csv', async () => {})).isBroken).to.be.false();
      const end = async () => expect((await kit.as(ada.key, 'DELETE', `/api/workspaces/${desk}?name=Desk`)).status).to.equal(204);
      expect((await readSlowly(ada, '/usage/export?format=csv', end)).isBroken).to.be.true();
    });
  });
});
