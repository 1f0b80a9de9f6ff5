import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { linksOf, plainText, siteKit, type SiteKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`The search page on ${database}`, () => {
    let kit: SiteKit;
    const textOf = async (path: string): Promise<string> => plainText((await kit.open(path)).text);
    before(async () => {
      kit = await siteKit({ database });
      await kit.add({ name: 'Gladstone Tenants Union', place: 'gladstone,missouri', issue_area: ['housing_affordability', 'zoning_and_land_use'], website: 'https://one.example' });
      await kit.add({ name: 'Tenants of <Topeka>', place: 'topeka,kansas', issue_area: 'housing_affordability', website: 'https://two.example' });
      await kit.add({ name: 'Tenants Lawyer', place: 'gladstone,missouri', website: 'https://three.example' }, 'person');
      await kit.addPrivate({ name: 'Secret Tenants', place: 'gladstone,missouri', website: 'https://four.example' });
    });
    after(() => kit.close());

    it('counts what it finds, escapes it, and shows nothing private', async () => {
      const { status, text } = await kit.open('/search?query=tenants');
      expect(status).to.equal(200);
      expect(text).to.contain(['3 entries for “tenants”', 'Gladstone Tenants Union</a>', 'Tenants of &lt;Topeka&gt;</a>', '<meta name="robots" content="noindex">']);
      expect(text).not.to.contain('Secret');
    });

    it('offers facets with exact counts, and each leads to that many entries', async () => {
      const text = await textOf('/search?query=tenants');
      const facets = linksOf(text).filter(({ href }) => /[?&](entity_type|issue_area|state|freshness)=/.test(href));
      expect(facets.map(({ name, count }) => [name, count])).to.equal([
        ['Organization', 2], ['Person', 1], ['Housing Affordability', 2], ['Zoning and Land Use', 1], ['Missouri', 2], ['Kansas', 1], ['Up to date', 3],
      ]);
      for (const { href, count } of facets) expect(await textOf(href)).to.contain(`${count} ${count === 1 ? 'entry' : 'entries'} for “tenants”`);
    });

    it('shows chosen filters as links that remove them', async () => {
      const text = await textOf('/search?query=tenants&entity_type=person&state=MO');
      expect(text).to.contain(['1 entry for “tenants”', 'Filters (2)']);
      const removing = linksOf(text).filter(({ name }) => name.startsWith('Remove')).map(({ href }) => href);
      expect(removing.slice(0, 2)).to.equal(['/search?query=tenants&state=MO', '/search?query=tenants&entity_type=person']);
      expect(await textOf(removing[0]!)).to.contain('2 entries for “tenants”');
    });

    it('corrects a misspelt word, and searches for the word itself on request', async () => {
      const text = await textOf('/search?query=tenents');
      expect(text).to.contain(['Showing results for <strong>tenants</strong>', 'href="/search?query=tenents&exact=true">Search for “tenents” instead']);
      expect(await textOf('/search?query=tenents&exact=true')).to.contain('No entry matches “tenents”');
    });

    it('names places and issues that the words may mean', async () => {
      expect(await textOf('/search?query=gladstone')).to.contain('href="/places/gladstone,missouri">Gladstone, MO</a> <span class="count">2<');
      expect(await textOf('/search?query=hous')).to.contain('href="/issues/housing_affordability">Housing Affordability</a> <span class="count">2<');
    });

    it('suggests values for misspelt filters', async () => {
      const text = await textOf('/search?issue_area=housing_afordability');
      expect(text).to.contain(['There is no issue called “housing_afordability”.', 'href="/search?issue_area=housing_affordability">Housing Affordability</a>']);
      expect(await textOf('/search?place=gladston,missouri')).to.contain('href="/search?place=gladstone%2Cmissouri">Gladstone, MO</a>');
    });

    it('sorts, and links the same search for programs', async () => {
      const text = await textOf('/search?query=tenants&sort=name&entity_type=organization');
      expect(text.indexOf('Gladstone Tenants Union</a>')).to.be.below(text.indexOf('Tenants of &lt;Topeka&gt;</a>'));
      const links = linksOf(text);
      const api = links.find(({ name }) => name === 'JSON')!.href;
      expect(api).to.equal('/api/entities?query=tenants&entity_type=organization&sort=name');
      expect((await kit.request('GET', api)).body.total).to.equal(2);
      const csv = await kit.request('GET', links.find(({ name }) => name === 'CSV')!.href);
      expect([...new Set(csv.text.match(/Gladstone Tenants Union|Tenants of <Topeka>|Tenants Lawyer/g))]).to.equal(['Gladstone Tenants Union', 'Tenants of <Topeka>']);
    });

    it('links a CSV of the same entries also without words and filters', async () => {
      const csv = linksOf(await textOf('/search')).find(({ name }) => name === 'CSV')!.href;
      const [, ...rows] = (await kit.request('GET', csv)).text.split(/\r?\n/);
      const ids = new Set(rows.map((row) => row.slice(0, 36)).filter((id) => /^[0-9a-f-]{36}$/.test(id)));
      expect([...ids]).to.equal((await kit.request('GET', '/api/entities')).body.data.map(({ id }: { id: string }) => id));
      expect(rows.filter((row) => row.startsWith(','))).to.equal([]);
    });

    it('links the feed of the same search', async () => {
      for (const query of ['?query=tenants&sort=name', '?issue_area=housing_affordability&entity_type=organization', '']) {
        const feed = linksOf(await textOf(`/search${query}`)).find(({ name }) => name === 'feed')!.href;
        const { headers, text } = await kit.request('GET', feed);
        expect(headers['content-type']).to.contain('application/atom+xml');
        expect(text).to.contain('<entry>');
        expect(feed).to.not.contain('sort=');
      }
    });

    it('states when nothing is found, and is in Spanish below /es', async () => {
      expect(await textOf('/search?query=zebra&state=MO')).to.contain(['No entry matches “zebra”. Remove a filter', 'href="/search?query=zebra">Remove all filters']);
      expect(await textOf('/search?query=zebra')).to.contain('No entry matches “zebra”. Check the spelling').and.not.contain('Remove');
      expect(await textOf('/es/search?query=tenants')).to.contain(['3 fichas para “tenants”', 'href="/es/search?query=tenants&entity_type=organization"']);
    });

    it('continues on further pages, also without words', async () => {
      for (let at = 0; at < 26; at++) await kit.add({ name: `Group ${at} of Liberty`, place: 'liberty,missouri', website: `https://group${at}.example` });
      for (const [path, total] of [['/search?query=liberty', 26], ['/search?state=MO&sort=source_count', 28]] as const) {
        const text = await textOf(path);
        const next = linksOf(text).find(({ name }) => name === 'Next 25')!.href;
        const second = await textOf(next);
        expect([text, second].map((page) => page.match(/<h3><a href="\/actors/g)!.length)).to.equal([25, total - 25]);
      }
    });

    it('takes empty parameters for missing ones, ignores a limit, and finds nothing in an unknown state', async () => {
      const found = /<h1[^>]*>([^<]*)/;
      const headingOf = async (path: string): Promise<unknown[]> => {
        const { status, text } = await kit.open(path);
        return [status, found.exec(plainText(text))?.[1]];
      };
      const all = await headingOf('/search?query=tenants');
      for (const rest of ['&state=&sort=&exact=&cursor=', '&place=&entity_type=&issue_area=&freshness=', '&entity_type=&entity_type=', '&limit=100', '&limit=']) expect(await headingOf(`/search?query=tenants${rest}`), rest).to.equal(all);
      expect(await headingOf('/search?query=tenants&entity_type=&entity_type=person')).to.equal([200, '1 entry for “tenants”']);
      expect(await headingOf('/search?query=tenants&state=North%20Carolina')).to.equal([200, 'No entries for “tenants”']);
      for (const path of ['/places/gladstone,missouri/entries?issue_area=&entity_type=&query=&cursor=', '/places/gladstone,missouri/sources?cursor=&limit=3', '/issues/housing_affordability?state=&cursor=&limit=1']) expect((await kit.open(path)).status, path).to.equal(200);
    });

    it('rejects values of closed lists with a page', async () => {
      const { status, headers } = await kit.open('/search?sort=best');
      expect([status, headers['content-type']]).to.equal([400, 'text/html; charset=utf-8']);
    });
  });
}
