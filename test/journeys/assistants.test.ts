import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { Client as Client2026, StreamableHTTPClientTransport as Transport2026 } from '@modelcontextprotocol/client';
import { Client as Client2025 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport2025 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Browser, Page } from 'playwright-core';
import { bundledPlugins } from '../../core/load.ts';
import { stoppedClock, testServer, type TestServer } from '../../core/testing.ts';
import { freePort } from '../../core/testing/port.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';
import { argumentsFor, KANSAS_CITY, type AnyClient } from '../../plugins/mcp/test/kit.ts';
import { follow, missingBrowser, openBrowser, openDevice } from '../support/browser.ts';
import { BACK, startCallback, type CallbackApp } from '../support/callback.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const MINUTE = 60_000;

/** What an app keeps on disk: both clients read and write the same. */
interface Keychain {
  client?: { client_id: string };
  tokens?: { access_token: string; refresh_token?: string; scope?: string };
  verifier?: string;
  /** The address that the app asks the user to open. */
  toOpen?: URL;
}

/** An assistant that knows one address. The rest is the work of its client. */
interface Assistant {
  client: AnyClient & { connect(transport: unknown): Promise<void> };
  transport: { finishAuth(given: unknown): Promise<void> };
}

interface Era {
  name: string;
  revision: string;
  revisionOf(assistant: Assistant): string | undefined;
  open(url: URL, options: object): Assistant;
  /** What it says of itself besides its name; without a method it gets a secret. */
  metadata: { token_endpoint_auth_method?: 'none' };
  /** What the client wants of the address that the browser came back to. */
  finish(arrived: URL): unknown;
  /** The requests of a call that lacks a scope. */
  stepUp: string[];
  /** The workspace that the user chooses; null when they have one only. */
  workspace: string | null;
}

/** How a client finds the authorization server. */
const METADATA = ['GET /.well-known/oauth-protected-resource/mcp 200', 'GET /.well-known/oauth-authorization-server 200'];
const ABOUT = { name: 'journey', version: '1' };
const ERAS: Era[] = [
  {
    name: 'the client for revisions up to 2025-11-25',
    revision: '2025-11-25',
    revisionOf: ({ transport }) => (transport as unknown as Transport2025).protocolVersion,
    open: (url, options) => ({ client: new Client2025(ABOUT) as never, transport: new Transport2025(url, options) }),
    finish: (arrived) => arrived.searchParams.get('code'),
    metadata: {},
    // It hopes that a refresh brings the scope, and then gives up.
    stepUp: ['POST /mcp 403', ...METADATA, 'POST /oauth/token 200', 'POST /mcp 403'],
    workspace: null,
  },
  {
    name: 'the client for revision 2026-07-28',
    revision: '2026-07-28',
    revisionOf: ({ client }) => (client as unknown as Client2026).getNegotiatedProtocolVersion(),
    open: (url, options) => ({ client: new Client2026(ABOUT, { versionNegotiation: { mode: 'auto' } }) as never, transport: new Transport2026(url, options) as never }),
    // This client also checks the issuer in the address.
    finish: (arrived) => arrived.searchParams,
    metadata: { token_endpoint_auth_method: 'none' },
    stepUp: ['POST /mcp 403', ...METADATA],
    workspace: 'Newsroom',
  },
];

/** The store of an app, in the form that both clients ask for. */
function providerOf(keychain: Keychain, redirectUrl: string, metadata: object): object {
  return {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], ...metadata },
    state: () => 'story',
    clientInformation: () => keychain.client,
    saveClientInformation: (client: Keychain['client']) => { keychain.client = client; },
    tokens: () => keychain.tokens,
    saveTokens: (tokens: Keychain['tokens']) => { keychain.tokens = tokens; },
    saveCodeVerifier: (verifier: string) => { keychain.verifier = verifier; },
    codeVerifier: () => keychain.verifier,
    redirectToAuthorization: (url: URL) => { keychain.toOpen = url; },
    invalidateCredentials: (what: string) => {
      if (what === 'all' || what === 'tokens') delete keychain.tokens;
      if (what === 'all' || what === 'client') delete keychain.client;
    },
  };
}

/** One story for each client: each step begins where the one before ended. */
describe('A user who connects an assistant, with a browser and a passkey', { skip: missingBrowser() !== null, timeout: 120_000 }, () => {
  const clock = stoppedClock(Date.now());
  let kit: TestServer;
  let home: string;
  let account: string;
  let key: string;
  let actor: string;
  let browser: Browser;
  let page: Page;
  let app: CallbackApp;
  const complaints: string[] = [];

  before(async () => {
    const port = await freePort();
    home = `http://localhost:${port}`;
    kit = await testServer({ plugins: bundledPlugins(), listen: true, clock, config: { http: { port }, public_url: home } });
    app = await startCallback();
    browser = await openBrowser();
    const device = await openDevice(browser, complaints);
    page = device.page;
    const { id, sign_in_link } = await run('account create', { name: 'Ada Example', plan: 'team', role: 'admin' });
    account = id;
    ({ key } = await run('key create', { account }));
    actor = await addActor(key, 'River Watch', 'public');
    await addActor(key, 'Own notes');
    await page.goto(sign_in_link);
    await press('Sign in');
    await press('Add a passkey');
    await page.waitForURL(/recovery-codes/);
    // The passkey stays; the session ends.
    await device.context.clearCookies();
  });
  after(async () => {
    await browser.close();
    app.close();
    await kit.close();
  });

  const run = (name: string, options: object): Promise<any> => runCommand(kit, name, options as never, []);
  const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

  async function post(key: string, path: string, payload: object): Promise<any> {
    const { status, body } = await kit.request('POST', path, { payload, headers: { 'x-api-key': key } });
    expect(status, path).to.equal(201);
    return body;
  }

  async function addActor(key: string, name: string, visibility = 'workspace'): Promise<string> {
    const claims = Object.entries({ name, place: KANSAS_CITY, issue_area: 'public_transit' });
    const sources = [{ local_id: 's', url: 'https://example.org/about' }];
    const { id } = await post(key, '/api/entities', { type: 'organization', visibility, sources, claims: claims.map(([property, value]) => ({ property, value, source_local_id: 's' })) });
    return id;
  }

  for (const era of ERAS) {
    describe(`with ${era.name}`, () => {
      const name = `Assistant of ${era.revision}`;
      const keychain: Keychain = {};
      let requests: string[] = [];
      let challenge: string | null = null;
      let assistant: Assistant;

      before(async () => {
        if (era.workspace === null) return;
        for (const workspace of [era.workspace, 'Archive']) {
          const { id } = await post(key, '/api/workspaces', { name: workspace });
          await addActor((await run('key create', { account, workspace: id })).key, `${workspace} notes`);
        }
      });
      after(() => assistant.client.close());

      /** Starts the assistant anew, with what it has stored. */
      function start(): void {
        const watched = async (url: string | URL, init?: RequestInit): Promise<Response> => {
          const response = await fetch(url, init);
          challenge = response.headers.get('www-authenticate') ?? challenge;
          // The client for older revisions also tries to open a stream, at any time.
          if (init?.method !== 'GET' || !String(url).endsWith('/mcp')) requests.push(`${init?.method ?? 'GET'} ${new URL(url).pathname} ${response.status}`);
          return response;
        };
        assistant = era.open(new URL(`${home}/mcp`), { authProvider: providerOf(keychain, app.url, { client_name: name, ...era.metadata }), fetch: watched });
        requests = [];
      }

      const connect = (): Promise<void> => assistant.client.connect(assistant.transport);

      const call = (tool: string, given?: Record<string, unknown>): Promise<any> => {
        requests = [];
        return assistant.client.callTool({ name: tool, arguments: given ?? argumentsFor(actor)[tool]! });
      };

      /** Opens the address that the assistant asks for, and approves; `without` is what the user unticks. */
      async function approve({ without }: { without?: string } = {}): Promise<void> {
        app.arrived = null;
        await page.goto(keychain.toOpen!.href);
        delete keychain.toOpen;
        if (page.url().includes('/sign-in')) await press('Sign in with a passkey');
        await page.waitForURL(/\/connect\//);
        expect(await page.textContent('h1')).to.equal(`Connect ${name}?`);
        if (era.workspace !== null) await page.getByLabel(era.workspace).check();
        if (without) await page.getByLabel(without).uncheck();
        await press('Connect');
        await page.getByText(BACK).or(page.getByText('Confirm it’s you')).waitFor();
        if (app.arrived === null) await press('Confirm with a passkey');
        await page.getByText(BACK).waitFor();
        await assistant.transport.finishAuth(era.finish(app.arrived!));
      }

      it('gives it one address, signs in and approves less than it asks for', async () => {
        start();
        await expect(connect()).to.reject(/Unauthorized/);
        expect(requests).to.equal(['POST /mcp 401', ...METADATA, 'POST /oauth/register 201']);
        expect(Object.fromEntries(keychain.toOpen!.searchParams)).to.include({ resource: `${home}/mcp`, redirect_uri: app.url, code_challenge_method: 'S256' });
        await approve({ without: 'Read live signals' });
        start();
        await connect();
        expect(era.revisionOf(assistant)).to.equal(era.revision);
        expect(keychain.tokens!.scope).to.equal('workspace:read directory:read discovery:read workspace:write discovery:write flags:write');
      });

      it('is asked for what was left out when the assistant needs it', async () => {
        await expect(call('search_signals')).to.reject();
        expect(requests).to.equal(era.stepUp);
        expect(challenge).to.match(/error="insufficient_scope".* scope="workspace:read directory:read discovery:read workspace:write discovery:write flags:write firehose:read"/);
        if (!keychain.toOpen) {
          // The user disconnects it in the assistant, and connects it again.
          delete keychain.tokens;
          start();
          await expect(connect()).to.reject(/Unauthorized/);
        }
        expect(keychain.toOpen!.searchParams.get('scope')!.split(' ')).to.include(['directory:read', 'firehose:read']);
        await approve();
        start();
        await connect();
        expect((await call('search_signals')).isError).to.not.equal(true);
        expect(keychain.tokens!.scope!.split(' ').sort()).to.equal(['directory:read', 'discovery:read', 'discovery:write', 'firehose:read', 'flags:write', 'workspace:read', 'workspace:write']);
      });

      it('lets it use everything that is offered, in the workspace of the connection', async () => {
        const { tools } = await assistant.client.listTools();
        const { sources } = (await call('get_entity')).structuredContent;
        const known = {
          ...argumentsFor(actor),
          flag_entity: { entity_id: actor, reason: 'The office moved.', flag_type: 'stale' },
          start_discovery_run: { location: 'Kansas City, MO', issue_areas: ['housing_affordability'] },
          list_discovery_runs: {},
          get_discovery_run: { run_id: '' },
          list_workspace_items: { kind: 'notes' },
          save_to_list: { entity_id: actor, name: 'Saved by an assistant', note: 'Ask about the hearing' },
          create_brief: { title: 'Who watches the river', entity_ids: [actor] },
          watch: { target: { type: 'place', id: KANSAS_CITY } },
          flag_source: { source_id: sources[0].id, reason: 'The page is gone.', flag_type: 'broken_link' },
        };
        expect(tools.map((tool) => tool.name).filter((tool) => !(tool in known)), 'add arguments for these in plugins/mcp/test/kit.ts').to.equal([]);
        expect(tools).to.have.length(Object.keys(known).length);
        known.get_discovery_run.run_id = (await call('start_discovery_run', known.start_discovery_run)).structuredContent.id;
        for (const tool of tools) {
          const result = await call(tool.name, known[tool.name as keyof typeof known]);
          expect(result.isError, `${tool.name}: ${result.content[0]?.text}`).to.not.equal(true);
        }
        const { structuredContent } = await call('search_entities', { visibility: 'workspace' });
        expect(structuredContent.data.map((one: { name: string }) => one.name).toSorted()).to.equal([era.workspace ? `${era.workspace} notes` : 'Own notes', 'River Watch']);
        await assistant.client.listResources();
        expect((await assistant.client.listResourceTemplates()).resourceTemplates.length).to.be.above(0);
        const { contents: [read] } = await assistant.client.readResource({ uri: `civic://entities/${actor}` }) as { contents: [{ text: string }] };
        expect(JSON.parse(read.text)).to.include({ id: actor, name: 'River Watch' });
        expect((await assistant.client.listPrompts()).prompts.map((prompt) => prompt.name)).to.include('research_place');
        const { messages: [message] } = await assistant.client.getPrompt({ name: 'research_place', arguments: { place: 'Harlow' } });
        expect((message!.content as { text: string }).text).to.include('Harlow');
      });

      it('notices nothing when the access token expires', async () => {
        const old = keychain.tokens!;
        clock.advance(15 * MINUTE);
        expect((await call('search_places')).isError).to.not.equal(true);
        expect(requests).to.equal(['POST /mcp 401', ...METADATA, 'POST /oauth/token 200', 'POST /mcp 200']);
        expect(keychain.tokens!.access_token).to.not.equal(old.access_token);
        expect(keychain.tokens!.refresh_token).to.not.equal(old.refresh_token);
        expect(keychain.toOpen).to.be.undefined();
      });

      it('disconnects it, and connects it again', async () => {
        await page.goto(`${home}/account/apps`);
        await follow(page, page.getByRole('link', { name: `Disconnect ${name}` }).first());
        await follow(page, page.getByRole('button', { name: 'Disconnect' }));
        await page.getByText('The app is disconnected').waitFor();
        await expect(call('search_places')).to.reject(/Unauthorized/);
        expect(requests).to.equal(['POST /mcp 401', ...METADATA, 'POST /oauth/token 400', ...METADATA]);
        await approve();
        expect((await call('search_places')).isError).to.not.equal(true);
        expect(requests).to.equal(['POST /mcp 200']);
        expect(complaints).to.equal([]);
      });
    });
  }
});
