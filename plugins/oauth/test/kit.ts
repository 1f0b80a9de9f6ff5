import { definePlugin, Joi, type Civic, type CommandCall, type Fetch, type Plugin, type Terminal } from 'civic';
import { testServer, type TestServer, type TestServerOptions } from 'civic/testing';
import { createHash, randomBytes } from 'node:crypto';
import type { OauthConfig } from '../config.ts';
import oauth from '../index.ts';
import { createInstanceSecret } from '../secrets.ts';
import { ALGORITHMS, newKey, type SigningKey } from '../signing.ts';
import { insertKey, signingKeys } from '../store/keys.ts';

/** Passkeys need a host name. At an IP address a sign-in link starts a full session. */
export const BASE = 'https://203.0.113.7';
export const CALLBACK = 'https://app.example.org/callback';
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Routes that accept tokens, at `/mcp` and below `/api`. */
const probe = definePlugin({
  name: 'probe',
  summary: 'Routes for tests',
  uses: ['oauth'],
  scopes: {
    'probe:read': { label: 'Read probes', hint: 'Also private probes.' },
    'probe:write': { label: 'Change probes' },
    'probe:review': { label: 'Review probes', role: 'reviewer', onRequest: true },
    'probe:follow': { label: 'Follow probes', hint: 'As they appear.', capability: 'probes', onRequest: true },
  },
  capabilities: { probes: { label: 'Probes', limit: 'probes' } },
  limits: { probes: { label: 'Probes', doc: 'How many probes can be open at once', plans: { team: 50 } } },
  paths: { '/mcp': { audience: 'programs' } },
  register(server, civic) {
    civic.serviceIfOn('oauth')?.protect({ path: '/mcp', name: 'Tools for assistants', scopes: ['probe:read', 'probe:write'] });
    const options = { description: 'A route for tests', validate: { query: Joi.object({}) }, response: { schema: Joi.any() } };
    const caller = (request: { auth: { credentials: unknown } }) => ({ caller: request.auth.credentials });
    server.route([
      { method: 'GET', path: '/api/probe', options: { ...options, auth: { mode: 'required', access: { scope: ['probe:read'] } } }, handler: caller },
      { method: 'GET', path: '/api/probe/written', options: { ...options, auth: { mode: 'required', access: { scope: ['probe:write'] } } }, handler: caller },
      { method: 'GET', path: '/api/probe/public', options, handler: caller },
      { method: 'POST', path: '/mcp', options: { auth: { mode: 'required' }, plugins: { civic: { internal: true, cors: { headers: ['MCP-Protocol-Version'] } } } }, handler: caller },
    ]);
  },
});

/** The signing keys of all servers of this process: to generate an RSA key takes some tenths of a second. */
let shared: Promise<SigningKey[]> | undefined;

/** Stores the shared signing keys in a new database, before the server needs keys. */
async function shareKeys(civic: Pick<Civic<OauthConfig>, 'config' | 'db' | 'clock' | 'instance'>): Promise<void> {
  const secret = createInstanceSecret({ key: civic.config.key, dataDir: civic.instance.data_dir });
  if ((await signingKeys(civic.db.read)).length > 0) return;
  const keys = await (shared ??= Promise.all(ALGORITHMS.map(newKey)));
  await civic.db.write(async (tx) => {
    for (const key of keys) await insertKey(tx, { kid: key.kid, alg: key.alg, sealed: secret.encrypt(JSON.stringify(key)), created_at: civic.clock.iso() });
  });
}

/** Returns the plugin with a `fetch` that finds these documents. Other requests are sent. */
function withDocuments(documents: Map<string, object>): Plugin {
  return {
    ...oauth,
    async register(server, civic) {
      const fetch: Fetch = Object.assign(async (...[url, options]: Parameters<Fetch>) => {
        const document = documents.get(url);
        if (!document) return civic.fetch(url, options);
        const text = JSON.stringify(document);
        const { status = 200, type = 'application/json' } = document as { status?: number; type?: string };
        return { status, headers: { 'content-type': type }, url, hops: [], body: new TextEncoder().encode(text), text: () => text, json: () => document };
      }, { stream: civic.fetch.stream });
      const registered = await oauth.register(server, Object.create(civic, { fetch: { value: fetch } }) as typeof civic);
      return {
        ...registered,
        async start() {
          await registered?.start?.();
          await shareKeys(civic as Civic<OauthConfig>);
        },
      };
    },
  };
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  body: any;
}

export interface OauthKit extends TestServer {
  /** Client ID metadata documents, by address. */
  documents: Map<string, object>;
  run(name: string, options?: CommandCall['options'], positionals?: string[]): Promise<any>;
  /** Creates an account that is signed in in its own browser. */
  person(options?: CommandCall['options']): Promise<Person>;
  send(method: string, path: string, options?: { headers?: Record<string, string>; form?: Record<string, string>; json?: unknown }): Promise<Reply>;
  register(metadata?: object): Promise<any>;
  audit(): Promise<AuditRow[]>;
  /** Returns the kinds of the audit rows since the last call. */
  newAudit(): Promise<string[]>;
}

export interface AuditRow { kind: string; account_id: string | null; workspace_id: string | null; subject: string | null; detail: any }

export interface Person {
  id: string;
  key: string;
  workspace_id: string;
  browser: Browser;
}

let people = 0;

export async function oauthKit({ config = {}, ...options }: TestServerOptions = {}): Promise<OauthKit> {
  const documents = new Map<string, object>();
  // The real plugin has the path of the probe.
  const resources = options.plugins?.includes('mcp') ? [] : [probe];
  const kit = await testServer({ ...options, listen: true, plugins: ['accounts', withDocuments(documents), ...resources, ...options.plugins ?? []], config: { public_url: BASE, jobs: { poll_seconds: 0.1 }, ...config } });
  let seen = 0;
  const run = (name: string, given: CommandCall['options'] = {}, positionals: string[] = []) => runCommand(kit, name, given, positionals);
  const audit = async () => (await run('audit export') as string[]).map((line) => JSON.parse(line) as AuditRow);
  const oauthServer: OauthKit = Object.assign(kit, {
    documents,
    run,
    audit,
    async newAudit() {
      const rows = await audit();
      const fresh = rows.slice(seen).map(({ kind }) => kind);
      seen = rows.length;
      return fresh;
    },
    send: (method: string, path: string, sent: { headers?: Record<string, string>; form?: Record<string, string>; json?: unknown } = {}) => send(kit.url + path, method, sent),
    async register(metadata: object = {}) {
      return (await oauthServer.send('POST', '/oauth/register', { json: { client_name: 'Test app', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', ...metadata } })).body;
    },
    async person(given: CommandCall['options'] = {}): Promise<Person> {
      const { id, sign_in_link } = await run('account create', { name: `Person ${++people}`, plan: 'team', role: 'user', ...given });
      const key = await run('key create', { account: id });
      const browser = createBrowser(kit.url);
      await browser.follow(sign_in_link);
      return { id, key: key.key, workspace_id: key.workspace_id, browser };
    },
  });
  // The first account becomes the administrator.
  await run('account create', { name: 'Administrator' });
  return oauthServer;
}

async function send(url: string, method: string, { headers = {}, form, json }: { headers?: Record<string, string>; form?: Record<string, string>; json?: unknown }): Promise<Reply> {
  const body = form ? new URLSearchParams(form).toString() : json === undefined ? undefined : JSON.stringify(json);
  const type = form ? 'application/x-www-form-urlencoded' : json === undefined ? undefined : 'application/json';
  const response = await fetch(url, { method, body, redirect: 'manual', headers: { ...(type && { 'content-type': type }), ...headers } });
  const text = await response.text();
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '') && text !== '';
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text };
}

/** A browser without scripts. It stores cookies by path, and sends forms with the form token of the last page. */
export interface Browser {
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, fields?: Record<string, string | string[]>, headers?: Record<string, string>): Promise<Reply>;
  follow(link: string): Promise<void>;
  cookies: Map<string, { value: string; path: string }>;
  token: string;
}

export function createBrowser(url: string): Browser {
  const browser: Browser = {
    cookies: new Map(),
    token: '',
    get: (path, headers = {}) => request('GET', path, { headers }),
    post(path, fields = {}, headers = {}) {
      const form = new URLSearchParams();
      for (const [name, value] of Object.entries({ form_token: browser.token, ...fields })) for (const one of [value].flat()) form.append(name, one);
      return request('POST', path, { body: form.toString(), headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } });
    },
    async follow(link) {
      const { pathname, search, searchParams } = new URL(link);
      await browser.get(pathname + search);
      await browser.post(pathname, { token: searchParams.get('token')! });
    },
  };

  async function request(method: string, path: string, { body, headers = {} }: { body?: string; headers?: Record<string, string> }): Promise<Reply> {
    const cookie = [...browser.cookies].filter(([, one]) => path.startsWith(one.path)).map(([name, { value }]) => `${name.split(' ')[0]}=${value}`).join('; ');
    const response = await fetch(url + path, { method, body, redirect: 'manual', headers: { accept: 'text/html', ...(cookie && { cookie }), ...headers } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      const at = /path=([^;]*)/i.exec(line)?.[1] ?? '/';
      if (value === '') browser.cookies.delete(`${name} ${at}`);
      else browser.cookies.set(`${name} ${at}`, { value: value!, path: at });
    }
    const text = await response.text();
    browser.token = /name="form_token" value="([^"]*)"/.exec(text)?.[1] ?? browser.token;
    return { status: response.status, headers: response.headers, text, body: text };
  }
  return browser;
}

export interface Flow {
  verifier: string;
  state: string;
  /** The address of the authorization request. */
  address: string;
}

/** Creates an authorization request with PKCE. `null` removes a parameter. */
export function newFlow(clientId: string, more: Record<string, string | null> = {}): Flow {
  const [verifier, state] = [randomBytes(32).toString('base64url'), randomBytes(8).toString('hex')];
  const query = new URLSearchParams();
  const parameters = {
    client_id: clientId, response_type: 'code', redirect_uri: CALLBACK, state, scope: 'probe:read probe:write', resource: `${BASE}/api`,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256', ...more,
  };
  for (const [name, value] of Object.entries(parameters)) if (value !== null) query.set(name, value);
  return { verifier, state, address: `/oauth/authorize?${query}` };
}

/** Sends an authorization request with a browser. Returns the consent page and its path. */
export async function openConsent(browser: Browser, flow: Pick<Flow, 'address'>): Promise<{ path: string; page: Reply }> {
  const started = await browser.get(flow.address);
  const path = started.headers.get('location');
  if (started.status !== 303 || !path?.startsWith('/connect/')) throw new Error(`The request was refused: ${started.status} ${path ?? ''} ${started.text.replace(/<[^>]+>|\s+/g, ' ')}`);
  return { path, page: await browser.get(path) };
}

/** Presses Connect. Returns the redirect to the app. */
export async function approve(browser: Browser, path: string, fields: { workspace: string; scopes?: string[] }): Promise<URL> {
  const page = await browser.post(path, { workspace: fields.workspace, scopes: fields.scopes ?? ['probe:read', 'probe:write'] });
  if (page.status !== 200) throw new Error(`The consent was refused: ${page.status} ${page.text.replace(/<[^>]+>|\s+/g, ' ')}`);
  return leave(browser, page);
}

/** Follows the refresh of the page after the decision. Returns the redirect to the app. */
export async function leave(browser: Browser, page: Reply): Promise<URL> {
  const next = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(page.text)![1]!.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
  return new URL((await browser.get(next)).headers.get('location')!);
}

/** Approves an authorization request and redeems its code. */
export async function connect(kit: OauthKit, person: Person, client: { client_id: string }, { more = {}, scopes, workspace = person.workspace_id, auth = {} }: { more?: Record<string, string | null>; scopes?: string[]; workspace?: string; auth?: Record<string, string> } = {}): Promise<{ tokens: any; code: string; flow: Flow }> {
  const flow = newFlow(client.client_id, more);
  const { path } = await openConsent(person.browser, flow);
  const code = (await approve(person.browser, path, { workspace, scopes })).searchParams.get('code')!;
  return { tokens: (await redeem(kit, client, flow, code, auth, more.redirect_uri ?? undefined)).body, code, flow };
}

export function redeem(kit: OauthKit, { client_id }: { client_id: string }, { verifier }: Flow, code: string, headers: Record<string, string> = {}, redirectUri = CALLBACK): Promise<Reply> {
  return kit.send('POST', '/oauth/token', { headers, form: { grant_type: 'authorization_code', ...(headers['authorization'] ? {} : { client_id }), code, redirect_uri: redirectUri, code_verifier: verifier } });
}

export function refresh(kit: OauthKit, { client_id }: { client_id: string }, token: string, more: Record<string, string> = {}): Promise<Reply> {
  return kit.send('POST', '/oauth/token', { form: { grant_type: 'refresh_token', client_id, refresh_token: token, ...more } });
}

export function bearer(token: string, headers: Record<string, string> = {}): { headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${token}`, ...headers } };
}

export async function runCommand(kit: TestServer, name: string, options: CommandCall['options'] = {}, positionals: string[] = []): Promise<any> {
  const command = kit.composition.commands.find((one) => one.name === name);
  if (!command) throw new Error(`There is no command "${name}"`);
  let printed: unknown;
  const lines: string[] = [];
  const terminal: Terminal = {
    json: true, signal: new AbortController().signal, out: (line) => { lines.push(line); }, err: () => undefined, progress: () => undefined,
    print: (value, words) => { printed = value; words(); }, style: (_style, text) => text,
  };
  await command.run({ terminal, positionals, options, cwd: process.cwd() });
  return printed ?? lines;
}
