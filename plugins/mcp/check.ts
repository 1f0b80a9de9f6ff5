import { FetchError, isLoopbackHost, reachAdvice, type Check, type CheckResult, type Civic, type FetchOptions } from 'civic';

/** A request without a token, as a client sends it first. */
const PROBE: FetchOptions = {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
};

/** Checks that a client that knows only the address of `/mcp` finds the authorization server: from outside, through the proxy. */
export function endpointCheck({ fetch, url, assistant }: Pick<Civic, 'fetch' | 'url' | 'assistant'>, { hasOauth }: { hasOauth: boolean }): Check {
  const address = url('/mcp');
  return {
    name: 'assistants',
    async run() {
      if (!hasOauth) {
        return {
          status: 'warning', detail: `${address} accepts access tokens only, and the plugin oauth is off: only bin/civic mcp stdio works`,
          fix: 'add "oauth:" to "plugins:" in the config file',
        };
      }
      if (assistant.tools.size === 0) {
        return { status: 'warning', detail: `${address} has no tools`, fix: 'add "directory:" to "plugins:" in the config file, or a plugin that declares tools' };
      }
      if (isLoopbackHost(new URL(address).hostname)) return { status: 'ok', detail: `not requested: only assistants on this machine can connect to ${address}` };
      try {
        const { status, headers } = await fetch(address, PROBE);
        return resultOf(address, status, headers['www-authenticate']);
      } catch (error) {
        if (!(error instanceof FetchError)) throw error;
        return { status: 'warning', detail: `${address} cannot be requested from this machine`, fix: reachAdvice(error) };
      }
    },
  };
}

export function resultOf(address: string, status: number, challenge: string | undefined): CheckResult {
  const fixProxy = 'check that the proxy forwards POST /mcp and its response headers';
  if (status !== 401) return { status: 'failed', detail: `${address} responds to a request without a token with ${status}, not with 401`, fix: fixProxy };
  if (!challenge?.includes('resource_metadata=')) {
    return { status: 'failed', detail: `the response of ${address} does not name an authorization server`, fix: `add the plugin oauth to the config file, and ${fixProxy}` };
  }
  return { status: 'ok', detail: `${address} requires a token and names the authorization server` };
}
