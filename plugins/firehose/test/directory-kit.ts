import type { CommandCall } from 'civic';
import { testServer, type TestResponse, type TestServer, type TestServerOptions } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import firehose from '../index.ts';
import type { Signal } from '../types.ts';
import { joinWorkspace, runCommand } from './people.ts';

export interface SignalsKit extends TestServer {
  get(path: string, who?: string, headers?: Record<string, string>): Promise<TestResponse>;
  send(method: string, path: string, payload: unknown, who?: string): Promise<any>;
  /** What somebody finds in the Firehose, the latest first; a stranger unless said. */
  signals(query?: string, who?: string): Promise<Signal[]>;
  /** The same, once there are so many in all. */
  awaited(count: number, query?: string, who?: string): Promise<Signal[]>;
  /** Runs a command as `bin/civic --json` would, and answers what it prints. */
  run(name: string, positionals?: string[], options?: CommandCall['options']): Promise<any>;
}

/** The Firehose beside directory and accounts, with a member of a workspace, an editor (who also reviews the instance), a reviewer and a stranger. */
export async function signalsKit(options: TestServerOptions = {}): Promise<SignalsKit> {
  const kit = await testServer({ ...options, plugins: ['directory', 'accounts', firehose, ...options.plugins ?? []] });
  const keys = await peopleOf(kit);
  const keyOf = (who?: string): Record<string, string> => (who ? { 'x-api-key': keys[who]! } : {});
  const get = (path: string, who?: string, headers: Record<string, string> = {}) => kit.request('GET', path, { headers: { ...keyOf(who), ...headers } });
  const signals = async (query = '', who = 'stranger') => {
    const answer = await get(`/api/firehose?limit=200${query}`, who);
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body.signals as Signal[];
  };
  /** Much cheaper than all of them, for whoever waits. */
  const total = async (query = '', who = 'stranger'): Promise<number> => (await get(`/api/firehose?limit=1${query}`, who)).body.summary.total_signals;
  return Object.assign(kit, {
    get,
    async send(method: string, path: string, payload: unknown, who = 'reviewer') {
      const answer = await kit.request(method, path, { payload, headers: keyOf(who) });
      if (answer.status >= 300) throw new Error(answer.text);
      return answer.body;
    },
    signals,
    async awaited(count: number, query?: string, who?: string) {
      for (let tries = 0; await total(query, who) !== count; tries++) {
        const found = tries > 400 ? await signals(query, who) : null;
        if (found) throw new Error(`There are ${found.length} signals, not ${count}: ${found.map(({ title }) => title).join('; ')}`);
        await sleep(25);
      }
      return signals(query, who);
    },
    run: (name: string, positionals?: string[], given?: CommandCall['options']) => runCommand(kit, name, given, positionals),
  });
}

async function peopleOf(kit: TestServer): Promise<Record<string, string>> {
  const keys: Record<string, string> = {};
  const ids: Record<string, string> = {};
  for (const who of ['member', 'editor', 'reviewer', 'stranger']) {
    const role = who === 'editor' || who === 'reviewer' ? 'reviewer' : 'user';
    ids[who] = (await runCommand(kit, 'account create', { name: who, plan: 'team', role })).id;
    keys[who] = (await runCommand(kit, 'key create', { account: ids[who]! })).key;
  }
  const asMember = { headers: { 'x-api-key': keys['member']! } };
  const { id: workspace } = (await kit.request('POST', '/api/workspaces', { payload: { name: 'Ours' }, ...asMember })).body;
  await joinWorkspace(kit, { key: keys['member']! }, workspace, { id: ids['editor']!, key: keys['editor']! });
  for (const who of ['member', 'editor']) keys[who] = (await runCommand(kit, 'key create', { account: ids[who]!, workspace })).key;
  return keys;
}

let pages = 0;

/** A body for POST /api/entities: each property is a claim on the one source, a list is several. */
export function said({ type = 'organization', visibility = 'public', url = `https://example.org/page/${++pages}`, seen, ...properties }: { name: string; type?: string; visibility?: string; url?: string; seen?: string; [property: string]: unknown }) {
  return {
    type,
    visibility,
    sources: [{ local_id: 's', url, title: `Page ${pages}`, publication: 'The Example', ...(seen && { retrieved_at: seen }) }],
    claims: Object.entries(properties).flatMap(([property, value]) => (Array.isArray(value) ? value : [value]).map((one: unknown) => ({ property, value: one, source_local_id: 's', excerpt: `It says: ${JSON.stringify(one)}`, locator: { start: 3, end: 20 } }))),
  };
}
