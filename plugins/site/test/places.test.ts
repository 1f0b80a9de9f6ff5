import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import type { FirehoseService } from 'civic/firehose';
import { stoppedClock, testDatabases } from 'civic/testing';
import { siteKit, type SiteKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const NOW = Date.parse('2026-11-18T12:00:00Z');
const ISSUES = ['housing_affordability', 'public_transit', 'zoning_and_land_use', 'electoral_reform', 'union_organizing', 'k12_education_inequality', 'energy_transition', 'worker_cooperatives', 'money_in_politics', 'restorative_justice', 'wage_theft_and_labor_rights', 'public_transit', 'higher_education_affordability', 'voter_suppression_and_electoral_access', 'suburban_sprawl_and_car_dependency'];
const GLADSTONE = '/places/gladstone,missouri';

for (const database of testDatabases()) {
  describe(`Pages of places on ${database}`, () => {
    let kit: SiteKit;
    let firehose: FirehoseService;
    const clock = stoppedClock(NOW);
    before(async () => {
      const wire = definePlugin({
        name: 'wire', summary: 'Publishes signals for tests', needs: ['firehose'],
        register(_server, civic) {
          const service = civic.service('firehose');
          service.produces(['vote', 'new_source']);
          return { async start() { firehose = service; } };
        },
      });
      kit = await siteKit({ database, plugins: ['firehose', wire], clock });
    });
    after(() => kit.close());

    const text = async (path: string) => (await kit.open(path)).text;
    const linkedData = (page: string) => JSON.parse(/<script type="application\/ld\+json">(.+?)<\/script>/.exec(page)![1]!);

    it('state that there are no places yet', async () => {
      const page = await text('/places');
      expect(page).to.contain(['This directory has no places yet.', 'name="robots" content="noindex"', 'href="/places" aria-current']);
    });

    it('show a real place without entries, with the nearest that has some', async () => {
      await kit.add({ name: 'Gladstone Tenants <Union>', place: 'gladstone,missouri', issue_area: ['housing_affordability', 'zoning_and_land_use'], phone: '816-555-0160', website: 'https://tenants.example' });
      const { status, text: page } = await kit.open('/places/kansas-city,missouri');
      expect(status).to.equal(200);
      expect(page).to.contain(['No entries about Kansas City, Missouri yet.', 'Nearest places with entries:', `href="${GLADSTONE}">Gladstone</a>`, 'name="robots" content="noindex"']);
      expect(page).to.not.contain(['Print sheet', 'id="coverage"']);
    });

    it('show a town: numbers, who works on what, coverage with its gaps, sources', async () => {
      const page = await text(GLADSTONE);
      expect(page).to.contain([
        '<h1>Gladstone, Missouri</h1>', '1 entry from 1 source.', '1 up to date', 'Gladstone Tenants &lt;Union&gt;</a>', 'Housing Affordability</strong>',
        '0 of 51 issues covered, 2 thin (1 or 2 entries), 49 missing.', '49 issues without an entry', 'href="/places/gladstone,missouri/entries?issue_area&#x3D;housing_affordability"',
        'About us</a>', 'href="/places/missouri">Missouri</a>', 'href="/places/clay-county,missouri">Clay County</a>', 'name="place" value="gladstone,missouri"',
      ]);
      expect(page).to.not.contain(['<Union>', 'Coming up', 'Lately', 'noindex']);
      expect(linkedData(page)).to.include({ '@type': 'City', name: 'Gladstone', identifier: 'ocd-division/country:us/state:mo/place:gladstone' });
      expect(page.match(/<link rel="alternate" type="(application\/atom\+xml|application\/feed\+json|text\/calendar)"/g)).to.have.length(3);
    });

    it('list coming events in local time, until they begin', async () => {
      await kit.add({ name: 'Council meeting', place: 'gladstone,missouri', event_start: '2026-11-25T00:30:00Z', event_location: 'City Hall' }, 'event');
      await kit.add({ name: 'Meeting of last week', place: 'gladstone,missouri', event_start: '2026-11-11T00:30:00Z' }, 'event');
      const page = await text(GLADSTONE);
      expect(page).to.match(/Coming up[^]*Tue, Nov 24, 6:30 PM CST[^]*Council meeting<[^]*City Hall/);
      expect(page).to.not.contain('Meeting of last week</a> <span class="quiet">');
      expect(await text(`/es${GLADSTONE}`)).to.match(/Próximamente[^]*mar, 24 de nov, 6:30\sp\.m\. CST/);
    });

    it('show the latest signals and how many there were in each week', async () => {
      const publish = (title: string, detected: string) => kit.db.write((tx) => firehose.publish(tx, [{
        type: 'vote', title, detected_at: detected, places: ['gladstone,missouri'], source_class: 'government_record', evidence: [{ source_url: 'https://gladstone.example/minutes' }],
      }]));
      for (const day of ['2026-11-16', '2026-11-17', '2026-10-01', '2026-01-01']) await publish(`Vote of <${day}>`, `${day}T12:00:00.000Z`);
      await kit.db.write((tx) => firehose.publish(tx, [{ type: 'new_source', title: 'Upkeep', places: ['gladstone,missouri'], source_class: 'directory', evidence: [{ source_url: 'https://x.example/' }] }]));
      const page = await text(GLADSTONE);
      expect(page).to.contain(['Vote of &lt;2026-11-17&gt;', '6 signals in 12 weeks, most in the week of Nov 16, 2026 (5)', 'since&#x3D;2026-09-28&amp;until&#x3D;2026-10-05', 'class="coming"']);
      expect(page).to.not.contain('Upkeep');
      expect(page.match(/<th scope="row"><a href="\/signals/g)).to.have.length(12);
    });

    it('count the entries that may be out of date', async () => {
      clock.set(NOW + 500 * 86_400_000);
      expect(await text(GLADSTONE)).to.match(/class="freshness aging">\d may be out of date/).and.to.not.contain('up to date</span>');
      clock.set(NOW + 5000 * 86_400_000);
      expect(await text(GLADSTONE)).to.contain('class="freshness stale">3 probably out of date').and.to.not.contain('freshness aging');
      clock.set(NOW);
    });

    it('show nothing of private entries', async () => {
      const payload = { type: 'organization', sources: [{ local_id: 's', url: 'https://secret.example/' }], claims: ['name', 'place', 'issue_area'].map((property, at) => ({ property, value: ['Secret Garden', 'ferguson,missouri', 'public_transit'][at], source_local_id: 's' })) };
      expect((await kit.request('POST', '/api/entities', { payload: { ...payload, visibility: 'workspace' }, headers: { 'x-editor': 'yes' } })).status).to.equal(201);
      for (const path of ['/places', '/places/ferguson,missouri', '/places/missouri', '/places/ferguson,missouri/entries', '/places/ferguson,missouri/sources', '/places/ferguson,missouri/sheet']) {
        const { status, text: page } = await kit.open(path, { 'x-editor': 'yes' });
        expect(status, path).to.equal(200);
        expect(page, path).to.not.contain(['Secret', 'secret.example']);
      }
      expect(await text('/places')).to.not.contain('Ferguson');
    });

    it('list all entries of a place, with filters that stay on further pages', async () => {
      for (let at = 0; at < 26; at++) await kit.add({ name: `Group ${at} of Liberty`, place: 'liberty,missouri', issue_area: 'zoning_and_land_use', website: `https://group${at}.example` });
      await kit.add({ name: 'Liberty Transit Riders', place: 'liberty,missouri', issue_area: 'public_transit', website: 'https://riders.example' }, 'initiative');
      expect(await text('/places/liberty,missouri')).to.match(/Group \d+ of Liberty<\/a>, <a [^>]*>Group \d+ of Liberty<\/a>, <a [^>]*>Group \d+ of Liberty<\/a> <a class="all" [^>]*>All 26</);
      const first = await text('/places/liberty,missouri/entries?issue_area=zoning_and_land_use');
      expect(first).to.contain(['Entries in Liberty, Missouri', '26 entries', 'value="zoning_and_land_use" selected']);
      const next = /rel="next" href="([^"]+)"/.exec(first)![1]!.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&');
      expect((await text(next)).match(/of Liberty<\/a>/g)).to.have.length(1);
      expect(await text('/places/liberty,missouri/entries?entity_type=initiative')).to.contain(['1 entry', 'Liberty Transit Riders']).and.not.contain('Group 1 of');
      expect(await text('/places/liberty,missouri/entries?query=riders&issue_area=&entity_type=')).to.contain('1 entry');
      expect(await text('/places/liberty,missouri/entries?query=unknownname')).to.contain('No entry matches. Remove a filter.');
      expect(await text('/places/liberty,missouri/sources')).to.contain(['Sources for Liberty, Missouri', 'About us</a>']);
    });

    it('sort the entries of a place, also on further pages', async () => {
      const list = async (path: string) => (await text(path)).match(/<h3><a [^>]*>[^<]*/g)!.map((one) => one.replace(/.*>/, ''));
      const page = await text('/places/liberty,missouri/entries?sort=name&issue_area=zoning_and_land_use');
      expect(page).to.contain(['href="/places/liberty,missouri/entries?sort&#x3D;recent&amp;issue_area&#x3D;zoning_and_land_use" rel="nofollow">Last changed', 'aria-current="true">Name<', '<input type="hidden" name="sort" value="name">']);
      expect(page).to.not.contain('Best match');
      const next = /rel="next" href="([^"]+)"/.exec(page)![1]!.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&');
      expect((await list('/places/liberty,missouri/entries?sort=name')).slice(0, 2)).to.equal(['Group 0 of Liberty', 'Group 1 of Liberty']);
      expect(await list(next)).to.equal(['Group 9 of Liberty']);
      expect((await list('/places/clay-county,missouri/entries?sort=name'))[0]).to.equal('Council meeting');
      expect(await text('/places/liberty,missouri/entries')).to.contain('aria-current="true">Most sources<');
      expect(await text('/places/liberty,missouri/entries?query=riders')).to.contain('aria-current="true">Best match<');
    });

    it('group places by state and county, and find them by the beginning of their name', async () => {
      const page = await text('/places');
      expect(page).to.match(/2 places in 1 state[^]*href="\/map">Open the map<[^]*href="\/places\/missouri">Missouri<\/a> <span class="quiet">2 places, 30 entries<[^]*Clay County<[^]*Gladstone<[^]*3 entries, 0 of 51 issues covered[^]*Liberty<[^]*27 entries, 1 of 51/);
      expect(await text('/places?name=libe')).to.contain('/places/liberty,missouri').and.not.contain(GLADSTONE);
      expect(await text('/places?name=Zz<')).to.contain(['No place whose name begins with “Zz&lt;” has entries.', 'Show all places']);
    });

    it('show a county with the entries of its places', async () => {
      const county = await text('/places/clay-county,missouri');
      expect(county).to.contain([
        '30 entries in the county and 2 places in it.', 'Places in Clay County', '/places/liberty,missouri">Liberty', '27 entries, 1 of 51 issues covered', 'Who works on what', 'Liberty Transit Riders', 'All 30 entries',
        '<input type="hidden" name="place" value="liberty,missouri">', 'Council meeting</a>',
      ]).and.not.contain('noindex');
      expect(linkedData(county)['@type']).to.equal('AdministrativeArea');
      expect(await text('/places/clay-county,missouri/entries?issue_area=public_transit')).to.contain(['1 entry', 'Liberty Transit Riders']);
      expect(await text('/places/clay-county,missouri/sheet')).to.contain('Liberty Transit Riders');
      expect(await text('/places/cass-county,missouri')).to.contain(['No entries about Cass County, Missouri yet.', 'noindex']);
    });

    it('count an entry of a county once, and name those about the county as a whole', async () => {
      await kit.add({ name: 'Platte Watch', place: ['platte-county,missouri', 'parkville,missouri', 'riverside,missouri'], issue_area: 'public_transit' });
      await kit.addPrivate({ name: 'Secret Platte Watch', place: 'parkville,missouri', issue_area: 'public_transit' });
      const county = await text('/places/platte-county,missouri');
      expect(county).to.contain(['1 entry in the county and 2 places in it. 1 of them is about the county as a whole.', 'Platte Watch</a>']).and.not.contain('Secret');
      expect(await text('/places/platte-county,missouri/entries')).to.contain('1 entry').and.not.contain('Secret');
    });

    it('leave names out of a sheet whose lines are too long for one page', async () => {
      const long = 'the very long improvement of things and '.repeat(3).trim();
      for (let at = 0; at < 30; at++) {
        const claims = { name: `Society for ${long} number ${at}`, place: 'smithville,missouri', issue_area: ISSUES[at % ISSUES.length], phone: '816-555-0160' };
        const payload = {
          type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: `https://society${at}.example/${long.replaceAll(' ', '-')}`, title: `About ${long}` }],
          claims: Object.entries(claims).map(([property, value]) => ({ property, value, source_local_id: 's' })),
        };
        expect((await kit.request('POST', '/api/entities', { payload, headers: { 'x-editor': 'yes' } })).status).to.equal(201);
      }
      const sheet = await text('/places/smithville,missouri/sheet');
      const names = sheet.match(/<li>Society for [^<]*…/g)!.length;
      expect(names).to.be.within(5, 25);
      expect(sheet).to.contain(`and ${30 - names} more at`);
    });

    it('show a state with all of its entries', async () => {
      const state = await text('/places/missouri');
      expect(state).to.contain(['<h1>Missouri</h1>', '61 entries in 6 places.', 'href="/map/missouri">Map of Missouri</a>', 'Clay County', '1 of 51 issues covered', '/places/missouri/entries?issue_area&#x3D;public_transit', 'Liberty Transit Riders</a>', 'Council meeting</a>']).and.not.contain('Secret');
      expect(linkedData(state)['@type']).to.equal('State');
      expect(await text('/places/missouri/sheet')).to.contain('Liberty Transit Riders');
      expect(await text('/places/missouri/entries?issue_area=public_transit')).to.contain(['6 entries', 'Liberty Transit Riders']);
      expect(await text('/places/vermont')).to.contain('No entries about Vermont yet.');
    });

    it('list the entries of a town when none of them names an issue, instead of 51 empty issues', async () => {
      for (const name of ['Kearney Book Club', 'Kearney Band']) await kit.add({ name, place: 'kearney,missouri' });
      const page = await text('/places/kearney,missouri');
      expect(page).to.contain(['No entry here names an issue yet.', 'Kearney Book Club</a>', 'Kearney Band</a>', 'All 2 entries']);
      expect(page).to.not.contain(['without an entry', 'id="coverage"', 'rel="next"', 'Print sheet']);
      expect(await text(GLADSTONE)).to.not.contain(['No entry here names an issue yet.', 'class="entries"']);
    });

    it('print on one sheet whom to ask, with numbered sources', async () => {
      const sheet = await text(`${GLADSTONE}/sheet`);
      expect(sheet).to.contain(['Sheet for Gladstone, Missouri', 'Gladstone Tenants &lt;Union&gt;, <span class="phone">816-555-0160</span> [1]', 'Council meeting', 'Not covered', 'tenants.example/about', 'noindex']);
      expect(await text('/places/liberty,missouri/sheet')).to.contain('more at ');
    });

    it('redirect from another name of a place to its key, and keep language and parameters', async () => {
      for (const [from, to] of [['/places/gladstone-mo', GLADSTONE], ['/es/places/saint-louis-mo/entries?query=x', '/es/places/st-louis,missouri/entries?query=x']] as const) {
        const { status, headers } = await kit.open(from);
        expect([status, String(headers['location']).replace(/^http:\/\/[^/]+/, '')]).to.equal([301, to]);
      }
    });

    it('ask which place is meant, or suggest places', async () => {
      const which = await kit.open('/places/springfield');
      expect(which.status).to.equal(404);
      expect(which.text).to.contain(['<h1>Which Springfield?</h1>', '/places/springfield,missouri">', '/places/springfield,illinois">']);
      const typo = await kit.open('/places/gladstne,missouri');
      expect(typo.status).to.equal(404);
      expect(typo.text).to.contain(['No place called “gladstne,missouri”', 'Did you mean', `href="${GLADSTONE}"`]);
      for (const path of ['/places/%3Cb%3E', `/places/${'x'.repeat(300)}`, '/places/zzzzqqq/sheet']) {
        const { status, text: page, headers } = await kit.open(path);
        expect([status, headers['cache-control']]).to.equal([404, 'no-store']);
        expect(page).to.not.contain('<b>');
      }
    });
  });
}
