import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock } from 'civic/testing';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { addActor, mcpKit, type McpKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** What a script of another website sends. */
const FOREIGN = { headers: { origin: 'https://evil.example' } };

let kit: McpKit;
before(async () => { kit = await mcpKit({ config: { public_url: 'https://civic.example.org', http: { cors_origins: [] }, plugins: { mcp: { origins: ['https://inspector.example'], hosts: ['Civic.Internal'] } } } }); });
after(() => kit.close());

/** Sends a request with `node:http`, because `fetch` does not allow another Host header. */
function statusWith(headers: Record<string, string>): Promise<number> {
  const { hostname, port } = new URL(kit.url);
  return new Promise((done, failed) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const sent = httpRequest({ hostname, port, path: '/mcp', method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: 'Bearer reader', 'content-length': body.length, ...headers } }, (response) => {
      response.resume();
      done(response.statusCode!);
    });
    sent.on('error', failed).end(body);
  });
}

describe('POST /mcp', () => {
  it('serves a request with a token without a session, and forbids caches', async () => {
    const { status, headers, body } = await kit.rpc('ping');
    expect([status, body]).to.equal([200, { jsonrpc: '2.0', id: 1, result: {} }]);
    expect(headers.get('mcp-session-id')).to.be.null();
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('x-request-id')).to.be.a.string();
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
  });

  it('rejects requests without a token, with a wrong one and with an API key, with a challenge and a JSON-RPC error', async () => {
    const wrong: [string, number | null, Parameters<McpKit['rpc']>[2]][] = [
      ['authentication_required', null, { token: null }],
      ['invalid_credentials', null, { token: 'forged' }],
      ['token_required', 1, { token: null, headers: { 'x-api-key': 'civic_key' } }],
    ];
    // The body of a request is read once its caller is known.
    for (const [code, id, options] of wrong) {
      const { status, headers, body } = await kit.rpc('tools/list', {}, options);
      expect([status, body.jsonrpc, body.id, body.error.data.code], code).to.equal([401, '2.0', id, code]);
      expect(headers.get('www-authenticate'), code).to.match(/^Bearer /);
      // Without the plugin oauth there is no page to sign in.
      expect(body.error.message, code).to.not.include('X-API-Key').and.to.not.include('sign-in page');
      expect(headers.get('content-type')).to.include('application/json');
    }
    const basic = await kit.rpc('ping', {}, { token: null, headers: { authorization: 'Basic eDp5' } });
    expect([basic.status, basic.headers.get('www-authenticate')]).to.equal([401, 'Bearer realm="civic"']);
    const malformed = await kit.rpc('ping', {}, { headers: { 'x-request-id': 'a b' } });
    expect([malformed.status, malformed.body.jsonrpc, malformed.body.error.data.code]).to.equal([400, '2.0', 'invalid_header']);
  });

  it('is 405 with Allow for GET and DELETE', async () => {
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(`${kit.url}/mcp`, { method, headers: { authorization: 'Bearer reader', accept: 'text/event-stream' } });
      expect([method, response.status, response.headers.get('allow')]).to.equal([method, 405, 'OPTIONS, POST']);
      expect(await response.json()).to.include({ jsonrpc: '2.0', id: null });
    }
  });

  it('reports errors of addresses below /mcp as JSON-RPC', async () => {
    const nothing = await kit.request('POST', '/mcp/nothing');
    expect([nothing.status, nothing.body.error.data.code]).to.equal([404, 'not_found']);
  });

  it('serves clients that name a revision before Streamable HTTP, as the SDK does', async () => {
    for (const protocolVersion of ['2025-03-26', '2024-11-05']) {
      const { body } = await kit.rpc('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'old', version: '1' } });
      expect(body.result.protocolVersion).to.equal(protocolVersion);
    }
  });

  it('names an unknown tool without a prefix of the SDK, which clients add', async () => {
    expect((await kit.rpc('tools/call', { name: 'get_entiti' })).body.error.message).to.equal('There is no tool "get_entiti". Did you mean get_entity?');
  });

  it('rejects batches, malformed JSON, other media types, large bodies and those of many members', async () => {
    const batch = await kit.rpc('', {}, { body: [{ jsonrpc: '2.0', id: 1, method: 'ping' }, { jsonrpc: '2.0', id: 2, method: 'ping' }] });
    expect([batch.status, batch.body.error.code, batch.body.error.data.code]).to.equal([400, -32600, 'batch_refused']);
    const send = async (body: string, type = 'application/json') => {
      const response = await fetch(`${kit.url}/mcp`, { method: 'POST', headers: { 'content-type': type, accept: 'application/json, text/event-stream', authorization: 'Bearer reader' }, body });
      const { error } = await response.json() as { error: { code: number } };
      return [response.status, error.code];
    };
    expect(await send('{"jsonrpc":')).to.equal([400, -32700]);
    expect(await send('{}', 'text/plain')).to.equal([415, -32600]);
    expect(await send(JSON.stringify({ text: 'x'.repeat(1_100_000) }))).to.equal([413, -32000]);
    expect((await send('"text"'))[0]).to.equal(400);
    const many = Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [`k${i}`, 1]));
    for (const params of [many, { name: 'search', arguments: many }]) expect((await send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })))[0]).to.equal(400);
  });

  it('names params of a wrong type', async () => {
    for (const [method, params, message] of [['tools/call', { name: 7 }, 'params.name: '], ['tools/call', { name: 'search', arguments: [] }, 'params.arguments: '], ['prompts/get', {}, 'params.name: ']] as const) {
      const { error } = (await kit.rpc(method, params)).body;
      expect([error.code, error.message.slice(0, message.length)]).to.equal([-32602, message]);
    }
  });

  it('rejects a long name without looking for a similar one', async () => {
    const began = process.cpuUsage();
    const { body } = await kit.rpc('tools/call', { name: 'x'.repeat(900_000) });
    const { user, system } = process.cpuUsage(began);
    expect(body.error.code).to.equal(-32602);
    expect((user + system) / 1000).to.be.below(400);
  });

  it('lets scripts of the configured websites read responses', async () => {
    const { headers } = await kit.rpc('ping', {}, { headers: { origin: 'https://inspector.example' } });
    expect(headers.get('access-control-allow-origin')).to.equal('https://inspector.example');
    const preflight = await fetch(`${kit.url}/mcp`, { method: 'OPTIONS', headers: { origin: 'https://inspector.example', 'access-control-request-method': 'POST' } });
    expect(preflight.headers.get('access-control-allow-origin')).to.equal('https://inspector.example');
    const foreign = await fetch(`${kit.url}/mcp`, { method: 'OPTIONS', headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' } });
    expect(foreign.headers.get('access-control-allow-origin')).to.be.null();
  });

  it('accepts a notification with 202 and rejects an unknown revision', async () => {
    const notification = await kit.rpc('', {}, { body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
    expect([notification.status, notification.body]).to.equal([202, null]);
    const { status, body } = await kit.rpc('ping', {}, { headers: { 'mcp-protocol-version': '1999-01-01' } });
    expect([status, body.id]).to.equal([400, 1]);
  });

  it('rejects Host headers of DNS rebinding, and scripts of other websites', async () => {
    expect(await statusWith({})).to.equal(200);
    for (const host of ['civic.example.org', 'civic.example.org:8443', 'localhost:8080', 'LOCALHOST', '127.0.0.1', '[::1]:8080', 'civic.internal']) expect(await statusWith({ host }), host).to.equal(200);
    for (const host of ['evil.example', 'civic.example.org.evil.example', 'localhost.evil.example', '127.0.0.1.evil.example']) expect(await statusWith({ host }), host).to.equal(403);
    for (const origin of ['https://civic.example.org', 'https://inspector.example']) expect(await statusWith({ origin }), origin).to.equal(200);
    for (const origin of ['https://evil.example', 'null', 'http://civic.example.org', 'http://localhost:6274']) expect(await statusWith({ origin }), origin).to.equal(403);
  });

  it('names the rejected website', async () => {
    const { status, body } = await kit.rpc('ping', {}, { headers: { origin: 'https://evil.example' } });
    expect([status, body.error.data.code]).to.equal([403, 'website_refused']);
    expect(body.error.message).to.include('https://evil.example');
  });
});

describe('A token', () => {
  it('that lacks the scope of a tool gets 403 with all scopes that it needs', async () => {
    const { status, headers, body } = await kit.rpc('tools/call', { name: 'search_signals', arguments: {} }, { token: 'narrow' });
    expect([status, body.id, body.error.data.code]).to.equal([403, 1, 'insufficient_scope']);
    expect(headers.get('www-authenticate')).to.match(/error="insufficient_scope".*scope="directory:read firehose:read"/);
  });

  it('whose plan lacks the capability gets a result that names the plan', async () => {
    // Also without the scope: a client that requests it would get a token that is refused again.
    for (const token of ['lapsed', 'reader']) {
      const { isError, content } = await kit.call('search_signals', {}, token);
      expect(isError).to.be.true();
      expect(content[0].text).to.match(/plan_required[^]*The plan free does not include firehose[^]*Next: Tell the user/);
    }
  });

  it('gets private actors of its workspace on request, and only with the scope', async () => {
    await addActor(kit, 'Quiet Club', {}, 'workspace');
    const found = async (token: string, given: object) => (await kit.call('search_entities', { query: 'quiet', ...given }, token)).structuredContent.total as number;
    expect(await found('reader', {})).to.equal(0);
    expect(await found('reader', { visibility: 'workspace' })).to.equal(1);
    const { status, headers } = await kit.rpc('tools/call', { name: 'search_entities', arguments: { visibility: 'workspace' } }, { token: 'scopeless' });
    expect(status).to.equal(403);
    expect(headers.get('www-authenticate')).to.include('scope="directory:read"');
  });
});

describe('Beside oauth and accounts', () => {
  let kit: McpKit;
  const clock = stoppedClock('2026-03-02T15:00:00.000Z');
  before(async () => { kit = await mcpKit({ plugins: ['accounts', 'oauth', 'ratelimit'], clock, config: { plugins: { ratelimit: { mcp: { requests_per_minute: 5 } } } } }); });
  after(() => kit.close());

  /** Returns the entries of the audit record about rejected requests. */
  async function refusals(): Promise<string[]> {
    const lines: string[] = [];
    const terminal = { out: (line: string) => { lines.push(line); }, err: () => undefined, print: () => undefined, progress: () => undefined, style: (_style: string, text: string) => text, json: true, signal: new AbortController().signal };
    await kit.composition.commands.find(({ name }) => name === 'audit export')!.run({ terminal: terminal as never, positionals: [], options: {}, cwd: '/' });
    return lines.filter((line) => line.includes('mcp_request_refused'));
  }

  async function awaitRefusals(count: number): Promise<void> {
    for (let tries = 0; tries < 50 && (await refusals()).length < count; tries++) await sleep(20);
    expect(await refusals()).to.have.length(count);
  }

  it('errors of addresses below /oauth have the form of RFC 6749', async () => {
    for (const [method, path, status] of [['GET', '/oauth/token', 405], ['GET', '/oauth/nothing', 404]] as const) {
      const reply = await kit.request(method, path);
      expect([reply.status, reply.body.error]).to.equal([status, 'invalid_request']);
      expect(reply.body.error_description).to.include(path);
    }
    const malformed = await kit.request('POST', '/oauth/token', { headers: { 'x-request-id': 'a b' } });
    expect([malformed.status, malformed.body.error]).to.equal([400, 'invalid_request']);
  });

  it('responses of /oauth have no Server-Timing header, whatever they are', async () => {
    for (const [method, path, status] of [['GET', '/oauth/jwks', 200], ['OPTIONS', '/oauth/token', 204], ['GET', '/oauth/token', 405], ['GET', '/oauth/nothing', 404], ['POST', '/oauth/token', 400]] as const) {
      const reply = await kit.request(method, path);
      expect([reply.status, reply.headers['server-timing']], `${method} ${path}`).to.equal([status, undefined]);
    }
  });

  it('the challenge of a request without a token names the resource metadata and the useful scopes', async () => {
    const { status, headers } = await kit.rpc('initialize', {}, { token: null });
    expect(status).to.equal(401);
    const challenge = headers.get('www-authenticate')!;
    expect(challenge).to.match(/resource_metadata="[^"]*\/\.well-known\/oauth-protected-resource\/mcp"/);
    expect(challenge).to.include('scope="directory:read firehose:read"');
    const metadata = await kit.request('GET', '/.well-known/oauth-protected-resource/mcp');
    expect(metadata.body.resource).to.match(/\/mcp$/);
    expect(metadata.body.resource_name).to.match(/: Tools for assistants$/);
    expect(metadata.body.scopes_supported).to.include(['directory:read', 'firehose:read']);
  });

  it('rejected requests are in the audit record, once a minute for an address', async () => {
    for (let i = 0; i < 3; i++) expect((await kit.rpc('ping', {}, FOREIGN)).status).to.equal(403);
    await awaitRefusals(1);
  });

  it('a rejected request does not wait for the audit record', async () => {
    clock.advance(60_000);
    const done = new AbortController();
    const writing = kit.db.write(() => sleep(1000, undefined, { signal: done.signal }).catch(() => 'ended'));
    expect((await kit.rpc('ping', {}, FOREIGN)).status).to.equal(403);
    done.abort();
    expect(await writing).to.equal('ended');
    await awaitRefusals(2);
  });

  it('rejected requests count against the limit of their address', async () => {
    clock.advance(60_000);
    const replies = [];
    for (let i = 0; i < 6; i++) replies.push(await kit.rpc('ping', {}, FOREIGN));
    expect(replies.map(({ status }) => status)).to.equal([403, 403, 403, 403, 403, 429]);
    expect(replies[5]!.headers.get('retry-after')).to.equal('60');
    expect((await kit.rpc('ping', {}, { token: null })).status).to.equal(429);
  });

  it('a browser may send a preflight request', async () => {
    const response = await fetch(`${kit.url}/mcp`, { method: 'OPTIONS', headers: { origin: 'http://localhost:6274', 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,mcp-protocol-version' } });
    expect(response.status).to.equal(204);
    expect(response.headers.get('access-control-allow-headers')).to.include(['MCP-Protocol-Version', 'Authorization']);
  });
});
