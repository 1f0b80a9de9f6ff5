import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { slowness, testDatabases } from 'civic/testing';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';

export const notQuick = 'it reaches limits with large data';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const WORDS = ['River', 'Harbor', 'Prairie', 'Valley', 'Summit', 'Garden', 'Market', 'Bridge', 'Meadow', 'Forest'];
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const several = <Item>(count: number, make: (index: number) => Item): Item[] => Array.from({ length: count }, (_, index) => make(index));
const encoded = (fields: Record<string, unknown>) => new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, JSON.stringify(value)])).toString();
const named = <Item>(items: Item[]): Record<string, Item> => Object.fromEntries(items.map((item, index) => [`q${index}`, item]));

/** As much as one request may hold: 50 queries, 250 values, every text of the greatest length. */
const LARGEST = named(several(50, (index) => ({
  query: `${WORDS[index % 10]} ${WORDS[(index + 5) % 10]} tenants union of ${'ab cd '.repeat(50)}`.slice(0, 300),
  limit: 25,
  properties: several(5, (at) => ({ pid: ['place', 'website', 'affiliation', 'email', 'ein'][at], v: `${WORDS[(index + at) % 10]}town ${index} ${'x '.repeat(150)}`.slice(0, 300) })),
})));

const LARGE = Object.fromEntries(Object.entries(LARGEST).slice(0, 12));

for (const database of testDatabases()) describe(`Limits of the reconciliation service, on ${database}`, { timeout: 120_000 }, () => {
  let kit: DirectoryKit;
  const open = new Set<ClientRequest>();

  const post = (fields: Record<string, unknown>) => kit.request('POST', '/reconcile', { payload: encoded(fields), headers: FORM });
  /** Over a real connection, which a client can close. */
  const send = (fields: Record<string, unknown>) => {
    const request = httpRequest(`${kit.url}/reconcile`, { method: 'POST', headers: FORM, agent: false });
    open.add(request);
    const answered = new Promise<IncomingMessage>((resolve) => { request.on('response', (response) => resolve(response.resume())); });
    request.on('error', () => {});
    request.end(encoded(fields));
    return { request, answered };
  };
  const countQueries = () => {
    let count = 0;
    const counted = () => { count += 1; };
    kit.db.read.on('query', counted);
    return { count: () => count, stop: () => { kit.db.read.removeListener('query', counted); } };
  };

  before(async () => {
    kit = await directoryKit({ database, listen: true });
    for (const [index, one] of WORDS.entries()) {
      for (const other of WORDS.slice(index + 1)) {
        const { status, text } = await kit.send('POST', '/api/entities', actorPayload({ name: `${one} ${other} Tenants Union`, place: 'kansas-city,missouri', affiliation: { name: `${other} Council` }, website: `https://${one}-${other}.example/`.toLowerCase() }), 'reviewer');
        expect(status, text).to.equal(201);
      }
    }
  });
  after(async () => {
    for (const request of open) request.destroy();
    await kit.close();
  });

  it('rejects lists that are longer than a spreadsheet needs, naming the list and its limit', async () => {
    const v = several(11, (index) => `Town ${index}`);
    const cases: [fields: Record<string, unknown>, message: string][] = [
      [{ queries: { q0: { query: 'x', properties: [{ pid: 'place', v }] } } }, 'queries.q0.properties[0].v has 11 items; at most 10 are allowed'],
      [{ query: { query: 'x', properties: [{ pid: 'website', v }] } }, 'query.properties[0].v has 11 items'],
      [{ queries: { q0: { query: 'x', properties: several(21, () => ({ pid: 'place', v: 'x' })) } } }, 'queries.q0.properties has 21 items; at most 20'],
      [{ queries: { q0: { query: 'x', type: several(11, () => 'person') } } }, 'queries.q0.type has 11 items; at most 10'],
      [{ queries: named(several(26, () => ({ query: 'x', properties: [{ pid: 'place', v: v.slice(1) }] }))) }, '260 property values in this batch; at most 250'],
      [{ extend: { ids: several(101, (index) => `id${index}`), properties: [{ id: 'website' }] } }, 'extend.ids has 101 items; at most 100'],
      [{ extend: { ids: [], properties: several(51, () => ({ id: 'website' })) } }, 'extend.properties has 51 items; at most 50'],
    ];
    const members = (count: number) => Object.fromEntries(several(count, (index) => [`m${index}`, 1]));
    cases.push(
      [{ queries: { q0: { query: 'x', ...members(51) } } }, 'queries.q0 has 52 members; at most 50'],
      [{ queries: { q0: { query: 'x', properties: [{ pid: 'place', v: { id: 'x', ...members(60) } }] } } }, 'queries.q0.properties[0].v has 61 members'],
      [{ extend: { ids: [], properties: [], ...members(60) } }, 'extend has 62 members'],
    );
    for (const [fields, message] of cases) {
      const { status, body } = await post(fields);
      expect([status, body.status], message).to.equal([400, 'error']);
      expect(body.message).to.contain(message);
      const script = await kit.request('GET', `/reconcile?callback=done&${encoded(fields)}`);
      expect([script.status, script.text], message).to.equal([400, JSON.stringify(body)]);
    }
  });

  it('rejects a body of the greatest size at once', async () => {
    const queries = { q0: { query: 'x', properties: [{ pid: 'place', v: several(200_000, () => 1) }] } };
    const started = performance.now();
    expect((await post({ queries })).status).to.equal(400);
    expect(performance.now() - started).to.be.below(2000 * slowness);
  });

  it('answers texts that no database can store, and JSON that is nested too deeply', async () => {
    const odd = 'Kansas\0City \ud800, MO';
    const { status, body } = await post({ queries: { q0: { query: odd, properties: [{ pid: 'place', v: odd }, { pid: 'ein', v: odd }] } } });
    expect(status).to.equal(200);
    expect(body.q0.result).to.be.an.array();
    for (const path of ['suggest/entity?prefix=%00a', 'suggest/entity?prefix=river&type=%00', 'properties?type=%00']) expect((await kit.request('GET', `/reconcile/${path}`)).status, path).to.equal(200);
    for (const name of ['queries', 'query', 'extend']) {
      const deep = await kit.request('POST', '/reconcile', { payload: `{"${name}":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, headers: { 'content-type': 'application/json' } });
      expect(deep.status, name).to.equal(400);
    }
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const queries of [nested, `{"q0":{"query":"x","properties":[{"pid":"place","v":${nested}}]}}`, `{"q0":{"query":"x","type":${nested}}}`, `{"q0":{"query":"x","other":${nested}}}`]) {
      const deep = await kit.request('POST', '/reconcile', { payload: new URLSearchParams({ queries }).toString(), headers: FORM });
      expect(deep.status, queries.slice(0, 50)).to.equal(queries.includes('other') ? 200 : 400);
    }
  });

  it('resolves a place once for all queries of a batch', async () => {
    const counter = countQueries();
    const ask = async (queries: object[]) => {
      const before = counter.count();
      expect((await post({ queries: named(queries) })).status).to.equal(200);
      return counter.count() - before;
    };
    const query = (place: string) => ({ query: '', type: 'nothing', properties: [{ pid: 'place', v: [place, place] }] });
    const one = await ask([query('Kansas Citty, MO')]);
    const equal = await ask(several(20, () => query('Kansas Citty, MO')));
    const different = await ask(several(20, (index) => query(`Kansas Citty ${index}, MO`)));
    counter.stop();
    expect(one).to.be.above(0);
    expect(equal).to.be.below(different / 2);
  });

  it('serves others while the largest batch is answered', async () => {
    await post({ queries: { q0: { query: 'River Harbor' } } });
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    // One thread computes for both databases, so that half of it is enough on the second.
    const { answered } = send({ queries: database === 'sqlite' ? LARGEST : Object.fromEntries(Object.entries(LARGEST).slice(0, 25)) });
    let isAnswered = false;
    void answered.then(() => { isAnswered = true; });
    let others = 0;
    while (!isAnswered) {
      expect((await kit.request('GET', '/api/places/kansas-city,missouri')).status).to.equal(200);
      others += 1;
      await sleep(10);
    }
    delay.disable();
    expect((await answered).statusCode).to.equal(200);
    expect(others).to.be.above(10);
    // About 100 ms on a machine that is busy with other things; the bar leaves room for a busier one.
    expect(delay.max / 1e6, 'longest delay of the event loop in ms').to.be.below(1000 * slowness);
  });

  it('stops when the client disconnects', async () => {
    const counter = countQueries();
    await send({ queries: LARGE }).answered;
    const whole = counter.count();
    const { request } = send({ queries: LARGE });
    while (counter.count() < whole + 10) await setImmediate();
    request.destroy();
    // The next one of this address waits until the last has ended.
    await send({ query: { query: 'River Harbor' } }).answered;
    counter.stop();
    expect(counter.count() - whole).to.be.below(whole / 2);
  });

  it('runs one batch of an address at a time, lets four wait and rejects more', async () => {
    const sent = several(12, () => send({ queries: LARGE }));
    const statuses = new Map<number, number>();
    const rejected = await Promise.all(sent.slice(5).map(({ answered }) => answered));
    for (const { statusCode, headers } of rejected) {
      expect([statusCode, headers['retry-after']]).to.equal([429, '5']);
      statuses.set(statusCode!, (statuses.get(statusCode!) ?? 0) + 1);
    }
    expect([...statuses]).to.equal([[429, 7]]);
    expect((await kit.request('GET', '/api/entities?query=river')).body.data).to.not.be.empty();
    const closed = sent.slice(1, 5).map(({ request }) => new Promise((resolve) => { request.on('close', resolve); }));
    for (const { request } of sent.slice(1, 5)) request.destroy();
    await Promise.all(closed);
    expect((await sent[0]!.answered).statusCode).to.equal(200);
    expect((await send({ query: { query: 'River Harbor' } }).answered).statusCode).to.equal(200);
  });
});
