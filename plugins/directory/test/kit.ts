import { definePlugin, type Caller } from 'civic';
import { testServer, type TestResponse, type TestServer, type TestServerOptions } from 'civic/testing';
import directory from '../index.ts';

export const WORKSPACE = '01890000-0000-7000-8000-00000000000a';
export const OTHER_WORKSPACE = '01890000-0000-7000-8000-00000000000b';

const base: Caller = {
  account_id: '01890000-0000-7000-8000-000000000001', via: 'key', scope: ['entities:write', 'directory:read'], role: 'user', plan: 'team', capabilities: [],
  workspace_id: WORKSPACE, workspace_role: 'member',
};
const callers: Record<string, Caller> = {
  reviewer: { ...base, role: 'reviewer', workspace_id: null, workspace_role: null },
  /** A reviewer who belongs to the workspace, too. */
  editor: { ...base, role: 'reviewer' },
  member: base,
  stranger: { ...base, account_id: '01890000-0000-7000-8000-000000000002', workspace_id: OTHER_WORKSPACE },
  reader: { ...base, scope: ['directory:read'] },
};

/** Stands in for accounts: the key is the name of a caller. */
const people = definePlugin({
  name: 'people',
  summary: 'Callers for tests',
  register(_server, civic) {
    civic.identify((request) => callers[String(request.headers['x-api-key'])] ?? null);
  },
});

export interface DirectoryKit extends TestServer {
  get(path: string, who?: string, headers?: Record<string, string>): Promise<TestResponse>;
  send(method: string, path: string, payload: unknown, who?: string, headers?: Record<string, string>): Promise<TestResponse>;
}

export async function directoryKit(options: TestServerOptions = {}): Promise<DirectoryKit> {
  const kit = await testServer({ ...options, plugins: [directory, people, ...options.plugins ?? []] });
  const key = (who?: string) => (who ? { 'x-api-key': who } : {}) as Record<string, string>;
  return Object.assign(kit, {
    get: (path: string, who?: string, headers = {}) => kit.request('GET', path, { headers: { ...key(who), ...headers } }),
    send: (method: string, path: string, payload: unknown, who?: string, headers = {}) => kit.request(method, path, { payload, headers: { ...key(who), ...headers } }),
  });
}

export interface ActorProperties {
  type?: string;
  visibility?: string;
  url?: string;
  name: string;
  [property: string]: unknown;
}

/** Returns a body for POST /api/entities with one source: each property is a claim, a list is several claims. */
export function actorPayload({ type = 'organization', visibility = 'public', url = `https://example.org/${encodeURIComponent(String(Math.random()))}`, ...properties }: ActorProperties) {
  return {
    type,
    visibility,
    sources: [{ local_id: 's', url, title: 'About us', publication: 'The Example', published_at: '2026-01-05T00:00:00Z' }],
    claims: Object.entries(properties).flatMap(([property, value]) => (Array.isArray(value) ? value : [value]).map((one: unknown) => ({
      property, value: one, source_local_id: 's', excerpt: `It says: ${JSON.stringify(one)}`, locator: { start: 3, end: 20 },
    }))),
  };
}
