import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { parseAtomFeed, parseJsonFeed } from 'feedsmith';
import ICAL from 'ical.js';
import { actorPayload, directoryKit, type DirectoryKit, type ActorProperties } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PLACE = '/api/places/kansas-city,missouri';
const AREA = '/api/issue-areas/public_transit';
const FILES = { 'feed.atom': 'application/atom+xml', 'feed.json': 'application/feed+json', 'meetings.ics': 'text/calendar' };

for (const database of testDatabases()) describe(`Feeds and calendars, on ${database}`, { timeout: 60_000 }, () => {
  const clock = stoppedClock('2026-03-02T12:00:00.000Z');
  let kit: DirectoryKit;
  let rider: { id: string };

  const enter = async (what: ActorProperties, who = 'reviewer') => {
    const { status, body, text } = await kit.send('POST', '/api/entities', actorPayload(what), who);
    expect(status, text).to.equal(201);
    return body;
  };
  const events = (text: string) => new ICAL.Component(ICAL.parse(text) as never).getAllSubcomponents('vevent').map((one) => new ICAL.Event(one));

  before(async () => {
    kit = await directoryKit({ database, clock });
    const place = 'kansas-city,missouri';
    rider = await enter({ name: 'Línea 7 Riders & Friends', description: 'People <who> ride', place, issue_area: 'public_transit', url: 'https://riders.example/about?a=1&b=2' });
    clock.advance(1000);
    await enter({ type: 'event', name: 'Hearing on line 7', place, issue_area: 'public_transit', event_start: '2026-03-09T23:30:00Z', event_end: '2026-03-10T01:00:00Z', event_location: 'City Hall, 12th floor; room B', url: 'https://kc.example/agenda' });
    await enter({ type: 'event', name: 'Last month’s meeting', place, event_start: '2026-02-01T18:00:00Z', url: 'https://kc.example/old' });
    await enter({ type: 'event', name: 'Long ago', place, event_start: '2025-10-01T18:00:00Z', url: 'https://kc.example/ancient' });
    await enter({ type: 'event', name: 'Our own meeting', visibility: 'workspace', place, issue_area: 'public_transit', event_start: '2026-03-11T18:00:00Z', url: 'https://kc.example/own' }, 'member');
    await enter({ name: 'Elsewhere Transit', place: 'omaha,nebraska', issue_area: 'public_transit', url: 'https://omaha.example/' });
  });
  after(() => kit.close());

  it('list recent changes in a place, newest first, for all callers', async () => {
    const atom = parseAtomFeed((await kit.get(`${PLACE}/feed.atom`)).text);
    expect(atom.title!.value).to.equal('Civic actors: Kansas City, MO');
    expect(atom.entries!.map(({ title }) => title!.value).at(-1)).to.equal('Línea 7 Riders & Friends');
    expect(atom.entries!.length).to.equal(4);
    const json = parseJsonFeed((await kit.get(`${PLACE}/feed.json`)).body);
    expect(json.items!.map(({ id }) => id)).to.equal(atom.entries!.map(({ id }) => id));
    expect((await kit.get(`${PLACE}/feed.atom`, 'member')).text).to.not.contain('Our own meeting');
  });

  it('list an issue area over all places', async () => {
    const atom = parseAtomFeed((await kit.get(`${AREA}/feed.atom`)).text);
    expect(atom.entries!.map(({ title }) => title!.value).sort()).to.equal(['Elsewhere Transit', 'Hearing on line 7', 'Línea 7 Riders & Friends']);
    expect(events((await kit.get(`${AREA}/meetings.ics`)).text).map(({ summary }) => summary)).to.equal(['Hearing on line 7']);
  });

  it('list what a search finds, newest first, and ignore unknown parameters', async () => {
    const { text, headers, status } = await kit.get('/api/entities/feed.atom?query=line&place=kansas-city,missouri&utm_source=reader');
    expect(status, text).to.equal(200);
    const atom = parseAtomFeed(text);
    expect(atom.entries!.map(({ title }) => title!.value)).to.equal(['Hearing on line 7', 'Línea 7 Riders & Friends']);
    expect(atom.title!.value).to.equal('Civic actors: “line”, kansas-city,missouri');
    expect(String(headers['content-location'])).to.endWith('/api/entities/feed.atom?query=line&place=kansas-city%2Cmissouri');
    const json = parseJsonFeed((await kit.get('/api/entities/feed.json?entity_type=event')).body);
    expect(json.items!.map(({ title }) => title)).to.equal(['Long ago', 'Last month’s meeting', 'Hearing on line 7']);
    expect((await kit.get('/api/entities/feed.atom?query=own', 'member')).text).to.not.contain('Our own meeting');
    expect((await kit.get('/api/entities/feed.atom?entity_type=dragon')).status).to.equal(400);
    expect((await kit.get('/api/entities/feed.atom?query=nobodyhasthis')).status).to.equal(200);
  });

  it('carry in every entry its place, its claims and their sources', async () => {
    const whole = (await kit.get(`/api/entities/${rider.id}`)).body;
    const { items } = (await kit.get(`${PLACE}/feed.json`)).body;
    for (const { _civic, content_html } of items) {
      expect([_civic.places.length, _civic.claims.length > 0, _civic.sources.length]).to.equal([1, true, 1]);
      for (const claim of _civic.claims) expect(_civic.sources.map(({ id }: { id: string }) => id)).to.include(claim.source_id);
      expect(content_html).to.contain(_civic.sources[0].url.replaceAll('&', '&amp;'));
    }
    const item = items.find(({ id }: { id: string }) => id === `urn:uuid:${rider.id}`);
    expect(item._civic).to.include({ claims: whole.claims, sources: whole.sources, places: whole.places, demo: false });
    expect(item.title).to.not.contain('demo');
    const entries = (await kit.get(`${PLACE}/feed.atom`)).text.split('<entry>').slice(1);
    for (const entry of entries) for (const part of ['<link rel="via"', '<civic:place key="kansas-city,missouri"/>', '<civic:claim id=']) expect(entry).to.contain(part);
    for (const event of (await kit.get(`${PLACE}/meetings.ics`)).text.split('BEGIN:VEVENT').slice(1)) for (const part of ['ATTACH;', 'X-CIVIC-PLACE:', 'X-CIVIC-CLAIM;']) expect(event).to.contain(part);
  });

  it('hold meetings that are to come or were in the last 90 days, the earliest first', async () => {
    const found = events((await kit.get(`${PLACE}/meetings.ics`)).text);
    expect(found.map(({ summary }) => summary)).to.equal(['Last month’s meeting', 'Hearing on line 7']);
    expect(found[1]!.location).to.equal('City Hall, 12th floor; room B');
    expect([found[1]!.startDate.toString(), found[1]!.endDate.toString()]).to.equal(['2026-03-09T23:30:00Z', '2026-03-10T01:00:00Z']);
  });

  for (const [file, type] of Object.entries(FILES)) {
    it(`answer ${file} as ${type}, with an ETag that holds until something changes`, async () => {
      const first = await kit.get(`${PLACE}/${file}`);
      expect(first.status).to.equal(200);
      expect(first.headers['content-type']).to.match(new RegExp(`^${type.replaceAll(/[+/]/g, '\\$&')}(;|$)`));
      expect(first.headers['cache-control']).to.equal('public, no-cache');
      expect(first.headers['content-location']).to.match(/\/api\/places\/kansas-city,missouri\//);
      const etag = String(first.headers.etag);
      const again = await kit.get(`${PLACE}/${file}`, undefined, { 'if-none-match': etag });
      expect([again.status, again.text, again.headers.etag]).to.equal([304, '', etag]);
      expect((await kit.get(`${PLACE}/${file}?utm_source=reader&limit=x`)).headers.etag).to.equal(etag);
      expect((await kit.get(`/api/places/kansas-city-mo/${file}`)).text).to.equal(first.text);
      await enter({ type: 'event', name: `One more for ${file}`, place: 'kansas-city,missouri', event_start: '2026-03-20T18:00:00Z' });
      expect((await kit.get(`${PLACE}/${file}`, undefined, { 'if-none-match': etag })).status).to.equal(200);
    });

    it(`make ${file} once, whatever readers add to its address`, async () => {
      const { text, headers } = await kit.get(`${PLACE}/${file}`);
      // A change behind the back of the cache: what is made again shows it.
      await kit.db.write((tx) => tx('directory_actors').where({ visibility: 'public' }).increment('version', 1));
      for (const path of [`${PLACE}/${file}?reader=7`, `/api/places/kansas-city-mo/${file}`, `/api/places/k%61nsas-city,missouri/${file}`]) {
        const again = await kit.get(path);
        expect([again.text, again.headers.etag], path).to.equal([text, headers.etag]);
      }
    });

    it(`answer an empty ${file} for a place with nothing in it, and 404 for what is no place or issue area`, async () => {
      const empty = await kit.get(`/api/places/seattle,washington/${file}`);
      expect(empty.status).to.equal(200);
      if (file === 'feed.atom') expect(parseAtomFeed(empty.text).entries).to.be.undefined();
      if (file === 'feed.json') expect(empty.body.items).to.equal([]);
      if (file === 'meetings.ics') expect(events(empty.text)).to.equal([]);
      const nowhere = await kit.get(`/api/places/kansas-citty,missouri/${file}`);
      expect([nowhere.status, nowhere.body.code]).to.equal([404, 'unknown_place']);
      expect(nowhere.headers['content-type']).to.match(/^application\/problem\+json/);
      expect((await kit.get(`/api/issue-areas/public_transport/${file}`)).body).to.include({ status: 404, code: 'unknown_issue_area' });
    });
  }

  it('may be read by every website', async () => {
    expect((await kit.get(`${PLACE}/feed.json`, undefined, { origin: 'https://reader.example' })).headers['access-control-allow-origin']).to.equal('*');
  });
});
