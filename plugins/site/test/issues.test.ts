import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { siteKit, type SiteKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`Pages of issues on ${database}`, () => {
    let kit: SiteKit;
    before(async () => {
      kit = await siteKit({ database });
      await kit.add({ name: 'Gladstone Tenants Union', place: 'gladstone,missouri', issue_area: 'housing_affordability', description: 'Advice on <leases>.' });
    });
    after(() => kit.close());

    it('list all issues by topic, with the number of entries', async () => {
      const { status, text } = await kit.open('/issues');
      expect(status).to.equal(200);
      expect(text).to.match(/href="\/domains\/housing-and-the-built-environment">Housing and the Built Environment<[^]*href="\/issues\/housing_affordability">Housing Affordability<\/a> <span class="count">1</);
    });

    it('show who works on an issue, and escape the text of entries', async () => {
      const { text } = await kit.open('/issues/housing_affordability');
      expect(text).to.contain(['<title>Housing Affordability · ', 'Gladstone Tenants Union</a>', 'Advice on &lt;leases&gt;.', 'href="/places/gladstone,missouri">Gladstone, MO</a>', '1 source', '1 entry in 1 place.', 'href="/places/gladstone,missouri/entries?issue_area&#x3D;housing_affordability">Gladstone, MO</a> <span class="count">1<', 'More in Housing and the Built Environment']);
      expect(text.match(/<link rel="alternate" type="(application\/atom\+xml|application\/feed\+json|text\/calendar)"/g)).to.have.length(3);
      expect((await kit.open('/issues/public_transit')).text).to.contain(['No entry yet for this issue.', 'There is no entry for this issue yet. People may still work on it.']).and.not.contain('<h2>Where</h2>');
      expect((await kit.open('/domains/housing-and-the-built-environment')).text).to.contain('href="/issues/housing_affordability"');
    });

    it('name the issue, its topic and the map for search engines', async () => {
      const dataOf = async (path: string) => JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/.exec((await kit.open(path)).text)![1]!);
      const issue = await dataOf('/issues/housing_affordability');
      expect([issue['@type'], issue.name, issue.termCode, new URL(issue.url).pathname, issue.inDefinedTermSet.name]).to.equal(['DefinedTerm', 'Housing Affordability', 'housing_affordability', '/issues/housing_affordability', 'Housing and the Built Environment']);
      const topic = await dataOf('/domains/housing-and-the-built-environment');
      expect([topic['@type'], topic.hasDefinedTerm.map(({ name }: { name: string }) => name).includes('Housing Affordability')]).to.equal(['DefinedTermSet', true]);
      expect((await dataOf('/map'))['@type']).to.equal('Map');
      const entry = /href="(\/actors\/[^"]+)"/.exec((await kit.open('/issues/housing_affordability')).text)![1]!;
      expect(JSON.stringify(await dataOf(entry))).to.not.contain('null');
      const source = /href="(\/sources\/[^"]+)"/.exec((await kit.open(entry)).text)![1]!;
      expect(await dataOf(source)).to.include({ '@type': 'WebPage' });
    });

    it('are in the language of the address, and keep it in their links', async () => {
      const { text, headers } = await kit.open('/es/issues/housing_affordability');
      expect(headers['content-language']).to.equal('es');
      expect(text).to.contain(['<html lang="es">', 'href="/es/issues"', '1 fuente', 'Organización']);
    });

    it('name what is missing', async () => {
      for (const path of ['/issues/housing_afordability', '/domains/nothing']) {
        const { status, headers } = await kit.open(path);
        expect([status, headers['content-type']]).to.equal([404, 'text/html; charset=utf-8']);
      }
    });

    it('change with the directory', async () => {
      expect((await kit.open('/issues/housing_affordability')).text).to.contain('1 entry');
      const { etag } = (await kit.open('/issues/housing_affordability')).headers;
      expect((await kit.open('/issues/housing_affordability', { 'if-none-match': String(etag) })).status).to.equal(304);
      await kit.add({ name: 'Gladstone Renters', place: 'gladstone,missouri', issue_area: 'housing_affordability', website: 'https://renters.example' });
      const { text, headers } = await kit.open('/issues/housing_affordability', { 'if-none-match': String(etag) });
      expect(headers['etag']).to.not.equal(etag);
      expect(text).to.contain(['2 entries', 'Gladstone Renters']);
    });

    it('continue on further pages', async () => {
      for (let at = 0; at < 26; at++) await kit.add({ name: `Group ${at} of Liberty`, place: 'liberty,missouri', issue_area: 'zoning_and_land_use', website: `https://group${at}.example` });
      const { text } = await kit.open('/issues/zoning_and_land_use');
      const [, next] = /rel="next" href="([^"]+)"/.exec(text)!;
      const second = await kit.open(next!.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&'));
      expect([text, second.text].map((page) => page.match(/of Liberty<\/a>/g)!.length)).to.equal([25, 1]);
    });

    it('are not stored for others when the reader is signed in', async () => {
      const { headers } = await kit.open('/issues', { 'x-editor': 'yes' });
      expect(headers['cache-control']).to.equal('private, no-store');
    });
  });
}
