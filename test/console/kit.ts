import { definePlugin, Joi, type CommandCall, type Plugin, type Terminal } from '../../core/index.ts';
import { testServer, type TestResponse, type TestServer, type TestServerOptions } from '../../core/testing.ts';
import { setTimeout as sleep } from 'node:timers/promises';

// At an address where passkeys cannot work a link signs in fully, so that these tests need none.
export const BASE = 'http://192.0.2.7:8080';
export const SECRET = 'correct horse battery staple';

/** A plugin whose job fails until a test lets it pass, with an error and a payload that hold secrets. */
export function flakyPlugin(): { plugin: Plugin; state: { fails: boolean; attention: 'none' | 'one' | 'throws'; section: 'shown' | 'throws' } } {
  const state = { fails: true, attention: 'none' as 'none' | 'one' | 'throws', section: 'shown' as 'shown' | 'throws' };
  const plugin = definePlugin({
    name: 'flaky',
    summary: 'A job that fails, for tests',
    uses: ['console'],
    config: { password: { doc: 'A secret.', format: String, default: SECRET, sensitive: true } },
    events: { 'flaky.happened': { summary: 'For tests', version: 1, payload: Joi.object({}) } },
    register(server, civic) {
      const console = civic.serviceIfOn('console');
      console?.attention({
        plugin: 'flaky',
        async load(language) {
          if (state.attention === 'throws') throw new Error(`no connection to smtp://user:${SECRET}@mail.example.org`);
          return state.attention === 'none' ? [] : [{ title: `The <b>roof</b> leaks (${language})`, detail: 'Since today.', isUrgent: true, link: { label: 'Look', path: '/roof' } }];
        },
      });
      civic.on('flaky.happened' as never, async () => { throw new Error('not now'); });
      civic.jobs.define<{ token: string; key?: string }>({
        name: 'flaky.work',
        payload: Joi.object({ token: Joi.string(), key: Joi.string() }),
        max_attempts: 1,
        async run({ payload }) {
          if (state.fails) throw new Error(`Sending with ${SECRET} to smtp://bob:pw1234@mail.example.org failed <script>alert(1)</script>, Bearer ${'x'.repeat(20)}`);
          if (payload.token === '') throw new Error('no token');
        },
      });
      server.route([
        { method: 'GET', path: '/api/flaky/broken', options: { description: 'Fails', validate: { query: Joi.object({}) }, response: { schema: Joi.any() } }, handler: () => { throw new Error('broken'); } },
        {
          method: 'POST', path: '/api/flaky', options: { description: 'Enqueues the job', validate: { query: Joi.object({}), payload: Joi.object({ key: Joi.string() }) }, response: { schema: Joi.any() } },
          handler: async ({ payload }) => {
            const { key } = payload as { key?: string };
            return { id: await civic.db.write((tx) => civic.jobs.enqueue(tx, 'flaky.work', { token: 'payload-secret' }, key ? { unique_key: key } : {})) };
          },
        },
      ]);
    },
  });
  return { plugin, state };
}

/** A user of a browser without scripts. */
export interface Reader {
  get(path: string, headers?: Record<string, string>): Promise<TestResponse>;
  post(path: string, fields?: Record<string, string | string[]>): Promise<TestResponse>;
  cookie(): string;
  id: string;
}

export interface ConsoleKit extends TestServer {
  run(name: string, options?: CommandCall['options']): Promise<any>;
  /** Creates an account and signs it in. */
  signedIn(role: 'user' | 'reviewer' | 'admin'): Promise<Reader>;
  visitor(): Reader;
}

export async function consoleKit(options: TestServerOptions): Promise<ConsoleKit> {
  const kit = await testServer({ ...options, plugins: ['accounts', 'console', ...options.plugins ?? []], config: { public_url: BASE, ...options.config } });
  const run = (name: string, given: CommandCall['options'] = {}) => callCommand(kit, name, given);
  await run('account create', { name: 'First' });
  return Object.assign(kit, {
    run,
    visitor: () => readerOf(kit, ''),
    async signedIn(role: string) {
      const { id, sign_in_link } = await run('account create', { name: `A ${role}`, role });
      const reader = readerOf(kit, id);
      const { pathname, search, searchParams } = new URL(sign_in_link);
      await reader.get(pathname + search);
      await reader.post(pathname, { token: searchParams.get('token')! });
      await reader.get('/');
      return reader;
    },
  });
}

function readerOf(kit: TestServer, id: string): Reader {
  let cookie = '';
  let token = '';
  async function sent(method: string, path: string, headers: Record<string, string>, payload?: string): Promise<TestResponse> {
    const response = await kit.request(method, path, { payload, headers: { accept: 'text/html', ...(cookie && { cookie }), ...headers } });
    for (const line of [response.headers['set-cookie'] ?? []].flat()) cookie = line.split(';')[0]!;
    token = /name="form_token" value="([^"]*)"/.exec(response.text)?.[1] ?? token;
    return response;
  }
  return {
    id,
    cookie: () => cookie,
    get: (path, headers = {}) => sent('GET', path, headers),
    post: (path, fields = {}) => sent('POST', path, { 'content-type': 'application/x-www-form-urlencoded' }, new URLSearchParams(Object.entries({ form_token: token, ...fields }).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]))).toString()),
  };
}

async function callCommand(kit: TestServer, name: string, options: CommandCall['options']): Promise<any> {
  let printed: unknown;
  const lines: string[] = [];
  const terminal: Terminal = {
    json: true, signal: new AbortController().signal, out: (line) => { lines.push(line); }, err: () => undefined, print: (value) => { printed = value; }, progress: () => undefined, style: (_style, text) => text,
  };
  await kit.composition.commands.find((command) => command.name === name)!.run({ terminal, positionals: [], options, cwd: process.cwd() });
  return printed ?? lines.map((line) => JSON.parse(line) as unknown);
}

/** Waits until a condition holds. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 2000; tries++) {
    if (await condition()) return;
    await sleep(10);
  }
  throw new Error(`Waited in vain for: ${condition}`);
}

/** Returns the text of a page between two headings of the second level. */
export function section({ text }: TestResponse, id: string): string {
  return new RegExp(`<h2 id="${id}">([^]*?)</section>`).exec(text)?.[1] ?? '';
}
