import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, printRows, withServer, type Target } from './harness.ts';

const LIMIT = 2;
/** Enough for more places than the harness has connections. */
const ACTORS = 5000;
const TOKEN = { authorization: 'Bearer bench' };

interface Read {
  name: string;
  /** The path of the read in the API, for each subject. */
  path(subject: string): string;
  tool: string;
  given(subject: string): object;
  subjects: string[];
}

/** What a call of a tool costs against the same read of the API with the same token, which is served without the response cache. */
export async function benchMcp(options: { rounds: number; seconds: number }): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'civic-bench-'));
  try {
    await fill(folder);
    const server = { module: join(import.meta.dirname, 'servers', 'assistants.js'), args: [folder] };
    let isInside = true;
    for (const read of readsOf(await withServer(server, subjectsAt))) {
      const rows = await compare([restTarget(read), legacyTarget(read), modernTarget(read)].map((target) => ({ ...server, ...target })), options);
      printRows(`${read.name}, CPU a request (limit ${LIMIT}x)`, rows);
      isInside = rows.every(({ ratio }) => ratio <= LIMIT) && isInside;
    }
    return isInside;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(folder: string): Promise<void> {
  const [code] = await once(fork(join(import.meta.dirname, 'servers', 'filler.js'), [folder, String(ACTORS)]), 'exit');
  if (code !== 0) throw new Error(`Filling the database ended with ${code}`);
}

type Asked = Omit<Target, 'module'>;

interface Subjects {
  words: string[];
  ids: string[];
  places: string[];
}

async function subjectsAt(url: string): Promise<Subjects> {
  const read = async <T>(path: string) => (await (await fetch(`${url}${path}`)).json() as { data: T[] }).data;
  const actors = await read<{ id: string; name: string }>('/api/entities?sort=recent&limit=100');
  const places = await read<{ place_key: string }>('/api/places?limit=100');
  return {
    words: [...new Set(actors.flatMap(({ name }) => /[a-z]{5,}/i.exec(name)?.[0].toLowerCase() ?? []))],
    ids: actors.map(({ id }) => id),
    places: places.map(({ place_key }) => place_key),
  };
}

function readsOf({ words, ids, places }: Subjects): Read[] {
  return [
    { name: 'Search for actors', path: (query) => `/api/entities?query=${query}&include=sources&limit=10`, tool: 'search_entities', given: (query) => ({ query }), subjects: words },
    { name: 'The actors of a place', path: (key) => `/api/places/${key}/entities?include=sources&limit=10`, tool: 'get_place_entities', given: (place_key) => ({ place_key }), subjects: places },
    { name: 'One actor', path: (id) => `/api/entities/${id}`, tool: 'get_entity', given: (id) => ({ id }), subjects: ids },
    { name: 'The coverage of a place', path: (key) => `/api/places/${key}/coverage`, tool: 'get_place_coverage', given: (place_key) => ({ place_key }), subjects: places },
  ];
}

function restTarget({ path, subjects }: Read): Asked {
  return { name: `GET ${path('…').split('?')[0]!}`, path: '', headers: TOKEN, turns: subjects.map((subject) => ({ path: path(subject) })) };
}

function legacyTarget(read: Read): Asked {
  return { name: `tools/call, 2025-11-25`, path: '/mcp', method: 'POST', headers: rpcHeaders, turns: calls(read) };
}

function modernTarget(read: Read): Asked {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' }, 'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { ...rpcHeaders, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': read.tool };
  return { name: 'tools/call, 2026-07-28', path: '/mcp', method: 'POST', headers, turns: calls(read, { _meta }) };
}

function calls({ tool, given, subjects }: Read, more: object = {}): { body: string }[] {
  return subjects.map((subject) => ({ body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: given(subject), ...more } }) }));
}

const rpcHeaders = { ...TOKEN, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
