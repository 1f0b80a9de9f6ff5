import { definePlugin, formOptions, Joi, problem, readyAnswers, textEtag, type Civic } from 'civic';
import { testServer, type TestResponse, type TestServer, type TestServerOptions } from 'civic/testing';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import ratelimit from '../index.ts';

/** Stands in for the plugin of that name: a key is `key_<account>_<plan>_<any text>`. */
const accounts = definePlugin({
  name: 'accounts',
  summary: 'Knows callers by what they say',
  rates: { sign_in: { label: 'signing in', per_minute: 30, per_hour: 200, byAddress: true } },
  slots: { 'accounts.usage': { summary: 'On no page' } },
  register(_server, civic) {
    const plans: Record<string, { requests_per_minute: number; requests_per_day: number }> = {
      free: { requests_per_minute: 60, requests_per_day: 2000 },
      tiny: { requests_per_minute: 5, requests_per_day: 8 },
    };
    civic.provide({ limitOf: (name: string, limit: 'requests_per_minute' | 'requests_per_day') => (plans[name] ?? plans['free']!)[limit], meter: () => undefined });
    civic.identify((request) => {
      const [word, account, plan] = String(request.headers['x-api-key'] ?? request.headers['cookie'] ?? '').split('_');
      if (request.headers['x-api-key'] === undefined && word !== 'session=key') return null;
      if (!account || !plan) throw problem('invalid_credentials');
      return { account_id: account, via: word === 'key' ? 'key' : 'session', scope: [], role: 'user', plan, capabilities: [], workspace_id: null, workspace_role: null };
    });
  },
});

/** A route of each kind of answer. */
const things = definePlugin({
  name: 'things',
  summary: 'Something to ask for',
  rates: { reports: { label: 'reporting problems', per_minute: 2, per_hour: 20 } },
  paths: { '/page': { audience: 'people' }, '/sign-in': { audience: 'people' } },
  register(server, civic) {
    const ready = readyAnswers({ maxBytes: 100_000, now: () => civic.clock.now() });
    const described = { description: 'Something', validate: { query: Joi.object({}) }, response: { schema: Joi.object().unknown() } };
    server.route([
      { method: 'GET', path: '/api/things', options: described, handler: () => ({ ok: true }) },
      { method: 'POST', path: '/api/things', options: described, handler: () => ({ ok: true }) },
      { method: 'POST', path: '/api/search', options: { ...described, plugins: { civic: { rate: 'read' } } }, handler: () => ({ ok: true }) },
      { method: 'POST', path: '/api/reports', options: { ...described, plugins: { civic: { rate: 'reports' } } }, handler: () => ({ ok: true }) },
      { method: 'GET', path: '/api/free', options: { ...described, plugins: { civic: { rate: 'none' } } }, handler: () => ({ ok: true }) },
      { method: 'GET', path: '/api/mine', options: { ...described, auth: { mode: 'required' } }, handler: () => ({ ok: true }) },
      { method: 'GET', path: '/api/broken', options: described, handler: () => { throw problem('unavailable'); } },
      {
        method: 'GET', path: '/api/kept', options: { ...described, response: { ...described.response, sample: 0 }, ext: { onPostAuth: { method: ready.hit } }, plugins: { civic: { conditional: true } } },
        handler: (request, h) => ready.answer(request, h, 'all', async () => ({ etag: textEtag('{"kept":true}'), body: '{"kept":true}' })),
      },
      {
        method: 'GET', path: '/api/raw', options: { ...described, plugins: { civic: { raw: true } } },
        handler: (request, h) => {
          request.raw.res.writeHead(200, { ...civic.headers(request), 'content-type': 'text/event-stream' });
          request.raw.res.end('data: {}\n\n');
          return h.abandon;
        },
      },
      { method: 'GET', path: '/page', options: { plugins: { civic: { internal: true } } }, handler: () => 'a page' },
      { method: 'POST', path: '/sign-in', options: { ...formOptions({ rate: 'sign_in' }), payload: { allow: 'application/json' } }, handler: () => 'welcome' },
    ]);
  },
});

/** Lets a test ask other plugins' services. */
export function spy(): { plugin: ReturnType<typeof definePlugin>; civic: () => Civic } {
  let seen: Civic;
  return { plugin: definePlugin({ name: 'spy', summary: 'Asks', needs: ['ratelimit'], register(_server, civic) { seen = civic; } }), civic: () => seen };
}

export function limitedServer({ plugins = [], ...options }: TestServerOptions = {}): Promise<TestServer> {
  return testServer({ ...options, plugins: [ratelimit, accounts, things, ...plugins] });
}

/** Limit, remaining and reset, as the headers have them. */
export function limitHeaders({ headers }: Pick<TestResponse, 'headers'>): number[] {
  return ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) => Number(headers[name]));
}

export interface Seen {
  status: number;
  remaining: number;
}

/** So many requests at once, each over a connection of its own. */
export async function burst(urls: string[], each: number, path = '/api/things', headers: (index: number) => Record<string, string> = () => ({})): Promise<Seen[]> {
  const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
  return Promise.all(urls.flatMap((url) => Array.from({ length: each }, (_, index) => get(url + path, headers(index), agent))));
}

function get(url: string, headers: Record<string, string>, agent: Agent): Promise<Seen> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { headers, agent }, (res) => {
      res.resume().on('end', () => resolve({ status: res.statusCode!, remaining: Number(res.headers['ratelimit-remaining']) }));
    }).on('error', reject).end();
  });
}

export function count(seen: Seen[], status: number): number {
  return seen.filter((one) => one.status === status).length;
}

/** Sends bytes as they are and returns all that came back until the connection closed. */
export function sendRaw(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => { socket.write(bytes); });
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => { text += chunk; }).on('close', () => resolve(text)).on('error', reject);
  });
}
