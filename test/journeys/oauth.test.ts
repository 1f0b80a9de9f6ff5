import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pino from 'pino';
import type { Browser, Page } from 'playwright-core';
import { openDatabase } from '../../core/database/connect.ts';
import { DESK, follow, missingBrowser, openBrowser, openDevice, pageFaults } from '../support/browser.ts';
import { BACK, startCallback, type CallbackApp } from '../support/callback.ts';
import { createInstance, type Instance, type Served } from '../support/civic.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** One story: each step begins where the one before ended. */
describe('A user who connects an app, with a browser and a passkey', { skip: missingBrowser() !== null, timeout: 120_000 }, () => {
  let instance: Instance;
  let served: Served;
  let home: string;
  let browser: Browser;
  let page: Page;
  let app: CallbackApp;
  let client: { client_id: string };
  let tokens: { access_token: string; refresh_token: string };
  const complaints: string[] = [];

  before(async () => {
    instance = createInstance({ plugins: { accounts: {}, directory: {}, ratelimit: {}, oauth: {} } }, { ready: true });
    served = await instance.serve();
    home = served.url.replace('127.0.0.1', 'localhost');
    app = await startCallback();
    browser = await openBrowser();
    page = (await openDevice(browser, complaints)).page;
  });
  after(async () => {
    await browser.close();
    app.close();
    await served.stop();
    instance.remove();
  });

  async function readable(): Promise<void> {
    expect(await pageFaults(page), page.url()).to.equal([]);
    await page.setViewportSize(DESK);
  }

  const send = async (path: string, body: Record<string, string>): Promise<any> => (await fetch(home + path, { method: 'POST', body: new URLSearchParams(body) })).json();
  const ask = async (token: string): Promise<number> => (await fetch(`${home}/api/workspaces`, { headers: { authorization: `Bearer ${token}` } })).status;
  const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

  /** Begins an authorization as an app does; returns the verifier. */
  async function authorize(): Promise<string> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({ client_id: client.client_id, response_type: 'code', redirect_uri: app.url, state: 'story', resource: `${home}/api`, scope: 'workspace:read directory:read', code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256' });
    app.arrived = null;
    await page.goto(`${home}/oauth/authorize?${query}`);
    return verifier;
  }

  async function redeem(verifier: string): Promise<void> {
    await page.getByText(BACK).waitFor();
    expect(Object.fromEntries(app.arrived!.searchParams)).to.include({ state: 'story', iss: home });
    tokens = await send('/oauth/token', { grant_type: 'authorization_code', client_id: client.client_id, code: app.arrived!.searchParams.get('code')!, redirect_uri: app.url, code_verifier: verifier });
  }

  it('is sent from the app to a first passkey, to another account, and back to the page that asks', async () => {
    const link = /http:\/\/localhost\S+/.exec(served.output().split('Become the administrator')[1]!)![0];
    await page.goto(link);
    await page.getByLabel('Your name').fill('Ada Example');
    await press('Create the administrator');
    await page.waitForURL(/account\/passkeys$/);
    // Without a port: any port of a loopback address is right later.
    client = await (await fetch(`${home}/oauth/register`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ client_name: 'Field notes', redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' }) })).json() as typeof client;
    await authorize();
    expect(await page.locator('main').innerText()).to.contain('Add your first passkey').and.to.contain('Then you can connect Field notes.');
    await readable();
    await press('Add a passkey');
    await page.waitForURL(/recovery-codes/);
    await readable();
    await follow(page, page.getByRole('link', { name: 'Skip for now and connect Field notes' }));
    expect(await page.textContent('h1')).to.equal('Connect Field notes?');
    await follow(page, page.getByRole('button', { name: 'Use another account' }));
    expect(page.url()).to.match(/\/sign-in\?next=%2Fconnect%2F/);
    expect(await page.textContent('h1')).to.equal('Sign in to connect Field notes');
    await readable();
    await press('Sign in with a passkey');
    await page.waitForURL(/\/connect\//);
    expect(await page.textContent('h1')).to.equal('Connect Field notes?');
    expect(await page.locator('.app').innerText()).to.contain('name not verified').and.to.contain('a program on this computer').and.to.contain('Ada Example');
    await readable();
  });

  it('approves less than was asked for, and the app gets tokens', async () => {
    const verifier = await authorize();
    await page.getByLabel('See the workspace').uncheck();
    await page.locator('input[name=scopes]').first().focus();
    await press('Connect');
    await redeem(verifier);
    expect(await ask(tokens.access_token)).to.equal(403);
    const again = await authorize();
    await press('Connect');
    await redeem(again);
    expect(await ask(tokens.access_token)).to.equal(200);
    tokens = await send('/oauth/token', { grant_type: 'refresh_token', client_id: client.client_id, refresh_token: tokens.refresh_token });
    expect(await ask(tokens.access_token)).to.equal(200);
  });

  it('proves who they are when the last proof is old, and goes on with the same form', async () => {
    const db = await openDatabase({ url: null, dataDir: join(instance.folder, 'data'), pool: 1, log: pino({ level: 'silent' }) });
    await db.write((tx) => tx('accounts_sessions').update({ confirmed_at: null }));
    await db.close();
    const verifier = await authorize();
    await press('Connect');
    await page.getByText('Confirm it’s you').waitFor();
    await press('Confirm with a passkey');
    await redeem(verifier);
    expect(await ask(tokens.access_token)).to.equal(200);
  });

  it('cancels, and the app is told', async () => {
    await authorize();
    await press('Cancel');
    await page.getByText(BACK).waitFor();
    expect(Object.fromEntries(app.arrived!.searchParams)).to.include({ error: 'access_denied', state: 'story', iss: home });
  });

  it('connects a device by its code', async () => {
    const tool = JSON.parse((await instance.civicInProcess('oauth', 'client', 'create', '--name', 'Command line', '--device', '--json')).stdout);
    const begun = await send('/oauth/device', { client_id: tool.client_id, scope: 'workspace:read', resource: `${home}/api` });
    await page.goto(begun.verification_uri);
    await readable();
    await page.getByLabel('Code').fill('wrong');
    await follow(page, page.getByRole('button', { name: 'Continue' }));
    await page.getByText('This code is not known').waitFor();
    await page.getByLabel('Code').fill(begun.user_code.toLowerCase());
    await follow(page, page.getByRole('button', { name: 'Continue' }));
    expect(await page.locator('.device-code').innerText()).to.contain(begun.user_code);
    await readable();
    await follow(page, page.getByRole('button', { name: 'Connect', exact: true }));
    expect(await page.textContent('h1')).to.equal('Command line is connected');
    await readable();
    const device = await send('/oauth/token', { grant_type: DEVICE_GRANT, client_id: tool.client_id, device_code: begun.device_code });
    expect(await ask(device.access_token)).to.equal(200);
  });

  it('sees all that is connected, and disconnects one app', async () => {
    await page.goto(`${home}/account/apps`);
    expect(await page.locator('.things h2').allInnerTexts()).to.equal(['Command line added by the operator', 'Field notes name not verified']);
    expect(await page.locator('.connections > li').count()).to.equal(4);
    await readable();
    await follow(page, page.getByRole('link', { name: 'Disconnect Field notes' }).first());
    await readable();
    await follow(page, page.getByRole('button', { name: 'Disconnect' }));
    await page.getByText('The app is disconnected').waitFor();
    expect(await ask(tokens.access_token)).to.equal(401);
    expect(await page.locator('.connections > li').count()).to.equal(3);
    await page.goto(`${home}/account`);
    expect(await page.locator('main').innerText()).to.contain('The app “Command line” was connected.');
  });

  it('is warned of an app that asks to be answered elsewhere', async () => {
    await page.goto(`${home}/oauth/authorize?${new URLSearchParams({ client_id: client.client_id, response_type: 'code', redirect_uri: 'https://evil.example.org/callback', code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' })}`);
    expect(await page.textContent('h1')).to.equal('This app cannot be connected');
    expect(await page.locator('main').innerText()).to.contain('Do not continue');
    await readable();
    expect(complaints).to.equal([]);
  });
});
