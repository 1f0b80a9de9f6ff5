import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { html, type Site, type Writer } from './site.ts';

/** What a run must not do on the site with traps. */
export interface Traps {
  /** Paths that must not be requested: robots.txt forbids them, or they are no pages. */
  forbidden: RegExp;
  /** Names on pages that must not be read, or of which no sentence is shown to people who are not signed in. */
  secretNames: string[];
  /** Why pages were skipped, by path. */
  reasons: Record<string, string>;
}

const TRICKLE_MS = 100;
const MB = 1_048_576;

/** A page with one person, under a name that must not become a candidate. */
const secret = (name: string): string => html('Members', `<ul class="staff"><li><h3>${name}</h3><p>Executive Director</p></li></ul>`);
const type = (value: string) => ({ 'content-type': value });

/** Adds pages that loop, never end, unpack without end, break off, lie about their charset, or are not for crawlers; and a site that asks for a pause. */
export function addTraps(writer: Writer, busy: Site): Traps {
  const { pages, origin } = writer.site;
  const text = (value: string) => (_request: unknown, response: ServerResponse): void => void response.writeHead(200, type('text/plain')).end(value);
  pages.set('/robots.txt', text('User-agent: *\nDisallow: /private/\nDisallow: /*print='));

  pages.set('/private/staff', secret('Private Harbinger'));
  pages.set('/to-private', (_request, response) => void response.writeHead(302, { location: '/private/board' }).end());
  pages.set('/private/board', secret('Privacy Harbinger'));
  pages.set('/members-only/staff', html('Sign in', '<p>Please sign in to see this page.</p><form method="post" action="/session"><input name="user"><input type="password" name="password"><button>Sign in</button></form>'));
  pages.set('/login', secret('Login Harbinger'));
  pages.set('/logout', secret('Logout Harbinger'));

  pages.set('/months', (request, response) => {
    const month = Number(new URL(request.url!, origin).searchParams.get('month') ?? 0);
    response.writeHead(200, type('text/html')).end(html(`Month ${month}`, `<a href="/months?month=${month + 1}">Next month</a> <a href="/months?month=${month - 1}">Last month</a> <a href="/months?month=${month}&print=1">Print</a>`));
  });
  pages.set('/loop/', html('Committees', '<a href="board/board/board/">Board</a>'));
  pages.set('/circle', (_request, response) => void response.writeHead(301, { location: '/circle' }).end());
  pages.set('/huge/staff', (_request, response) => {
    response.writeHead(200, type('text/html'));
    send(response, Buffer.alloc(MB, '<p>word '), 40);
  });
  pages.set('/bomb/staff', (_request, response) => void response.writeHead(200, { ...type('text/html'), 'content-encoding': 'gzip' }).end(BOMB));
  pages.set('/slow/staff', (_request, response) => {
    response.writeHead(200, type('text/html'));
    const timer = setInterval(() => response.write('<p>'), TRICKLE_MS);
    response.on('close', () => { clearInterval(timer); });
  });
  pages.set('/cut/staff', (_request, response) => {
    response.writeHead(200, { ...type('text/html'), 'content-length': 5000 });
    response.write(secret('Half Harbinger'), () => { response.destroy(); });
  });
  pages.set('/headers/staff', (_request, response) => void response.writeHead(200, { ...type('text/html'), 'x-large': 'x'.repeat(200_000) }).end('large'));
  pages.set('/broken/staff', (_request, response) => void response.writeHead(500, type('text/html')).end(secret('Broken Harbinger')));
  pages.set('/nested/staff', '<div>'.repeat(100_000));
  pages.set('/empty/staff', '');
  pages.set('/binary/staff', (_request, response) => void response.writeHead(200, type('text/html')).end(Buffer.alloc(100_000, Buffer.from([0, 255, 254, 1]))));

  const latin = writer.plant('person', 'José Núñez', '/latin/staff', 'list');
  pages.set('/latin/staff', (_request, response) => void response.writeHead(200, type('text/html')).end(Buffer.from(html('Staff', `<ul class="staff"><li><h3>${latin}</h3><p>Executive Director</p></li></ul>`, '<meta charset="iso-8859-1">'), 'latin1')));
  const wrong = writer.plant('person', 'María Peña', '/wrong/staff', 'list');
  pages.set('/wrong/staff', (_request, response) => void response.writeHead(200, type('text/html; charset=utf-8')).end(Buffer.from(html('Staff', `<ul class="staff"><li><h3>${wrong}</h3><p>Executive Director</p></li></ul>`), 'latin1')));

  busy.pages.set('/', html('Busy', '<p>Come later.</p>'));
  for (const path of ['/about', '/staff', '/board']) busy.pages.set(path, (_request, response) => void response.writeHead(429, { 'retry-after': '7200' }).end());

  const linked = [...pages.keys()].filter((path) => path !== '/robots.txt');
  pages.set('/', html('Traps', `${linked.map((path) => `<a href="${path}">${path}</a>`).join(' ')} <a href="/photo.jpg">Photo of the board</a> <a href="mailto:board@traps.example">Board</a> <a href="javascript:board()">Board</a> <a href="ftp://127.0.0.1/board">Board</a>`));
  return {
    forbidden: /^\/(?:private|login|logout|photo)|print=|board\/board/,
    secretNames: ['Private Harbinger', 'Privacy Harbinger', 'Login Harbinger', 'Logout Harbinger', 'Half Harbinger', 'Broken Harbinger', 'Hidden Fallbrook'],
    reasons: {
      '/private/staff': 'robots', '/to-private': 'robots', '/members-only/staff': 'login_wall', '/huge/staff': 'too_large', '/bomb/staff': 'too_large', '/slow/staff': 'too_slow', '/cut/staff': 'bad_response',
      '/headers/staff': 'bad_response', '/broken/staff': 'http_status', '/circle': 'too_many_redirects',
    },
  };
}

/** 200 MB of spaces. */
const BOMB = gzipSync(Buffer.alloc(200 * MB, ' '));

/** Sends a block many times, as fast as it is read. */
function send(response: ServerResponse, block: Buffer, times: number): void {
  if (times === 0 || response.destroyed) return void response.end();
  response.write(block, () => { send(response, block, times - 1); });
}
