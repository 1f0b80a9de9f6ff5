import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { Readable } from 'node:stream';
import { conditional, weakEtag } from '../conditional.ts';
import { httpState } from '../state.ts';
import { upgradeOnly } from '../upgrade.ts';
import { problem } from '../../problems.ts';
import { readRaw, send, sendRaw, someone, testServer, type Answer, type TestServer } from './fixture.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const EMPTY = Joi.object({});

function addRoutes({ server, gates }: TestServer): void {
  gates.resolvers.push((request) => {
    const key = request.headers['x-api-key'];
    if (key === undefined) return null;
    if (key !== 'good') throw problem('invalid_credentials');
    return someone;
  });
  const options = { description: 'A test', validate: { query: EMPTY } };
  server.route([
    { method: 'GET', path: '/api/json', options, handler: () => ({ ok: true }) },
    { method: 'POST', path: '/api/json', options: { ...options, validate: { query: EMPTY, payload: Joi.object({ name: Joi.string().required() }) } }, handler: () => ({ ok: true }) },
    { method: 'GET', path: '/api/tagged', options, handler: (request, h) => conditional(request, h, { etag: weakEtag(7), contentLocation: '/api/tagged' }, () => ({ ok: true })) },
    { method: 'GET', path: '/api/private', options: { ...options, auth: { mode: 'required' } }, handler: () => ({ ok: true }) },
    { method: 'GET', path: '/api/scoped', options: { ...options, auth: { mode: 'required', access: { scope: ['things:write'] } } }, handler: () => ({ ok: true }) },
    { method: 'GET', path: '/api/broken', options, handler: () => { throw new Error('the secret cause'); } },
    { method: 'GET', path: '/api/unwritable', options, handler: () => ({ number: 1n }) },
    { method: 'GET', path: '/api/stream', options, handler: (_request, h) => h.response(Readable.from(['a', 'b'], { objectMode: false })).type('text/plain') },
    {
      method: 'GET',
      path: '/api/raw',
      options: { ...options, plugins: { civic: { raw: true } } },
      handler: (request, h) => {
        request.raw.res.writeHead(200, httpState(server).answerHeaders.of(request));
        request.raw.res.end('raw');
        return h.abandon;
      },
    },
    { method: 'GET', path: '/api/socket', options: { ...options, auth: { mode: 'required' } }, handler: upgradeOnly },
    { method: 'GET', path: '/sign-in', options: { plugins: { civic: { untimed: true } } }, handler: () => 'page' },
  ]);
}

const WEBSOCKET = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };

interface Row {
  kind: string;
  status: number;
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** Further headers that must be there, with their values. */
  also?: Record<string, string>;
  cache?: string;
}

const ROWS: Row[] = [
  { kind: 'JSON', status: 200, path: '/api/json' },
  { kind: 'HEAD', status: 200, method: 'HEAD', path: '/api/json' },
  { kind: 'an answer with an ETag', status: 200, path: '/api/tagged', cache: 'public, no-cache', also: { etag: 'W/"7"', 'content-location': 'https://civic.example/api/tagged' } },
  { kind: 'nothing new', status: 304, path: '/api/tagged', headers: { 'if-none-match': '"x", W/"7"' }, cache: 'public, no-cache', also: { etag: 'W/"7"', 'content-location': 'https://civic.example/api/tagged' } },
  { kind: 'an answer to somebody known', status: 200, path: '/api/private', headers: { 'x-api-key': 'good' }, cache: 'private, no-store' },
  { kind: 'a bad parameter', status: 400, path: '/api/json?limt=5', cache: 'no-store' },
  { kind: 'a bad body', status: 400, method: 'POST', path: '/api/json', headers: { 'content-type': 'application/json' }, body: '{"name": 5}', cache: 'no-store' },
  { kind: 'a bad path', status: 400, path: '/api/json/%zz', cache: 'no-store' },
  { kind: 'a bad request id', status: 400, path: '/api/json', headers: { 'x-request-id': 'two words' }, cache: 'no-store' },
  { kind: 'no credentials', status: 401, path: '/api/private', cache: 'no-store', also: { 'www-authenticate': 'Bearer realm="civic"' } },
  { kind: 'wrong credentials on a public route', status: 401, path: '/api/json', headers: { 'x-api-key': 'bad' }, cache: 'no-store', also: { 'www-authenticate': 'Bearer realm="civic"' } },
  { kind: 'too little scope', status: 403, path: '/api/scoped', headers: { 'x-api-key': 'good' }, cache: 'no-store' },
  { kind: 'nothing there', status: 404, path: '/api/nothing', cache: 'no-store' },
  { kind: 'another method', status: 405, method: 'DELETE', path: '/api/json', cache: 'no-store', also: { allow: 'GET, HEAD, OPTIONS, POST' } },
  { kind: 'a body too large', status: 413, method: 'POST', path: '/api/json', headers: { 'content-type': 'application/json' }, body: `"${'x'.repeat(1024 * 1024)}"`, cache: 'no-store' },
  { kind: 'a body of another type', status: 415, method: 'POST', path: '/api/json', headers: { 'content-type': 'text/plain' }, body: 'x', cache: 'no-store', also: { 'accept-post': 'application/json' } },
  { kind: 'a failure', status: 500, path: '/api/broken', cache: 'no-store' },
  { kind: 'a stream', status: 200, path: '/api/stream' },
  { kind: 'a raw answer', status: 200, path: '/api/raw' },
  { kind: 'OPTIONS', status: 204, method: 'OPTIONS', path: '/api/json', also: { allow: 'GET, HEAD, OPTIONS, POST' } },
  { kind: 'a refused upgrade', status: 401, path: '/api/socket', headers: WEBSOCKET, cache: 'no-store', also: { 'www-authenticate': 'Bearer realm="civic"' } },
  { kind: 'an upgrade of nothing', status: 404, path: '/api/nowhere', headers: WEBSOCKET, cache: 'no-store' },
  { kind: 'an upgrade of a plain route', status: 200, path: '/api/json', headers: WEBSOCKET },
  { kind: 'a socket without upgrade', status: 426, path: '/api/socket', headers: { 'x-api-key': 'good' }, cache: 'no-store', also: { upgrade: 'websocket' } },
];

describe('The headers of every answer', () => {
  const made = testServer();

  before(async () => {
    addRoutes(made);
    await made.server.start();
  });
  after(() => made.server.stop({ timeout: 100 }));

  for (const { kind, status, method = 'GET', path, headers = {}, body, also = {}, cache = 'no-cache' } of ROWS) {
    it(`are there on ${kind}`, async () => {
      const answer = await send(made.server, method, path, { headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=1', ...headers }, body });
      expect(answer.status).to.equal(status);
      expectCommon(answer);
      expect(answer.headers.traceparent).to.match(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
      expect(answer.headers.traceparent).to.not.include('b7ad6b7169203331');
      expect(answer.headers.tracestate).to.equal('a=1');
      expect(answer.headers['cache-control']).to.equal(cache);
      expect(answer.headers).to.include(also);
      if (status >= 400) {
        expect(answer.headers['content-type']).to.equal('application/problem+json');
        expect(answer.json).to.include({ status, instance: path.split('?')[0], request_id: answer.headers['x-request-id'] });
        expect(answer.json.type).to.equal(`https://civic.example/problems/${answer.json.code}`);
        expect(answer.text).to.not.include('secret cause');
      }
    });
  }

  it('are there when the answer cannot be written', async () => {
    const answer = await send(made.server, 'GET', '/api/unwritable');
    expect(answer.status).to.equal(500);
    expect(answer.headers).to.include(['x-request-id', 'traceparent', 'x-content-type-options', 'content-security-policy']);
    expect(answer.text).to.not.include('BigInt');
  });

  it('are there on bytes that are no request', async () => {
    const answer = readRaw(await sendRaw(made.server, 'NONSENSE\r\n\r\n'));
    expect(answer.status).to.equal(400);
    expectCommon(answer);
    expect(answer.json).to.include({ code: 'bad_request', request_id: answer.headers['x-request-id'] });
  });

  it('are there when the Host is missing', async () => {
    const answer = readRaw(await sendRaw(made.server, 'GET /api/json HTTP/1.1\r\nConnection: close\r\n\r\n'));
    expect([answer.status, answer.json.detail]).to.equal([400, 'The Host header is missing.']);
    expectCommon(answer);
  });

  it('are there when the headers are too large', async () => {
    const answer = readRaw(await sendRaw(made.server, `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20000)}\r\n\r\n`));
    expect(answer.status).to.equal(431);
    expectCommon(answer);
    expect(answer.json.code).to.equal('headers_too_large');
  });

  it('do not reveal how long a sign-in took', async () => {
    const answer = await send(made.server, 'GET', '/sign-in');
    expect(answer.status).to.equal(200);
    expectCommon(answer, { isTimed: false });
  });

  it('are each sent once', async () => {
    const { rawHeaders } = await send(made.server, 'GET', '/api/tagged');
    const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(new Set(names).size).to.equal(names.length);
  });
});

describe('A request id', () => {
  it('is echoed, at its longest too', async () => {
    const { server } = testServer();
    for (const id of ['a', '!~', 'x'.repeat(128)]) {
      const res = await server.inject({ url: '/health', headers: { 'x-request-id': id } });
      expect(res.statusCode).to.equal(200);
      expect(res.headers['x-request-id']).to.equal(id);
    }
  });

  it('that is malformed is refused under a new one', async () => {
    const { server } = testServer();
    for (const id of ['', ' ', 'a b', 'x'.repeat(129), 'ü']) {
      const res = await server.inject({ url: '/health', headers: { 'x-request-id': id } });
      expect(res.statusCode).to.equal(400);
      expect(res.headers['x-request-id']).to.match(/^[0-9a-f]{32}$/);
      expect(JSON.parse(res.payload)).to.include({ code: 'invalid_header', request_id: res.headers['x-request-id'] });
    }
  });
});

describe('A trace', () => {
  const cases: [string, string, string | undefined, string | undefined][] = [
    ['absent', 'absent', undefined, undefined],
    ['continued', 'continued', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', undefined],
    ['of a later version', 'continued', '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more', undefined],
    ['of a version that cannot be', 'malformed', 'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', undefined],
    ['with too much behind it', 'malformed', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more', undefined],
    ['without a trace', 'malformed', '00-00000000000000000000000000000000-b7ad6b7169203331-01', undefined],
    ['without a span', 'malformed', '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', undefined],
    ['in capitals', 'malformed', '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01', undefined],
    ['that is text', 'malformed', 'hello', undefined],
  ];
  for (const [name, verdict, traceparent] of cases) {
    it(`${name} is ${verdict}`, async () => {
      const { server } = testServer();
      let seen = '';
      server.route({ method: 'GET', path: '/t', handler: (request) => { seen = request.civic.trace.verdict; return 'x'; } });
      const res = await server.inject({ url: '/t', headers: { ...(traceparent && { traceparent }), tracestate: 'a=1' } });
      expect(res.statusCode).to.equal(200);
      expect(seen).to.equal(verdict);
      expect(res.headers['traceparent']).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
      expect(String(res.headers['traceparent']).includes('0af7651916cd43dd8448eb211c80319c')).to.equal(verdict === 'continued');
      expect(res.headers['tracestate']).to.equal(verdict === 'continued' ? 'a=1' : undefined);
    });
  }

  it('drops a bad tracestate', async () => {
    const { server } = testServer();
    for (const tracestate of ['A=1', 'a', 'a=1,a=2', '=', Array.from({ length: 33 }, (_, i) => `k${i}=1`).join()]) {
      const res = await server.inject({ url: '/health', headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', tracestate } });
      expect(res.statusCode).to.equal(200);
      expect(res.headers['tracestate']).to.be.undefined();
    }
  });
});

function expectCommon(answer: Answer, { isTimed = true } = {}): void {
  const { headers } = answer;
  expect(headers['x-request-id']).to.match(/^[!-~]{1,128}$/);
  expect(headers.traceparent).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
  expect(headers['x-content-type-options']).to.equal('nosniff');
  expect(headers['content-security-policy']).to.equal("default-src 'none'; frame-ancestors 'none'");
  expect(headers['strict-transport-security']).to.equal('max-age=31536000');
  expect(headers.vary).to.equal('accept-encoding, origin');
  expect(headers['cache-control']).to.exist();
  if (isTimed) expect(headers['server-timing']).to.match(/^total;dur=\d+$/);
  else expect(headers['server-timing']).to.be.undefined();
}
