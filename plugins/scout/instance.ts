import { Failure } from 'civic';
import { readSignIn, saveSignIn, type SignIn } from './signin.ts';

const TIMEOUT_MS = 60_000;
/** A token that expires so soon is renewed before a request. */
const EARLY_MS = 30_000;

export interface InstanceResponse {
  status: number;
  body: Record<string, unknown>;
  retryAfterMs: number | null;
}

/** The API of an instance for this machine. */
export interface Instance {
  url: string;
  send(method: 'GET' | 'POST', path: string, body?: string): Promise<InstanceResponse>;
}

/** Requests an address that the person chose: their own instance, which may be on this machine or at home, so it is not checked as addresses of pages are. */
export async function request(url: string, init: RequestInit = {}): Promise<InstanceResponse> {
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    const seconds = Number(response.headers.get('retry-after'));
    return { status: response.status, body: parsed(text), retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? 1000 * seconds : null };
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error };
    throw new Failure(`${new URL(url).origin} cannot be reached (${cause?.message ?? message}). Check the address with bin/scout config get instance.url, and that the instance runs.`, { cause: error });
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

export function form(values: Record<string, string>): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: new URLSearchParams(values).toString() };
}

/** Returns the instance that this machine is signed in at. */
export function signedIn(dataDir: string, configured: string | null): Instance {
  const signIn = readSignIn(dataDir);
  const url = configured?.replace(/\/+$/, '') ?? signIn?.url;
  if (!url) throw new Failure('No instance is chosen: bin/scout login <url> signs in at one.');
  if (!signIn) throw new Failure(`Not signed in at ${url}: bin/scout login signs in, bin/scout login --key stores an API key.`);
  if (signIn.url !== url) throw new Failure(`The sign-in is for ${signIn.url}, but instance.url is ${url}: run bin/scout login again.`);
  return instanceOf(dataDir, signIn);
}

export function instanceOf(dataDir: string, signIn: SignIn): Instance {
  let current = signIn;
  return {
    url: signIn.url,
    async send(method, path, body) {
      if (current.kind === 'token' && current.expires_at - EARLY_MS < Date.now()) current = await renewed(dataDir, current);
      const credential: Record<string, string> = current.kind === 'key' ? { 'x-api-key': current.key } : { authorization: `Bearer ${current.access_token}` };
      return request(current.url + path, { method, headers: { ...credential, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }, body });
    },
  };
}

async function renewed(dataDir: string, signIn: Extract<SignIn, { kind: 'token' }>): Promise<SignIn> {
  if (signIn.refresh_token === null) throw new Failure('The sign-in has expired: run bin/scout login again.');
  const { status, body } = await request(signIn.token_endpoint, form({ grant_type: 'refresh_token', client_id: signIn.client_id, refresh_token: signIn.refresh_token }));
  if (status !== 200) throw new Failure('The sign-in has ended: run bin/scout login again.');
  const next = tokensOf(signIn, body);
  saveSignIn(dataDir, next);
  return next;
}

/** Returns a sign-in with the tokens of a response. */
export function tokensOf(signIn: { url: string; client_id: string; token_endpoint: string; refresh_token?: string | null }, { access_token, refresh_token, expires_in }: Record<string, unknown>): Extract<SignIn, { kind: 'token' }> {
  const { url, client_id, token_endpoint } = signIn;
  return { url, kind: 'token', client_id, token_endpoint, access_token: String(access_token), refresh_token: (refresh_token as string | undefined) ?? signIn.refresh_token ?? null, expires_at: Date.now() + 1000 * Number(expires_in ?? 0) };
}

/** Returns why an instance rejected a request, as a sentence. */
export function rejectionOf(url: string, { status, body }: InstanceResponse): string {
  const detail = typeof body.detail === 'string' ? body.detail : typeof body.title === 'string' ? body.title : `status ${status}`;
  const errors = Array.isArray(body.errors) ? (body.errors as { pointer?: string; detail: string }[]).map((one) => `\n  ${one.pointer ?? ''} ${one.detail}`).join('') : '';
  const advice = status === 401 ? ' Run bin/scout login again.' : '';
  return `${url} rejected the request (${status}): ${detail}${errors}${advice}`;
}
