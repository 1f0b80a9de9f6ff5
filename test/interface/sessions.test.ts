import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { testDatabases } from '../../core/testing.ts';
import { firehoseKit, keyOf, pathOf, titlesOf, type FirehoseKit } from '../../plugins/firehose/test/kit.ts';
import { openStream } from '../../plugins/firehose/test/sse.ts';
import { covers } from './rows.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PROTOCOL = 'service.firehose.v1';
const PLACE = 'river,testland';

for (const database of testDatabases()) describe(`Sessions of the Firehose, on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  before(async () => {
    kit = await firehoseKit({ database });
    await kit.publish({ title: 'first', type: 'vote', places: [PLACE] }, { title: 'elsewhere', type: 'vote' });
  });
  after(() => kit.close());

  const post = (body: unknown, headers: Record<string, string> = {}) => kit.ask('POST', '/api/firehose/sessions', { as: kit.reader, headers: { 'content-type': 'application/json', ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) });
  const made = async (query: object = { places: [PLACE] }) => (await post({ query, delivery: { mode: 'sse' } })).body;
  const addressOf = (url: string) => kit.url + pathOf(url);

  async function socket(url: string, protocol: string | undefined = PROTOCOL) {
    const opened = new WebSocket(addressOf(url).replace('http', 'ws'), protocol ? [protocol] : [], { headers: keyOf(kit.reader) });
    const messages: any[] = [];
    opened.on('message', (text: Buffer) => { messages.push(JSON.parse(text.toString())); });
    await once(opened, 'open');
    return { opened, messages, until: async (count: number) => { while (messages.length < count) await once(opened, 'message'); } };
  }

  it(covers(['endpoints.firehose-sessions', 'errors.201', 'resources.session', 'endpoints.session-urls', 'endpoints.session-delivery'], 'a session is 201 with its id and three addresses'), async () => {
    const { status, headers, body } = await post({ query: { places: [PLACE] }, delivery: { mode: 'sse' } });
    expect(status).to.equal(201);
    expect(body.id).to.match(/^fhs_/);
    expect(body.delivery).to.equal({ mode: 'sse' });
    for (const url of [body.snapshot_url, body.events_url]) expect(url).to.match(/^https?:\/\//);
    expect(body.socket_url).to.match(new RegExp(`^wss?://[^/]+/api/firehose/sessions/${body.id}/socket$`));
    expect(headers.location).to.contain(body.id);
    expect((await post({ delivery: { mode: 'pigeon' } })).status).to.equal(400);
  });

  it(covers(['endpoints.session-json', 'headers.content-type'], 'it is made with JSON only'), async () => {
    const { status, headers } = await post('places=x', { 'content-type': 'application/x-www-form-urlencoded' });
    expect([status, headers['accept-post']]).to.equal([415, 'application/json']);
    expect((await post('{')).status).to.equal(400);
    expect((await post('{}', { 'content-type': 'application/json; charset=utf-8' })).status).to.equal(201);
  });

  it(covers(['endpoints.session-query', 'endpoints.session-empty-lists', 'endpoints.session-nulls'], 'every field of a query is taken, empty lists and nulls too, and no other'), async () => {
    const query = { places: [PLACE], issues: ['a'], actor_types: [], signal_types: ['vote'], source_classes: [], visibility: 'public', since: null, until: null, cursor: null, limit: 7, sort: 'occurred_at_desc' };
    const { status, body } = await post({ query, delivery: { mode: 'sse' } });
    expect([status, body.query]).to.equal([201, query]);
    for (const wrong of [{ limit: 0 }, { limit: 201 }, { sort: 'newest' }, { visibility: 'secret' }, { actor_types: ['robot'] }, { since: 'yesterday' }, { colour: 'red' }, { places: 'x' }]) {
      const refused = await post({ query: wrong });
      expect([refused.status, refused.body.errors?.[0].pointer.split('/').slice(0, 3).join('/')], JSON.stringify(wrong)).to.equal([400, `/query/${Object.keys(wrong)[0]}`]);
    }
  });

  it(covers(['events.session-stream', 'errors.200'], 'its snapshot and its stream are those of its query'), async () => {
    const session = await made();
    const snapshot = await kit.ask('GET', pathOf(session.snapshot_url), { as: kit.reader });
    expect([snapshot.status, titlesOf(snapshot.body.signals)]).to.equal([200, ['first']]);
    const stream = await openStream(addressOf(session.events_url), keyOf(kit.reader));
    const ready = await stream.next();
    expect([stream.status, ready.event, ready.data.session_id]).to.equal([200, 'firehose.ready', session.id]);
    await kit.publish({ title: 'elsewhere' }, { title: 'streamed', places: [PLACE] });
    expect((await stream.signal()).data.signal.title).to.equal('streamed');
    stream.close();
  });

  it(covers(['service.firehose-forms', 'endpoints.firehose-socket', 'events.socket-payloads'], 'its socket carries the JSON of its stream'), async () => {
    const session = await made();
    const { opened, messages, until } = await socket(session.socket_url);
    const stream = await openStream(addressOf(session.events_url), keyOf(kit.reader));
    const streamed = [(await stream.next()).data];
    await until(1);
    await kit.publish({ title: 'both', places: [PLACE] });
    streamed.push((await stream.signal()).data);
    await until(2);
    expect(messages.map(({ type }) => type)).to.equal(['firehose.ready', 'firehose.signal']);
    expect(messages.map((message) => Object.keys(message).sort())).to.equal(streamed.map((payload) => Object.keys(payload).sort()));
    expect([messages[1].signal, messages[1].event_id]).to.equal([streamed[1].signal, streamed[1].event_id]);
    opened.terminate();
    stream.close();
  });

  it(covers(['events.socket-protocol', 'headers.websocket-protocol', 'versioning.subprotocol'], 'the socket agrees on the versioned subprotocol, and on nothing without it'), async () => {
    const session = await made();
    const { opened } = await socket(session.socket_url);
    expect(opened.protocol).to.equal('service.firehose.v1');
    opened.terminate();
    for (const protocols of [[], ['service.firehose.v2']]) {
      const refused = new WebSocket(addressOf(session.socket_url).replace('http', 'ws'), protocols, { headers: keyOf(kit.reader) });
      const [, response] = await once(refused, 'unexpected-response') as [unknown, { statusCode: number }];
      expect(response.statusCode).to.equal(400);
      refused.on('error', () => undefined).terminate();
    }
  });

  it(covers('errors.404-session', 'an unknown, foreign or removed session is 404'), async () => {
    const session = await made();
    const other = await kit.person();
    for (const url of [session.snapshot_url, session.events_url]) {
      expect((await kit.ask('GET', pathOf(url).replace(session.id, 'fhs_unknown'), { as: kit.reader })).status).to.equal(404);
      expect((await kit.ask('GET', pathOf(url), { as: other })).status).to.equal(404);
    }
    expect((await kit.ask('DELETE', `/api/firehose/sessions/${session.id}`, { as: kit.reader })).status).to.equal(204);
    expect((await kit.ask('GET', pathOf(session.snapshot_url), { as: kit.reader })).status).to.equal(404);
  });
});
