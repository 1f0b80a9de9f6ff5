import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts a proxy that adds a token to requests, because the suite cannot send one. */
export async function proxyWithToken(url: string, token: string): Promise<{ server: Server; url: string }> {
  const { hostname, port } = new URL(url);
  const server = createServer((req, res) => {
    const passed = request({ hostname, port, method: req.method, path: req.url, headers: { ...req.headers, authorization: `Bearer ${token}` } }, (response) => {
      res.writeHead(response.statusCode!, response.headers);
      response.pipe(res);
    });
    passed.on('error', () => res.destroy());
    req.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
