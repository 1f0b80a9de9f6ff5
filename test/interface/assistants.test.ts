import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { Client as Client2025 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio2025 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as Client2026 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2026 } from '@modelcontextprotocol/client/stdio';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectRoot } from '../../core/root.ts';
import { driverEnvironment } from '../../core/testing/database.ts';
import { createInstance, type Instance, type Served } from '../support/civic.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('bin/civic mcp stdio', { timeout: 120_000 }, () => {
  let instance: Instance;
  let served: Served | null = null;
  before(() => { instance = createInstance({ plugins: { directory: {}, firehose: {}, mcp: {} } }, { ready: true }); });
  after(async () => {
    await served?.stop();
    instance.remove();
  });

  const parameters = () => ({ command: join(projectRoot, 'bin/civic'), args: ['mcp', 'stdio', '--config', instance.configFile], env: { PATH: process.env.PATH!, HOME: process.env.HOME ?? '/', ...driverEnvironment() } });

  async function toolsOf(client: Pick<Client2025, 'listTools' | 'callTool' | 'close'>): Promise<string[]> {
    const { tools } = await client.listTools();
    const { structuredContent } = await client.callTool({ name: 'search_places', arguments: { query: 'KCMO' } }) as unknown as { structuredContent: { data: { place_key: string }[] } };
    expect(structuredContent.data[0]!.place_key).to.equal('kansas-city,missouri');
    // What needs a scope and a plan is the operator's.
    const signals = await client.callTool({ name: 'search_signals', arguments: {} }) as { isError?: boolean };
    expect(signals.isError).to.not.equal(true);
    await client.close();
    return tools.map(({ name }) => name);
  }

  it('serves a client without sign-in while no server runs', async () => {
    await instance.civic('migrate');
    const client = new Client2025({ name: 'test', version: '1' });
    await client.connect(new Stdio2025(parameters()));
    expect(await toolsOf(client)).to.include(['search_entities', 'search_signals', 'fetch']);
  });

  it('responds to every request before it ends, also to a line that is not JSON', async () => {
    const request = (id: number, method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const lines = [
      request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }), '{broken',
      ...[2, 3, 4].map((id) => request(id, 'tools/call', { name: 'search_places', arguments: { query: 'KCMO' } })),
    ];
    const { command, args, env } = parameters();
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(`${lines.join('\n')}\n`);
    const output = await text(child.stdout);
    const responses = output.trim().split('\n').map((line) => JSON.parse(line) as { id: number | null; error?: { code: number } });
    expect(responses.map(({ id }) => id).toSorted((a, b) => Number(a) - Number(b))).to.equal([null, 1, 2, 3, 4]);
    expect(responses.find(({ id }) => id === null)!.error!.code).to.equal(-32700);
  });

  it('ends on a signal while its input is open', async () => {
    const { command, args, env } = parameters();
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    await once(child.stderr, 'data');
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  it('is all that works without the plugin oauth, and doctor reports it', async () => {
    const { stdout } = await instance.civicInProcess('doctor');
    expect(stdout).to.include('the plugin oauth is off: only bin/civic mcp stdio works');
  });

  it('fails where there is no database, and creates none', async () => {
    const missing = join(instance.folder, 'missing');
    const { code, stderr } = await instance.civic('mcp', 'stdio', '--data', missing);
    expect([code, existsSync(missing)]).to.equal([1, false]);
    expect(stderr).to.include('There is no database');
  });

  it('serves clients of both eras inside the running server', async () => {
    served = await instance.serve();
    const older = new Client2025({ name: 'test', version: '1' });
    await older.connect(new Stdio2025(parameters()));
    const newer = new Client2026({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await newer.connect(new Stdio2026(parameters()));
    expect(await toolsOf(older)).to.equal(await toolsOf(newer as never));
  });
});
