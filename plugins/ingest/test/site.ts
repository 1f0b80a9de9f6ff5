import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A web site on this machine whose pages a test changes. */
export interface Site {
  url: string;
  /** By path, without the query. */
  pages: Record<string, string | ((request: IncomingMessage, response: ServerResponse) => void)>;
  requests: string[];
  close(): Promise<void>;
}

export async function openSite(pages: Site['pages'] = {}): Promise<Site> {
  const site: Site = { url: '', pages, requests: [], close };
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://site');
    site.requests.push(request.url!);
    const page = site.pages[url.pathname];
    if (page === undefined) return response.writeHead(404).end();
    if (typeof page === 'function') return page(request, response);
    response.writeHead(200, { 'content-type': typeOf(url.pathname) }).end(page);
  });
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((done) => { server.close(done); });
  }
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return site;
}

function typeOf(path: string): string {
  if (path.endsWith('.ics')) return 'text/calendar';
  if (path.endsWith('.xml')) return 'application/rss+xml';
  return path.startsWith('/v1/') || path.endsWith('.json') ? 'application/json' : 'text/html; charset=utf-8';
}
