import type { Check, CheckResult, FetchResponse } from 'civic';
import { RESOURCE_PATH, SERVER_PATH } from './metadata.ts';
import type { Oauth } from './service.ts';

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/** What `doctor` checks of OAuth. */
export function oauthChecks({ civic, keys }: Oauth): Check[] {
  return [
    { name: 'public address', run: async () => checkAddress(civic.instance.public_url) },
    { name: 'from outside', run: () => checkFromOutside(civic) },
    { name: 'signing keys', run: () => keys.check() },
  ];
}

/** Clients send users and codes to this address: RFC 9700 demands https, except on the user's own machine. */
function checkAddress(publicUrl: string): CheckResult {
  const { protocol, hostname } = new URL(publicUrl);
  const isLocal = LOCAL.includes(hostname);
  if (protocol === 'https:') return { status: 'ok', detail: `apps connect to ${publicUrl}` };
  if (isLocal) return { status: 'ok', detail: `only apps on this machine can connect to ${publicUrl}` };
  return { status: 'warning', detail: `${publicUrl} is plain http: most apps refuse to connect, and tokens can be read on the way`, fix: 'set public_url to an https address; docs/operating.md shows how to set up a proxy' };
}

/** What an app reads and opens first, and how it knows that it has reached this instance. */
function probes({ instance, url }: Oauth['civic']): { url: string; fault(response: FetchResponse): string | null }[] {
  const { origin, pathname } = new URL(instance.public_url);
  const base = pathname.replace(/\/$/, '');
  const names = (member: string, expected: string) => (response: FetchResponse): string | null => {
    const found = response.status === 200 ? (response.json() as Record<string, unknown>)[member] : undefined;
    return response.status !== 200 ? `responds with ${response.status}` : found === expected ? null : `names ${String(found)} as ${member}, not ${expected}`;
  };
  return [
    { url: `${origin}${SERVER_PATH}${base}`, fault: names('issuer', url('')) },
    { url: `${origin}${RESOURCE_PATH}${base}/api`, fault: names('resource', url('/api')) },
    // Without parameters it shows an error; a redirect would lose the parameters of an app.
    { url: url('/oauth/authorize'), fault: ({ status }) => (status === 400 ? null : `responds with ${status}`) },
  ];
}

/** Requests the addresses of an app from outside. */
async function checkFromOutside(civic: Oauth['civic']): Promise<CheckResult> {
  if (LOCAL.includes(new URL(civic.instance.public_url).hostname)) return { status: 'ok', detail: 'not requested: the public address is this machine' };
  const fix = 'a proxy must forward /oauth/ and /.well-known/ to this server without redirects, also when public_url has a path; then run bin/civic doctor again';
  for (const { url, fault } of probes(civic)) {
    try {
      const found = fault(await civic.fetch(url, { timeout_seconds: 10, max_redirects: 0 }));
      if (found !== null) return { status: 'warning', detail: `${url} ${found}`, fix };
    } catch (error) {
      return { status: 'warning', detail: `${url} cannot be requested: ${(error as Error).message}`, fix };
    }
  }
  return { status: 'ok', detail: `metadata and authorization respond at ${civic.instance.public_url}` };
}
