import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { addActor, argumentsFor, mcpKit, type McpKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MODERN = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const meta = { [`${META}protocolVersion`]: MODERN, [`${META}clientInfo`]: { name: 'test', version: '1', title: 'A test' }, [`${META}clientCapabilities`]: { sampling: {} }, progressToken: 7 };

let kit: McpKit;
let id: string;
before(async () => {
  kit = await mcpKit();
  id = await addActor(kit, 'River Neighbours', { place: 'kansas-city,missouri', issue_area: 'public_transit' });
});
after(() => kit.close());

interface Call {
  params: Record<string, unknown>;
  headers?: Record<string, string>;
}

const legacy = (params: object): Call => ({ params: { ...params } });
const modern = (params: { name: string }, headers = {}): Call => ({ params: { ...params, _meta: meta }, headers: { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': params.name, ...headers } });

/** Returns the same call with a member that only the SDKs accept, so that the SDK of its era serves it. */
function throughSdk({ params, headers }: Call): Call {
  return { params: { ...params, _meta: { ...params['_meta'] as object, 'example.org/unknown': true } }, headers };
}

async function send({ params, headers = {} }: Call, token = 'subscriber') {
  const { status, body } = await kit.rpc('tools/call', params, { token, headers });
  return { status, body: comparable(body) };
}

/** Removes times and ids of requests, which differ between two calls. */
function comparable(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME').replaceAll(/"request_id":"[^"]+"/g, '"request_id":"ID"'));
}

describe('Calls of tools without an SDK', () => {
  it('have the responses of the SDKs, for each tool in both eras', async () => {
    for (const [name, given] of Object.entries(argumentsFor(id))) {
      for (const call of [legacy({ name, arguments: given }), modern({ name, arguments: given } as { name: string })]) {
        const direct = await send(call);
        expect([direct.status, (direct.body as any).result.isError], name).to.equal([200, undefined]);
        expect(direct, name).to.equal(await send(throughSdk(call)));
      }
    }
  });

  it('have the errors of the SDKs: wrong arguments, unknown tools, missing scopes and malformed messages', async () => {
    const calls: [Call, string?][] = [
      [legacy({ name: 'get_entity', arguments: { id: 'x' } })],
      [modern({ name: 'get_entity' })],
      [legacy({ name: 'get_entitty' })],
      [modern({ name: 'get_entitty' })],
      [legacy({ name: 'search_signals' }), 'narrow'],
      [modern({ name: 'search_signals' }), 'narrow'],
      [legacy({ name: 7 })],
      [legacy({ name: 'search', arguments: [] })],
      [modern({ name: 'search', arguments: [] } as unknown as { name: string })],
      [modern({ name: 'search' }, { 'mcp-name': 'fetch' })],
      [modern({ name: 'search' }, { 'mcp-method': 'tools/list' })],
    ];
    for (const [call, token] of calls) {
      const name = JSON.stringify(call);
      const direct = await send(call, token);
      expect(direct.status !== 200 || (direct.body as any).error !== undefined || (direct.body as any).result.isError, name).to.be.true();
      expect(direct, name).to.equal(await send(throughSdk(call), token));
    }
  });

  it('leave messages with a fault to the SDKs', async () => {
    const messages = [
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_issue_areas' }, more: true },
      { jsonrpc: '2.0', id: 1.5, method: 'tools/call', params: { name: 'list_issue_areas' } },
      { jsonrpc: '2.0', id: null, method: 'tools/call', params: { name: 'list_issue_areas' } },
      { jsonrpc: '1.0', id: 1, method: 'tools/call', params: { name: 'list_issue_areas' } },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: null },
    ];
    for (const body of messages) expect((await kit.rpc('', {}, { body })).status, JSON.stringify(body)).to.equal(400);
    const unsupported = await send({ params: { name: 'list_issue_areas' }, headers: { 'mcp-protocol-version': '2020-01-01' } });
    expect(unsupported.status).to.equal(400);
    expect(String((unsupported.body as any).error.message)).to.startWith('The protocol revision 2020-01-01 is not supported');
  });
});
