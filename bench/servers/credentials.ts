import { definePlugin, Joi } from 'civic';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compose } from '../../core/compose.ts';
import { createLogger } from '../../core/log.ts';
import { prepare } from '../../core/prepare.ts';
import type { TestServer } from '../../core/testing.ts';
import { freePort } from '../../core/testing/port.ts';
import { approve, CALLBACK, createBrowser, newFlow, openConsent, runCommand } from '../../plugins/oauth/test/kit.ts';
import { payload, reportTo } from '../harness.ts';

const SCOPE = 'bench:read';
const body = payload('small');

const bench = definePlugin({
  name: 'bench',
  summary: 'One public route',
  scopes: { [SCOPE]: { label: 'Read' } },
  register(server) {
    server.route({ method: 'GET', path: '/api/bench', options: { description: 'The payload', validate: { query: Joi.object({}) }, response: { schema: Joi.object().unknown() } }, handler: () => body });
  },
});

/** One route whose callers have an API key or an access token of the same account, which the harness gets with the port. */
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const settings = { data_dir: mkdtempSync(join(tmpdir(), 'civic-bench-')), public_url: url, http: { port }, log: { level: 'warn', access: 'warn', format: 'json' }, plugins: { accounts: {}, oauth: {}, bench: {} } };
const { config, plugins } = await prepare({ env: {}, args: {}, text: JSON.stringify(settings), given: [bench] });
const composition = await compose({ config, plugins, log: await createLogger(config.log) });
await composition.open({ writes: true, schema: 'migrate' });
const run = (name: string, options: Record<string, string>) => runCommand({ composition } as TestServer, name, options);
const account = await run('account create', { name: 'Bench' });
const { key, workspace_id } = await run('key create', { account: account.id });
await composition.start();
await composition.listen();
reportTo(port, { credentials: { key: { 'x-api-key': key }, token: { authorization: `Bearer ${await connectApp()}` } } });

/** Connects an app on the consent page and returns its access token. */
async function connectApp(): Promise<string> {
  const browser = createBrowser(url);
  await browser.follow(account.sign_in_link);
  const client = await post('/oauth/register', JSON.stringify({ client_name: 'Bench', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' }), 'application/json');
  const flow = newFlow(client['client_id']!, { scope: SCOPE, resource: `${url}/api` });
  const { path } = await openConsent(browser, flow);
  const code = (await approve(browser, path, { workspace: workspace_id, scopes: [SCOPE] })).searchParams.get('code')!;
  const form = new URLSearchParams({ grant_type: 'authorization_code', client_id: client['client_id']!, code, redirect_uri: CALLBACK, code_verifier: flow.verifier });
  return (await post('/oauth/token', form.toString(), 'application/x-www-form-urlencoded'))['access_token']!;
}

async function post(path: string, text: string, type: string): Promise<Record<string, string>> {
  const response = await fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body: text });
  if (!response.ok) throw new Error(`${path} is ${response.status}: ${await response.text()}`);
  return response.json() as Promise<Record<string, string>>;
}
