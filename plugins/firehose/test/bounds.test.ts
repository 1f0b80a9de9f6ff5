import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Fetch } from 'civic';
import { testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrigin, type OriginFault } from '../relay/origin.ts';
import { firehoseKit, type FirehoseKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SESSIONS = '/api/firehose/sessions';

for (const database of testDatabases()) describe(`Bounds of the Firehose on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  before(async () => { kit = await firehoseKit({ database, firehose: { anonymous: true } }); });
  after(() => kit.close());

  it('30 anonymous streams may be open from one address, and accounts have their own number', async () => {
    const open = () => kit.stream('visibility=public', { as: null });
    const streams = await Promise.all(Array.from({ length: 30 }, open));
    expect(streams.map(({ status }) => status)).to.equal(Array.from({ length: 30 }, () => 200));
    const refused = await kit.ask('GET', '/api/firehose?visibility=public', { headers: { accept: 'text/event-stream' } });
    expect([refused.status, refused.body.code]).to.equal([429, 'too_many_streams']);
    expect(refused.headers).to.include({ 'retry-after': '30', 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': '0' });
    const own = await kit.stream('visibility=public');
    expect(own.status).to.equal(200);
    streams[0]!.close();
    let again = await open();
    for (let i = 0; i < 100 && again.status !== 200; i++) {
      await sleep(20);
      again = await open();
    }
    expect(again.status).to.equal(200);
    for (const stream of [...streams, own, again]) stream.close();
  });

  it('1,000 tickets of a session may be valid', async () => {
    const { body: session } = await kit.ask('POST', SESSIONS, { as: kit.reader, headers: { 'content-type': 'application/json' }, body: '{}' });
    const ticket = () => kit.ask('POST', `${SESSIONS}/${session.id}/tickets`, { as: kit.reader });
    expect((await ticket()).status).to.equal(201);
    const row = await kit.db.read('firehose_tickets').orderBy('key', 'desc').first();
    await kit.db.write(async (tx) => {
      for (let i = 0; i < 10; i++) await tx('firehose_tickets').insert(Array.from({ length: 100 }, (_, n) => ({ ...row, key: undefined, secret_hash: `${i} ${n}` })).map(({ key: _key, ...rest }) => rest));
    });
    const refused = await ticket();
    expect([refused.status, refused.body.code]).to.equal([429, 'too_many_requests']);
    expect(refused.headers).to.include({ 'retry-after': '60', 'x-ratelimit-limit': '1000' });
    kit.clock.advance(61_000);
    expect((await ticket()).status).to.equal(201);
  });

  it('a wait whose key is revoked while it is being parked ends at once', async () => {
    await kit.publish({});
    const waits = await Promise.all(Array.from({ length: 30 }, async (_, i) => {
      const { key, id } = await kit.run('key create', { account: kit.reader.id });
      const person = { ...kit.reader, key };
      const { headers } = await kit.ask('GET', '/api/firehose', { as: person });
      const began = performance.now();
      const waiting = kit.ask('GET', '/api/firehose', { as: person, headers: { 'if-none-match': String(headers.etag), prefer: 'wait=25' } });
      await sleep(i % 15);
      await kit.run('key revoke', {}, [id]);
      const { status } = await waiting;
      return { status, seconds: (performance.now() - began) / 1000 };
    }));
    expect(waits.filter(({ status, seconds }) => status !== 401 || seconds > 10)).to.equal([]);
  });
});

/** What a relay makes of a response that is no stream. */
async function faultOf(status: number, headers: Record<string, string> = {}): Promise<OriginFault> {
  const fetch = Object.assign(() => undefined, { stream: async () => ({ status, headers, body: (async function* () { yield Buffer.from('{}'); })() }) }) as unknown as Fetch;
  const following = createOrigin(fetch, 'https://origin.example', null).follow('0', new AbortController().signal);
  return following[Symbol.asyncIterator]().next().then(() => { throw new Error('It is followed'); }, (error: unknown) => error as OriginFault);
}

describe('A relay', () => {
  it('waits a quarter of an hour at most, whatever Retry-After says', async () => {
    const faults = await Promise.all(['30', '999999', '99999999999999', 'soon'].map((after) => faultOf(503, { 'retry-after': after })));
    expect(faults.map(({ waitMs }) => waitMs)).to.equal([30_000, 900_000, 900_000, null]);
  });

  it('names what each status means, and what to do', async () => {
    for (const [status, words] of [[401, 'wants an API key'], [403, 'does not let'], [404, 'There is no Firehose at'], [500, 'failed (500)']] as const) {
      const { message, fix } = await faultOf(status);
      expect(message).to.contain(words);
      expect(fix).to.match(/\w/);
    }
  });
});
