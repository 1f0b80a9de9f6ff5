import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createNames } from './names.ts';
import { html, type Planted, type Site, type Writer } from './site.ts';
import { addTraps, type Traps } from './traps.ts';

/** Sites on this machine, as those of a town: a city, groups and schools, and one that has all that crawlers must survive. */
export interface Web {
  sites: Site[];
  seeds: string[];
  planted: Planted[];
  /** Null without traps. */
  traps: Traps | null;
  close(): Promise<void>;
}

const ORGANIZATIONS = ['Riverbend Tenants Union', 'Gladstone Housing Coalition', 'Northland School District', 'Clay County Public Library'];
const COMMITTEES = ['Finance', 'Housing', 'Transit', 'Parks', 'Budget', 'Public Safety', 'Zoning', 'Ethics', 'Youth', 'Water', 'Elections', 'Arts'];
const DEPARTMENTS = ['Planning', 'Public Works', 'Permits', 'Health', 'Records', 'Outreach', 'Legal', 'Grants', 'Facilities', 'Communications', 'Training', 'Volunteers'];
const TITLES = ['Executive Director', 'Deputy Director', 'Lead Organizer', 'Program Manager', 'Policy Analyst', 'Communications Director', 'Office Manager', 'Staff Attorney'];
const OFFICES = ['President', 'Vice President', 'Treasurer', 'Secretary', 'Member', 'Member'];
const PARTNERS = ['Missouri Fair Housing Alliance', 'Kansas City Food Bank', 'Northland Neighborhoods Inc.', 'Legal Aid Foundation', 'Midwest Transit Institute', 'Clay County Historical Society', 'United Way of Gladstone', 'Heartland Housing Trust'];
const ARTICLES = 16;

/** Each town is a site of about fifty pages. Without traps all pages are within the limits of a deep run, so that it finds the same each time. */
export async function openWeb({ hasTraps, towns = ORGANIZATIONS.length, delayMs = 0 }: { hasTraps: boolean; towns?: number; delayMs?: number }): Promise<Web> {
  const sites: Site[] = [];
  const planted: Planted[] = [];
  const names = createNames();
  const servers: Server[] = [];
  const open = async (): Promise<Site> => {
    const site: Site = { origin: '', pages: new Map(), requests: [] };
    sites.push(site);
    const server = createServer((request, response) => { setTimeout(() => { respond(site, request, response); }, delayMs); });
    await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
    servers.push(server);
    site.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return site;
  };
  const writerOf = (site: Site): Writer => {
    const plant: Writer['plant'] = (type, name, path, by) => {
      planted.push({ type, name, url: site.origin + path, by });
      return name;
    };
    return { site, plant, person: (path, by) => plant('person', names(), path, by) };
  };
  for (const [at, name] of ORGANIZATIONS.slice(0, towns).entries()) addTown(writerOf(await open()), name, PARTNERS.slice(at * 2, at * 2 + 2));
  const traps = hasTraps ? addTraps(writerOf(await open()), await open()) : null;
  return {
    sites, planted, traps, seeds: sites.map(({ origin }) => `${origin}/`),
    async close() {
      await Promise.all(servers.map((server) => {
        server.closeAllConnections();
        return new Promise((done) => { server.close(done); });
      }));
    },
  };
}

function respond({ pages, requests }: Site, request: IncomingMessage, response: ServerResponse): void {
  requests.push(request.url!);
  const page = pages.get(new URL(request.url!, 'http://site').pathname);
  if (page === undefined) return void response.writeHead(404, { 'content-type': 'text/html' }).end('<p>There is no such page.</p>');
  if (typeof page === 'function') return page(request, response);
  response.writeHead(200, { 'content-type': request.url!.endsWith('.xml') ? 'application/xml' : 'text/html; charset=utf-8' }).end(page);
}

const slug = (text: string): string => text.toLowerCase().replaceAll(' ', '-');

/** The pages of one organization: about fifty. */
function addTown(writer: Writer, organization: string, partners: string[]): void {
  const { pages, origin } = writer.site;
  const identity = `<meta property="og:site_name" content="${organization}"><link rel="alternate" type="application/rss+xml" href="/feed.xml">`;
  const page = (path: string, title: string, body: string, head = ''): void => { pages.set(path, html(title, body, identity + head)); };
  pages.set('/robots.txt', (_request, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nDisallow: /internal/'));
  page('/', organization, `<p>The ${writer.plant('organization', organization, '/', 'structured')} serves Gladstone, Missouri.</p><a href="/internal/roster">Members of the staff</a>`,
    `<script type="application/ld+json">${JSON.stringify({ '@context': 'https://schema.org', '@type': 'Organization', name: organization, url: `${origin}/` })}</script>`);
  page('/about', `About the ${organization}`, '<p>It was founded in Gladstone to serve everybody who lives here. Its meetings are open.</p>');
  pages.set('/internal/roster', html('Roster', '<ul class="staff"><li><h3>Hidden Fallbrook</h3><p>Director</p></li></ul>'));
  page('/staff', 'Our staff', `<ul class="staff">${TITLES.map((title) => `<li><h3>${writer.person('/staff', 'list')}</h3><p>${title}</p></li>`).join('')}</ul>`);
  page('/board', 'Board of directors', table(writer, '/board', OFFICES));
  addList(page, '/committees', 'Committees', COMMITTEES, (path, name) => page(path, `${name} Committee`, table(writer, path, OFFICES.slice(0, 4))));
  addList(page, '/departments', 'Departments', DEPARTMENTS, (path, name) => page(path, `${name} Department`, `<div class="team-member"><h3>${writer.person(path, 'list')}</h3><p>Department Director</p></div><div class="team-member"><h3>${writer.person(path, 'list')}</h3><p>Program Manager</p></div>`));
  page('/partners', 'Our partners', `<p>The coalition has these members.</p><ul>${partners.map((name) => `<li><a href="https://partner.invalid/${slug(name)}">${writer.plant('organization', name, '/partners', /Bank|Way/.test(name) ? 'words' : 'list')}</a></li>`).join('')}</ul>`);
  page('/calendar', 'Calendar', '<p>Everybody is welcome.</p>' + [1, 2].map((at) => event(writer, `${organization} town hall ${at}`)).join(''));
  addNews(writer, page);
}

type AddPage = (path: string, title: string, body: string, head?: string) => void;

function addList(page: AddPage, path: string, title: string, names: string[], add: (path: string, name: string) => void): void {
  page(path, title, `<ul>${names.map((name) => `<li><a href="${path}/${slug(name)}">${name}</a></li>`).join('')}</ul>`);
  for (const name of names) add(`${path}/${slug(name)}`, name);
}

function table(writer: Writer, path: string, offices: string[]): string {
  return `<table><tr><th>Name</th><th>Office</th><th>Term ends</th></tr>${offices.map((office, at) => `<tr><td>${writer.person(path, 'table')}</td><td>${office}</td><td>${2027 + at}</td></tr>`).join('')}</table>`;
}

function event(writer: Writer, name: string): string {
  writer.plant('event', name, '/calendar', 'structured');
  return `<div itemscope itemtype="https://schema.org/Event"><h3 itemprop="name">${name}</h3><time itemprop="startDate" datetime="2027-03-0${name.slice(-1)}T18:00:00-06:00">March 2027</time></div>`;
}

function addNews(writer: Writer, page: AddPage): void {
  const { pages, origin } = writer.site;
  const paths = Array.from({ length: ARTICLES }, (_, at) => `/news/${at + 1}`);
  page('/news', 'News', paths.map((path) => `<p><a href="${path}">Article ${path.slice(6)}</a></p>`).join(''));
  for (const path of paths) page(path, `Article ${path.slice(6)}`, `<p>The hearing lasted two hours. “We will be back,” said ${writer.person(path, 'words')}, who has rented here for nine years. No vote was taken.</p>`);
  pages.set('/feed.xml', `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>${origin}/</link>${paths.map((path) => `<item><title>Article ${path.slice(6)}</title><link>${origin}${path}</link></item>`).join('')}</channel></rss>`);
  pages.set('/sitemap.xml', `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${['/staff', '/board', '/internal/roster'].map((path) => `<url><loc>${origin}${path}</loc></url>`).join('')}</urlset>`);
}
