import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { siteKit, type SiteKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`Suggestions on ${database}`, () => {
    let kit: SiteKit;
    const suggest = async (q: string, prefix = '') => (await kit.request('GET', `${prefix}/suggest?q=${encodeURIComponent(q)}`)).body as { groups: { name: string; items: { name: string; detail: string; href: string }[] }[]; status: string };
    const named = async (q: string) => Object.fromEntries((await suggest(q)).groups.map(({ name, items }) => [name, items.map((item) => item.name)]));
    before(async () => {
      kit = await siteKit({ database });
      await kit.add({ name: 'Harlan Tenants Union', place: 'harlan,iowa', issue_area: 'housing_affordability', website: 'https://one.example' });
      await kit.add({ name: 'Friends of the Harlan Library', place: 'harlan,iowa', website: 'https://two.example' });
      await kit.addPrivate({ name: 'Harlem Conspirators', place: 'harlem,georgia', website: 'https://three.example' });
    });
    after(() => kit.close());

    it('have places with entries before larger ones', async () => {
      const { Places } = await named('harl');
      expect(Places![0]).to.equal('Harlan, IA');
      expect(Places).to.have.length(3);
    });

    it('have the place that is named, by name, nickname or ZIP code, first', async () => {
      expect((await named('Kansas City, MO')).Places![0]).to.equal('Kansas City, MO');
      expect((await named('kcmo')).Places![0]).to.equal('Kansas City, MO');
      expect((await named('64118')).Places).to.equal(['Kansas City, MO']);
      expect((await named('harlan, io')).Places).to.equal(['Harlan, IA']);
    });

    it('have issues by the beginning of a name, and by a synonym', async () => {
      expect((await named('hous')).Issues![0]).to.equal('Housing Affordability');
      expect((await named('tenants union')).Issues).to.contain('Housing Affordability');
      expect((await named('bus')).Issues).to.contain('Public Transit');
    });

    it('have entries whose name starts with the text first, and nothing private', async () => {
      const { Entries } = await named('harl');
      expect(Entries).to.equal(['Harlan Tenants Union', 'Friends of the Harlan Library']);
      expect(JSON.stringify(await suggest('conspirators'))).not.to.contain('Conspirators');
      expect(JSON.stringify(await suggest('harlem'))).not.to.contain('1 ');
    });

    it('link pages, in the language of the address', async () => {
      const { groups, status } = await suggest('harlan', '/es');
      expect(groups.map(({ name, items }) => [name, items[0]!.href, items[0]!.detail])).to.equal([
        ['Lugares', '/es/places/harlan,iowa', '2 fichas'],
        ['Fichas', groups[1]!.items[0]!.href, 'Organización · Harlan'],
      ]);
      expect(groups[1]!.items[0]!.href).to.match(/^\/es\/actors\//);
      expect(status).to.equal(`${groups[0]!.items.length + 2} sugerencias`);
    });

    it('change with the directory, and are cached until then', async () => {
      const first = await kit.request('GET', '/suggest?q=quarry');
      expect([first.body, first.headers['cache-control']]).to.equal([{ groups: first.body.groups, status: first.body.status }, 'public, max-age=60']);
      expect((await kit.request('GET', '/suggest?q=quarry', { headers: { 'if-none-match': String(first.headers['etag']) } })).status).to.equal(304);
      await kit.add({ name: 'Quarry Watch', place: 'harlan,iowa', website: 'https://four.example' });
      expect((await named('quarry')).Entries).to.equal(['Quarry Watch']);
      expect((await suggest('harlan')).groups[0]!.items[0]!.detail).to.equal('3 entries');
    });

    it('are at most 4 kB, and none for less than two letters', async () => {
      for (let at = 0; at < 6; at++) await kit.add({ name: `Zürich ${'界'.repeat(190)} ${at}`, place: 'harlan,iowa', website: `https://long${at}.example` });
      expect(Buffer.byteLength((await kit.request('GET', '/suggest?q=zurich')).text)).to.be.between(1000, 4097);
      for (const q of ['', 'h', ' ', '%', '"*']) expect((await suggest(q)).groups.flatMap(({ name }) => (name === 'Entries' ? [name] : []))).to.equal([]);
    });
  });
}
