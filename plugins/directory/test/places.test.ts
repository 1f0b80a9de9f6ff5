import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases, testServer, type TestServer } from 'civic/testing';
import { createHash } from 'node:crypto';
import directory from '../index.ts';
import { GAZETTEER_VERSION, type PlaceRow } from '../places/gazetteer.ts';
import { gazetteerCheck, loadPlaces } from '../places/load.ts';
import { rowBatches } from '../places/prepared.ts';
import { createPlaces } from '../places/service.ts';
import type { PlaceCandidate, PlaceList } from '../places/schemas.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const places = createPlaces((path) => path);

for (const database of testDatabases()) {
  describe(`Places on ${database}`, () => {
    let kit: TestServer;
    before(async () => { kit = await testServer({ plugins: [directory], database }); });
    after(() => kit.close());

    const get = (path: string, headers: Record<string, string> = {}) => kit.request('GET', path, { headers });
    const ask = async (query: string, more = ''): Promise<PlaceList> => (await get(`/api/places?query=${encodeURIComponent(query)}${more}`)).body;
    const first = async (query: string): Promise<PlaceCandidate | undefined> => (await ask(query)).data[0];

    it('answers a place by its key, with all fields', async () => {
      const { status, body, headers } = await get('/api/places/kansas-city,missouri');
      expect(status).to.equal(200);
      expect(body).to.equal({
        place_key: 'kansas-city,missouri', slug: 'kansas-city-mo', name: 'Kansas City', state: { name: 'Missouri', abbreviation: 'MO', slug: 'missouri' }, county: 'jackson-county,missouri',
        country: 'US', kind: 'city', latitude: 39.09973, longitude: -94.57857, population: 475378, time_zone: 'America/Chicago', ocd_id: 'ocd-division/country:us/state:mo/place:kansas_city', display_name: 'Kansas City, MO',
        url: body.url,
      });
      expect(String(body.url)).to.endWith('/api/places/kansas-city,missouri');
      expect(headers['content-location']).to.equal(body.url);
    });

    it('accepts slugs and other spellings wherever a key is, and names the canonical one', async () => {
      const spellings: Record<string, string[]> = {
        'kansas-city,missouri': ['kansas-city-mo', 'kansascity,missouri', 'city-of-kansas-city,missouri', 'ocd-division%2Fcountry:us%2Fstate:mo%2Fplace:kansas_city'],
        'st-louis,missouri': ['saint-louis,missouri', 'saint-louis-mo', 'st-louis-mo'],
        'winston-salem,north-carolina': ['winston-salem-nc', 'winstonsalem,north-carolina'],
        'fort-collins,colorado': ['ft-collins,colorado', 'ft-collins-co'],
        'mount-vernon,new-york': ['mt-vernon,new-york'],
        'coeur-dalene,idaho': ['coeur-d-alene,idaho', 'coeur-dalene-id'],
        'washington,district-of-columbia': ['washington-dc'],
        'jackson-county,missouri': ['jackson-county-mo', 'county-of-jackson,missouri'],
        'toronto,ontario': ['toronto,ontario'],
        missouri: ['missouri'],
      };
      for (const [key, texts] of Object.entries(spellings)) {
        for (const text of texts) {
          const { status, body, headers } = await get(`/api/places/${text}`);
          expect([text, status, body.place_key]).to.equal([text, 200, key]);
          expect(String(headers['content-location'])).to.endWith(`/api/places/${key}`);
        }
      }
    });

    it('answers 404 for free text and abbreviations after a comma, and names the key', async () => {
      const wrong: Record<string, string[]> = {
        'kansas-city,missouri': ['Kansas City, MO', 'kansas-city,mo', 'KANSAS-CITY,MISSOURI', 'Kansas-City-MO', 'kansas city,missouri', 'kansas-city, missouri', ' kansas-city,missouri', 'kansas-city,missouri ', 'KCMO'],
        'springfield,illinois': ['springfield,il', 'Springfield, Illinois', 'springfield,ill'],
        'st-louis,missouri': ['st.-louis,missouri', 'St. Louis, MO', 'Saint Louis', '63101'],
        'washington,district-of-columbia': ['washington,dc', 'Washington, D.C.'],
        'toronto,ontario': ['Toronto, Ontario'],
        missouri: ['Missouri', 'MISSOURI'],
      };
      for (const [key, texts] of Object.entries(wrong)) {
        for (const text of texts) {
          const { status, body } = await get(`/api/places/${encodeURIComponent(text)}`);
          expect([text, status, body.code]).to.equal([text, 404, 'unknown_place']);
          expect(body.did_you_mean, text).to.include(key);
        }
      }
      for (const part of ['', '/entities', '/sources', '/coverage', '/feed.atom', '/feed.json', '/meetings.ics']) {
        const { status, body } = await get(`/api/places/springfield,il${part}`);
        expect([part, status, body.did_you_mean[0]]).to.equal([part, 404, 'springfield,illinois']);
      }
    });

    it('says of a key that is no place what the right form is and what was likely meant', async () => {
      const { status, body } = await get('/api/places/springfeld,missouri');
      expect([status, body.code]).to.equal([404, 'unknown_place']);
      expect(body.did_you_mean).to.include('springfield,missouri');
      expect(body.detail).to.include('kansas-city,missouri');
      const nothing = await get('/api/places/xyzzyx,missouri');
      expect([nothing.status, nothing.body.did_you_mean]).to.equal([404, []]);
      for (const odd of ['%00', ',', '-', '--mo', "'", '%25', 'x'.repeat(1000), '%E2%80%8B', 'ocd-division']) expect((await get(`/api/places/${odd}`)).status, odd).to.equal(404);
    });

    it('answers 304 for who has it already, and again when a place was added', async () => {
      const answer = await get('/api/places/st-louis-mo');
      const etag = String(answer.headers.etag);
      const again = await get('/api/places/st-louis-mo', { 'if-none-match': etag });
      expect([again.status, again.headers.etag, again.headers['content-location']]).to.equal([304, etag, answer.headers['content-location']]);
      await kit.db.write((tx) => places.add(tx, [{ name: 'Elsewhere', state: 'MO' }], 'etag'));
      expect((await get('/api/places/st-louis-mo', { 'if-none-match': etag })).status).to.equal(200);
      await kit.db.write((tx) => places.removeOrigin(tx, 'etag'));
    });

    it('resolves what people write', async () => {
      const meant: Record<string, string> = {
        'Kansas City, MO': 'kansas-city,missouri', KCMO: 'kansas-city,missouri', 'St. Louis': 'st-louis,missouri', 'Saint Louis Missouri': 'st-louis,missouri', 63103: 'st-louis,missouri', '64106-1234': 'kansas-city,missouri',
        NYC: 'new-york,new-york', 'Bronx, NY': 'the-bronx,new-york', Philly: 'philadelphia,pennsylvania', NOLA: 'new-orleans,louisiana', STL: 'st-louis,missouri', DC: 'washington,district-of-columbia',
        'Washington, D.C.': 'washington,district-of-columbia', SF: 'san-francisco,california', 'City of Austin': 'austin,texas', 'Leessummit, MO': 'lees-summit,missouri', 'Ft. Collins, Colo.': 'fort-collins,colorado',
        'Portland Oregon': 'portland,oregon', 'Portland, ME': 'portland,maine', 'winston salem nc': 'winston-salem,north-carolina', 'Nashville-Davidson, TN': 'nashville,tennessee',
        'Louisville/Jefferson County, KY': 'louisville,kentucky', 'Lexington-Fayette, Kentucky': 'lexington,kentucky', Missouri: 'missouri', 'San Mateo County, CA': 'san-mateo-county,california',
        'Columbia County PA': 'columbia-county,pennsylvania', 'Orleans Parish, LA': 'orleans-parish,louisiana', 'ocd-division/country:us/state:mo/place:st_louis': 'st-louis,missouri', 'st-louis-mo': 'st-louis,missouri',
        '1400 Main St, Kansas City, MO 64105': 'kansas-city,missouri', 'Chicago, IL, USA': 'chicago,illinois', 'Toronto, ON': 'toronto,ontario', 'Toronto, Ontario, Canada': 'toronto,ontario', 'london, ontario, canada': 'london,ontario', 'London, UK': 'london,england', 'Berlin, Germany': 'berlin,berlin',
        'Carson, NV': 'carson-city,nevada', 'San Juan, PR': 'san-juan,puerto-rico',
      };
      for (const [text, key] of Object.entries(meant)) {
        const { data, ambiguous } = await ask(text);
        expect([text, data[0]?.place_key, ambiguous]).to.equal([text, key, false]);
        expect(data[0]!.confidence).to.be.within(0.9, 1);
      }
    });

    it('says when it is unsure: chooses the most populous, and lists the others', async () => {
      for (const [text, key, least] of [['Springfield', 'springfield,missouri', 15], ['Portland', 'portland,oregon', 5], ['New York', 'new-york,new-york', 2], ['KC', 'kansas-city,missouri', 2], ['LA', 'los-angeles,california', 2]] as const) {
        const { data, ambiguous, total, next_cursor: cursor } = await ask(text);
        expect([text, data[0]?.place_key, ambiguous, cursor]).to.equal([text, key, true, null]);
        expect(total, text).to.equal(data.length);
        expect(data.length, text).to.be.at.least(least);
        expect(data.map(({ confidence }) => confidence)).to.equal(data.map(({ confidence }) => confidence).sort((a, b) => b - a));
      }
      expect((await ask('Groton, CT')).data.map((place) => place.place_key)).to.include('groton,connecticut');
      const inIllinois = await ask('Springfield', '&state=IL');
      expect([inIllinois.data[0]?.place_key, inIllinois.ambiguous]).to.equal(['springfield,illinois', false]);
      expect((await ask('Springfield', '&limit=3')).data).to.have.length(3);
    });

    it('never takes a place outside the state that was named for certain', async () => {
      for (const text of ['Kansas City, TX', 'Curitiba, PR', 'Philadelphia, Wyoming', 'Springfield, Atlantis']) {
        const { data, ambiguous } = await ask(text);
        expect([text, ambiguous]).to.equal([text, true]);
        for (const { confidence } of data) expect(confidence, text).to.be.below(0.5);
      }
      expect((await ask('Kansas City, MO', '&state=KS')).data.filter((place) => place.state?.abbreviation !== 'KS')).to.equal([]);
      expect(await ask('Kansas City', '&state=Atlantis')).to.include({ data: [], total: 0, ambiguous: false });
    });

    it('resolves townships and other governments below a county', async () => {
      const meant: Record<string, string> = {
        'Whitpain Township, PA': 'whitpain,pennsylvania', 'Whitpain Twp, PA': 'whitpain,pennsylvania', 'Whitpain Twp., Pa.': 'whitpain,pennsylvania', 'Whitpain, PA': 'whitpain,pennsylvania',
        'Whitpain Township Montgomery County PA': 'whitpain,pennsylvania', 'whitpain-township-pa': 'whitpain,pennsylvania', 'Malta, NY': 'malta,new-york', 'Town of Malta, NY': 'malta,new-york', 'malta-town,new-york': 'malta,new-york',
        'Malta (Saratoga County), NY': 'malta,new-york', 'Roxbury, NJ': 'roxbury,new-jersey', 'Township of Roxbury NJ': 'roxbury,new-jersey', 'South Fulton, GA': 'south-fulton,georgia', 'Glendale, CO': 'glendale,colorado',
        'Bloomfield township, NJ': 'bloomfield,new-jersey', 'Washington township, Fayette County, PA': 'washington-township-fayette-county,pennsylvania', 'Washington, Washington County, PA': 'washington,pennsylvania',
        'Washington, PA': 'washington,pennsylvania', 'Groton town, CT': 'groton-town,connecticut', 'Groton city, CT': 'groton,connecticut', 'Springfield township, Burlington County, NJ': 'springfield-township-burlington-county,new-jersey',
        'Springfield, IL': 'springfield,illinois', 'Union City, NJ': 'union-city,new-jersey', 'Rockwell city, IA': 'rockwell,iowa', 'Rockwell City, IA': 'rockwell-city,iowa', 'Township 1, Harper County, KS': 'township-1-harper-county,kansas',
        'ocd-division/country:us/state:ny/county:saratoga/place:malta': 'malta,new-york', 'ocd-division/country:us/state:mo/county:jackson': 'jackson-county,missouri', 'ocd-division/country:us/state:tn/county:davidson': 'nashville,tennessee',
        '12084': 'guilderland,new-york',
      };
      for (const [text, key] of Object.entries(meant)) {
        const { data, ambiguous } = await ask(text);
        expect([text, data[0]?.place_key, ambiguous]).to.equal([text, key, false]);
      }
      const { body } = await get('/api/places/whitpain-pa');
      expect(body).to.include({ place_key: 'whitpain,pennsylvania', slug: 'whitpain-pa', name: 'Whitpain Township', kind: 'township', display_name: 'Whitpain Township, PA', ocd_id: 'ocd-division/country:us/state:pa/county:montgomery/place:whitpain' });
      expect((await first('Bloomfield township, NJ'))?.kind).to.equal('township');
    });

    it('takes none of several townships of one name without their county', async () => {
      for (const text of ['Washington township, PA', 'Springfield Twp, NJ', 'Township 1, KS', 'Bloomfield township, MI']) {
        const { data, ambiguous } = await ask(text);
        expect([text, ambiguous, data.length > 1]).to.equal([text, true, true]);
        for (const { confidence } of data) expect(confidence, text).to.be.below(0.5);
      }
      const { status, body } = await get('/api/places/washington-township,pennsylvania');
      expect([status, body.code]).to.equal([404, 'unknown_place']);
      expect(Number(body.did_you_mean.length)).to.be.above(1);
      // A village that is not on the list is not the township of its name.
      for (const text of ['Whitpain village, PA', 'Washington township, Adams County, PA', 'Whitpain Township, Adams County, PA']) {
        const { data, ambiguous } = await ask(text);
        expect([text, ambiguous]).to.equal([text, data.length > 0]);
      }
    });

    it('keeps the key of every place', async () => {
      const digest = (keys: string[]) => createHash('sha256').update(keys.sort().join('\n')).digest('hex').slice(0, 16);
      const keys = async (isCensus: boolean): Promise<string[]> => kit.db.read('directory_places')[isCensus ? 'whereBetween' : 'whereNotBetween']('key', [1_990_000_000, 1_999_999_999]).where('key', '<', 2_100_000_000).pluck('place_key');
      // Actors and links keep these keys: when one of the digests changes, places have lost theirs.
      expect(digest(await keys(false))).to.equal('f6e54ccb74d7dc5c');
      expect(digest(await keys(true))).to.equal('3b1fafbc770b473f');
    });

    it('finds a place by the beginning of its name, and with a wrong letter', async () => {
      expect((await ask('Kansas Ci')).data.map((place) => place.place_key)).to.include('kansas-city,missouri');
      expect((await first('Pittsburg, Pennsylvania'))?.place_key).to.equal('pittsburgh,pennsylvania');
      expect((await first('Minneapolus, MN'))?.place_key).to.equal('minneapolis,minnesota');
    });

    it('answers any text', async () => {
      for (const text of ['%', '\\', "'; drop table directory_places", '_', '😀', '٣', ',,,', 'a', ' x ', '-'.repeat(200), '(', '[', 'ß', 'İstanbul', '00000', 'constructor', 'Springfield, constructor', 'constructor, __proto__']) {
        expect((await get(`/api/places?query=${encodeURIComponent(text)}`)).status, text).to.equal(200);
      }
      for (const search of ['query=', `query=${'x'.repeat(201)}`, 'query=a&limit=0', 'query=a&limit=101', 'query=a&stat=MO', 'query=a&cursor=x', 'cursor=x', 'limit=0']) expect((await get(`/api/places?${search}`)).status, search).to.equal(400);
    });

    it('gives the larger of two the plain key and the other one -town', async () => {
      const rows = await kit.db.read('directory_places').where('squashed', 'liveoak').where({ state: 'CA' }).orderBy('population', 'desc');
      expect(rows.map((row) => row.place_key)).to.equal(['live-oak,california', 'live-oak-town,california']);
      expect((await get('/api/places/live-oak-town-ca')).body.place_key).to.equal('live-oak-town,california');
    });

    it('keeps places that are added until their origin takes them away', async () => {
      await kit.db.write((tx) => places.add(tx, [{ name: 'Alder Falls', state: 'MO', kind: 'city', population: 12_000, latitude: 38.5, longitude: -92.5 }], 'test'));
      await kit.db.write((tx) => places.add(tx, [{ name: 'Alder Falls', state: 'MO', kind: 'town', population: 13_000 }], 'test'));
      const { body } = await get('/api/places/alder-falls-mo');
      expect([body.place_key, body.kind, body.population]).to.equal(['alder-falls,missouri', 'town', 13_000]);
      expect((await first('Alder Falls, Missouri'))?.place_key).to.equal('alder-falls,missouri');
      expect([...await places.byKeys(kit.db.read, ['alder-falls,missouri', 'st-louis,missouri', 'nowhere,missouri'])].length).to.equal(2);
      await expect(kit.db.write((tx) => places.add(tx, [{ name: 'St. Louis', state: 'MO' }], 'test'))).to.reject(/has a place st-louis,missouri already/);
      await expect(kit.db.write((tx) => places.add(tx, [{ name: 'Alder Falls', state: 'MO' }], 'other'))).to.reject(/already/);
      expect(await kit.db.write((tx) => places.removeOrigin(tx, 'test'))).to.equal(1);
      expect((await get('/api/places/alder-falls-mo')).status).to.equal(404);
      expect([...(await places.byKeys(kit.db.read, ['alder-falls,missouri'])).keys()]).to.equal([]);
    });

    it('gives many places by key and by number at once', async () => {
      const keys: string[] = await kit.db.read('directory_places').orderBy('key').limit(1200).pluck('place_key');
      const rows = await places.byKeys(kit.db.read, [...keys, ...keys]);
      expect(rows.size).to.equal(1200);
      const numbers = [...rows.values()].map((row) => row.key);
      expect([...(await places.byNumbers(kit.db.read, [...numbers, 1])).keys()].sort()).to.equal(numbers.sort());
    });

    it('has every place once, with a key that is its name', async () => {
      const rows: { place_key: string; state: string | null; country: string }[] = await kit.db.read('directory_places').select('place_key', 'state', 'country');
      expect(rows.length).to.be.above(90_000);
      const word = '[\\p{Ll}\\p{Lo}\\p{N}]+(-[\\p{Ll}\\p{Lo}\\p{N}]+)*';
      const form = new RegExp(`^${word}(,${word})?$`, 'u');
      expect(rows.filter(({ place_key: key }) => !form.test(key))).to.equal([]);
      expect(rows.filter(({ state, country }) => (country === 'US') !== (state !== null))).to.equal([]);
    });

    // The last: afterwards there are few places.
    it('loads the gazetteer again with what was added', async () => {
      const few: PlaceRow[] = await kit.db.read('directory_places').where({ state: 'MO' });
      const read = async () => rowBatches({ places: few, aliases: [], zips: [] });
      await kit.db.write((tx) => places.add(tx, [{ name: 'Birch Point', state: 'MO' }], 'kept'));
      const revision = await places.revision(kit.db.read);
      expect((await get('/api/places/chicago-il')).status).to.equal(200);

      await kit.db.write((tx) => tx('directory_gazetteer').delete());
      expect((await gazetteerCheck(() => kit.db).run()).status).to.equal('failed');
      await loadPlaces({ write: kit.db.write, progress: async () => undefined }, read);
      expect(await places.revision(kit.db.read)).to.not.equal(revision);
      expect([(await get('/api/places/chicago-il')).status, (await get('/api/places/st-louis-mo')).status, (await get('/api/places/birch-point-mo')).status]).to.equal([404, 200, 200]);
      const check = await gazetteerCheck(() => kit.db).run();
      expect([check.status, check.detail]).to.equal(['ok', `${(few.length + 1).toLocaleString('en-US')} places (version ${GAZETTEER_VERSION})`]);
    });
  });
}
