import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import notes from '../plugins/notes/index.ts';
import pulse from '../plugins/pulse/index.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

interface Ask {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
}

function ask(kit: TestServer, { method = 'GET', path, headers = {}, body }: Ask): Promise<Answer> {
  return new Promise((done, failed) => {
    const request = httpRequest(kit.url + path, { method, headers }, (response) => {
      response.resume();
      response.on('end', () => { done({ status: response.statusCode!, headers: response.headers }); });
    });
    request.on('upgrade', (response, socket) => { socket.destroy(); done({ status: response.statusCode!, headers: response.headers }); });
    request.on('error', failed);
    request.end(body);
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };

for (const database of testDatabases()) describe(`Every answer on ${database}`, () => {
  let kit: TestServer;
  let noteId: string;
  before(async () => {
    kit = await testServer({ plugins: [notes, pulse], database, listen: true, config: { metrics: { enabled: true } } });
    noteId = (await kit.request('POST', '/api/notes', { payload: { text: 'kept' } })).body.id;
  });
  after(() => kit.close());

  const kinds: Record<string, () => { ask: Ask; status: number }> = {
    'a list': () => ({ ask: { path: '/api/notes' }, status: 200 }),
    'a list, HEAD': () => ({ ask: { method: 'HEAD', path: '/api/notes' }, status: 200 }),
    'one thing': () => ({ ask: { path: `/api/notes/${noteId}` }, status: 200 }),
    'one thing, not modified': () => ({ ask: { path: `/api/notes/${noteId}`, headers: { 'if-none-match': '*' } }, status: 304 }),
    'something made': () => ({ ask: { method: 'POST', path: '/api/notes', headers: JSON_TYPE, body: '{"text":"x"}' }, status: 201 }),
    'bad input': () => ({ ask: { path: '/api/notes?limt=3' }, status: 400 }),
    'a bad request id': () => ({ ask: { path: '/health', headers: { 'x-request-id': 'a b' } }, status: 400 }),
    'a body that is not JSON': () => ({ ask: { method: 'POST', path: '/api/notes', headers: JSON_TYPE, body: '{' }, status: 400 }),
    'no credentials': () => ({ ask: { method: 'DELETE', path: `/api/notes/${noteId}` }, status: 401 }),
    'a wrong credential on a public route': () => ({ ask: { path: '/api/notes', headers: { 'x-api-key': 'wrong' } }, status: 401 }),
    'an unknown thing': () => ({ ask: { path: '/api/notes/nope' }, status: 404 }),
    'an unknown path': () => ({ ask: { path: '/nowhere' }, status: 404 }),
    'another method': () => ({ ask: { method: 'PUT', path: '/api/notes', headers: JSON_TYPE, body: '{}' }, status: 405 }),
    'a body too large': () => ({ ask: { method: 'POST', path: '/api/notes', headers: JSON_TYPE, body: JSON.stringify({ text: 'x'.repeat(1_100_000) }) }, status: 413 }),
    'another type of body': () => ({ ask: { method: 'POST', path: '/api/notes', headers: { 'content-type': 'text/plain' }, body: 'x' }, status: 415 }),
    'a preflight': () => ({ ask: { method: 'OPTIONS', path: '/api/notes', headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' } }, status: 204 }),
    'a stream written by hand': () => ({ ask: { path: '/api/pulse' }, status: 200 }),
    'a socket asked for by a plain GET': () => ({ ask: { path: '/api/pulse/socket' }, status: 401 }),
    'a refused upgrade': () => ({ ask: { path: '/api/pulse/socket', headers: UPGRADE }, status: 401 }),
    'an upgrade nobody offers': () => ({ ask: { path: '/nowhere', headers: UPGRADE }, status: 404 }),
    health: () => ({ ask: { path: '/health' }, status: 200 }),
    readiness: () => ({ ask: { path: '/health/ready' }, status: 200 }),
    metrics: () => ({ ask: { path: '/metrics' }, status: 200 }),
    'a contract': () => ({ ask: { path: '/openapi.json' }, status: 200 }),
    'a page': () => ({ ask: { path: '/docs' }, status: 200 }),
    'a page about a problem': () => ({ ask: { path: '/problems/not_found' }, status: 200 }),
    'a problem as a page': () => ({ ask: { path: '/nowhere', headers: { accept: 'text/html' } }, status: 404 }),
  };

  for (const [name, kind] of Object.entries(kinds)) {
    it(`carries its headers: ${name}`, async () => {
      const { ask: what, status } = kind();
      const answer = await ask(kit, { ...what, headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'vendor=1', ...what.headers } });
      expect(answer.status).to.equal(status);
      expect(answer.headers['x-request-id']).to.match(/^[!-~]{1,128}$/);
      expect(answer.headers['traceparent']).to.match(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
      expect(answer.headers['tracestate']).to.equal('vendor=1');
      expect(answer.headers['server-timing']).to.match(/^total;dur=\d+/);
      expect(answer.headers['x-content-type-options']).to.equal('nosniff');
      expect(answer.headers['content-security-policy']).to.contain("default-src 'none'");
      expect(answer.headers['referrer-policy']).to.equal('same-origin');
      expect(answer.headers['permissions-policy']).to.contain(['camera=()', 'geolocation=()', 'microphone=()']);
      expect(answer.headers['cross-origin-opener-policy']).to.equal('same-origin');
      expect(answer.headers['cross-origin-resource-policy']).to.match(/^(?:same|cross)-origin$/);
      expect(answer.headers['cache-control']).to.not.be.undefined();
      expect(answer.headers['vary']).to.not.be.undefined();
      expect(answer.headers['server']).to.be.undefined();
      expect(answer.headers['x-powered-by']).to.be.undefined();
    });
  }

  it('may be embedded by other sites when other sites may read it, and only then', async () => {
    const policy = async (what: Ask): Promise<unknown> => (await ask(kit, what)).headers['cross-origin-resource-policy'];
    const style = /\/assets\/style[^"]+/.exec((await kit.request('GET', '/docs')).text)![0];
    for (const path of ['/api/notes', `/api/notes/${noteId}`, '/openapi.json', '/health', '/api/notes?limt=3']) expect(await policy({ path }), path).to.equal('cross-origin');
    for (const path of ['/', '/docs', '/problems', style, '/metrics', '/api/pulse/socket']) expect(await policy({ path }), path).to.equal('same-origin');
    expect(await policy({ method: 'POST', path: '/api/notes', headers: JSON_TYPE, body: '{"text":"x"}' })).to.equal('same-origin');
  });

  it('echoes the request id it was given', async () => {
    for (const path of ['/health', '/nowhere', '/api/pulse', `/api/notes/${noteId}`]) {
      expect((await ask(kit, { path, headers: { 'x-request-id': 'mine-7' } })).headers['x-request-id']).to.equal('mine-7');
    }
  });

  it('says which methods there are, which types are taken, and how to sign in', async () => {
    expect((await ask(kit, { method: 'PUT', path: '/api/notes' })).headers['allow']).to.equal('GET, HEAD, OPTIONS, POST');
    expect((await ask(kit, { method: 'PUT', path: '/health', headers: { accept: 'text/html' } })).headers['allow']).to.contain('GET');
    expect((await ask(kit, { method: 'POST', path: '/api/notes', headers: { 'content-type': 'text/plain' }, body: 'x' })).headers['accept-post']).to.equal('application/json');
    expect((await ask(kit, { path: '/api/notes', headers: { 'x-api-key': 'wrong' } })).headers['www-authenticate']).to.not.be.undefined();
  });

  it('repeats ETag, Cache-Control, Vary and Content-Location on 304', async () => {
    const full = await ask(kit, { path: `/api/notes/${noteId}` });
    const unmodified = await ask(kit, { path: `/api/notes/${noteId}`, headers: { 'if-none-match': `"other", ${full.headers['etag']}` } });
    expect(unmodified.status).to.equal(304);
    for (const name of ['etag', 'cache-control', 'vary', 'content-location']) {
      expect(full.headers[name], name).to.not.be.undefined();
      expect(unmodified.headers[name], name).to.equal(full.headers[name]);
    }
  });
});
