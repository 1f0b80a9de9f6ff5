import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { slowness } from '../../test/wait.ts';
import { readRaw, send, sendRaw, testServer } from './fixture.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const { server } = testServer();
server.route([
  { method: 'GET', path: '/api/words', options: { validate: { query: Joi.object({ word: Joi.string() }) } }, handler: (request) => request.query },
  { method: 'GET', path: '/api/words/{word}', handler: (request) => request.params },
  { method: 'POST', path: '/api/words', options: { validate: { query: Joi.object({}), payload: Joi.object({ word: Joi.any(), size: Joi.number() }) } }, handler: () => ({ taken: true }) },
  {
    method: 'GET',
    path: '/api/list',
    options: { validate: { query: Joi.object({ cursor: Joi.string(), word: Joi.string() }) } },
    // What Postgres says of a position that does not fit its column.
    handler: () => { throw Object.assign(new Error('invalid input syntax for type bigint'), { code: '22P02' }); },
  },
]);

const HEAD = 'Host: x\r\nConnection: close\r\n';
const raw = async (bytes: string) => readRaw(await sendRaw(server, bytes));
const post = (body: string | Buffer, headers: Record<string, string> = {}) => send(server, 'POST', '/api/words', { headers: { 'content-type': 'application/json', ...headers }, body });

describe('A rude client', () => {
  before(() => server.start());
  after(() => server.stop());

  it('gets a problem of the kit for CONNECT', async () => {
    const answer = await raw(`CONNECT example.org:443 HTTP/1.1\r\n${HEAD}\r\n`);
    expect([answer.status, answer.headers['content-type']]).to.equal([400, 'application/problem+json']);
    expect(answer.headers['x-request-id']).to.equal(answer.json.request_id);
  });

  it('does not end the process with an address that has no path', async () => {
    for (const target of ['foo://bar', 'foo://', 'foo://bar?x', '*']) {
      const answer = await raw(`GET ${target} HTTP/1.1\r\n${HEAD}\r\n`);
      expect([answer.status, answer.json.code]).to.equal([400, 'bad_request']);
    }
    expect((await raw(`GET foo://bar HTTP/1.1\r\n${HEAD}X-Request-ID: a b\r\n\r\n`)).status).to.equal(400);
  });

  it('that expects an unsupported extension gets a response all the same', async () => {
    const answer = await raw(`GET /health HTTP/1.1\r\n${HEAD}Expect: miracles\r\n\r\n`);
    expect([answer.status, answer.json.status]).to.equal([200, 'ok']);
    expect(answer.headers['x-request-id']).to.exist();
  });

  it('that names two hosts, or none that can be, is refused', async () => {
    for (const host of ['Host: a\r\nHost: b', 'Host: a b', 'Host: a@b', 'Host: a/b', 'Host: [::1', 'Host: a:b']) {
      const answer = await raw(`GET /health HTTP/1.1\r\nConnection: close\r\n${host}\r\n\r\n`);
      expect([answer.status, answer.json.detail]).to.equal([400, 'The Host header is malformed.']);
    }
    for (const host of ['example.org', 'example.org:8080', '[::1]:80', 'my_box', '']) {
      expect((await raw(`GET /health HTTP/1.1\r\nConnection: close\r\nHost: ${host}\r\n\r\n`)).status).to.equal(200);
    }
  });

  it('that sends a header twice does not choose which one counts', async () => {
    const body = '{"size":1}';
    const answer = await raw(`POST /api/words HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    expect(answer.status).to.equal(415);
  });

  it('whose URL cannot be decoded gets advice', async () => {
    const answer = await send(server, 'GET', '/api/words/%zz');
    expect([answer.status, answer.json.detail]).to.equal([400, 'Check the address and the headers for characters that do not belong there.']);
  });

  it('gets every header even when its bytes were no request', async () => {
    const answer = await raw('GET / HTTP/9.9\r\n\r\n');
    for (const name of ['x-request-id', 'traceparent', 'server-timing', 'vary', 'cache-control', 'content-security-policy', 'x-content-type-options', 'referrer-policy', 'permissions-policy', 'cross-origin-opener-policy', 'cross-origin-resource-policy']) expect(answer.headers[name], name).to.exist();
  });

  it('finds no way in for NUL, which Postgres cannot keep', async () => {
    expect((await send(server, 'GET', '/api/words?word=a%00b')).json).to.include({ code: 'invalid_request', status: 400 });
    expect((await send(server, 'GET', '/api/words/a%00b')).status).to.equal(404);
    for (const [body, pointer] of [['{"word":"a\\u0000"}', '/word'], ['{"word":[{"x":["\\u0000"]}]}', '/word/0/x/0'], ['{"word":{"\\u0000":1}}', '/word/\0']]) {
      const answer = await post(body!);
      expect([answer.status, answer.json.errors[0].pointer]).to.equal([400, pointer]);
      expect(answer.json.errors[0].detail).to.contain('U+0000');
    }
    expect((await post('{"word":"\\\\u0000"}')).status).to.equal(200);
  });

  it('does not break it with JSON deeper than the stack', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    for (const body of [`{"word":${deep}}`, `{"word":${deep},"more":1}`]) expect((await post(body)).json).to.include({ status: 400, code: 'malformed_body' });
  });

  it('does not keep others waiting with a NUL that lies deep', async () => {
    const before = process.cpuUsage();
    const answer = await post(`{"word":${'['.repeat(200_000)}"\\u0000"${']'.repeat(200_000)}}`);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).to.be.below(6000 * slowness);
    expect([answer.status, answer.json.code]).to.equal([400, 'malformed_body']);
  });

  it('does not keep others waiting with a great many faults', async () => {
    const names = Array.from({ length: 19_000 }, (_, index) => `"k${index}":1`);
    const before = process.cpuUsage();
    const answer = await post(`{${names.join()}}`);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).to.be.below(3000 * slowness);
    expect([answer.status, answer.json.detail]).to.equal([400, '/k0 is not known here; known are word, size']);
    const some = await post(`{${names.slice(0, 500).join()}}`);
    expect(some.json.errors).to.have.length(20);
    expect(some.json.detail).to.contain('(and 499 more)');
  });

  it('may compress its body, but only as we understand, and not beyond the limit', async () => {
    const body = '{"size":1}';
    expect((await post(gzipSync(body), { 'content-encoding': 'gzip' })).status).to.equal(200);
    expect((await post(body, { 'content-encoding': 'gzip' })).status).to.equal(400);
    const bomb = await post(gzipSync(Buffer.alloc(30_000_000, 32)), { 'content-encoding': 'gzip' });
    expect([bomb.status, bomb.json.code]).to.equal([413, 'body_too_large']);
    const other = await post(Buffer.from([0x8b, 4, 0x80, 0x7b, 0x7d, 3]), { 'content-encoding': 'br' });
    expect([other.status, other.json.code, other.headers['accept-encoding']]).to.equal([415, 'unsupported_media_type', 'gzip, deflate']);
  });

  it('that never sends the rest of its body gets a timeout', async () => {
    const made = testServer();
    made.server.route({ method: 'POST', path: '/api/x', handler: () => 'x' });
    // Node looks every half minute; here at once.
    const { listener } = made.server as unknown as { listener: Server };
    await made.server.start();
    const answer = sendRaw(made.server, `POST /api/x HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`);
    const [socket] = (await once(listener, 'connection')) as [Socket];
    await once(listener, 'request');
    listener.emit('clientError', Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
    expect(readRaw(await answer)).to.include({ status: 408 });
    await made.server.stop();
  });

  it('that forges a cursor gets 400, and a server error stays one', async () => {
    const forged = await send(server, 'GET', '/api/list?cursor=x');
    expect([forged.status, forged.json.code]).to.equal([400, 'invalid_cursor']);
    expect((await send(server, 'GET', '/api/list?word=x')).status).to.equal(500);
  });
});

describe('A whole address as target', () => {
  it('is understood, below a path too', async () => {
    const made = testServer({ publicUrl: 'https://civic/civic' });
    made.server.route({ method: 'GET', path: '/api/x', handler: (request) => ({ path: request.path, query: request.query }) });
    await made.server.start();
    for (const target of ['http://civic/civic/api/x?a=1', '/civic/api/x?a=1', 'http://civic/api/x?a=1']) {
      expect(readRaw(await sendRaw(made.server, `GET ${target} HTTP/1.1\r\n${HEAD}\r\n`)).json).to.equal({ path: '/api/x', query: { a: '1' } });
    }
    await made.server.stop();
  });
});
