import { definePlugin, type Caller } from 'civic';
import { testServer, type TestResponse, type TestServer, type TestServerOptions } from 'civic/testing';
import site from '../index.ts';

export const EDITOR: Caller = {
  account_id: '01890000-0000-7000-8000-000000000001', via: 'key', scope: ['directory:read', 'entities:write'], role: 'reviewer', plan: 'team', capabilities: [],
  workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member',
};

/** A replacement for the plugin accounts: a request with the header `x-editor` is signed in. */
const editors = definePlugin({
  name: 'editors',
  summary: 'A signed-in editor for tests',
  paths: { '/desk': { audience: 'people', crawlers: false } },
  register(_server, civic) { civic.identify((request) => (request.headers['x-editor'] ? EDITOR : null)); },
});

export interface SiteKit extends TestServer {
  /** Opens a page. */
  open(path: string, headers?: Record<string, string>): Promise<TestResponse>;
  /** Creates a public entry with a website as its source, and returns its id. */
  add(claims: Record<string, unknown>, type?: string): Promise<string>;
  /** Creates an entry that only its workspace may see. */
  addPrivate(claims: Record<string, unknown>): Promise<string>;
}

/** Returns the text of a page with plain addresses in its links. */
export function plainText(html: string): string {
  return html.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
}

/** Returns the links of a page, each with the count behind it. */
export function linksOf(text: string): { href: string; name: string; count: number | null }[] {
  return [...text.matchAll(/<a [^>]*?href="([^"]+)"[^>]*>(.*?)<\/a>(?: <span class="count">([\d,]+)<)?/g)].map(([, href, name, count]) => ({
    href: plainText(href!), name: name!.replaceAll(/<[^>]+>/g, '').trim(), count: count === undefined ? null : Number(count.replaceAll(',', '')),
  }));
}

export async function siteKit(options: TestServerOptions = {}): Promise<SiteKit> {
  const kit = await testServer({ ...options, plugins: ['directory', site, editors, ...options.plugins ?? []] });
  const create = async (claims: Record<string, unknown>, type: string, visibility: string): Promise<string> => {
    const payload = {
      type, visibility, sources: [{ local_id: 's', url: 'https://tenants.example/about', title: 'About us', publication: 'Tenants Union' }],
      claims: Object.entries(claims).flatMap(([property, value]) => (Array.isArray(value) ? value : [value]).map((one) => ({ property, value: one, source_local_id: 's', excerpt: `The page has ${JSON.stringify(one)} here.` }))),
    };
    const response = await kit.request('POST', '/api/entities', { payload, headers: { 'x-editor': 'yes' } });
    if (response.status !== 201) throw new Error(response.text);
    return String(response.body.id);
  };
  return Object.assign(kit, {
    open: (path: string, headers: Record<string, string> = {}) => kit.request('GET', path, { headers: { accept: 'text/html', ...headers } }),
    add: (claims: Record<string, unknown>, type = 'organization') => create(claims, type, 'public'),
    addPrivate: (claims: Record<string, unknown>) => create(claims, 'organization', 'workspace'),
  });
}
