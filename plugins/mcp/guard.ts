import type { Boom } from '@hapi/boom';
import type { Request } from '@hapi/hapi';
import { parseUrl, problem } from 'civic';
import { isIP } from 'node:net';
import type { McpConfig } from './config.ts';

/**
 * Returns a function that finds why a request is to be rejected, or null. A website can make its own name resolve to this
 * server (DNS rebinding), and its script then calls the server with that name as Host. An address cannot be rebound.
 */
export function createGuard(publicUrl: string, { origins, hosts }: McpConfig): (request: Request) => Boom | null {
  const own = new URL(publicUrl);
  const allowedHosts = new Set([own.hostname, 'localhost', ...hosts]);
  const allowedOrigins = new Set([own.origin, ...origins.map((origin) => (origin === '*' ? origin : new URL(origin).origin))]);

  return ({ headers }) => {
    const host = hostOf(String(headers['host'] ?? ''));
    if (host === null || !(allowedHosts.has(host) || isIP(host) !== 0)) {
      return problem('host_refused', { detail: `The Host header names ${shown(headers['host'])}, but this instance is ${own.host}.` });
    }
    const origin = headers['origin'] as string | undefined;
    const isLocal = isLoopback(own.hostname) && isLoopback(parseUrl(origin ?? '')?.hostname);
    if (origin !== undefined && !isLocal && !allowedOrigins.has('*') && !allowedOrigins.has(origin)) {
      return problem('website_refused', { detail: `The request was sent by a script of ${shown(origin)}.` });
    }
    return null;
  };
}

/** What runs on the same machine may call a server that is there for this machine only. */
function isLoopback(hostname: string | undefined): boolean {
  return hostname !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** The name or address without port and brackets. */
function hostOf(header: string): string | null {
  return parseUrl(`http://${header}`)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? null;
}

function shown(value: unknown): string {
  return String(value).slice(0, 100);
}
