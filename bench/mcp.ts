import { join } from 'node:path';
import { compare, printRows, withServer, type Target } from './harness.ts';

const LIMIT = 2;
const SERVER = { module: join(import.meta.dirname, 'servers', 'assistants.js') };
const PLACE = 'harlow-ferry,tamarack';
const TOKEN = { authorization: 'Bearer bench' };

interface Read {
  name: string;
  path: string;
  tool: string;
  given: object;
}

/** What a call of a tool costs against the same read of the API with the same token, which is served without the response cache. */
export async function benchMcp(options: { rounds: number; seconds: number }): Promise<boolean> {
  const id = await withServer(SERVER, async (url) => (await (await fetch(`${url}/api/places/${PLACE}/entities?limit=1`)).json() as { data: [{ id: string }] }).data[0].id);
  let isInside = true;
  for (const read of readsOf(id)) {
    const rows = await compare([restTarget(read), legacyTarget(read), modernTarget(read)], options);
    printRows(`${read.name}, CPU a request (limit ${LIMIT}x)`, rows);
    isInside = rows.every(({ ratio }) => ratio <= LIMIT) && isInside;
  }
  return isInside;
}

function readsOf(id: string): Read[] {
  return [
    { name: 'Search for actors', path: '/api/entities?query=river&include=sources&limit=10', tool: 'search_entities', given: { query: 'river' } },
    { name: 'The actors of a place', path: `/api/places/${PLACE}/entities?include=sources&limit=10`, tool: 'get_place_entities', given: { place_key: PLACE } },
    { name: 'One actor', path: `/api/entities/${id}`, tool: 'get_entity', given: { id } },
    { name: 'The coverage of a place', path: `/api/places/${PLACE}/coverage`, tool: 'get_place_coverage', given: { place_key: PLACE } },
  ];
}

function restTarget({ path }: Read): Target {
  return { ...SERVER, name: `GET ${path.split('?')[0]!.slice(0, 22)}`, path, headers: TOKEN };
}

function legacyTarget({ tool, given }: Read): Target {
  return { ...SERVER, name: `tools/call, 2025-11-25`, path: '/mcp', method: 'POST', headers: rpcHeaders, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: given } }) };
}

function modernTarget({ tool, given }: Read): Target {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' }, 'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    ...SERVER, name: 'tools/call, 2026-07-28', path: '/mcp', method: 'POST',
    headers: { ...rpcHeaders, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': tool },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: given, _meta } }),
  };
}

const rpcHeaders = { ...TOKEN, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
