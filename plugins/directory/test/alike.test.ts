import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock } from 'civic/testing';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KC = 'kansas-city,missouri';
const URL = 'https://example.org/shared';
const CALLERS = ['member', 'stranger', 'reviewer', 'editor', 'reader'];

describe('Public reads of the directory', { timeout: 60_000 }, () => {
  let kit: DirectoryKit;
  let actor: { id: string; slug: string; sources: { id: string }[] };
  let own: { id: string; slug: string; sources: { id: string }[] };
  let lonely: { sources: { id: string }[] };
  before(async () => {
    kit = await directoryKit({ clock: stoppedClock('2026-03-02T12:00:00.000Z') });
    const enter = async (what: Parameters<typeof actorPayload>[0], who: string) => (await kit.send('POST', '/api/entities', actorPayload(what), who)).body;
    actor = await enter({ name: 'Westside Tenants Union', place: KC, issue_area: 'housing_affordability', url: URL }, 'reviewer');
    own = await enter({ name: 'Westside Tenants Union', place: KC, issue_area: 'housing_affordability', visibility: 'workspace', url: URL }, 'member');
    lonely = await enter({ name: 'Secret Garden', visibility: 'workspace', url: 'https://example.org/secret' }, 'member');
  });
  after(() => kit.close());

  /** Every GET that anonymous callers may use, with the paths of what is public. */
  const publicPaths = () => kit.server.table().flatMap(({ method, path, settings }) => {
    const isPublic = method === 'get' && path.startsWith('/api/') && settings.plugins?.civic !== undefined && !(typeof settings.auth === 'object' && settings.auth.mode === 'required');
    if (!isPublic || settings.plugins!.civic!.internal) return [];
    const id = path.includes('/sources/') ? actor.sources[0]!.id : actor.id;
    const slug = path.includes('by-slug') ? actor.slug : path.includes('domains') ? 'economic-security' : 'housing_affordability';
    return [path.replace('{id}', id).replace('{place_key}', KC).replace('{slug}', slug) + (path === '/api/places' ? '?query=kcmo' : '')];
  });

  it('return the same to all callers, with a key and without', async () => {
    const paths = [...publicPaths(), '/api/places', `/api/entities?query=westside&include=claims,sources`, `/api/places/${KC}/entities?query=westside`, `/api/places/${KC}/entities?include=sources`, `/api/places/${KC}/entities?visibility=public`];
    expect(paths.length).to.be.above(20);
    for (const path of paths) {
      const anonymous = await kit.get(path);
      expect([path, anonymous.status]).to.equal([path, 200]);
      for (const who of CALLERS) {
        const { status, headers, text } = await kit.get(path, who);
        expect([who, path, status, headers.etag, headers['cache-control'], headers.vary]).to.equal([who, path, 200, anonymous.headers.etag, anonymous.headers['cache-control'], anonymous.headers.vary]);
        expect(text, path).to.equal(anonymous.text);
      }
      expect(anonymous.text, path).to.not.contain(own.id);
      expect(String(anonymous.headers['cache-control']), path).to.match(/^public/);
    }
  });

  it('are changed under the ETag that a key reads', async () => {
    const { headers } = await kit.get(`/api/entities/${actor.id}`, 'editor');
    expect((await kit.send('PATCH', `/api/entities/${actor.id}`, { retract: [] }, 'editor', { 'if-match': String(headers.etag) })).status).to.equal(200);
  });

  it('show what belongs to a workspace only to its members, who keep no copy of it', async () => {
    const paths = [`/api/entities/${own.id}`, `/api/entities/by-slug/${own.slug}`, ...['sources', 'claims', 'history', 'related', 'duplicates'].map((part) => `/api/entities/${own.id}/${part}`), `/api/sources/${lonely.sources[0]!.id}`,
      '/api/entities?visibility=workspace', `/api/places/${KC}/entities?visibility=workspace`];
    for (const path of paths) {
      for (let again = 0; again < 2; again++) {
        const { status, headers } = await kit.get(path, 'member');
        expect([path, status, headers['cache-control']]).to.equal([path, 200, 'private, no-store']);
        if (!path.includes('visibility')) for (const who of [undefined, 'stranger', 'reviewer']) expect([path, (await kit.get(path, who)).status]).to.equal([path, 404]);
      }
    }
  });
});
