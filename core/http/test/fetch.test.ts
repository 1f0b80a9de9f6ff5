import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { execFile } from 'node:child_process';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server as NetServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { createFetch, FetchError, type Fetch, type FetchErrorCode, type FetchOptions, type FetchSettings } from '../fetch.ts';
import { nextHop, type Hop } from '../fetch/redirect.ts';
import { until } from '../../test/wait.ts';
import { listen, names, stop } from './loopback.ts';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

const settings: FetchSettings = { allowPrivateAddresses: true, timeoutSeconds: 30, maxBytes: 100_000, maxRedirects: 5, userAgent: 'civic-test/1' };

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

describe('fetch', () => {
  let fetch: Fetch & { close(): Promise<void> };
  let origin: { server: Server; port: number };
  let other: { server: Server; port: number };
  let base: string;
  let seen: Seen[] = [];
  let connections = 0;

  const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    '/hello': (_request, response) => response.writeHead(200, { 'content-type': 'text/plain', 'x-twice': ['a', 'b'], 'set-cookie': 'a=1' }).end('hello'),
    '/json': (_request, response) => response.end('{"a":[1]}'),
    '/latin1': (_request, response) => response.writeHead(200, { 'content-type': 'text/html; charset="ISO-8859-1"' }).end(Buffer.from('S\xe3o Paulo', 'latin1')),
    '/meta': (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(Buffer.from('<html><head><META http-equiv=Content-Type content="text/html; charset=windows-1252"></head>S\xe3o Paulo', 'latin1')),
    '/short-meta': (_request, response) => response.writeHead(200).end(Buffer.from('<!doctype html><meta charset=iso-8859-1>S\xe3o Paulo', 'latin1')),
    '/xml': (_request, response) => response.writeHead(200, { 'content-type': 'application/xml' }).end(Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>S\xe3o Paulo</a>', 'latin1')),
    '/last-letter': (_request, response) => response.writeHead(200).end(Buffer.from('S\xe3o Paulo \xe9', 'latin1')),
    '/undeclared': (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(Buffer.from('S\xe3o Paulo', 'latin1')),
    '/mark': (_request, response) => response.writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1' }).end(Buffer.from('\ufeffSão Paulo', 'utf8')),
    '/wide': (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(Buffer.from('\ufeffSão Paulo', 'utf16le')),
    '/comment': (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!-- <meta charset=iso-8859-1> -->São Paulo'),
    '/wrong-meta': (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<meta charset="utf-16le">São Paulo'),
    '/json-text': (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('"<meta charset=iso-8859-1>São Paulo"'),
    '/wrong-utf8': (_request, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(Buffer.from('S\xe3o Paulo', 'latin1')),
    '/damaged-utf8': (_request, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(Buffer.concat([Buffer.from('São Paulo '), Buffer.from([0xe3]), Buffer.from('.')])),
    '/charset': (_request, response) => response.writeHead(200, { 'content-type': 'text/html; charset=martian' }).end('São Paulo'),
    '/missing': (_request, response) => response.writeHead(404).end('gone'),
    '/empty': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(),
    '/no-content': (_request, response) => response.writeHead(204).end(),
    '/large': (_request, response) => response.writeHead(200, { 'content-length': 100_001 }).end(Buffer.alloc(100_001)),
    '/just-right': (_request, response) => response.end(Buffer.alloc(100_000)),
    '/endless': (_request, response) => endless(response, Buffer.alloc(10_000)),
    '/large-head': (_request, response) => response.writeHead(200, { 'content-length': 10 ** 9, 'content-encoding': 'gzip' }).end(),
    '/never': () => {},
    '/drip': (_request, response) => { const timer = setInterval(() => response.write('.'), 20); response.on('close', () => clearInterval(timer)); },
    '/half': (_request, response) => { response.writeHead(200, { 'content-length': 100 }); response.write('half'); setTimeout(() => response.destroy(), 10); },
    '/hang-up': (_request, response) => response.destroy(),
    '/loop': (_request, response) => response.writeHead(302, { location: '/loop' }).end(),
    '/slow-loop': (_request, response) => setTimeout(() => response.writeHead(302, { location: '/slow-loop' }).end(), 40),
    '/no-location': (_request, response) => response.writeHead(302).end('nowhere'),
    '/utf-8': (_request, response) => response.writeHead(302, { location: Buffer.from('/hello?q=São').toString('latin1') }).end(),
    '/endless-redirect': (_request, response) => { response.writeHead(302, { location: '/hello' }); endless(response, Buffer.alloc(10_000)); },
  };

  const packed: Record<string, [encoding: string, body: Buffer]> = {
    '/gzip': ['gzip', gzipSync('packed')],
    '/x-gzip': ['X-GZip', gzipSync('packed')],
    '/two-members': ['gzip', Buffer.concat([gzipSync('pac'), gzipSync('ked')])],
    '/deflate': ['deflate', deflateSync('packed')],
    '/bare-deflate': ['deflate', deflateRawSync('packed')],
    '/br': ['br', brotliCompressSync('packed')],
    '/identity': ['identity', Buffer.from('packed')],
    '/gzip-bomb': ['gzip', gzipSync(Buffer.alloc(5_000_000))],
    '/deflate-bomb': ['deflate', deflateSync(Buffer.alloc(5_000_000))],
    '/br-bomb': ['br', brotliCompressSync(Buffer.alloc(5_000_000))],
    '/damaged': ['gzip', Buffer.from('this is not gzip')],
    '/cut-short': ['gzip', gzipSync('packed').subarray(0, 15)],
    '/zstd': ['zstd', Buffer.from('packed')],
    '/twice': ['gzip, gzip', gzipSync(gzipSync('packed'))],
    '/odd': ['constructor', Buffer.from('packed')],
  };

  function endless(response: ServerResponse, chunk: Buffer): void {
    const more = () => { while (!response.destroyed && response.write(chunk)); };
    response.on('drain', more).on('error', () => {});
    more();
  }

  const handler: RequestListener = (request, response) => {
    let body = '';
    request.on('data', (chunk) => { body += chunk; }).on('end', () => {
      const url = new URL(request.url!, 'http://origin');
      seen.push({ method: request.method!, url: request.url!, headers: request.headers, body });
      const location = url.searchParams.get('to');
      if (url.pathname === '/redirect') return response.writeHead(Number(url.searchParams.get('status')), { location: location! }).end('moved');
      const pack = packed[url.pathname];
      if (pack) return response.writeHead(200, { 'content-encoding': pack[0] }).end(pack[1]);
      const route = routes[url.pathname];
      return route ? route(request, response) : response.writeHead(404).end();
    });
  };

  before(async () => {
    origin = await listen(handler);
    other = await listen(handler);
    origin.server.on('connection', () => connections++);
    base = `http://127.0.0.1:${origin.port}`;
    fetch = createFetch(settings);
  });

  afterEach(() => { seen = []; });

  after(async () => {
    await fetch.close();
    await stop(origin.server);
    await stop(other.server);
  });

  const redirect = (status: number, to: string) => `${base}/redirect?status=${status}&to=${encodeURIComponent(to)}`;

  async function failure(url: string, options?: FetchOptions, from: Fetch = fetch): Promise<FetchError> {
    const error = await expect(from(url, options)).to.reject(FetchError);
    return error as FetchError;
  }

  it('answers with status, headers, address and body', async () => {
    const answer = await fetch(`${base}/hello?a=b#part`);
    expect(answer).to.include({ status: 200, url: `${base}/hello?a=b` });
    expect(answer.hops).to.equal([]);
    expect(answer.headers).to.include({ 'content-type': 'text/plain', 'x-twice': 'a, b' });
    expect(answer.text()).to.equal('hello');
    expect([...answer.body]).to.equal([...Buffer.from('hello')]);
  });

  it('names itself, accepts anything, and sends neither cookies nor a referrer', async () => {
    await fetch(`${base}/hello`);
    await fetch(`${base}/hello`);
    const { host, connection, ...headers } = seen[1]!.headers;
    expect(host).to.equal(`127.0.0.1:${origin.port}`);
    expect(connection).to.equal('keep-alive');
    expect(headers).to.equal({ 'user-agent': 'civic-test/1', 'accept': '*/*', 'accept-encoding': 'gzip, deflate, br' });
  });

  it('sends the headers it is given instead of its own, whatever their case', async () => {
    await fetch(`${base}/hello`, { headers: { 'User-Agent': 'mine', 'ACCEPT': 'text/html', 'If-None-Match': '"1"' } });
    expect(seen[0]!.headers).to.include({ 'user-agent': 'mine', 'accept': 'text/html', 'if-none-match': '"1"' });
  });

  it('sends a body', async () => {
    await fetch(`${base}/hello`, { method: 'POST', body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    await fetch(`${base}/hello`, { method: 'POST', body: new Uint8Array([0x61, 0x62]) });
    expect(seen.map(({ method, body }) => [method, body])).to.equal([['POST', 'a=b'], ['POST', 'ab']]);
  });

  it('gives a 404 as an answer', async () => {
    expect(await fetch(`${base}/missing`)).to.include({ status: 404 });
  });

  it('reads JSON, and says when it is none', async () => {
    expect((await fetch(`${base}/json`)).json()).to.equal({ a: [1] });
    const answer = await fetch(`${base}/hello`);
    expect(() => answer.json()).to.throw(FetchError, `${base}/hello did not answer with JSON.`);
  });

  it('reads text in the charset that the document declares, where the response names none', async () => {
    for (const path of ['/meta', '/short-meta', '/xml', '/comment', '/wrong-meta', '/json-text', '/last-letter']) expect((await fetch(base + path)).text(), path).to.contain('São Paulo');
  });

  it('reads text in the charset of its byte order mark or of the response, as UTF-8 when that is unknown, and as windows-1252 when it is no UTF-8', async () => {
    for (const path of ['/latin1', '/charset', '/mark', '/wide', '/undeclared']) expect((await fetch(base + path)).text()).to.equal('São Paulo');
  });

  it('reads text as windows-1252 that declares UTF-8 without having a character of it', async () => {
    expect((await fetch(`${base}/wrong-utf8`)).text()).to.equal('São Paulo');
    expect((await fetch(`${base}/damaged-utf8`)).text()).to.equal('São Paulo \ufffd.');
  });

  it('uses a connection again', async () => {
    await fetch(`${base}/hello`);
    const before = connections;
    for (let i = 0; i < 5; i++) await fetch(`${base}/hello`);
    expect(connections).to.equal(before);
  });

  it('asks no proxy of the environment', async () => {
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) process.env[name] = `http://127.0.0.1:${other.port}`;
    const fresh = createFetch(settings);
    try {
      await fresh(`${base}/hello`);
    } finally {
      for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) delete process.env[name];
      await fresh.close();
    }
    expect(seen.map(({ url }) => url)).to.equal(['/hello']);
  });

  it('refuses a header that cannot be sent as the mistake it is', async () => {
    await expect(fetch(`${base}/hello`, { headers: { 'x-a': 'line\r\nx-b: line' } })).to.reject(/invalid/);
    expect(seen).to.be.empty();
  });

  describe('unpacks', () => {
    for (const path of ['/gzip', '/x-gzip', '/two-members', '/deflate', '/bare-deflate', '/br', '/identity']) {
      it(path.slice(1), async () => {
        expect((await fetch(base + path)).text()).to.equal('packed');
      });
    }

    it('nothing from an empty body that is called gzip', async () => {
      expect((await fetch(`${base}/empty`)).body).to.have.length(0);
      expect((await fetch(`${base}/no-content`)).body).to.have.length(0);
    });

    for (const path of ['/damaged', '/cut-short', '/zstd', '/twice', '/odd']) {
      it(`${path.slice(1)} not, and says so`, async () => {
        expect((await failure(base + path)).code).to.equal('bad_response');
      });
    }
  });

  describe('takes no more than its bytes', () => {
    for (const path of ['/large', '/endless', '/gzip-bomb', '/deflate-bomb', '/br-bomb']) {
      it(`from ${path}`, async () => {
        const error = await failure(base + path);
        expect(error.code).to.equal('too_large');
        expect(error.message).to.equal(`${base}${path} is larger than the 100000 bytes that are accepted.`);
      });
    }

    it('but all of them', async () => {
      expect((await fetch(`${base}/just-right`)).body).to.have.length(100_000);
    });

    it('as the caller sets them', async () => {
      expect((await failure(`${base}/hello`, { max_bytes: 4 })).code).to.equal('too_large');
      expect((await failure(`${base}/gzip`, { max_bytes: 5 })).code).to.equal('too_large');
      expect((await fetch(`${base}/large`, { max_bytes: 100_001 })).body).to.have.length(100_001);
    });

    it('where there are none, as after HEAD', async () => {
      const answer = await fetch(`${base}/large-head`, { method: 'HEAD' });
      expect(answer).to.include({ status: 200 });
      expect(answer.body).to.have.length(0);
    });
  });

  describe('follows', () => {
    const METHODS: [status: number, sent: Hop['method'], asked: string, body: string][] = [
      [301, 'GET', 'GET', ''], [302, 'GET', 'GET', ''], [303, 'GET', 'GET', ''], [307, 'GET', 'GET', ''], [308, 'GET', 'GET', ''],
      [301, 'POST', 'GET', ''], [302, 'POST', 'GET', ''], [303, 'POST', 'GET', ''], [307, 'POST', 'POST', 'data'], [308, 'POST', 'POST', 'data'],
      [301, 'HEAD', 'HEAD', ''], [302, 'HEAD', 'HEAD', ''], [303, 'HEAD', 'HEAD', ''], [307, 'HEAD', 'HEAD', ''], [308, 'HEAD', 'HEAD', ''],
    ];
    for (const [status, method, asked, body] of METHODS) {
      it(`a ${status} after ${method} with ${asked}${body && ' and the body'}`, async () => {
        const options: FetchOptions = method === 'POST' ? { method, body: 'data', headers: { 'content-type': 'text/plain' } } : { method };
        const answer = await fetch(redirect(status, '/hello'), options);
        expect(answer).to.include({ status: 200, url: `${base}/hello` });
        expect(answer.hops).to.have.length(1);
        expect(seen[1]).to.include({ method: asked, url: '/hello', body });
        expect(seen[1]!.headers['content-type']).to.equal(body ? 'text/plain' : undefined);
        expect(seen[1]!.headers['content-length']).to.equal(body ? '4' : undefined);
      });
    }

    it('no 300, 304 or 302 without a location: that is the answer', async () => {
      for (const status of [300, 304]) expect(await fetch(redirect(status, '/hello'))).to.include({ status, hops: [] });
      expect((await fetch(`${base}/no-location`)).text()).to.equal('nowhere');
    });

    it('a location in UTF-8', async () => {
      expect((await fetch(`${base}/utf-8`)).url).to.equal(`${base}/hello?q=S%C3%A3o`);
    });

    it('a redirect whose own body never ends', async () => {
      expect((await fetch(`${base}/endless-redirect`)).text()).to.equal('hello');
    });

    it('with credentials on the same origin', async () => {
      await fetch(redirect(302, '/hello'), { headers: { 'Authorization': 'Bearer x', 'Cookie': 'a=1', 'X-API-Key': 'k', 'X-Other': 'o' } });
      expect(seen[1]!.headers).to.include({ 'authorization': 'Bearer x', 'cookie': 'a=1', 'x-api-key': 'k', 'x-other': 'o' });
    });

    it('without credentials to another origin, and does not take them up again on the way back', async () => {
      const back = `http://127.0.0.1:${other.port}/redirect?status=302&to=${encodeURIComponent(`${base}/hello`)}`;
      await fetch(redirect(302, back), { headers: { 'Authorization': 'Bearer x', 'Cookie': 'a=1', 'X-API-Key': 'k', 'Proxy-Authorization': 'p', 'Host': 'name.test', 'X-Other': 'o' } });
      expect(seen).to.have.length(3);
      for (const { headers } of seen.slice(1)) {
        expect(headers).to.include({ 'x-other': 'o' });
        expect(Object.keys(headers)).not.to.include(['authorization', 'cookie', 'x-api-key', 'proxy-authorization']);
        expect(headers.host).to.match(/^127\.0\.0\.1:/);
      }
    });

    it('no more redirects than allowed', async () => {
      const error = await failure(`${base}/loop`);
      expect(error).to.include({ code: 'too_many_redirects', message: `${base}/loop is redirected more than 5 times.` });
      expect(seen).to.have.length(6);
    });

    it('as many as the caller allows, and leaves no listener behind', async () => {
      const warnings: Error[] = [];
      const onWarning = (warning: Error) => { warnings.push(warning); };
      process.on('warning', onWarning);
      expect((await failure(`${base}/loop`, { max_redirects: 40, signal: new AbortController().signal })).code).to.equal('too_many_redirects');
      await new Promise((resolve) => setImmediate(resolve));
      process.off('warning', onWarning);
      expect(seen).to.have.length(41);
      expect(warnings).to.be.empty();
    });

    it('and returns the redirects before the response', async () => {
      const to = `${base}/hello`;
      const response = await fetch(`${base}/utf-8`);
      expect(response.hops).to.equal([{ url: `${base}/utf-8`, status: 302 }]);
      expect((await fetch(to)).hops).to.equal([]);
    });

    it('and asks the caller before each request, whose waits do not count as time', async () => {
      const asked: string[] = [];
      const response = await fetch(`${base}/endless-redirect`, {
        timeout_seconds: 1,
        async beforeRequest(url) {
          asked.push(url.pathname);
          await new Promise((resolve) => setTimeout(resolve, 700));
        },
      });
      expect(response.status).to.equal(200);
      expect(asked).to.equal(['/endless-redirect', '/hello']);
    });

    it('only where the caller permits it', async () => {
      const beforeRequest = async (url: URL) => { if (url.pathname === '/hello') throw new Error('not there'); };
      seen = [];
      await expect(fetch(`${base}/endless-redirect`, { beforeRequest })).to.reject(Error, 'not there');
      expect(seen.map(({ url }) => url)).to.equal(['/endless-redirect']);
    });

    it('and ends when the caller aborts while it waits for permission', async () => {
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error('enough')), 50);
      const beforeRequest = () => new Promise<void>((resolve) => { setTimeout(resolve, 200); });
      seen = [];
      await expect(fetch(`${base}/hello`, { beforeRequest, signal: stop.signal })).to.reject(Error, 'enough');
      await new Promise((resolve) => { setTimeout(resolve, 250); });
      expect(seen).to.equal([]);
    });

    it('none where the caller allows none', async () => {
      expect((await failure(`${base}/loop`, { max_redirects: 0 })).code).to.equal('too_many_redirects');
      expect(seen).to.have.length(1);
      expect(await fetch(`${base}/hello`, { max_redirects: 0 })).to.include({ status: 200 });
    });

    const hop = (changes: Partial<Hop> = {}): Hop => ({ url: new URL('https://a.test/x'), method: 'GET', headers: { accept: '*/*' }, body: undefined, ...changes });
    const downgraded: Partial<Hop>[] = [
      { headers: { authorization: 'x' } }, { headers: { cookie: 'x' } }, { headers: { 'x-api-key': 'x' } }, { method: 'POST', body: 'secret' },
    ];

    it('from https to http when nothing secret goes along', () => {
      expect(nextHop(hop(), 302, 'http://a.test/').url.href).to.equal('http://a.test/');
      expect(nextHop(hop({ method: 'POST', body: 'x' }), 303, 'http://a.test/')).to.include({ method: 'GET', body: undefined });
    });

    for (const changes of downgraded) {
      it(`not from https to http with ${JSON.stringify(changes)}`, () => {
        expect(() => nextHop(hop(changes), 307, 'http://a.test/')).to.throw(FetchError, /from https to http/);
        expect(nextHop(hop(changes), 307, 'https://a.test/y').url.href).to.equal('https://a.test/y');
      });
    }
  });

  describe('gives up', () => {
    for (const path of ['/never', '/drip', '/slow-loop']) {
      it(`on ${path} after the time for everything together`, async () => {
        const error = await failure(base + path, { timeout_seconds: 0.15, max_redirects: 100 });
        expect(error.code).to.equal('too_slow');
        expect(error.message).to.include(['0.15 s', 'http.fetch.timeout_seconds']);
      });
    }

    it('on a name server that is silent', async () => {
      const silent = createFetch({ ...settings, timeoutSeconds: 0.1, resolve: () => new Promise(() => {}) });
      expect((await failure('http://name.test/', {}, silent)).code).to.equal('too_slow');
      await silent.close();
    });

    it('when the caller does, with the caller\'s reason', async () => {
      for (const path of ['/never', '/drip']) {
        const stopper = new AbortController();
        setTimeout(() => stopper.abort(new Error('the job was handed over')), 50);
        await expect(fetch(base + path, { signal: stopper.signal })).to.reject('the job was handed over');
      }
    });

    it('with the caller\'s reason also while it is getting ready', async () => {
      const fresh = createFetch(settings);
      const controller = new AbortController();
      const asked = fresh(`${base}/hello`, { signal: controller.signal });
      controller.abort(new Error('changed my mind'));
      await expect(asked).to.reject('changed my mind');
      await fresh.close();
    });

    it('before it begins when the caller already has', async () => {
      await expect(fetch(`${base}/hello`, { signal: AbortSignal.abort(new Error('too late')) })).to.reject('too late');
      expect(seen).to.be.empty();
    });

    it('when it is closed, and asks nothing afterwards', async () => {
      const closing = createFetch(settings);
      const pending = failure(`${base}/never`, {}, closing);
      await until(() => seen.length === 1);
      await closing.close();
      expect((await pending).code).to.equal('unreachable');
      seen = [];
      expect((await failure(`${base}/hello`, {}, closing)).message).to.include('stopping');
      expect(seen).to.be.empty();
    });
  });

  describe('reports', () => {
    let rude: NetServer;
    let rudePort: number;
    const answers: Record<string, string> = {
      '/nonsense': 'nonsense\r\n\r\n',
      '/bad-length': 'HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n',
      '/two-lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '/huge-header': `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
      '/silence': '',
    };

    before(async () => {
      rude = createServer((socket) => {
        socket.on('error', () => {}).once('data', (data) => socket.end(answers[data.toString().split(' ')[1]!] ?? ''));
      });
      await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve));
      rudePort = (rude.address() as AddressInfo).port;
    });

    after(() => stop(rude));

    for (const path of Object.keys(answers)) {
      it(`of ${path} as an answer it does not understand`, async () => {
        expect((await failure(`http://127.0.0.1:${rudePort}${path}`)).code).to.equal('bad_response');
      });
    }

    for (const path of ['/half', '/hang-up']) {
      it(`of a server that breaks off, as ${path} does`, async () => {
        expect((await failure(base + path)).code).to.equal('bad_response');
      });
    }

    const table: Record<string, string[]> = { 'nowhere.test': [] };
    const unreachable: [says: string, url: () => string, message: RegExp][] = [
      ['a port where nobody listens', () => 'http://127.0.0.1:1/', /^127\.0\.0\.1 cannot be reached: .*ECONNREFUSED/],
      ['a name that does not exist', () => 'http://missing.test/', /^No address was found for the host missing\.test\. Check how it is spelled\.$/],
      ['a name without addresses', () => 'http://nowhere.test/', /^nowhere\.test cannot be reached: it has no address\.$/],
      ['a server that does not speak TLS', () => `https://127.0.0.1:${origin.port}/`, /^127\.0\.0\.1 cannot be reached: /],
    ];
    for (const [says, url, message] of unreachable) {
      it(`of ${says}`, async () => {
        const named = createFetch({ ...settings, resolve: names(table) });
        const error = await failure(url(), {}, named);
        expect(error.code).to.equal('unreachable' satisfies FetchErrorCode);
        expect(error.message).to.match(message);
        await named.close();
      });
    }

    it('no query of a URL, which may contain a secret', async () => {
      const error = await failure(`${base}/loop?ticket=secret`);
      expect(error.message).not.to.include('secret');
    });
  });

  it('tries the next address when one does not answer', async () => {
    const named = createFetch({ ...settings, resolve: names({ 'name.test': ['::1', '127.0.0.1'] }) });
    expect((await named(`http://name.test:${origin.port}/hello`)).text()).to.equal('hello');
    expect(seen[0]!.headers.host).to.equal(`name.test:${origin.port}`);
    await named.close();
  });

  it('tries no more than four addresses', async () => {
    const named = createFetch({ ...settings, resolve: names({ 'name.test': ['::1', '::1', '::1', '::1', '127.0.0.1'] }) });
    expect((await failure(`http://name.test:${origin.port}/hello`, {}, named)).code).to.equal('unreachable');
    expect(seen).to.be.empty();
    await named.close();
  });

  it('loads undici with the first call, not before and not to close', { timeout: 60_000 }, async () => {
    const script = `
      const { createFetch } = await import(${JSON.stringify(join(import.meta.dirname, '../fetch.js'))});
      const fetch = createFetch(${JSON.stringify(settings)});
      await fetch.close();
      const { createRequire } = await import('node:module');
      console.log(Object.keys(createRequire('/')('node:module')._cache).filter((file) => file.includes('undici')).length);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout.trim()).to.equal('0');
  });
});
