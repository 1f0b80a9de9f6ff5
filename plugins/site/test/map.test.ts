import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { gzipSync } from 'node:zlib';
import { drawnMap } from '../map/drawn.ts';
import { levelsFor } from '../map/levels.ts';
import { siteKit, type SiteKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Returns the level of a state on the map, and the text that a pointer shows. */
function areaOf(page: string, placeKey: string): { level: number; title: string } {
  const [, level, title] = new RegExp(`href="[^"]*/${placeKey}" tabindex="-1"><path class="level(\\d)" d="[^"]+"><title>([^<]+)<`).exec(page)!;
  return { level: Number(level), title: title! };
}

for (const database of testDatabases()) {
  describe(`The map on ${database}`, () => {
    let kit: SiteKit;
    before(async () => {
      kit = await siteKit({ database });
      for (const at of [1, 2, 3]) await kit.add({ name: `Tenants Union ${at}`, place: ['gladstone,missouri', 'liberty,missouri'], issue_area: 'housing_affordability', website: `https://tenants${at}.example` });
      await kit.add({ name: 'Zoning Watch', place: ['kansas-city,missouri', 'kansas-city,kansas'], issue_area: 'zoning_and_land_use', website: 'https://zoning.example' });
      await kit.add({ name: 'Colectivo San Juan', place: 'san-juan,puerto-rico', issue_area: 'zoning_and_land_use', website: 'https://colectivo.example' });
    });
    after(() => kit.close());

    it('colours states by the number of their entries, and lists the same numbers', async () => {
      const { status, text } = await kit.open('/map');
      expect(status).to.equal(200);
      expect(areaOf(text, 'missouri')).to.equal({ level: 2, title: 'Missouri: 4 entries' });
      expect(areaOf(text, 'kansas')).to.equal({ level: 1, title: 'Kansas: 1 entry' });
      expect(areaOf(text, 'iowa')).to.equal({ level: 0, title: 'Iowa: no entries' });
      expect(text.match(/tabindex="-1"/g)!.length).to.equal(51);
      expect(text).to.match(/>Missouri<\/a><\/th><td>4<\/td><td>3<\/td><td>1 of \d+<\/td>/);
      expect(text).to.match(/>Puerto Rico<\/a><\/th><td>1<\/td><td>1<\/td>/);
      expect(text).to.contain('53 states without entries');
    });

    it('shows one issue', async () => {
      const { text } = await kit.open('/map?issue=zoning_and_land_use');
      expect(areaOf(text, 'missouri')).to.equal({ level: 1, title: 'Missouri: 1 entry' });
      expect(text).to.contain(['<h1>Map of coverage: Zoning and Land Use</h1>', '<option value="zoning_and_land_use" selected>']);
      expect((await kit.open('/map?issue=')).status).to.equal(200);
      expect((await kit.open('/map?issue=zoning')).status).to.equal(404);
    });

    it('colours the counties of a state, and cities in no county', async () => {
      await kit.add({ name: 'St. Louis Tenants', place: 'st-louis,missouri', website: 'https://stl.example' });
      const { text } = await kit.open('/map/missouri');
      expect(areaOf(text, 'clay-county,missouri')).to.equal({ level: 2, title: 'Clay County: 3 entries' });
      expect(areaOf(text, 'jackson-county,missouri')).to.equal({ level: 1, title: 'Jackson County: 1 entry' });
      expect(areaOf(text, 'st-louis-county,missouri').level).to.equal(0);
      expect(areaOf(text, 'st-louis,missouri').title).to.equal('St. Louis: 1 entry');
      expect(text.match(/tabindex="-1"/g)!.length).to.equal(115);
      expect(text).to.contain(['<h1>Map of Missouri</h1>', '5 entries in Missouri, by county.', '>Clay County</a></th><td>3</td><td>2</td></tr>', 'href="/places/missouri">Everything about Missouri</a>', '112 counties without entries']);
      expect(areaOf((await kit.open('/map/missouri?issue=zoning_and_land_use')).text, 'clay-county,missouri').level).to.equal(0);
      expect(gzipSync((await kit.open('/map/texas')).text).length).to.be.below(16_000);
    });

    it('has every state and territory, and no other', async () => {
      const { headers } = await kit.open('/es/map/district-of-columbia');
      expect(headers['location']).to.equal('/es/places/district-of-columbia');
      for (const path of ['/map/puerto-rico', '/map/guam', '/map/alaska', '/map/virginia']) expect((await kit.open(path)).status, path).to.equal(200);
      for (const path of ['/map/nowhere', '/map/MO', '/map/..%2Fus']) expect((await kit.open(path)).status, path).to.equal(404);
      expect((await kit.open('/map/virginia')).text).to.contain(['href="/places/fairfax-county,virginia" tabindex', 'href="/places/fairfax,virginia" tabindex']);
    });

    it('lists places in no state as dots', async () => {
      expect((await kit.open('/map')).text).to.not.contain('Not on the map');
      await kit.add({ name: 'Leeds Tenants', place: 'leeds,england', issue_area: 'homelessness_and_housing_insecurity', website: 'https://leeds.example' });
      expect((await kit.open('/map')).text).to.match(/Not on the map: 1 place<[^]*class="level1"\/><\/svg> <a href="\/places\/leeds,england">Leeds<\/a> <span class="quiet">1</);
      expect((await kit.open('/map?issue=zoning_and_land_use')).text).to.not.contain('Not on the map');
    });

    it('counts public entries only, and changes with them', async () => {
      await kit.addPrivate({ name: 'Secret', place: 'boise,idaho', website: 'https://secret.example' });
      expect(areaOf((await kit.open('/map')).text, 'idaho').level).to.equal(0);
      expect(areaOf((await kit.open('/map', { 'x-editor': 'yes' })).text, 'idaho').level).to.equal(0);
      await kit.add({ name: 'Boise Renters', place: 'boise,idaho', website: 'https://boise.example' });
      expect(areaOf((await kit.open('/map')).text, 'idaho').title).to.equal('Idaho: 1 entry');
    });

    it('counts the entries of a state once until they change, whatever the address', async () => {
      const counts: string[] = [];
      const note = ({ sql }: { sql: string }): void => { if (sql.includes('_listings')) counts.push(sql); };
      kit.db.read.on('query', note);
      for (const at of [1, 2, 3]) expect(areaOf((await kit.open(`/map/missouri?x=${at}`)).text, 'clay-county,missouri').title).to.equal('Clay County: 3 entries');
      expect(counts.length).to.be.at.most(1);
      await kit.add({ name: 'Liberty Renters', place: 'liberty,missouri', website: 'https://liberty.example' });
      expect(areaOf((await kit.open('/map/missouri?x=1')).text, 'clay-county,missouri').title).to.equal('Clay County: 4 entries');
      kit.db.read.removeListener('query', note);
    });

    it('is in Spanish, and small', async () => {
      const { text } = await kit.open('/es/map');
      expect(text).to.contain(['Mapa de cobertura', '<title>Kansas: 1 ficha</title>', 'href="/es/']);
      expect(gzipSync(text).length).to.be.below(16_000);
    });
  });
}

describe('A drawn map', () => {
  it('has every area as path data in whole numbers', () => {
    expect(drawnMap('us').areas.length).to.equal(51);
    expect(drawnMap('29').areas.length).to.equal(115);
    expect(drawnMap('29').areas.find(({ name }) => name === 'Jackson')!.id).to.equal('29095');
    for (const name of ['us', '02', '11', '29', '72']) {
      for (const { path } of drawnMap(name).areas) expect(path, name).to.match(/^(?:M-?\d+[ -]\d+l(?:[ -]?\d+[ -]\d+)+z)+$/);
    }
  });

  it('has other levels of colour in a large directory', () => {
    expect([0, 1, 2, 3, 9, 10, 49, 50, 500].map(levelsFor([500]).levelOf)).to.equal([0, 1, 1, 2, 2, 3, 3, 4, 4]);
    const { levelOf, legend } = levelsFor([12, 501]);
    expect([2, 3, 99, 100, 999, 1000].map(levelOf)).to.equal([1, 2, 2, 3, 3, 4]);
    expect(legend.map(({ from, to }) => [from, to])).to.equal([[1, 2], [3, 99], [100, 999], [1000, null]]);
  });
});
