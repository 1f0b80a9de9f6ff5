import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Route = (request: IncomingMessage, response: ServerResponse) => void;

/** A web site on this machine whose pages a test changes. */
export interface Site {
  url: string;
  requests: { path: string; at: number; headers: IncomingMessage['headers'] }[];
  routes: Record<string, Route>;
  close(): Promise<void>;
}

export async function openSite(host = '127.0.0.1'): Promise<Site> {
  const server = createServer((request, response) => {
    site.requests.push({ path: request.url!, at: performance.now(), headers: request.headers });
    const route = site.routes[request.url!];
    if (route) return route(request, response);
    response.writeHead(404).end();
  });
  const site: Site = { url: '', requests: [], routes: {}, close: async () => { server.closeAllConnections(); await new Promise((done) => { server.close(done); }); } };
  // An attempt to open a WebSocket is a request, too.
  server.on('upgrade', (request, socket) => { site.requests.push({ path: request.url!, at: performance.now(), headers: request.headers }); socket.destroy(); });
  await new Promise<void>((done) => { server.listen(0, host, done); });
  site.url = `http://${host}:${(server.address() as AddressInfo).port}`;
  return site;
}

export const text = (body: string, headers: Record<string, string> = {}): Route => (_request, response) => { response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(body); };
