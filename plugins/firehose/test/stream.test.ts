import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { firehoseKit, pathOf, sequenceOf, type FirehoseKit } from './kit.ts';
import { frameFaults } from './frames.ts';
import type { SseEvent, Stream } from './sse.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const MINUTE = 60_000;
const DAY = 86_400_000;

for (const database of testDatabases()) describe(`The stream on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  let places = 0;
  /** Every event that any of these streams told. */
  const told: SseEvent[][] = [];

  before(async () => { kit = await firehoseKit({ database, firehose: { retention_days: 10 } }); });
  after(() => kit.close());

  const newPlace = () => `town-${++places},testland`;
  async function open(query: string, headers: Record<string, string> = {}): Promise<Stream> {
    const stream = await kit.stream(query, { headers });
    told.push(stream.events);
    return stream;
  }
  const titles = (events: SseEvent[]) => events.map(({ data }) => data.signal.title);
  const head = async () => (await kit.snapshot('limit=1')).last_event_id as string;
  /** Opens, takes so many signals, closes. */
  async function replayed(query: string, count: number, headers: Record<string, string> = {}): Promise<{ ready: SseEvent; signals: SseEvent[] }> {
    const stream = await open(query, headers);
    const ready = await stream.next();
    const signals = await stream.signals(count);
    stream.close();
    return { ready, signals };
  }

  it('has the headers that keep proxies from holding it back, and those of every answer', async () => {
    const stream = await open('', { 'accept-encoding': 'gzip, br', 'x-request-id': 'mine-2', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' });
    expect(stream.status).to.equal(200);
    expect(stream.headers['content-type']).to.match(/^text\/event-stream(;\s*charset=utf-8)?$/i);
    expect(stream.headers).to.include({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no', 'content-encoding': 'identity', 'x-request-id': 'mine-2' });
    expect(stream.headers.traceparent).to.match(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'server-timing']) expect(stream.headers[name], name).to.exist();
    const vary = String(stream.headers.vary).toLowerCase().split(/\s*,\s*/);
    for (const name of ['accept', 'accept-encoding', 'authorization', 'x-api-key', 'prefer', 'last-event-id']) expect(vary).to.include(name);
    expect([stream.headers.etag, stream.headers['content-length']]).to.equal([undefined, undefined]);
    expect((await stream.next()).event).to.equal('firehose.ready');
    stream.close();
  });

  it('is what Accept prefers to JSON', async () => {
    for (const accept of ['text/event-stream', 'text/*', 'application/json;q=0.5, text/event-stream;q=0.9', '*/*;q=0.1, text/event-stream', 'application/json;q=0, */*', 'text/event-stream; charset=utf-8']) {
      const stream = await open('', { accept });
      expect(stream.headers['content-type'], accept).to.match(/^text\/event-stream/);
      stream.close();
    }
  });

  it('begins with ready, which has the start position, the resume status and the retry time', async () => {
    await kit.publish({});
    const place = newPlace();
    const stream = await open(`place=${place}&signal_type=vote`);
    const { id, event, data, retry } = await stream.next();
    expect([event, data.type, data.event_id, data.session_id]).to.equal(['firehose.ready', 'firehose.ready', id, null]);
    expect(Number(retry)).to.be.between(1999, 5001);
    expect(data).to.only.include(['type', 'event_id', 'workspace', 'usage', 'query', 'delivered_at', 'session_id', 'resume', 'last_event_id']);
    expect(data.resume).to.equal({ requested: null, status: 'live', from: id });
    expect([id, data.last_event_id]).to.equal([await head(), await head()]);
    expect(data.workspace.id).to.equal(kit.reader.workspace_id);
    expect(data.delivered_at).to.equal(kit.clock.iso());
    const snapshot = await kit.snapshot(`signal_type=vote&place=${place}`);
    expect(data.usage).to.only.include(['meter', 'query_fingerprint']);
    expect(data.usage.query_fingerprint).to.equal(snapshot.usage.query_fingerprint);
    expect(data.query).to.include({ places: [place], signal_types: ['vote'], visibility: 'workspace' });
    stream.close();
  });

  it('asks different streams to reconnect after different times', async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, () => open('')));
    const times = await Promise.all(streams.map(async (stream) => (await stream.next()).retry));
    for (const time of times) expect(Number(time)).to.be.between(1999, 5001);
    expect(new Set(times).size).to.be.above(1);
    for (const stream of streams) stream.close();
  });

  it('sends matching signals live, in the order of the log, and no others', async () => {
    const place = newPlace();
    const stream = await open(`place=${place}`);
    const start = sequenceOf((await stream.next()).id);
    await kit.publish({ title: 'a', places: [place] }, { title: 'elsewhere', places: [newPlace()] }, { title: 'held', places: [place], review_state: 'held' }, { title: 'b', places: [place] });
    await kit.publish({ title: 'c', places: [place, newPlace()] });
    const signals = await stream.signals(3);
    expect(titles(signals)).to.equal(['a', 'b', 'c']);
    expect(signals.map(({ id }) => sequenceOf(id))).to.equal([start + 1, start + 4, start + 5]);
    const { id, data } = signals[0]!;
    expect([data.type, data.event_id, data.delivered_at]).to.equal(['firehose.signal', id, kit.clock.iso()]);
    expect(data).to.include(['type', 'event_id', 'signal', 'query', 'workspace', 'usage', 'delivered_at']);
    expect(data.retracted ?? false).to.be.false();
    expect((await kit.snapshot(`place=${place}`)).signals.find(({ title }: { title: string }) => title === 'a')).to.equal(data.signal);
    stream.close();
  });

  it('goes on after the event id it is given, by header or by parameter, and the header wins', async () => {
    const place = newPlace();
    const ids = [await head()];
    for (const title of ['a', 'b', 'c']) {
      await kit.publish({ title, places: [place] }, { title: 'elsewhere' });
      ids.push(await head());
    }
    const byHeader = await replayed(`place=${place}`, 2, { 'last-event-id': ids[1]! });
    expect(titles(byHeader.signals)).to.equal(['b', 'c']);
    expect([byHeader.ready.id, byHeader.ready.data.resume]).to.equal([ids[1], { requested: ids[1], status: 'complete', from: ids[1] }]);
    expect(byHeader.ready.data.last_event_id).to.equal(ids[3]);
    expect(titles((await replayed(`place=${place}&last_event_id=${ids[0]}`, 3)).signals)).to.equal(['a', 'b', 'c']);
    expect(titles((await replayed(`place=${place}&last_event_id=${ids[0]}`, 1, { 'last-event-id': ids[2]! })).signals)).to.equal(['c']);
    const again = await replayed(`place=${place}`, 1, { 'last-event-id': byHeader.signals[0]!.id });
    expect([titles(again.signals), again.signals[0]!.id]).to.equal([['c'], byHeader.signals[1]!.id]);
  });

  it('goes from replay to live without a seam', async () => {
    const place = newPlace();
    await kit.publish(...Array.from({ length: 20 }, (_, index) => ({ title: `old ${index}`, places: [place] })));
    const [stream] = await Promise.all([open(`place=${place}`, { 'last-event-id': '0' }), kit.publish(...Array.from({ length: 20 }, (_, index) => ({ title: `new ${index}`, places: [place] })))]);
    const signals = await stream.signals(40);
    expect(titles(signals)).to.equal([...Array.from({ length: 20 }, (_, index) => `old ${index}`), ...Array.from({ length: 20 }, (_, index) => `new ${index}`)]);
    expect(signals.map(({ id }) => sequenceOf(id))).to.equal(signals.map(({ id }) => sequenceOf(id)).toSorted((a, b) => a - b));
    stream.close();
  });

  it('replays from the start of retention for 0, and from since when no id is given', async () => {
    const place = newPlace();
    await kit.publish({ title: 'old', places: [place], detected_at: '2026-02-01T00:00:00.000Z' }, { title: 'young', places: [place], detected_at: '2026-02-20T00:00:00.000Z' });
    const all = await replayed(`place=${place}`, 2, { 'last-event-id': '0' });
    expect(titles(all.signals)).to.equal(['old', 'young']);
    expect([all.ready.data.resume.requested, all.ready.data.resume.status]).to.equal(['0', 'complete']);
    const stream = await open(`place=${place}&since=2026-02-10`);
    const ready = await stream.next();
    await kit.publish({ title: 'late', places: [place], detected_at: '2026-02-05T00:00:00.000Z' }, { title: 'new', places: [place] });
    expect(titles(await stream.signals(2))).to.equal(['young', 'new']);
    expect(sequenceOf(ready.id)).to.be.below(sequenceOf(all.signals[1]!.id));
    stream.close();
    expect(titles((await replayed(`place=${place}&since=2026-02-10&last_event_id=${all.signals[1]!.id}`, 1)).signals)).to.equal(['new']);
  });

  it('refuses an id that is none', async () => {
    const [epoch] = (await head()).split('-');
    for (const id of ['nonsense', '17', '-5', '-', `${epoch}-`, `${epoch}--1`, `${epoch}-1.5`, `${epoch}-x`, `${epoch}-1-2`, ` ${epoch} 5`, `${epoch}-99999999999999999999`, 'null']) {
      for (const [query, headers] of [['', { 'last-event-id': id }], [`last_event_id=${encodeURIComponent(id)}`, {}]] as const) {
        const { status, body } = await kit.ask('GET', `/api/firehose?${query}`, { as: kit.reader, headers: { accept: 'text/event-stream', ...headers } });
        expect([status, body.code], id).to.equal([400, 'invalid_event_id']);
      }
    }
  });

  it('says that ids of another life of the log are no longer good', async () => {
    const place = newPlace();
    await kit.publish({ title: 'kept', places: [place] });
    const stream = await open(`place=${place}`, { 'last-event-id': 'otherlif-3' });
    const { id, data } = await stream.next();
    expect([stream.status, data.resume]).to.equal([200, { requested: 'otherlif-3', status: 'epoch_changed', from: id }]);
    expect(id.split('-')[0]).to.equal((await head()).split('-')[0]);
    stream.close();
  });

  it('retracts a signal that no longer matches, with the version that was sent and not the new one', async () => {
    const place = newPlace();
    const query = `place=${place}&signal_type=vote`;
    const start = await head();
    const stream = await open(query);
    const [id, other] = await kit.publish({ title: 'first', type: 'vote', places: [place] }, { title: 'other', type: 'vote', places: [place] });
    await kit.publish({ id, title: 'second', type: 'vote', places: [place] });
    await kit.publish({ id, title: 'third', type: 'filing', places: [place] });
    await kit.publish({ id, title: 'fourth', type: 'filing', places: [place] });
    await kit.withdraw(other!);
    await kit.publish({ title: 'end', type: 'vote', places: [place] });
    const expected = [['first', false], ['other', false], ['second', false], ['second', true], ['other', true], ['end', false]];
    const shown = (events: SseEvent[]) => events.map(({ data }) => [data.signal.title, data.retracted === true]);
    const live = await stream.signals(6);
    expect(shown(live)).to.equal(expected);
    expect([live[3]!.data.signal.id, live[4]!.data.signal.id]).to.equal([id, other]);
    expect(shown((await replayed(query, 6, { 'last-event-id': start })).signals)).to.equal(expected);
    stream.close();
  });

  it('runs in the order of the log: sort and limit change nothing, a cursor is refused', async () => {
    const place = newPlace();
    const start = await head();
    await kit.publish({ title: 'a', relevance: 1, places: [place] }, { title: 'b', relevance: 9, places: [place] }, { title: 'c', relevance: 5, places: [place] });
    expect(titles((await replayed(`place=${place}&sort=relevance_desc&limit=1`, 3, { 'last-event-id': start })).signals)).to.equal(['a', 'b', 'c']);
    const { next_cursor: cursor } = await kit.snapshot(`place=${place}&limit=1`);
    for (const query of [`cursor=${cursor}`, `cursor=${cursor}&place=${place}`, 'cursor=nonsense', 'sort=newest', 'limit=0']) {
      expect((await kit.ask('GET', `/api/firehose?${query}`, { as: kit.reader, headers: { accept: 'text/event-stream' } })).status, query).to.equal(400);
    }
  });

  it('is refused like the snapshot: 401, 400, 415', async () => {
    const accept = 'text/event-stream';
    const { status, headers } = await kit.ask('GET', '/api/firehose', { headers: { accept } });
    expect(status).to.equal(401);
    expect(headers['www-authenticate']).to.exist();
    expect(headers['content-type']).to.match(/^application\/problem\+json/);
    expect((await kit.ask('GET', '/api/firehose?signal_type=party', { as: kit.reader, headers: { accept } })).status).to.equal(400);
    expect((await kit.ask('GET', '/api/firehose', { as: kit.reader, headers: { accept, 'content-type': 'text/plain' }, body: 'x' })).status).to.equal(415);
  });

  it('beats when it is idle for 15 s, and only then; the beat moves the position of who has seen all', async () => {
    const place = newPlace();
    const stream = await open(`place=${place}`);
    const ready = await stream.next();
    await kit.publish({ title: 'elsewhere' }, { title: 'elsewhere' });
    kit.clock.advance(16_000);
    const beat = await stream.next();
    expect([beat.event, beat.data.type, beat.id, beat.data.event_id]).to.equal(['heartbeat', 'heartbeat', await head(), await head()]);
    expect(sequenceOf(beat.id)).to.equal(sequenceOf(ready.id) + 2);
    expect(beat.data).to.only.include(['type', 'event_id', 'workspace', 'usage', 'query', 'delivered_at']);
    kit.clock.advance(10_000);
    await kit.publish({ title: 'here', places: [place] });
    expect((await stream.signal()).data.signal.title).to.equal('here');
    kit.clock.advance(10_000);
    await kit.publish({ title: 'there', places: [place] });
    expect((await stream.next()).data.signal?.title).to.equal('there');
    const resumed = await open(`place=${place}`, { 'last-event-id': beat.id });
    expect((await resumed.next()).data.resume.status).to.equal('complete');
    expect(titles(await resumed.signals(2))).to.equal(['here', 'there']);
    for (const one of [stream, resumed]) one.close();
  });

  it('ends by itself between 12 and 18 minutes, and can be taken up again', async () => {
    const place = newPlace();
    const stream = await open(`place=${place}`);
    await stream.next();
    kit.clock.advance(11.9 * MINUTE);
    await kit.publish({ title: 'before', places: [place] });
    const { id } = await stream.signal();
    expect(stream.isOpen()).to.be.true();
    kit.clock.advance(6.2 * MINUTE);
    await stream.ended();
    await kit.publish({ title: 'after', places: [place] });
    expect(titles((await replayed(`place=${place}`, 1, { 'last-event-id': id })).signals)).to.equal(['after']);
  });

  it('ends when until has passed, and is 204 for clients that reconnect', async () => {
    const place = newPlace();
    const until = new Date(kit.clock.now() + MINUTE).toISOString();
    const query = `place=${place}&until=${until}`;
    const stream = await open(query);
    await kit.publish({ title: 'in time', places: [place] }, { title: 'too late', places: [place], detected_at: until });
    const { id } = await stream.signal();
    kit.clock.advance(MINUTE + 1);
    expect((await stream.rest()).filter(({ event }) => event === 'firehose.signal')).to.equal([]);
    const { status, text, headers } = await kit.ask('GET', `/api/firehose?${query}`, { as: kit.reader, headers: { accept: 'text/event-stream', 'last-event-id': id } });
    expect([status, text]).to.equal([204, '']);
    expect(headers['x-request-id']).to.exist();
  });

  it('sends all signals of a past period before it returns 204', async () => {
    const place = newPlace();
    await kit.publish({ title: 'a', places: [place], detected_at: '2026-02-01T00:00:00.000Z' }, { title: 'b', places: [place], detected_at: '2026-02-02T00:00:00.000Z' }, { title: 'c', places: [place], detected_at: '2026-02-03T00:00:00.000Z' });
    const query = `place=${place}&since=2026-02-01&until=2026-02-03`;
    const stream = await open(query);
    expect((await stream.rest()).filter(({ event }) => event === 'firehose.signal').map(({ data }) => data.signal.title)).to.equal(['a', 'b']);
    const back = await open(query, { 'last-event-id': stream.events.at(-1)!.id });
    expect(back.status).to.equal(204);
  });

  it('says when the id is older than what is kept, and where the whole is', async () => {
    const place = newPlace();
    const start = await head();
    await kit.publish({ title: 'lost', places: [place] });
    kit.clock.advance(6 * DAY);
    await kit.publish({ title: 'kept', places: [place] });
    kit.clock.advance(5 * DAY);
    await kit.prune();
    const stream = await open(`place=${place}`, { 'last-event-id': start });
    const { id, data } = await stream.next();
    expect([data.resume.requested, data.resume.status, data.resume.from]).to.equal([start, 'gap', id]);
    expect(sequenceOf(id)).to.be.above(sequenceOf(start));
    const { status, body } = await kit.ask('GET', pathOf(data.snapshot_url), { as: kit.reader });
    expect([status, body.signals.map(({ title }: { title: string }) => title)]).to.equal([200, ['kept']]);
    expect((await stream.signal()).data.signal.title).to.equal('kept');
    stream.close();
  });

  it('sent only messages that AsyncAPI declares', async () => {
    expect(told.flat().length).to.be.above(100);
    const { body } = await kit.ask('GET', '/asyncapi.json');
    expect(frameFaults(body, told.flat().map(({ event, data }) => ({ name: event, payload: data })))).to.equal([]);
  });
});
