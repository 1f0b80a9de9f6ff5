import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness, testDatabases } from 'civic/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventSource, type MessageEvent } from 'undici';
import { firehoseKit, sequenceOf, type FirehoseKit } from './kit.ts';
import { openStream, sseParser } from './sse.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Looks every few milliseconds. */
async function until(isDone: () => boolean, ms = 15_000): Promise<void> {
  for (const end = performance.now() + ms; !isDone();) {
    if (performance.now() > end) throw new Error('It did not happen in time');
    await sleep(5);
  }
}

for (const database of testDatabases()) describe(`Clients of the stream on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  before(async () => { kit = await firehoseKit({ database, firehose: { anonymous: true } }); });
  after(() => kit.close());

  it('curl sees each signal when it happens, also through a pipe', async () => {
    const place = 'curl,testland';
    const curl = spawn('curl', ['-sN', '--compressed', '-H', 'Accept: text/event-stream', '-H', `X-API-Key: ${kit.reader.key}`, `${kit.url}/api/firehose?place=${place}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    const parse = sseParser();
    const events: string[] = [];
    curl.stdout.setEncoding('utf8').on('data', (text: string) => { events.push(...parse(text).map(({ event, data }) => data.signal?.title ?? event)); });
    await until(() => events.length === 1);
    await kit.publish({ title: 'one', places: [place] });
    await until(() => events.length === 2);
    await kit.publish({ title: 'Čapek’s 🏛 line\nbreak', places: [place] });
    await until(() => events.length === 3);
    expect(events).to.equal(['firehose.ready', 'one', 'Čapek’s 🏛 line\nbreak']);
    curl.kill();
    await once(curl, 'close');
  });

  it('an EventSource that was cut before anything happened misses nothing', async () => {
    const place = 'early,testland';
    const first = await openStream(`${kit.url}/api/firehose?visibility=public&place=${place}`);
    const { id } = await first.next();
    first.close();
    await kit.publish({ title: 'first ever', places: [place] });
    const second = await openStream(`${kit.url}/api/firehose?visibility=public&place=${place}`, { 'last-event-id': id });
    expect((await second.signal()).data.signal.title).to.equal('first ever');
    second.close();
  });

  // The client waits two seconds before it connects again; what it then gets is tested with streams, on every database.
  if (database === 'sqlite') {
    it('an EventSource reconnects by itself after an interruption, and gets each signal once', async () => {
      const place = 'source,testland';
      const url = `${kit.url}/api/firehose?visibility=public&place=${place}`;
      const source = new EventSource(url);
      const seen: { id: string; title: string }[] = [];
      const states: string[] = [];
      source.addEventListener('firehose.ready', (event) => { states.push(JSON.parse((event as MessageEvent).data).resume.status); });
      source.addEventListener('firehose.signal', (event) => {
        const { lastEventId: id, data } = event as MessageEvent;
        seen.push({ id, title: JSON.parse(data).signal.title });
      });
      await until(() => states.length === 1);
      await kit.publish({ title: 'before', places: [place] });
      await until(() => seen.length === 1);
      kit.server.listener.closeAllConnections();
      await kit.publish({ title: 'while away', places: [place] }, { title: 'elsewhere' });
      await until(() => states.length === 2);
      await kit.publish({ title: 'after', places: [place] });
      await until(() => seen.length === 3);
      expect(states).to.equal(['live', 'complete']);
      expect(seen.map(({ title }) => title)).to.equal(['before', 'while away', 'after']);
      expect(seen.map(({ id }) => sequenceOf(id))).to.equal(seen.map(({ id }) => sequenceOf(id)).toSorted((a, b) => a - b));
      source.close();
    });

    it('an EventSource stops for good when there is nothing more to come', async () => {
      const source = new EventSource(`${kit.url}/api/firehose?visibility=public&place=over,testland&until=2026-01-01`);
      const seen: string[] = [];
      source.addEventListener('firehose.signal', (event) => { seen.push((event as MessageEvent).data); });
      await until(() => source.readyState === EventSource.CLOSED);
      expect(seen).to.equal([]);
      source.close();
    });
  }

  it('any website may read what is public, and none may send a key', async () => {
    for (const accept of ['application/json', 'text/event-stream']) {
      const stream = await openStream(`${kit.url}/api/firehose?visibility=public`, { accept, origin: 'https://elsewhere.example' });
      expect([stream.status, stream.headers['access-control-allow-origin'], stream.headers['access-control-allow-credentials']], accept).to.equal([200, '*', undefined]);
      stream.close();
    }
    const { headers } = await kit.ask('OPTIONS', '/api/firehose', { headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET', 'access-control-request-headers': 'last-event-id, x-api-key' } });
    const allowed = String(headers['access-control-allow-headers']).toLowerCase();
    expect([allowed.includes('last-event-id'), allowed.includes('x-api-key')]).to.equal([true, false]);
  });

  it('the number of streams is limited by the plan, for all keys of an account together, and a closed one makes room', async () => {
    const small = await kit.person({ plan: 'small' });
    const second = { ...small, ...await kit.run('key create', { account: small.id }) };
    const streams = [await kit.stream('', { as: small }), await kit.stream('place=a,b', { as: second })];
    await Promise.all(streams.map((stream) => stream.next()));
    for (const as of [small, second]) {
      const { status, headers, body } = await kit.ask('GET', '/api/firehose', { as, headers: { accept: 'text/event-stream' } });
      expect([status, body.code, /^\d+$/.test(String(headers['retry-after']))]).to.equal([429, 'too_many_streams', true]);
    }
    expect((await kit.ask('GET', '/api/firehose', { as: small })).status).to.equal(200);
    expect((await kit.ask('HEAD', '/api/firehose', { as: small, headers: { accept: 'text/event-stream' } })).status).to.equal(200);
    const other = await kit.stream('');
    expect(other.status).to.equal(200);
    streams[0]!.close();
    let again = await kit.stream('', { as: small });
    for (const end = performance.now() + 5000 * slowness; again.status === 429 && performance.now() < end; again = await kit.stream('', { as: small })) await sleep(20);
    expect(again.status).to.equal(200);
    for (const stream of [...streams, other, again]) stream.close();
  });
});

for (const database of testDatabases()) describe(`The number of streams on ${database}`, { timeout: 60_000 }, () => {
  it('is limited by the node, which asks to retry later; open streams do not delay a stop, which ends them all', async () => {
    const kit = await firehoseKit({ database, firehose: { max_streams: 20 } });
    const streams = await Promise.all(Array.from({ length: 20 }, () => kit.stream('')));
    await Promise.all(streams.map((stream) => stream.next()));
    const { status, headers, body } = await kit.ask('GET', '/api/firehose', { as: kit.reader, headers: { accept: 'text/event-stream' } });
    expect([status, body.code, /^\d+$/.test(String(headers['retry-after']))]).to.equal([503, 'streams_full', true]);
    expect((await kit.ask('GET', '/api/firehose', { as: kit.reader })).status).to.equal(200);
    const since = performance.now();
    await kit.close();
    await Promise.all(streams.map((stream) => stream.ended()));
    expect(performance.now() - since).to.be.below(8000 * slowness);
  });
});
