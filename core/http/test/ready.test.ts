import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { readyAnswers, textEtag } from '../ready.ts';
import { someone, testServer, type Setup } from './fixture.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const DAY = 86_400_000;

function kept(options: { maxBytes?: number; slow?: number; filling?: number; tags?: string[]; address?: string; setup?: Setup } = {}) {
  const state = { made: 0, value: 'one', now: DAY };
  const ready = readyAnswers({ maxBytes: options.maxBytes ?? 1_000_000, now: () => state.now });
  const { server } = testServer(options.setup);
  server.route({
    method: 'GET',
    path: '/api/things/{name}',
    options: { ext: { onPostAuth: { method: ready.hit } } },
    handler: (request, h) => ready.answer(request, h, `thing:${request.params.name}`, async () => {
      state.made += 1;
      const body = JSON.stringify({ value: state.value, filling: 'x'.repeat(options.filling ?? 0) });
      if (options.slow) await sleep(options.slow);
      return { body, etag: textEtag(body), tags: ['shared', ...options.tags ?? []], headers: { 'content-location': 'https://civic.example/x' } };
    }, options.address),
  });
  const get = async (path: string, headers: Record<string, string> = {}) => server.inject({ url: path, headers });
  return { ready, state, get, server };
}

describe('A ready answer', () => {
  it('is made once and given again, with the same headers, also as 304 and to HEAD', async () => {
    const { get, state } = kept();
    const first = await get('/api/things/a');
    const again = await get('/api/things/a');
    expect(state.made).to.equal(1);
    const told = ({ headers }: typeof first) => [headers.etag, headers['cache-control'], headers['content-type'], headers['content-location'], headers.vary];
    expect([again.payload, ...told(again)]).to.equal([first.payload, ...told(first)]);
    expect(told(first)).to.equal([textEtag(first.payload), 'public, no-cache', 'application/json; charset=utf-8', 'https://civic.example/x', 'accept-encoding, origin']);
    const same = await get('/api/things/a', { 'if-none-match': String(first.headers.etag) });
    expect([same.statusCode, same.payload, same.headers.etag]).to.equal([304, '', first.headers.etag]);
    expect(state.made).to.equal(1);
  });

  it('is made again after one of its tags was touched, and only then', async () => {
    const { get, state, ready } = kept();
    await get('/api/things/a');
    await get('/api/things/b');
    state.value = 'two';
    ready.touch(['thing:a', 'nothing']);
    expect(JSON.parse((await get('/api/things/a')).payload).value).to.equal('two');
    expect(JSON.parse((await get('/api/things/b')).payload).value).to.equal('one');
    ready.touch(['shared']);
    expect(JSON.parse((await get('/api/things/b')).payload).value).to.equal('two');
    ready.touchAll();
    await get('/api/things/b');
    expect(state.made).to.equal(5);
  });

  it('is not kept when something was touched while it was made', async () => {
    const { get, state, ready } = kept({ slow: 50 });
    const underway = get('/api/things/a');
    await sleep(20);
    state.value = 'two';
    ready.touch(['thing:a']);
    expect(JSON.parse((await underway).payload).value).to.equal('one');
    expect(JSON.parse((await get('/api/things/a')).payload).value).to.equal('two');
  });

  it('is made once for all who ask meanwhile, unless something is touched', async () => {
    const { get, state, ready } = kept({ slow: 50 });
    const early = [1, 2, 3].map(() => get('/api/things/a'));
    await sleep(20);
    state.value = 'two';
    ready.touch(['nothing']);
    const late = [1, 2, 3].map(() => get('/api/things/a'));
    const values = (await Promise.all([...early, ...late])).map(({ payload }) => JSON.parse(payload).value as string);
    expect(values).to.equal(['one', 'one', 'one', 'two', 'two', 'two']);
    expect(state.made).to.equal(2);
  });

  it('is made again for those who wait, when it fails', async () => {
    const { ready, server } = kept();
    let made = 0;
    server.route({
      method: 'GET', path: '/api/flaky', handler: (request, h) => ready.answer(request, h, 'flaky', async () => {
        made += 1;
        const isFirst = made === 1;
        await sleep(10);
        if (isFirst) throw new Error('Only once');
        return { body: '{}', etag: textEtag('{}') };
      }),
    });
    const statuses = (await Promise.all([1, 2].map(() => server.inject('/api/flaky')))).map(({ statusCode }) => statusCode);
    expect([statuses, made]).to.equal([[500, 200], 2]);
  });

  it('is made once for all addresses that stand for one path', async () => {
    const { get, state } = kept({ address: '/api/things/a' });
    for (const address of ['/api/things/a?x=1', '/api/things/%61', '/api/things/a', '/api/things/other']) expect((await get(address)).statusCode, address).to.equal(200);
    expect(state.made).to.equal(1);
  });

  it('ends with its day', async () => {
    const { get, state } = kept();
    await get('/api/things/a');
    state.now += DAY;
    await get('/api/things/a');
    expect(state.made).to.equal(2);
  });

  it('goes zipped to who takes gzip, when that is worth it, from bytes that are zipped once', async () => {
    const { get } = kept({ filling: 5000 });
    for (const accepted of ['gzip', 'br, gzip;q=0.5', 'gzip, deflate']) {
      const { rawPayload, headers } = await get('/api/things/a', { 'accept-encoding': accepted });
      expect(headers['content-encoding'], accepted).to.equal('gzip');
      expect(JSON.parse(gunzipSync(rawPayload).toString()).filling).to.have.length(5000);
    }
    for (const refused of ['gzip;q=0', 'gzip;q=0.0, br', 'identity', 'br']) expect((await get('/api/things/a', { 'accept-encoding': refused })).headers['content-encoding'], refused).to.be.undefined();
    const small = kept();
    expect((await small.get('/api/things/a', { 'accept-encoding': 'gzip' })).headers['content-encoding']).to.be.undefined();
  });

  it('makes room for newer ones: the least used goes first, and one that is too large is never kept', async () => {
    const { get, state } = kept({ maxBytes: 20_000, filling: 1000 });
    for (let index = 0; index < 12; index++) {
      await get(`/api/things/${index}`);
      await get('/api/things/0');
    }
    expect(state.made).to.equal(12);
    await get('/api/things/1');
    expect(state.made).to.equal(13);
    const large = kept({ maxBytes: 20_000, filling: 5000 });
    await large.get('/api/things/a');
    await large.get('/api/things/a');
    expect(large.state.made).to.equal(2);
  });

  it('counts its address and its tags, which can be longer than its body', async () => {
    const addresses = kept({ maxBytes: 40_000 });
    for (let index = 0; index < 30; index++) await addresses.get(`/api/things/${index}?${'x'.repeat(1500)}`);
    await addresses.get(`/api/things/0?${'x'.repeat(1500)}`);
    expect(addresses.state.made).to.equal(31);
    const tags = kept({ maxBytes: 40_000, tags: Array.from({ length: 20 }, (_, index) => `${'x'.repeat(100)}${index}`) });
    for (let index = 0; index < 20; index++) await tags.get(`/api/things/${index}`);
    await tags.get('/api/things/0');
    expect(tags.state.made).to.equal(21);
  });

  it('is not affected by tags of nothing that is cached, however many', async () => {
    const { get, state, ready } = kept();
    await get('/api/things/a');
    ready.touch(Array.from({ length: 150_000 }, (_, index) => `other:${index}`));
    await get('/api/things/a');
    expect(state.made).to.equal(1);
  });

  it('takes no room when it was not kept, however it was sent', async () => {
    const options = { maxBytes: 20_000, filling: 5000 };
    const { get, state } = kept(options);
    for (let index = 0; index < 500; index++) await get(`/api/things/${index}`, { 'accept-encoding': 'gzip' });
    options.filling = 0;
    await get('/api/things/a');
    await get('/api/things/a');
    expect(state.made).to.equal(501);
  });

  it('is never given to a caller who is known: theirs may differ', async () => {
    const { get, state } = kept({ setup: { gates: { resolvers: [({ headers }) => (headers['x-api-key'] ? someone : null)] } } });
    await get('/api/things/a');
    await get('/api/things/a', { 'x-api-key': 'mine' });
    expect(state.made).to.equal(2);
  });

  it('is sent alike when it was just made: zipped, as 304, to HEAD and to a caller who is known', async () => {
    const { server, get } = kept({ maxBytes: 0, filling: 5000, setup: { gates: { resolvers: [({ headers }) => (headers['x-api-key'] ? someone : null)] } } });
    const plain = await get('/api/things/a');
    expect([plain.statusCode, plain.headers['content-length']]).to.equal([200, String(plain.rawPayload.length)]);
    expect(plain.headers['x-request-id']).to.have.length(32);
    const zipped = await get('/api/things/a', { 'accept-encoding': 'gzip' });
    expect([zipped.headers['content-encoding'], gunzipSync(zipped.rawPayload).toString()]).to.equal(['gzip', plain.payload]);
    expect((await get('/api/things/a', { 'if-none-match': String(plain.headers.etag) })).statusCode).to.equal(304);
    const head = await server.inject({ method: 'HEAD', url: '/api/things/a' });
    expect([head.payload, head.headers['content-length']]).to.equal(['', plain.headers['content-length']]);
    expect((await get('/api/things/a', { 'x-api-key': 'mine' })).payload).to.equal(plain.payload);
  });
});
