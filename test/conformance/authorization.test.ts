import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { testServer, type TestServer } from '../../core/testing.ts';
import { freePort } from '../../core/testing/port.ts';
import { approve, createBrowser, openConsent, runCommand, type Browser } from '../../plugins/oauth/test/kit.ts';

export const notQuick = 'it runs the conformance suite';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

const SUITE = join(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'), '../dist/index.js');
const GLOB = pathToFileURL(join(import.meta.dirname, '../support/conformance-glob.js')).href;

/** Runs the command `authorization` of the suite, whose scenarios share one process, and opens the address that it prints. */
async function runSuite(args: string[], open: (address: URL) => Promise<unknown>): Promise<string> {
  const child = spawn(process.execPath, ['--import', GLOB, SUITE, 'authorization', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  let isOpened = false;
  let failure: unknown;
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    const address = /^http\S+\/oauth\/authorize\?\S+$/m.exec(output)?.[0];
    if (!address || isOpened) return;
    isOpened = true;
    open(new URL(address)).catch((error: unknown) => {
      failure = error;
      child.kill();
    });
  });
  await once(child, 'close');
  if (failure) throw failure;
  return output;
}

describe('The conformance suite for authorization servers', () => {
  let kit: TestServer;
  let browser: Browser;
  let issuer: string;
  before(async () => {
    const port = await freePort();
    issuer = `http://127.0.0.1:${port}`;
    kit = await testServer({ listen: true, plugins: ['accounts', 'directory', 'oauth', 'mcp'], config: { public_url: issuer, http: { port } } });
    browser = createBrowser(issuer);
    await browser.follow((await runCommand(kit, 'account create', { name: 'Ada' })).sign_in_link as string);
  });
  after(() => kit.close());

  /** Connects the app on the consent page, and goes back to the suite. */
  async function connect({ pathname, search }: URL): Promise<void> {
    const { path, page } = await openConsent(browser, { address: pathname + search });
    const [, workspace] = /name="workspace" value="([^"]+)"/.exec(page.text)!;
    await fetch(await approve(browser, path, { workspace: workspace!, scopes: ['directory:read'] }));
  }

  it('passes every scenario, with a client that registered itself', async () => {
    const port = await freePort();
    const { client_id } = await (await fetch(`${issuer}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Suite', redirect_uris: [`http://127.0.0.1:${port}/callback`], token_endpoint_auth_method: 'none' }),
    })).json() as { client_id: string };
    const output = await runSuite(['--url', issuer, '--client-id', client_id, '--resource', `${issuer}/mcp`, '--port', String(port)], connect);
    expect(output).to.include('✓ authorization-server-metadata-endpoint: 2 passed, 0 failed').and.to.include('✓ authorization-code-grant: 1 passed, 0 failed').and.to.include('Total: 3 passed, 0 failed');
  });
});
