import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { newId } from 'civic';
import { testDatabases } from 'civic/testing';
import type { Person } from './kit.ts';
import { watchKit, type WatchKit } from './watch-kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) describe(`Watches, on ${database}`, () => {
  let kit: WatchKit;
  let ada: Person;
  let bob: Person;
  before(async () => {
    kit = await watchKit(database);
    ada = await kit.person();
    bob = await kit.person();
  });
  after(() => kit.close());

  const path = (person: Person, rest = '') => `/api/workspaces/${person.workspace_id}/watches${rest}`;
  const watch = async (person: Person, target: object, delivery?: string) => kit.as(person.key, 'POST', path(person), { target, delivery });
  const digest = async (person: Person, query = '') => (await kit.as(person.key, 'GET', `/api/workspaces/${person.workspace_id}/digest${query}`)).body;
  const titles = async (person: Person, query = '') => (await digest(person, query)).data.map(({ signal }: any) => signal.title);

  it('are created, read, changed and deleted', async () => {
    const made = await watch(ada, { type: 'place', id: 'liberty-mo' });
    expect(made.status).to.equal(201);
    expect(made.body).to.include({ delivery: 'digest', created_by: ada.id, target: { type: 'place', id: 'liberty,missouri', name: 'Liberty, MO' } });
    expect((await kit.as(ada.key, 'GET', path(ada, `/${made.body.id}`))).body).to.equal(made.body);
    expect((await kit.as(ada.key, 'PATCH', path(ada, `/${made.body.id}`), { delivery: 'muted' })).body.delivery).to.equal('muted');
    expect((await kit.as(ada.key, 'GET', path(ada))).body).to.include({ total: 1 });

    const again = await watch(ada, { type: 'place', id: 'liberty,missouri' });
    expect([again.status, again.body.id, again.body.delivery]).to.equal([200, made.body.id, 'muted']);
    expect((await kit.as(bob.key, 'GET', path(ada, `/${made.body.id}`))).status).to.equal(404);
    expect((await kit.as(bob.key, 'GET', path(bob, `/${made.body.id}`))).body.code).to.equal('unknown_watch');
    expect((await kit.as(ada.key, 'DELETE', path(ada, `/${made.body.id}`))).status).to.equal(204);
  });

  it('need a target that exists and that the member may see', async () => {
    const secret = await kit.actor('Hidden group', { workspace_id: bob.workspace_id, account_id: bob.id }, 'workspace');
    for (const [target, code] of [
      [{ type: 'place', id: 'nowhere,missouri' }, 'unknown_place'],
      [{ type: 'issue_area', id: 'no_such_issue' }, 'unknown_issue_area'],
      [{ type: 'entity', id: newId() }, 'unknown_actor'],
      [{ type: 'entity', id: secret.id }, 'unknown_actor'],
      [{ type: 'coverage_target', id: newId() }, 'unknown_coverage_target'],
      [{ type: 'query', query: {} }, 'invalid_request'],
      [{ type: 'query', id: 'x' }, 'invalid_request'],
      [{ type: 'place', query: {} }, 'invalid_request'],
      [{ type: 'query', query: { signal_types: ['gossip'] } }, 'invalid_request'],
    ] as const) expect((await watch(ada, target)).body.code, JSON.stringify(target)).to.equal(code);
  });

  it('find public signals and those of their own workspace, each once, with the watches that matched', async () => {
    const actor = await kit.announcedActor('River Tenants');
    await watch(ada, { type: 'place', id: 'liberty,missouri' });
    await watch(ada, { type: 'issue_area', id: 'energy_transition' });
    await watch(ada, { type: 'entity', id: actor.id });
    await watch(ada, { type: 'query', query: { places: ['liberty-mo'], signal_types: ['vote'] } });
    await watch(bob, { type: 'place', id: 'liberty,missouri' });
    const here = { places: ['liberty,missouri'] };
    await kit.publish(
      { title: 'Meeting here', ...here, issues: ['energy_transition'] }, { title: 'Elsewhere', places: ['smithville,missouri'] }, { title: 'Vote here', type: 'vote', ...here },
      { title: 'New source', type: 'new_source', source_class: 'directory', ...here, actors: [{ id: actor.id, name: 'River Tenants', type: 'organization' }] },
      { title: 'For Ada', ...here, visibility: 'workspace', workspace_id: ada.workspace_id }, { title: 'Held', ...here, review_state: 'held' },
    );
    expect(await titles(ada)).to.equal(['For Ada', 'New source', 'Vote here', 'Meeting here']);
    expect(await titles(bob)).to.equal(['Vote here', 'Meeting here']);
    const { data, total } = await digest(ada);
    expect(total).to.equal(4);
    expect(data[3].watches.map(({ target }: any) => target.name)).to.equal(['Liberty, MO', 'Energy Transition']);
    expect(data[2].watches.map(({ target }: any) => target.type)).to.equal(['place', 'query']);
    expect((await kit.as(bob.key, 'GET', `/api/workspaces/${ada.workspace_id}/digest`)).status).to.equal(404);
  });

  it('page through the digest, and bound it by time', async () => {
    const first = await digest(ada, '?limit=3');
    expect(first.data).to.have.length(3);
    expect((await digest(ada, `?limit=3&cursor=${first.next_cursor}`)).data.map(({ signal }: any) => signal.title)).to.equal(['Meeting here']);
    expect(await titles(ada, '?since=2026-03-02')).to.equal([]);
    expect(await titles(ada, '?until=2026-03-02&limit=1')).to.equal(['For Ada']);
  });

  it('deliver the latest version of a signal, and nothing that was withdrawn', async () => {
    const [id] = await kit.publish({ title: 'Hearing', places: ['liberty,missouri'] }) as [string];
    await kit.publish({ id, title: 'Hearing moved', places: ['liberty,missouri'] });
    expect((await titles(bob)).slice(0, 2)).to.equal(['Hearing moved', 'Vote here']);
    expect((await digest(bob)).data[0].is_update).to.be.true();
    await kit.withdraw(id);
    expect((await digest(bob)).total).to.equal(2);
    expect((await titles(bob))[0]).to.equal('Vote here');
  });

  it('deliver nothing while muted', async () => {
    const quiet = await kit.person();
    await watch(quiet, { type: 'place', id: 'liberty,missouri' }, 'muted');
    await kit.publish({ title: 'Unheard', places: ['liberty,missouri'] });
    expect((await digest(quiet)).total).to.equal(0);
  });

  it('follow an actor that was merged into another', async () => {
    const [one, other] = [await kit.actor('Old name'), await kit.actor('New name')];
    const follower = await kit.person();
    await watch(follower, { type: 'entity', id: one.id });
    const merged = await kit.request('POST', `/api/entities/${one.id}/merge`, { payload: { into: other.id, reason: 'The same group' }, as: { role: 'reviewer', scope: ['entities:write'] } });
    expect(merged.status).to.equal(200);
    // On Postgres an event is numbered after its commit, so that none may seem to wait.
    await until(async () => (await kit.db.read('workspaces_watch_keys').where('subject', 'like', `%${other.id}%`)).length > 0);
    await kit.publish({ title: 'About the new name', actors: [{ id: other.id, name: 'New name', type: 'organization' }] });
    expect(await titles(follower)).to.contain('About the new name');
  });

  it('follow an actor no further than it is merged, when a later merge is undone', async () => {
    const [a, b, c] = [await kit.actor('Alder group'), await kit.actor('Birch group'), await kit.actor('Cedar group')];
    const follower = await kit.person();
    await watch(follower, { type: 'entity', id: a.id });
    const merge = async (one: any, into: any) => (await kit.request('POST', `/api/entities/${one.id}/merge`, { payload: { into: into.id, reason: 'The same group' }, as: { role: 'reviewer', scope: ['entities:write'] } })).body;
    await merge(a, b);
    await merge(b, c);
    await indexed(c, 1);
    await kit.publish({ title: 'Cedar before', actors: [{ id: c.id, name: 'Cedar group', type: 'organization' }] });
    const undone = await kit.request('POST', `/api/entities/${c.id}/split`, { payload: {}, as: { role: 'reviewer', scope: ['entities:write'] } });
    expect(undone.status, undone.text).to.equal(200);
    await indexed(c, 0);
    await kit.publish({ title: 'Cedar after', actors: [{ id: c.id, name: 'Cedar group', type: 'organization' }] }, { title: 'Birch after', actors: [{ id: b.id, name: 'Birch group', type: 'organization' }] });
    expect((await titles(follower)).filter((title: string) => /after|before/.test(title))).to.equal(['Birch after', 'Cedar before']);
  });

  /** Waits until so many watches find signals about an actor. */
  async function indexed({ id }: { id: string }, count: number): Promise<void> {
    for (let round = 0; round < 500; round++) {
      if ((await kit.db.read('workspaces_watch_keys').where({ subject: `entity ${id}` })).length === count) return;
      await new Promise((done) => { setTimeout(done, 10); });
    }
    throw new Error('The index of watches is not updated');
  }

  /** Waits until the plugin has handled all events. */
  async function until(condition: () => Promise<boolean>): Promise<void> {
    for (let round = 0; round < 1000; round++) {
      if (await condition()) return;
      await new Promise((done) => { setTimeout(done, 10); });
    }
    throw new Error('Events are not handled');
  }

  it('are created by assistants', async () => {
    const { data } = await kit.tool('watch', { target: { type: 'place', id: 'smithville-mo' }, delivery: 'immediate' }, { as: { scope: ['workspace:write'], account_id: ada.id, workspace_id: ada.workspace_id, workspace_role: 'owner' } });
    expect(data).to.include({ delivery: 'immediate', created_by: ada.id });
    expect(data.target.id).to.equal('smithville,missouri');
  });
});
