import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, parseUrl, type Command, type Dialog, type Terminal } from 'civic';
import type { Scout } from './context.ts';
import { form, instanceOf, rejectionOf, request, tokensOf } from './instance.ts';
import { saveSignIn, type SignIn } from './signin.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const SCOPE = 'discovery:read discovery:write offline_access';
const CHECKED = '/api/discovery-runs?limit=1';
const SLOWER_MS = 5000;

export function loginCommand({ civic }: Scout): Command {
  return {
    name: 'login',
    summary: 'Sign in at an instance, to send entries to it',
    arguments: '[url]',
    options: [{ name: 'key', summary: 'Store an API key, which is asked for, instead of signing in with a browser' }],
    examples: ['bin/scout login https://civic.example.org', 'bin/scout login https://civic.example.org --key < key.txt'],
    needs: 'nothing',
    async run({ terminal, dialog, positionals, options }) {
      const url = await addressOf(positionals[0] ?? civic.config.instance.url, dialog!);
      const signIn = options.key ? await keySignIn(url, dialog!) : await deviceSignIn(url, terminal);
      const response = await instanceOf(civic.instance.data_dir, signIn).send('GET', CHECKED);
      if (response.status !== 200) throw new Failure(`${rejectionOf(url, response)}\nNothing was stored.`);
      saveSignIn(civic.instance.data_dir, signIn);
      terminal.print({ url, kind: signIn.kind }, () => `Signed in at ${url}. bin/scout sync sends accepted entries there.`);
    },
  };
}

async function addressOf(given: string | null, dialog: Dialog): Promise<string> {
  const text = given ?? await dialog.text({ text: 'The address of the instance:', instead: 'the address, as in bin/scout login https://civic.example.org' });
  const url = parseUrl(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '') throw new Failure(`"${text}" is not the address of an instance, such as https://civic.example.org`);
  return url.href.replace(/[/#]+$/, '');
}

async function keySignIn(url: string, dialog: Dialog): Promise<SignIn> {
  const key = await dialog.secret({ text: 'API key:', instead: 'the key as a line on standard input, as in bin/scout login --key < key.txt' });
  return { url, kind: 'key', key };
}

/** Signs in with the device flow (RFC 8628): the person confirms a code in any browser. */
async function deviceSignIn(url: string, terminal: Terminal): Promise<SignIn> {
  const metadata = await metadataOf(url);
  const client = await request(metadata.registration_endpoint, {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Scout', grant_types: [DEVICE_GRANT, 'refresh_token'], response_types: [], redirect_uris: [], token_endpoint_auth_method: 'none' }),
  });
  if (client.status !== 201) throw new Failure(`${url} does not register this program (${client.status}). Sign in with bin/scout login --key.`);
  const client_id = String(client.body.client_id);
  const begun = await request(metadata.device_authorization_endpoint, form({ client_id, scope: SCOPE, resource: `${url}/api` }));
  if (begun.status !== 200) throw new Failure(rejectionOf(url, begun));
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval = 5 } = begun.body as Record<string, string | number>;
  terminal.err(`Open ${verification_uri} in a browser and enter the code ${terminal.style('bold', String(user_code))}, or open ${verification_uri_complete}`);
  const tokens = await polled(metadata.token_endpoint, { client_id, device_code: String(device_code) }, { interval: Number(interval), seconds: Number(expires_in), signal: terminal.signal });
  return tokensOf({ url, client_id, token_endpoint: metadata.token_endpoint }, tokens);
}

interface Metadata {
  registration_endpoint: string;
  device_authorization_endpoint: string;
  token_endpoint: string;
}

async function metadataOf(url: string): Promise<Metadata> {
  const { origin, pathname } = new URL(url);
  const { status, body } = await request(`${origin}/.well-known/oauth-authorization-server${pathname === '/' ? '' : pathname}`);
  const metadata = body as unknown as Metadata;
  if (status !== 200 || !metadata.registration_endpoint || !metadata.device_authorization_endpoint) throw new Failure(`${url} has no sign-in for programs (the plugin oauth). Sign in with bin/scout login --key.`);
  return metadata;
}

/** Asks for tokens until the person has confirmed or the code has expired. */
async function polled(endpoint: string, given: { client_id: string; device_code: string }, { interval, seconds, signal }: { interval: number; seconds: number; signal: AbortSignal }): Promise<Record<string, unknown>> {
  const end = Date.now() + 1000 * seconds;
  let waitMs = 1000 * interval;
  while (Date.now() < end) {
    await sleep(waitMs, undefined, { signal }).catch(() => { throw new Failure('Stopped. Nothing was stored.'); });
    const { status, body } = await request(endpoint, form({ grant_type: DEVICE_GRANT, ...given }));
    if (status === 200) return body;
    if (body.error === 'slow_down') waitMs += SLOWER_MS;
    else if (body.error === 'access_denied') throw new Failure('The sign-in was declined in the browser.');
    else if (body.error !== 'authorization_pending') break;
  }
  throw new Failure('The code has expired: run bin/scout login again.');
}
