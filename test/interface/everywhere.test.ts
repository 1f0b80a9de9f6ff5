import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import { probe } from './probe.ts';
import { covers } from './rows.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** The rules that hold on every route. */
for (const database of testDatabases()) describe(`The interface everywhere, on ${database}`, () => {
  let civic: TestServer;

  before(async () => { civic = await testServer({ plugins: [probe], database }); });
  after(() => civic.close());

  it(covers(['endpoints.health', 'service.api-base'], 'the health check answers everybody, outside /api'), async () => {
    const { status, body } = await civic.request('GET', '/health');
    expect(status).to.equal(200);
    expect(body).to.only.include(['status', 'version']);
    expect(body.status).to.equal('ok');
    expect((await civic.request('GET', '/api/health')).status).to.equal(404);
  });

  it(covers(['endpoints.json', 'endpoints.list-data'], 'a list is JSON and lies under data'), async () => {
    const { headers, body } = await civic.request('GET', '/api/probe');
    expect(headers['content-type']).to.match(/^application\/json/);
    expect(body.data).to.be.an.array();
  });

  it(covers('headers.x-request-id', 'the caller’s own request id comes back, also on errors'), async () => {
    for (const path of ['/health', '/api/probe', '/api/nowhere', '/api/probe/secret', '/openapi.json', '/']) {
      const { headers } = await civic.request('GET', path, { headers: { 'x-request-id': 'my-request.1' } });
      expect(headers['x-request-id'], path).to.equal('my-request.1');
    }
  });

  it(covers('headers.x-request-id', 'a request without an id is given one of its own'), async () => {
    const ids = [await civic.request('GET', '/health'), await civic.request('GET', '/health')].map(({ headers }) => headers['x-request-id']);
    expect(ids[0]).to.match(/^[!-~]{1,128}$/);
    expect(ids[0]).to.not.equal(ids[1]);
  });

  it(covers('headers.traceparent', 'a trace is continued under a new span, and one is started where there is none'), async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const continued = await civic.request('GET', '/api/probe', { headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` } });
    expect(continued.headers.traceparent).to.match(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
    expect(continued.headers.traceparent).to.not.contain('b7ad6b7169203331');
    const started = await civic.request('GET', '/api/probe');
    expect(started.headers.traceparent).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
  });

  it(covers('headers.tracestate', 'the state of vendors travels with the trace'), async () => {
    const { headers } = await civic.request('GET', '/api/probe', { headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'vendor=value' } });
    expect(headers.tracestate).to.equal('vendor=value');
  });

  it(covers('headers.server-timing', 'answers tell in whole milliseconds how long they took'), async () => {
    const { headers } = await civic.request('GET', '/api/probe');
    expect(headers['server-timing']).to.match(/^total;dur=\d+(, db;dur=\d+)?$/);
  });

  it(covers('errors.400-header', 'a malformed header is 400 and names the header'), async () => {
    const { status, body } = await civic.request('GET', '/api/probe', { headers: { 'x-request-id': 'has a space' } });
    expect(status).to.equal(400);
    expect(body).to.include({ code: 'invalid_header', status: 400 });
    expect(body.detail).to.contain('X-Request-ID');
    expect(body.request_id).to.not.contain(' ');
  });

  it(covers('errors.400-field', 'an invalid field is 400 and says where it is'), async () => {
    const query = await civic.request('GET', '/api/probe?limit=201');
    expect(query.status).to.equal(400);
    expect(query.body.errors[0].parameter).to.equal('limit');
    const body = await civic.request('POST', '/api/probe', { payload: { reason: 5 } });
    expect(body.status).to.equal(400);
    expect(body.body.errors[0].pointer).to.equal('/reason');
  });

  it(covers('errors.415', 'a body of another media type is 415 and told the right one'), async () => {
    const { status, headers } = await civic.request('POST', '/api/probe', { payload: 'reason=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    expect(status).to.equal(415);
    expect(headers['accept-post']).to.equal('application/json');
  });

  it(covers(['errors.401', 'auth.401'], 'a protected route is 401 without credentials, with a challenge'), async () => {
    const { status, headers, body } = await civic.request('GET', '/api/probe/secret');
    expect(status).to.equal(401);
    expect(headers['www-authenticate']).to.be.a.string();
    expect(body).to.not.include('secret');
  });

  it(covers('auth.401', 'a wrong credential is 401 on a public route too'), async () => {
    for (const [name, value] of [['x-api-key', 'no-such-key'], ['authorization', 'Bearer no-such-token']] as const) {
      expect((await civic.request('GET', '/api/probe', { headers: { [name]: value } })).status, name).to.equal(401);
    }
  });

  it(covers('auth.keys-not-in-browsers', 'no page of another site may send an API key'), async () => {
    const { headers } = await civic.request('OPTIONS', '/api/probe', { headers: { 'origin': 'https://elsewhere.example', 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-api-key' } });
    expect(String(headers['access-control-allow-headers'] ?? '').toLowerCase()).to.not.contain('x-api-key');
    expect(headers['access-control-allow-credentials']).to.be.undefined();
  });
});
