import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A site of a group, on this machine, that counts its requests. */
export interface Site {
  url: string;
  requests: Map<string, number>;
  close(): Promise<void>;
}

const STAFF = [['Maria Lopez', 'Executive Director'], ['James Carter', 'Board Chair'], ['Ellen Brooks', 'Treasurer']];

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><title>${title} | Tenants United</title><meta property="og:site_name" content="Tenants United"></head><body><main><h1>Tenants United of Kansas City</h1>${body}</main></body></html>`;
}

/** Starts the site. `/about` names three people, `/members/1` and so on link to each other, and robots.txt excludes `/private`. */
export async function startSite({ members = 0, delayMs = 0 } = {}): Promise<Site> {
  const requests = new Map<string, number>();
  const links = Array.from({ length: members }, (_, at) => `<a href="/members/${at + 1}">Member ${at + 1}</a>`).join(' ');
  const server: Server = createServer((request, response) => {
    const path = request.url!;
    requests.set(path, (requests.get(path) ?? 0) + 1);
    const send = (status: number, type: string, body: string) => { response.writeHead(status, { 'content-type': type }).end(body); };
    if (path === '/robots.txt') return send(200, 'text/plain', 'User-agent: *\nDisallow: /private\n');
    if (path === '/about') return send(200, 'text/html', page('About', `<p>Tenants United is a coalition of renters in Kansas City, Missouri.</p><h2>Staff</h2><ul>${STAFF.map(([name, title]) => `<li><h3>${name}</h3><p>${title}</p></li>`).join('')}</ul>${links}`));
    if (path === '/private') return send(200, 'text/html', page('Private', '<h2>Staff</h2><ul><li><h3>Nora Quinn</h3><p>Secretary</p></li><li><h3>Owen Price</h3><p>Clerk</p></li></ul>'));
    if (/^\/members\/\d+$/.test(path)) return void setTimeout(() => { send(200, 'text/html', page(`Member ${path}`, `<p>Renters of Kansas City meet here. ${'They talk about rents. '.repeat(20)}</p>`)); }, delayMs);
    send(404, 'text/html', page('Not found', '<p>Not found</p>'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Settings with which scout reads such a site. */
export const LOCAL = { SCOUT_SCRAPER_ALLOW_PRIVATE_ADDRESSES: 'true', SCOUT_SCRAPER_REQUEST_DELAY_MS: '0' };
