import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Caller, Terminal } from '../../core/index.ts';
import { testDatabases } from '../../core/testing.ts';
import { openSite, type Site } from '../../plugins/ingest/test/site.ts';
import { consoleKit, type ConsoleKit, type Reader } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PAGE = '/console/links';
const editor: Partial<Caller> = { role: 'reviewer', scope: ['entities:write'], workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member' };
const html = (text: string) => `<html><body><main><p>${text}</p><script>alert(1)</script></main></body></html>`;

for (const database of testDatabases()) {
  describe(`Links in the console on ${database}`, { timeout: 60_000 }, () => {
    let kit: ConsoleKit;
    let site: Site;
    let reviewer: Reader;
    const ids: Record<string, string> = {};

    /** Enters an actor that cites a page, and checks the link. */
    async function checked(path: string, visibility = 'public'): Promise<string> {
      const { body } = await kit.request('POST', '/api/entities', {
        as: editor,
        payload: { type: 'organization', visibility, sources: [{ local_id: 's', url: `${site.url}${path}`, title: `Source ${path}` }], claims: [{ property: 'name', value: `Group ${path}`, source_local_id: 's' }] },
      });
      const terminal: Terminal = { json: true, signal: new AbortController().signal, out: () => undefined, err: () => undefined, print: () => undefined, progress: () => undefined, style: (_style, text) => text };
      await kit.composition.commands.find(({ name }) => name === 'links check')!.run({ terminal, positionals: [body.sources[0].id], options: {}, cwd: process.cwd() });
      return body.sources[0].id;
    }

    before(async () => {
      site = await openSite({
        '/here': html('We meet on <b>Mondays</b> &amp; Fridays'),
        '/old': (_request, response) => { response.writeHead(301, { location: '/here' }).end(); },
        '/closed': (_request, response) => { response.writeHead(403).end(); },
      });
      kit = await consoleKit({
        database, plugins: ['directory', 'firehose', 'reader', 'flags', 'ingest', 'site'],
        config: { http: { fetch: { allow_private_addresses: true } }, plugins: { reader: { delay_seconds: 0 }, ingest: { links: { broken_after: 1 } } } },
      });
      reviewer = await kit.signedIn('reviewer');
      for (const path of ['/here', '/old', '/closed', '/gone']) ids[path] = await checked(path);
      ids['/secret'] = await checked('/secret', 'workspace');
    });
    after(async () => {
      await kit.close();
      await site.close();
    });

    it('are counted by state and listed for reviewers, without those of workspaces', async () => {
      expect((await (await kit.signedIn('user')).get(PAGE)).status).to.equal(403);
      const { text } = await reviewer.get(PAGE);
      expect(text).to.contain('Broken</a> 2').and.contain('Working</a> 1').and.contain('Moved</a> 1').and.contain('Cannot be checked</a> 1');
      expect(text).to.contain('Source /gone').and.contain('responded with the status 404.').and.not.contain('/secret');
      expect((await reviewer.get(`${PAGE}?state=moved`)).text).to.contain(`leads to ${site.url}/here now`);
      expect((await reviewer.get(`${PAGE}?state=failing`)).text).to.contain('No link is in this state.');
      expect((await (await kit.signedIn('admin')).get('/console')).text).to.contain('2 links of the directory are broken').and.contain(`href="${PAGE}"`);
    });

    it('show the archived text as text, to reviewers only', async () => {
      const { text } = await reviewer.get(`${PAGE}/${ids['/here']}`);
      expect(text).to.contain('We meet on Mondays &amp; Fridays').and.not.contain('alert(1)');
      expect((await reviewer.get(`${PAGE}/${ids['/gone']}`)).status).to.equal(404);
      expect((await reviewer.get(`${PAGE}/nonsense`)).status).to.equal(404);
      expect((await (await kit.signedIn('user')).get(`${PAGE}/${ids['/here']}`)).status).to.equal(403);
    });

    it('are explained on the pages of sources, in English and Spanish', async () => {
      const visitor = kit.visitor();
      expect((await visitor.get(`/en/sources/${ids['/here']}`)).text).to.contain(': works').and.contain('Reviewers have an archived copy of the page.');
      expect((await visitor.get(`/en/sources/${ids['/old']}`)).text).to.contain('leads to another address').and.contain(`The address leads to ${site.url}/here now.`);
      expect((await visitor.get(`/en/sources/${ids['/closed']}`)).text).to.contain('The site did not let our program check the link');
      expect((await visitor.get(`/es/sources/${ids['/closed']}`)).text).to.contain('El sitio no dejó que nuestro programa comprobara el enlace');
      expect((await visitor.get(`/en/sources/${ids['/gone']}`)).text).to.contain('The link no longer works').and.not.contain('archived copy');
    });
  });
}
