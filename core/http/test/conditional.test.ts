import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness } from '../../test/wait.ts';
import { checkIfMatch, conditional, matchesNone, weakEtag } from '../conditional.ts';
import { negotiate, preferredType } from '../negotiate.ts';
import { testServer } from './fixture.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('An ETag', () => {
  it('is weak, and made of a version', () => {
    expect(weakEtag(7, 'csv')).to.equal('W/"7-csv"');
    expect(() => weakEtag('a b')).to.throw();
    expect(() => weakEtag('a"')).to.throw();
  });

  it('is found in If-None-Match by weak comparison', () => {
    for (const header of ['*', ' * ', 'W/"7"', '"7"', '"x", W/"7"', 'W/"x",W/"7" , "y"', '"7-gzip"', 'W/"7-br"', '"a,b", "7"']) expect(matchesNone(header, 'W/"7"'), header).to.be.true();
    for (const header of [undefined, '', '7', '"77"', 'W/"x"', '"7-csv"', 'W/7']) expect(matchesNone(header, 'W/"7"'), header).to.be.false();
  });

  it('is compared without its encodings, in time proportional to the header', () => {
    for (const header of ['"7-gzip-br"', '"7-df-df"', 'W/"7-zstd"']) expect(matchesNone(header, 'W/"7"'), header).to.be.true();
    for (const header of ['"7-gzip-x"', '"-gzip"', '"7-"', '"7gzip"', '"gzip"']) expect(matchesNone(header, 'W/"7"'), header).to.be.false();
    expect(matchesNone('"-gzip"', 'W/"-br"')).to.be.true();
    const before = process.cpuUsage();
    for (const part of ['-df', '-', '"-df"', 'W/"']) matchesNone(`"${part.repeat(200_000 / part.length)}x"`, 'W/"7"');
    expect(process.cpuUsage(before).user / 1000).to.be.below(200 * slowness);
  });

  it('spares the work when nothing is new, for HEAD too', async () => {
    const { server } = testServer({ http: { cache_max_age: 60 } });
    let made = 0;
    server.route({ method: 'GET', path: '/api/x', handler: (request, h) => conditional(request, h, { etag: weakEtag(7) , contentLocation: '/api/x', vary: 'Accept, Accept-Encoding' }, () => ({ made: ++made })) });
    for (const method of ['GET', 'HEAD']) {
      const res = await server.inject({ method, url: '/api/x', headers: { 'if-none-match': '*' } });
      expect(res.statusCode).to.equal(304);
      expect(res.payload).to.equal('');
      expect(res.headers).to.include({ etag: 'W/"7"', 'cache-control': 'public, max-age=60', vary: 'accept-encoding, accept, origin', 'content-location': 'https://civic.example/api/x' });
    }
    expect(made).to.equal(0);
    expect((await server.inject({ url: '/api/x', headers: { 'if-none-match': '"6"' } })).result).to.equal({ made: 1 });
  });

  it('set by hand is honoured as well', async () => {
    const { server } = testServer();
    server.route({ method: 'GET', path: '/x', handler: (_request, h) => h.response({ ok: true }).header('etag', 'W/"7"') });
    expect((await server.inject({ url: '/x', headers: { 'if-none-match': '"7"' } })).statusCode).to.equal(304);
    expect((await server.inject({ url: '/x', headers: { 'if-none-match': '"8"' } })).statusCode).to.equal(200);
  });

  it('in If-Match guards a change', async () => {
    const { server } = testServer();
    server.route({ method: 'PATCH', path: '/x', handler: (request, h) => { checkIfMatch(request, 'W/"7"'); return h.response().code(204); } });
    const change = async (headers: Record<string, string>) => server.inject({ method: 'PATCH', url: '/x', headers });
    for (const header of ['"7"', 'W/"7"', '"7-gzip"', '*', '"6", "7"']) expect((await change({ 'if-match': header })).statusCode, header).to.equal(204);
    expect((await change({})).statusCode).to.equal(204);
    const stale = await change({ 'if-match': 'W/"6"' });
    expect([stale.statusCode, JSON.parse(stale.payload).code, stale.headers['etag']]).to.equal([412, 'precondition_failed', 'W/"7"']);
  });
});

describe('Accept', () => {
  const OFFERED = ['application/json', 'text/event-stream'];
  const cases: [string | undefined, string | null][] = [
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['APPLICATION/JSON; charset=utf-8', 'application/json'],
    ['text/event-stream', 'text/event-stream'],
    ['text/*', 'text/event-stream'],
    ['text/event-stream, application/json', 'application/json'],
    ['text/event-stream, */*;q=0.5', 'text/event-stream'],
    ['application/json;q=0.5, text/event-stream;q=0.8', 'text/event-stream'],
    ['application/json;q=0, */*', 'text/event-stream'],
    ['application/*;q=0.2, text/event-stream;q=0.1', 'application/json'],
    ['application/json;q=0.1, application/*;q=1, text/event-stream;q=0.5', 'text/event-stream'],
    ['text/html', null],
    ['application/json;q=0', null],
    ['*/*;q=0', null],
    ['json', null],
    ['*/json', null],
    ['application/json;q=2', null],
  ];
  for (const [accept, type] of cases) {
    it(`"${accept}" gets ${type ?? 'nothing'}`, () => {
      expect(preferredType(accept, OFFERED)).to.equal(type);
    });
  }

  it('that cannot be met is 406 and lists what there is', async () => {
    const { server } = testServer();
    server.route({ method: 'GET', path: '/api/x', handler: (request) => negotiate(request, OFFERED) });
    const res = await server.inject({ url: '/api/x', headers: { accept: 'text/html' } });
    expect([res.statusCode, JSON.parse(res.payload).code, res.headers['accept']]).to.equal([406, 'not_acceptable', 'application/json, text/event-stream']);
  });
});
