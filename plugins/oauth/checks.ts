import { basePathOf, isLoopbackHost, reachAdvice, type Check, type CheckResult, type FetchResponse } from 'civic';
import { RESOURCE_PATH, SERVER_PATH } from './metadata.ts';
import type { Oauth } from './service.ts';

/** Returns the checks of `doctor`. */
export function oauthChecks({ civic, keys }: Oauth): Check[] {
  return [
    { name: 'public address', run: async () => checkAddress(civic.instance.public_url) },
    { name: 'from outside', run: () => checkFromOutside(civic) },
    { name: 'signing keys', run: () => keys.check() },
  ];
}

/** Checks the scheme: clients send users and codes to this address, and RFC 9700 requires https except on the user's own machine. */
function checkAddress(publicUrl: string): CheckResult {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'https:') return { status: 'ok', detail: `apps connect to ${publicUrl}` };
  if (isLoopbackHost(hostname)) return { status: 'ok', detail: `only apps on this machine can connect to ${publicUrl}` };
  return {
    status: 'warning', detail: `${publicUrl} is plain http: most apps refuse to connect, and the network can read tokens`,
    fix: 'set public_url to an https address; docs/operating.md shows how to set up a proxy',
  };
}

/** An address that every app requests, and the test that the response is from this instance. */
interface Probe {
  url: string;
  /** Returns what is wrong with the response; null when it is as expected. */
  faultOf(response: FetchResponse): string | null;
}

function probes({ instance, url }: Oauth['civic']): Probe[] {
  const { origin } = new URL(instance.public_url);
  const base = basePathOf(instance.public_url);
  return [
    { url: `${origin}${SERVER_PATH}${base}`, faultOf: expectMember('issuer', url('')) },
    { url: `${origin}${RESOURCE_PATH}${base}/api`, faultOf: expectMember('resource', url('/api')) },
    // Without parameters the response is an error page. A proxy that redirects would drop the parameters of an app.
    { url: url('/oauth/authorize'), faultOf: ({ status }) => (status === 400 ? null : `responds with ${status}`) },
  ];
}

function expectMember(member: string, expected: string): Probe['faultOf'] {
  return (response) => {
    if (response.status !== 200) return `responds with ${response.status}`;
    const found = (response.json() as Record<string, unknown>)[member];
    return found === expected ? null : `has the ${member} ${String(found)}, not ${expected}`;
  };
}

/** Requests the addresses as an app does, through the proxy. */
async function checkFromOutside(civic: Oauth['civic']): Promise<CheckResult> {
  const { public_url: publicUrl } = civic.instance;
  if (isLoopbackHost(new URL(publicUrl).hostname)) return { status: 'ok', detail: 'not requested: the public address is this machine' };
  const fix = 'let the proxy forward /oauth/ and /.well-known/ to this server without redirects, also when public_url has a path; then run bin/civic doctor again';
  for (const { url, faultOf } of probes(civic)) {
    try {
      const fault = faultOf(await civic.fetch(url, { timeout_seconds: 10, max_redirects: 0 }));
      if (fault !== null) return { status: 'warning', detail: `${url} ${fault}`, fix };
    } catch (error) {
      return { status: 'warning', detail: `${url} cannot be requested from this machine`, fix: reachAdvice(error) };
    }
  }
  return { status: 'ok', detail: `metadata and authorization respond at ${publicUrl}` };
}
