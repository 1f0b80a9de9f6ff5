import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { slowness, testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { REVIEW_STATES, type SignalDraft, type Visibility } from '../types.ts';
import { firehoseKit, keyOf, titlesOf, type FirehoseKit } from './kit.ts';
import { joinWorkspace, type Person } from './people.ts';
import { openStream } from './sse.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** A kind of signal: whose it is and what its review says. */
const OWNERS = ['public', 'partner', 'reviewer', 'A', 'B'] as const;
type Owner = (typeof OWNERS)[number];
const KINDS = OWNERS.flatMap((owner) => REVIEW_STATES.map((state) => ({ owner, state, name: `${owner} ${state}` })));

const of = (owners: Owner[], states: readonly string[]) => KINDS.filter(({ owner, state }) => owners.includes(owner) && states.includes(state)).map(({ name }) => name);
const OUT = ['not_required', 'approved'];
const BACK = ['pending', 'held', 'rejected'];
const everybodys = of(['public'], OUT);

/** Who asks with which visibility, and what they may see; a number is the status they get. Nothing else may be seen on any path. */
const table: [who: string, visibility: Visibility | null, seen: string[] | 401 | 403][] = [
  ['nobody', 'public', everybodys],
  ['nobody', null, 401],
  ['nobody', 'workspace', 401],
  ['nobody', 'partner', 401],
  ['nobody', 'reviewer', 401],
  ['member of A', 'public', everybodys],
  ['member of A', null, [...everybodys, ...of(['A'], OUT)]],
  ['member of A', 'workspace', [...everybodys, ...of(['A'], OUT)]],
  ['member of A', 'partner', 403],
  ['member of A', 'reviewer', 403],
  ['reviewer in A', null, [...everybodys, ...of(['A'], REVIEW_STATES)]],
  ['reviewer in A', 'public', everybodys],
  ['reviewer in A', 'reviewer', 403],
  ['owner of B', 'workspace', [...everybodys, ...of(['B'], REVIEW_STATES)]],
  ['owner of B', 'partner', 403],
  ['partner', 'workspace', everybodys],
  ['partner', 'partner', [...everybodys, ...of(['partner'], OUT)]],
  ['partner', 'reviewer', 403],
  ['instance reviewer', 'workspace', everybodys],
  ['instance reviewer', 'partner', 403],
  ['instance reviewer', 'reviewer', [...everybodys, ...of(['partner', 'reviewer'], OUT), ...of(['public', 'partner', 'reviewer'], BACK)]],
  ['admin', 'reviewer', [...everybodys, ...of(['partner', 'reviewer'], OUT), ...of(['public', 'partner', 'reviewer'], BACK)]],
  ['admin', 'public', everybodys],
  ['key without scope', 'public', everybodys],
  ['key without scope', 'workspace', 403],
];
// Partners are named in the config, before any workspace is made.
const PARTNER = '01890000-0000-7000-8000-00000000000a';

/** Stands in for OAuth: the token `partner` is of a workspace whose id is known. */
const tokens = definePlugin({
  name: 'tokens',
  summary: 'Knows one token',
  register(_server, civic) {
    civic.identify(({ headers }) => (headers['authorization'] === 'Bearer partner'
      ? { account_id: PARTNER, via: 'token', scope: ['firehose:read'], role: 'user', plan: 'team', capabilities: ['firehose'], workspace_id: PARTNER, workspace_role: 'owner' }
      : null));
  },
});

const allowed = table.filter((row): row is [string, Visibility | null, string[]] => Array.isArray(row[2]));

for (const database of testDatabases()) describe(`Who sees which signal, on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  let workspaces: Record<'A' | 'B', string>;
  const people: Record<string, Person | undefined> = {};

  before(async () => {
    kit = await firehoseKit({ database, plugins: [tokens], firehose: { anonymous: true, partners: [PARTNER] } });
    const member = async (owner: Person, workspace: string, role: string) => {
      const person = await kit.person();
      const { id } = person;
      await joinWorkspace(kit, owner, workspace, person, role);
      const made = await kit.run('key create', { account: id, workspace });
      return { id, key: made.key, key_id: made.id, workspace_id: workspace };
    };
    const owner = await kit.person();
    const { body: shared } = await kit.ask('POST', '/api/workspaces', { as: owner, headers: { 'content-type': 'application/json' }, body: '{"name":"A"}' });
    people['member of A'] = await member(owner, shared.id, 'member');
    people['reviewer in A'] = await member(owner, shared.id, 'reviewer');
    people['owner of B'] = await kit.person();
    people['instance reviewer'] = await kit.person({ role: 'reviewer' });
    people['admin'] = await kit.person({ role: 'admin' });
    people['key without scope'] = await kit.person({}, { scopes: ['workspace:read'] });
    workspaces = { A: shared.id, B: people['owner of B'].workspace_id };
  });
  after(() => kit.close());

  const kindly = ({ owner, state, name }: (typeof KINDS)[number], place: string): Partial<SignalDraft> => ({
    title: name, review_state: state, places: [place],
    ...(owner === 'A' || owner === 'B' ? { visibility: 'workspace', workspace_id: workspaces[owner] } : { visibility: owner }),
  });
  const credentialOf = (who: string): Record<string, string> => (who === 'partner' ? { authorization: 'Bearer partner' } : keyOf(people[who]));
  const queryOf = (visibility: Visibility | null, place: string) => `place=${place}${visibility ? `&visibility=${visibility}` : ''}`;
  const get = (who: string, query: string, headers: Record<string, string> = {}, method = 'GET') => kit.ask(method, `/api/firehose?${query}`, { headers: { ...credentialOf(who), ...headers } });
  const stream = (who: string, query: string, headers: Record<string, string> = {}) => openStream(`${kit.url}/api/firehose?${query}`, { ...credentialOf(who), ...headers });

  it('is refused the same on every path', async () => {
    for (const [who, visibility, seen] of table) {
      if (Array.isArray(seen)) continue;
      const query = queryOf(visibility, 'x,y');
      const answers = [await get(who, query), await get(who, query, {}, 'HEAD'), await get(who, query, { accept: 'text/event-stream' }), await get(who, query, { prefer: 'wait=5', 'if-none-match': '*' }), await get(who, query, { accept: 'text/event-stream', 'last-event-id': '0' })];
      expect(answers.map(({ status }) => status), `${who} ${visibility}`).to.equal(answers.map(() => seen));
      if (seen === 403) expect(['visibility_forbidden', 'insufficient_scope']).to.include(answers[0]!.body.code);
    }
  });

  it('is the same in snapshots, pages, totals and replays', async () => {
    const place = 'snapshot,testland';
    const ids = await kit.publish(...KINDS.map((kind) => kindly(kind, place)));
    for (const [who, visibility, seen] of allowed) {
      const query = queryOf(visibility, place);
      const label = `${who} ${visibility}`;
      const { body } = await get(who, `${query}&limit=200`);
      expect(titlesOf(body.signals).sort(), label).to.equal(seen.toSorted());
      expect(body.summary.total_signals, label).to.equal(seen.length);
      const page = (await get(who, `${query}&limit=1`)).body;
      expect(page.summary.total_signals, label).to.equal(seen.length);
      const hidden = KINDS.map(({ name }, index) => ({ name, id: ids[index]! })).filter(({ name }) => !seen.includes(name));
      const cursor = page.next_cursor + Buffer.from(String(page.next_cursor), 'base64url').toString();
      for (const { name, id } of hidden) expect(cursor.includes(id), `${label} sees ${name} in a cursor`).to.be.false();
      const replay = await stream(who, query, { 'last-event-id': '0' });
      expect((await replay.signals(seen.length)).map(({ data }) => data.signal.title), label).to.equal(KINDS.map(({ name }) => name).filter((name) => seen.includes(name)));
      replay.close();
    }
  });

  it('is the same live', async () => {
    const place = 'live,testland';
    const streams = await Promise.all(allowed.map(([who, visibility]) => stream(who, queryOf(visibility, place))));
    await Promise.all(streams.map((one) => one.next()));
    await kit.publish(...KINDS.map((kind) => kindly(kind, place)), { title: 'end', places: [place] });
    for (const [index, [who, visibility, seen]] of allowed.entries()) {
      const signals = await streams[index]!.signals(seen.length + 1);
      expect(signals.map(({ data }) => data.signal.title), `${who} ${visibility}`).to.equal([...KINDS.map(({ name }) => name).filter((name) => seen.includes(name)), 'end']);
      streams[index]!.close();
    }
  });

  it('shows in no ETag and ends no wait', async () => {
    const rows = allowed.map(([who, visibility, seen], index) => ({ who, place: `wait-${index},testland`, query: queryOf(visibility, `wait-${index},testland`), seen }));
    await kit.publish(...rows.map(({ place }) => ({ title: 'start', places: [place] })));
    const tags = await Promise.all(rows.map(async ({ who, query }) => String((await get(who, query, {}, 'HEAD')).headers.etag)));
    const ended = new Set<number>();
    const waits = rows.map(({ who, query }, index) => get(who, query, { prefer: 'wait=20', 'if-none-match': tags[index]! }).finally(() => { ended.add(index); }));
    await sleep(100);
    const ids = await kit.publish(...rows.flatMap(({ place, seen }) => KINDS.filter(({ name }) => !seen.includes(name)).map((kind) => kindly(kind, place))));
    await kit.withdraw(...ids.slice(0, 50));
    await sleep(200);
    expect([...ended].map((index) => rows[index]!.who)).to.equal([]);
    for (const [index, { who, query }] of rows.entries()) {
      expect((await get(who, query, {}, 'HEAD')).headers.etag, `${who} ${query}`).to.equal(tags[index]!);
      const { status, body } = await get(who, query);
      expect([status, titlesOf(body.signals), body.summary.total_signals]).to.equal([200, ['start'], 1]);
    }
    await kit.publish(...rows.map(({ place }) => ({ title: 'end', places: [place] })));
    for (const { status, body } of await Promise.all(waits)) expect([status, titlesOf(body.signals).sort()]).to.equal([200, ['end', 'start']]);
  });

  it('changes with a signal: who loses it is told so in the words they knew, who gains it sees only the new ones', async () => {
    const place = 'turn,testland';
    const rows = [['nobody', 'public'], ['member of A', 'workspace'], ['reviewer in A', 'workspace'], ['owner of B', 'workspace'], ['instance reviewer', 'reviewer']] as const;
    const streams = await Promise.all(rows.map(([who, visibility]) => stream(who, queryOf(visibility, place))));
    await Promise.all(streams.map((one) => one.next()));
    const start = (await kit.snapshot('limit=1')).last_event_id;
    const [id] = await kit.publish({ title: 'told', places: [place] });
    await kit.publish({ id, title: 'held back', places: [place], review_state: 'held' });
    await kit.publish({ id, title: 'of A', places: [place], visibility: 'workspace', workspace_id: workspaces.A });
    await kit.publish({ id, title: 'held in A', places: [place], visibility: 'workspace', workspace_id: workspaces.A, review_state: 'held' });
    await kit.publish({ id, title: 'of B', places: [place], visibility: 'workspace', workspace_id: workspaces.B });
    await kit.publish({ id, title: 'told again', places: [place] });
    await kit.withdraw(id!);
    await kit.publish({ title: 'end', places: [place] });
    const expected = [
      ['told', '-told', 'told again', '-told again', 'end'],
      ['told', '-told', 'of A', '-of A', 'told again', '-told again', 'end'],
      ['told', '-told', 'of A', 'held in A', '-held in A', 'told again', '-told again', 'end'],
      ['told', '-told', 'of B', 'told again', '-told again', 'end'],
      ['told', 'held back', '-held back', 'told again', '-told again', 'end'],
    ];
    for (const [index, [who, visibility]] of rows.entries()) {
      const replay = await stream(who, queryOf(visibility, place), { 'last-event-id': start });
      for (const one of [streams[index]!, replay]) {
        const signals = await one.signals(expected[index]!.length);
        expect(signals.map(({ data }) => (data.retracted ? '-' : '') + data.signal.title), who).to.equal(expected[index]!);
        one.close();
      }
    }
  });

  it('is all that is counted', async () => {
    const place = 'usage,testland';
    const guest = await kit.person();
    const listening = await kit.stream(`place=${place}`, { as: guest });
    await listening.next();
    await kit.publish(...KINDS.map((kind) => kindly(kind, place)), { title: 'end', places: [place] });
    await listening.signals(everybodys.length + 1);
    listening.close();
    expect((await kit.snapshot('place=nowhere,atall', guest)).usage.meter.signals).to.equal(everybodys.length + 1);
  });

  it('is not widened by another’s cursor, ETag or event id', async () => {
    const place = 'cursor,testland';
    await kit.publish(...KINDS.map((kind) => kindly(kind, place)));
    const wide = (await get('instance reviewer', `place=${place}&visibility=reviewer&limit=2`)).body.next_cursor;
    expect((await get('member of A', `cursor=${wide}`)).status).to.equal(403);
    expect((await get('nobody', `cursor=${wide}`)).status).to.equal(401);
    const own = (await get('member of A', `place=${place}&limit=1`)).body.next_cursor;
    const { status, body } = await get('owner of B', `cursor=${own}&limit=200`);
    expect(status).to.equal(200);
    for (const title of titlesOf(body.signals)) expect([...everybodys, ...of(['B'], REVIEW_STATES)]).to.include(title);
    expect((await get('nobody', `cursor=${own}`)).status).to.equal(401);
  });

  it('ends with the key, the plan and the membership, for streams that are open', async () => {
    const owner = await kit.person();
    const json = { 'content-type': 'application/json' };
    const { body: workspace } = await kit.ask('POST', '/api/workspaces', { as: owner, headers: json, body: '{"name":"C"}' });
    const [revoked, lapsed, leaving] = [await kit.person(), await kit.person(), await kit.person()];
    await joinWorkspace(kit, owner, workspace.id, leaving);
    const member = { ...leaving, ...await kit.run('key create', { account: leaving.id, workspace: workspace.id }) };
    const streams = await Promise.all([revoked, lapsed, member, kit.reader].map((as) => kit.stream('', { as })));
    await Promise.all(streams.map((one) => one.next()));
    await kit.run('key revoke', {}, [revoked.key_id]);
    await kit.run('account set-plan', { account: lapsed.id, plan: 'free' });
    expect((await kit.ask('DELETE', `/api/workspaces/${workspace.id}/members/${leaving.id}`, { as: owner })).status).to.equal(204);
    const since = performance.now();
    await Promise.all(streams.slice(0, 3).map((one) => one.ended()));
    expect(performance.now() - since).to.be.below(5000 * slowness);
    expect(streams[3]!.isOpen()).to.be.true();
    const accept = 'text/event-stream';
    expect((await kit.ask('GET', '/api/firehose', { as: revoked, headers: { accept } })).status).to.equal(401);
    for (const as of [lapsed, member]) expect((await kit.ask('GET', '/api/firehose', { as, headers: { accept } })).status).to.equal(403);
    streams[3]!.close();
  });
});

for (const database of testDatabases()) describe(`Where nobody reads without an account, on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  before(async () => { kit = await firehoseKit({ database }); });
  after(() => kit.close());

  it('streams and waits of an expired key and of a lapsed plan end, and others go on', async () => {
    const soon = new Date(kit.clock.now() + 60_000).toISOString();
    const expiring = await kit.person({}, { expires: soon });
    const lapsing = await kit.person();
    await kit.run('account set-plan', { account: lapsing.id, plan: 'team', until: soon });
    const streams = await Promise.all([expiring, lapsing, kit.reader].map((as) => kit.stream('', { as })));
    await Promise.all(streams.map((one) => one.next()));
    const tag = String((await kit.ask('HEAD', '/api/firehose', { as: expiring })).headers.etag);
    const waiting = kit.ask('GET', '/api/firehose', { as: expiring, headers: { prefer: 'wait=30', 'if-none-match': tag } });
    await sleep(50);
    const since = performance.now();
    kit.clock.advance(60_001);
    await Promise.all(streams.slice(0, 2).map((one) => one.ended()));
    expect((await waiting).status).to.equal(401);
    expect(performance.now() - since).to.be.below(5000 * slowness);
    expect(streams[2]!.isOpen()).to.be.true();
    streams[2]!.close();
  });

  it('everything is refused to anonymous callers', async () => {
    for (const visibility of ['', 'visibility=public', 'visibility=workspace', 'visibility=partner', 'visibility=reviewer']) {
      for (const accept of ['application/json', 'text/event-stream']) {
        const { status, body, headers } = await kit.ask('GET', `/api/firehose?${visibility}`, { headers: { accept } });
        expect([status, body.code], visibility).to.equal([401, 'authentication_required']);
        expect(headers['www-authenticate']).to.exist();
      }
    }
  });
});
