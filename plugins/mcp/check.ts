import { FetchError, type Check, type CheckResult, type Civic } from 'civic';

/** What a client sends first. */
const PROBE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/** Checks that a client that knows only the address of `/mcp` finds the way to sign in: through the proxy, from outside. */
export function endpointCheck({ fetch, url }: Pick<Civic, 'fetch' | 'url'>): Check {
  const address = url('/mcp');
  return {
    name: 'assistants',
    async run() {
      if (['localhost', '127.0.0.1', '[::1]'].includes(new URL(address).hostname)) return { status: 'ok', detail: `${address}, for assistants on this machine only` };
      try {
        const response = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }, body: PROBE });
        return resultOf(address, response.status, response.headers['www-authenticate']);
      } catch (error) {
        if (!(error instanceof FetchError)) throw error;
        return { status: 'warning', detail: `${address} cannot be reached from here: ${error.message}`, fix: 'while the server runs, open it from outside; assistants of others need https and a public address' };
      }
    },
  };
}

export function resultOf(address: string, status: number, challenge: string | undefined): CheckResult {
  const next = 'check that the proxy passes POST /mcp and its response headers on';
  if (status !== 401) return { status: 'failed', detail: `${address} responds to a request without a token with ${status}, not with 401`, fix: next };
  if (!challenge?.includes('resource_metadata=')) return { status: 'failed', detail: `the response of ${address} does not say where to sign in`, fix: `switch the plugin that issues tokens on, and ${next}` };
  return { status: 'ok', detail: `${address} asks for a token` };
}
