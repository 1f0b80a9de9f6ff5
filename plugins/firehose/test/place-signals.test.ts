import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { SIGNAL_TYPES } from '../types.ts';
import { said, signalsKit, type SignalsKit } from './directory-kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PATH = '/api/places/kansas-city,missouri/signals';

for (const database of testDatabases()) describe(`The signals of a place, on ${database}`, { timeout: 60_000 }, () => {
  let kit: SignalsKit;
  const clock = stoppedClock('2026-03-02T15:00:00.000Z');
  before(async () => {
    kit = await signalsKit({ database, clock });
    for (const [index, name] of ['First', 'Second', 'Third', 'Fourth'].entries()) {
      clock.advance(3_600_000);
      await kit.send('POST', '/api/entities', said({ name, place: 'kansas-city,missouri', issue_area: index < 2 ? 'housing_affordability' : 'public_transit' }));
      await kit.awaited(index + 1);
    }
    await kit.send('POST', '/api/entities', said({ name: 'Elsewhere', place: 'liberty,missouri' }));
    await kit.send('POST', '/api/entities', said({ name: 'Quiet Circle', place: 'kansas-city,missouri', visibility: 'workspace' }), 'member');
    await kit.awaited(6, '', 'member');
  });
  after(async () => kit.close());

  const titles = async (path: string): Promise<string[]> => (await kit.get(path)).body.data.map(({ title }: { title: string }) => title.replace(' was added', ''));

  it('are the public ones, the latest first, for all callers', async () => {
    const { status, body, headers } = await kit.get(PATH);
    expect(status).to.equal(200);
    expect(body).to.include({ total: 4, next_cursor: null });
    expect(body.place).to.include({ place_key: 'kansas-city,missouri', name: 'Kansas City' });
    expect(headers['content-location']).to.match(/\/api\/places\/kansas-city,missouri\/signals$/);
    expect(await titles(PATH)).to.equal(['Fourth', 'Third', 'Second', 'First']);
    expect((await kit.get(PATH, 'member')).text).to.not.contain('Quiet Circle');
  });

  it('are found on the page by key, slug, name and several names, and an unknown place is called unknown', async () => {
    const page = async (query: string) => (await kit.get(`/signals?${query}`)).text;
    for (const place of ['kansas-city,missouri', 'kansas-city-mo', 'Kansas City, MO', 'KCMO', 'kansas city, missouri']) expect(await page(`place=${encodeURIComponent(place)}`), place).to.contain(['4 signals', 'value="Kansas City, MO"']);
    expect(await page('place=Kansas+City,+MO;+Liberty,+MO')).to.contain('5 signals');
    const unknown = await page('place=Kansas+Citty,+MO');
    expect(unknown).to.contain(['No place is called “Kansas Citty, MO”', '<a href="/signals?place=kansas-city,missouri">Kansas City, MO</a>']).and.to.not.contain('No signals match');
    expect(await page('place=Zzyzzx+Qqq')).to.contain('No place is called “Zzyzzx Qqq”.');
    expect(await page('place=Springfield')).to.contain(['Several places are called “Springfield”', 'Springfield, MO</a>']);
    expect(await page('place=Austin,+TX')).to.contain('No signals match').and.to.not.contain('No place is called');
  });

  it('are filtered on the page by every kind, also one that no plugin here produces', async () => {
    const { text } = await kit.get('/signals?type=public_meeting');
    expect([...text.matchAll(/<option value="([a-z_]+)"/g)].map(([, type]) => type).sort()).to.equal([...SIGNAL_TYPES].sort());
    expect(text).to.contain('<option value="public_meeting" selected>');
  });

  it('are linked on the page as JSON only for who may read that', async () => {
    const { text } = await kit.get('/signals');
    expect(text).to.not.contain('href="/api/firehose').and.to.contain('<a href="/account/keys">');
  });

  it('come page by page, which fit together', async () => {
    const first = await kit.get(`${PATH}?limit=3`);
    expect(first.body.total).to.equal(4);
    expect(first.headers['link']).to.match(/rel="next"/);
    expect(await titles(`${PATH}?limit=3&cursor=${first.body.next_cursor}`)).to.equal(['First']);
    expect((await kit.get(`${PATH}?cursor=nonsense`)).body.code).to.equal('invalid_cursor');
    expect((await kit.get(`${PATH}?issue=public_transit&cursor=${first.body.next_cursor}`)).body.code).to.equal('invalid_cursor');
  });

  it('are narrowed down by type, issue and time', async () => {
    expect(await titles(`${PATH}?issue=public_transit`)).to.equal(['Fourth', 'Third']);
    expect(await titles(`${PATH}?issue=nothing_of_the_kind`)).to.equal([]);
    expect(await titles(`${PATH}?signal_type=actor_merged`)).to.equal([]);
    expect(await titles(`${PATH}?since=2026-03-02T17:00:00Z&until=2026-03-02T19:00:00Z`)).to.equal(['Third', 'Second']);
    expect((await kit.get(`${PATH}?signal_type=gossip`)).status).to.equal(400);
    expect((await kit.get(`${PATH}?visibility=workspace`, 'member')).status).to.equal(400);
  });

  it('are not sent to who has them, until there is another', async () => {
    const { headers } = await kit.get(PATH);
    const again = { 'if-none-match': String(headers['etag']) };
    expect((await kit.get(PATH, undefined, again)).status).to.equal(304);
    await kit.send('POST', '/api/entities', said({ name: 'Fifth', place: 'kansas-city,missouri' }));
    await kit.awaited(6);
    const { status, body } = await kit.get(PATH, undefined, again);
    expect([status, body.total]).to.equal([200, 5]);
  });

  it('are there under other spellings of the place; what is no place is 404 and says what could be', async () => {
    for (const key of ['kansas-city-mo', 'kansascity,missouri']) expect((await kit.get(`/api/places/${key}/signals`)).body.total, key).to.equal(5);
    for (const key of ['Kansas-City,Missouri', 'kansas-city,mo']) expect((await kit.get(`/api/places/${key}/signals`)).body.did_you_mean, key).to.include('kansas-city,missouri');
    const { status, body } = await kit.get('/api/places/kansas-cty,missouri/signals');
    expect([status, body.code]).to.equal([404, 'unknown_place']);
    expect(body.did_you_mean).to.include('kansas-city,missouri');
    expect((await kit.get('/api/places/orrick,missouri/signals')).body).to.include({ total: 0, data: [] });
  });
});
