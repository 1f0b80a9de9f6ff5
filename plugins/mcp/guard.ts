import type { Boom } from '@hapi/boom';
import type { Request } from '@hapi/hapi';
import { isLoopbackHost, parseUrl, problem } from 'civic';
import { isIP } from 'node:net';
import type { McpConfig } from './config.ts';

/**
 * Returns a function that returns the problem of a request from another website, or null. DNS rebinding: a website makes its own
 * name resolve to this server, and its script calls the server with that name as Host. An IP address as Host cannot be rebound.
 */
export function createGuard(publicUrl: string, { origins, hosts }: McpConfig): (request: Request) => Boom | null {
  const own = new URL(publicUrl);
  const allowedHosts = new Set([own.hostname, 'localhost', ...hosts.map((host) => host.toLowerCase())]);
  const allowedOrigins = new Set([own.origin, ...origins.map((origin) => (origin === '*' ? origin : new URL(origin).origin))]);

  return ({ headers, info }) => {
    const host = withoutBrackets(info.hostname.toLowerCase());
    if (!allowedHosts.has(host) && isIP(host) === 0) {
      return problem('host_refused', { detail: `The Host header names ${shown(headers['host'])}, but this instance is ${own.host}.` });
    }
    const origin = headers['origin'] as string | undefined;
    if (origin === undefined) return null;
    // A script of this machine may call an instance that serves this machine only.
    const isLocal = isLoopbackHost(own.hostname) && isLoopbackHost(parseUrl(origin)?.hostname ?? '');
    if (!isLocal && !allowedOrigins.has('*') && !allowedOrigins.has(origin)) {
      return problem('website_refused', { detail: `The request was sent by a script of ${shown(origin)}.` });
    }
    return null;
  };
}

/** Returns an IPv6 address without the brackets that it has in headers and URLs. */
function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

/** Shortens a header of a client for an error text. */
function shown(value: unknown): string {
  return String(value).slice(0, 100);
}
