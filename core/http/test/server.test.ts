import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { problem } from '../../problems.ts';
import { vocabularyOf } from '../../vocabulary.ts';
import { checkRoutes } from '../rules.ts';
import { addHeaders, clientAddressOf } from '../state.ts';
import { readRaw, send, sendRaw, testServer } from './fixture.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('A public address below a path', () => {
  it('is served with and without its path, and written with it', async () => {
    const { server } = testServer({ publicUrl: 'https://example.org/civic/' });
    server.route({ method: 'GET', path: '/api/x', handler: (request) => ({ path: request.path, query: request.query }) });
    for (const url of ['/api/x?a=1', '/civic/api/x?a=1']) {
      const res = await server.inject(url);
      expect(JSON.parse(res.payload)).to.equal({ path: '/api/x', query: { a: '1' } });
    }
    for (const url of ['/nothing', '/civic/nothing']) {
      const res = await server.inject({ url, headers: { host: 'evil.example' } });
      expect(JSON.parse(res.payload)).to.include({ type: 'https://example.org/civic/problems/not_found', instance: '/civic/nothing' });
    }
  });

  it('is not confused by a longer first part, nor by the path alone or a bad Host', async () => {
    const { server } = testServer({ publicUrl: 'https://example.org/civic' });
    server.route({ method: 'GET', path: '/', handler: () => 'home' });
    await server.start();
    expect((await send(server, 'GET', '/civics')).status).to.equal(404);
    expect((await send(server, 'GET', '/civic')).text).to.equal('home');
    expect((await send(server, 'GET', '/civic?x=1')).text).to.equal('home');
    expect((await send(server, 'GET', '/civic/', { headers: { host: 'a b' } })).status).to.equal(400);
    const absolute = await sendRaw(server, 'GET http://example.org/civic/?x=1 HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n');
    expect(readRaw(absolute).text).to.contain('home');
    await server.stop();
  });
});

describe('CORS', () => {
  const ask = { origin: 'https://reader.example', 'access-control-request-method': 'GET', 'access-control-request-headers': 'if-none-match' };

  function site(origins: string[]) {
    const { server } = testServer({ http: { cors_origins: origins } });
    server.route([
      { method: 'GET', path: '/api/open', handler: () => 'x' },
      { method: 'POST', path: '/api/open', handler: () => 'x' },
      { method: 'GET', path: '/api/closed', options: { auth: { mode: 'required' } }, handler: () => 'x' },
      { method: 'GET', path: '/page', options: { plugins: { civic: { internal: true } } }, handler: () => 'x' },
    ]);
    return server;
  }

  it('opens public reads to every website, with the headers it needs', async () => {
    const res = await site(['*']).inject({ url: '/api/open', headers: { origin: 'https://reader.example' } });
    expect(res.headers['access-control-allow-origin']).to.equal('*');
    for (const name of ['ETag', 'Link', 'Retry-After', 'Content-Location', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'X-Request-ID']) expect(res.headers['access-control-expose-headers']).to.include(name);
    expect(res.headers['access-control-allow-credentials']).to.be.undefined();
  });

  it('opens errors of public reads too', async () => {
    const res = await site(['*']).inject({ url: '/api/nothing', headers: { origin: 'https://reader.example' } });
    expect([res.statusCode, res.headers['access-control-allow-origin']]).to.equal([404, '*']);
  });

  it('opens nothing else', async () => {
    const server = site(['*']);
    for (const [method, url] of [['POST', '/api/open'], ['GET', '/api/closed'], ['GET', '/page']] as const) {
      const res = await server.inject({ method, url, headers: { origin: 'https://reader.example' } });
      expect(res.headers['access-control-allow-origin'], url).to.be.undefined();
      const preflight = await server.inject({ method: 'OPTIONS', url, headers: { ...ask, 'access-control-request-method': method } });
      expect(preflight.statusCode).to.equal(204);
      expect(preflight.headers['access-control-allow-origin'], url).to.be.undefined();
    }
  });

  it('answers preflights of public reads, and never allows keys', async () => {
    const res = await site(['*']).inject({ method: 'OPTIONS', url: '/api/open', headers: ask });
    expect(res.statusCode).to.equal(204);
    expect(res.headers).to.include({ 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET, HEAD', allow: 'GET, HEAD, OPTIONS, POST' });
    expect(String(res.headers['access-control-allow-headers']).toLowerCase()).to.include('if-none-match').and.to.not.include('x-api-key');
  });

  it('welcomes only the origins of the config when that names some', async () => {
    const server = site(['https://reader.example']);
    const welcome = await server.inject({ url: '/api/open', headers: { origin: 'https://reader.example' } });
    expect(welcome.headers['access-control-allow-origin']).to.equal('https://reader.example');
    expect(welcome.headers['vary']).to.include('origin');
    const other = await server.inject({ url: '/api/open', headers: { origin: 'https://other.example' } });
    expect(other.headers['access-control-allow-origin']).to.be.undefined();
  });
});

describe('Paths and methods', () => {
  it('that no plugin has are 404 with any headers and body', async () => {
    const { server } = testServer();
    await server.start();
    const answer = await send(server, 'POST', '/api/nothing', { headers: { 'content-type': 'image/png' }, body: 'x'.repeat(100_000) });
    expect([answer.status, answer.json.code]).to.equal([404, 'not_found']);
    await server.stop();
  });

  it('that no route combines are 405 with Allow', async () => {
    const { server } = testServer();
    server.route({ method: 'PUT', path: '/api/{name}', handler: () => 'x' });
    server.route({ method: 'GET', path: '/api/x', handler: () => 'x' });
    const res = await server.inject({ method: 'POST', url: '/api/x', payload: '{}' });
    expect([res.statusCode, JSON.parse(res.payload).code, res.headers['allow']]).to.equal([405, 'method_not_allowed', 'GET, HEAD, OPTIONS, PUT']);
    expect((await server.inject({ method: 'PROPFIND' as 'GET', url: '/api/y' })).headers['allow']).to.equal('OPTIONS, PUT');
    expect((await server.inject({ method: 'OPTIONS', url: '/nothing' })).statusCode).to.equal(404);
  });
});

describe('A failure', () => {
  it('is logged once, with the request id, and not sent to the client', async () => {
    const { server, lines } = testServer();
    server.route({ method: 'GET', path: '/api/x', handler: () => { throw new Error('disk on fire', { cause: new Error('match') }); } });
    const res = await server.inject({ url: '/api/x?token=hidden', headers: { 'x-request-id': 'r-1' } });
    expect(res.statusCode).to.equal(500);
    expect(res.payload).to.not.include('fire');
    const told = lines.filter((line) => line['level'] === 'error');
    expect(told).to.have.length(1);
    expect(told[0]).to.include({ request_id: 'r-1', method: 'GET', path: '/api/x?token=[masked]' });
    expect(told[0]!['err'].message).to.equal('disk on fire: match');
    expect(told[0]!['err'].stack).to.include('server.test.');
  });

  it('that was expected is logged only with its cause', async () => {
    const { server, lines } = testServer();
    server.route({ method: 'GET', path: '/a', handler: () => { throw problem('unavailable', { headers: { 'retry-after': '30' }, detail: 'Wait less.' }); } });
    server.route({ method: 'GET', path: '/b', handler: () => { throw problem('unavailable', { cause: new Error('why') }); } });
    const res = await server.inject('/a');
    expect(JSON.parse(res.payload)).to.include({ status: 503, detail: 'Wait less.' });
    expect(lines.some((line) => line['level'] === 'error')).to.be.false();
    expect((await server.inject('/b')).payload).to.not.include('why');
    expect(lines.filter((line) => line['err']?.message === 'why')).to.have.length(1);
  });

  it('of writing the answer is logged, and keeps its request id', async () => {
    const { server, lines } = testServer();
    server.route({ method: 'GET', path: '/x', handler: () => ({ number: 1n }) });
    const res = await server.inject('/x');
    expect(res.statusCode).to.equal(500);
    expect(lines.filter((line) => line['level'] === 'error')).to.have.length(1);
    expect(lines[0]!['request_id']).to.equal(res.headers['x-request-id']);
  });

  it('may be shown as a page to those who asked for one', async () => {
    const { server } = testServer();
    server.app.civic.problemPage = (request, h, body) => (request.headers['accept'] === 'text/html' ? Promise.resolve(h.response(`<h1>${body.title}</h1>`).code(body.status)) : null);
    const page = await server.inject({ url: '/nothing', headers: { accept: 'text/html' } });
    expect([page.statusCode, page.payload]).to.equal([404, '<h1>There is nothing here</h1>']);
    expect(page.headers['x-request-id']).to.exist();
    expect((await server.inject('/nothing')).headers['content-type']).to.equal('application/problem+json');
  });
});

describe('The access log', () => {
  const site = (access: 'info' | 'warn') => {
    const made = testServer({ access });
    made.server.route({ method: 'GET', path: '/x', handler: () => 'hello' });
    made.server.route({ method: 'GET', path: '/broken', handler: () => { throw new Error('x'); } });
    made.server.route({ method: 'GET', path: '/many', handler: () => { throw problem('too_many_requests'); } });
    return made;
  };

  it('has one line a request, without secrets', async () => {
    const { server, lines } = site('info');
    await server.inject({ url: '/x?a=1&ticket=t1&access_token=t2&code=t3&code_verifier=t6&api_key=t4&place_key=kept&state=MO&next=%2Fy%3Ftoken%3Dt5%26b%3D2&c=3', headers: { 'x-request-id': 'r-1' } });
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ level: 'info', method: 'GET', status: 200, request_id: 'r-1', bytes: 5, msg: 'request' });
    expect(lines[0]!['path']).to.equal('/x?a=1&ticket=[masked]&access_token=[masked]&code=[masked]&code_verifier=[masked]&api_key=[masked]&place_key=kept&state=MO&next=%2Fy%3Ftoken%3D[masked]%26b%3D2&c=3');
    expect(lines[0]!['ms']).to.be.a.number();
  });

  it('has no values of query parameters that a route masks', async () => {
    const { server, lines } = testServer({ access: 'info' });
    server.route({ method: 'GET', path: '/start', options: { plugins: { civic: { masked: ['state', 'login_hint'] } } }, handler: () => '' });
    await server.inject('/start?state=t1&client=kept&login_hint=a%40b.example&state_of=MO');
    expect(lines[0]!['path']).to.equal('/start?state=[masked]&client=kept&login_hint=[masked]&state_of=MO');
  });

  it('has no values of path parameters that a route masks', async () => {
    const { server, lines } = testServer({ access: 'info' });
    server.route({ method: 'GET', path: '/receipts/{receipt}/{part}', options: { plugins: { civic: { masked: ['receipt'] } } }, handler: () => '' });
    for (const path of ['/receipts/7XK-QD/kept?receipt=x', '/receipts/7%20x/kept', '/receipts/7XK-QD/nothing/here']) await server.inject(path);
    expect(lines.map((line) => line['path'])).to.equal(['/receipts/[masked]/kept?receipt=[masked]', '/receipts/[masked]/kept', '/receipts/7XK-QD/nothing/here']);
  });

  it('at warn has only what failed or was too much', async () => {
    const { server, lines } = site('warn');
    for (const url of ['/x', '/nothing', '/many', '/broken']) await server.inject(url);
    expect(lines.filter((line) => line['msg'] === 'request').map((line) => [line['level'], line['status']])).to.equal([['warn', 429], ['warn', 500]]);
  });
});

describe('Health', () => {
  it('says that the process answers', async () => {
    const res = await testServer().server.inject('/health');
    expect([res.statusCode, res.result]).to.equal([200, { status: 'ok', version: '9.9.9' }]);
  });

  it('says whether it is ready, check by check, without details', async () => {
    let status: 'ok' | 'failed' = 'ok';
    const checks = [
      { name: 'database', readiness: true, run: async () => ({ status, detail: 'at secret-host' }) },
      { name: 'jobs', readiness: true, run: async () => ({ status: 'warning' as const, detail: 'slow' }) },
      { name: 'disk', run: async () => ({ status: 'failed' as const, detail: 'for doctor only' }) },
    ];
    const { server, lines } = testServer({ checks });
    const ready = await server.inject('/health/ready');
    expect([ready.statusCode, ready.result]).to.equal([200, { status: 'ready', checks: [{ name: 'database', status: 'ok' }, { name: 'jobs', status: 'warning' }] }]);
    status = 'failed';
    for (let i = 0; i < 2; i++) {
      const res = await server.inject('/health/ready');
      expect(res.statusCode).to.equal(503);
      expect(JSON.parse(res.payload)).to.include({ code: 'not_ready', checks: [{ name: 'database', status: 'failed' }, { name: 'jobs', status: 'warning' }] });
      expect(res.payload).to.not.include('secret-host');
      expect(res.headers['retry-after']).to.equal('5');
    }
    expect(lines.filter((line) => line['msg'] === 'not ready')).to.have.length(1);
  });

  it('treats a check that throws as failed', async () => {
    const { server } = testServer({ checks: [{ name: 'x', readiness: true, run: async () => { throw new Error('no'); } }] });
    expect((await server.inject('/health/ready')).statusCode).to.equal(503);
  });

  it('has measurements only where they are on', async () => {
    expect((await testServer().server.inject('/metrics')).statusCode).to.equal(404);
    const { server } = testServer({ metrics: true });
    await server.initialize();
    await server.inject('/health');
    const res = await server.inject('/metrics');
    expect(res.statusCode).to.equal(200);
    expect(res.payload).to.include('civic_http_request_seconds_count{method="get",route="/health",status="200"} 1');
    await server.stop();
  });

  it('has the measurements of plugins among its own, as they are when asked for', async () => {
    let count = 2;
    const { server } = testServer({ metrics: [{ name: 'notes_kept_total', help: 'Notes', value: () => count }, { name: 'notes_open', help: 'Open', value: () => 7 }] });
    await server.initialize();
    await server.inject('/metrics');
    count = 5;
    const { payload } = await server.inject('/metrics');
    expect(payload).to.include(['# TYPE civic_notes_kept_total counter', '\ncivic_notes_kept_total 5', '# TYPE civic_notes_open gauge', '\ncivic_notes_open 7']);
    await server.stop();
  });
});

describe('Handlers and gates', () => {
  it('can add headers to whatever is answered', async () => {
    const made = testServer();
    made.gates.admit.push((_caller, request) => addHeaders(request, { 'ratelimit-remaining': '3' }));
    made.server.route({ method: 'GET', path: '/x', handler: () => 'x' });
    for (const url of ['/x', '/nothing']) expect((await made.server.inject(url)).headers['ratelimit-remaining']).to.equal('3');
  });

  it('know who asks through trusted proxies only', async () => {
    for (const [trusted_proxies, address] of [[[], '127.0.0.1'], [['loopback'], '203.0.113.7']] as const) {
      const { server } = testServer({ http: { trusted_proxies: [...trusted_proxies] } });
      server.route({ method: 'GET', path: '/x', handler: (request) => clientAddressOf(request) });
      await server.start();
      expect((await send(server, 'GET', '/x', { headers: { 'x-forwarded-for': '203.0.113.7' } })).text).to.equal(address);
      await server.stop();
    }
  });

  it('find large answers compressed and marked so, once', async () => {
    const { server } = testServer({ http: { compress_from_bytes: 100 } });
    server.route({ method: 'GET', path: '/x', handler: () => ({ text: 'x'.repeat(1000) }) });
    const res = await server.inject({ url: '/x', headers: { 'accept-encoding': 'gzip' } });
    expect(res.headers).to.include({ 'content-encoding': 'gzip', vary: 'accept-encoding, origin' });
  });
});

describe('The rules of routes', () => {
  it('find nothing wrong with core itself', () => {
    expect(checkRoutes(testServer({ metrics: true }).server, vocabularyOf([]))).to.equal([]);
  });

  it('name every fault of a route under /api, and leave pages alone', () => {
    const { server } = testServer();
    server.route({ method: 'GET', path: '/page/{name}', handler: () => 'x' });
    server.route({
      method: 'GET',
      path: '/api/good/{id}',
      options: { description: 'Good', validate: { query: Joi.object({}), params: Joi.object({ id: Joi.string() }) }, response: { status: { 200: Joi.object() } } },
      handler: () => ({}),
    });
    server.route({ method: 'GET', path: '/api/bad/{id}', options: { plugins: { civic: { problems: ['no_such_code'], role: 'admin' } }, response: { status: { 404: Joi.object() } } }, handler: () => ({}) });
    const faults = checkRoutes(server, vocabularyOf([]));
    expect(faults.every((fault) => fault.startsWith('GET /api/bad/{id} (core): '))).to.be.true();
    for (const words of ['"no_such_code" is not registered', 'no description', 'no validate.query', 'no validate.params', 'no response schema', 'errors under response.status', 'role or plan']) {
      expect(faults.some((fault) => fault.includes(words)), words).to.be.true();
    }
    expect(faults).to.have.length(7);
  });
});
