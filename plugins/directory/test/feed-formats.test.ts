import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { parseAtomFeed, parseJsonFeed } from 'feedsmith';
import ICAL from 'ical.js';
import { atomOf } from '../feeds/atom.ts';
import { calendarOf } from '../feeds/calendar.ts';
import type { ActorFeed } from '../feeds/entry.ts';
import { jsonFeed } from '../feeds/json.ts';
import type { ActorDetail, Claim, Source } from '../types.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const AWKWARD = 'Łódź & <Söhne> “café”; a, b\\c\u0007 \u{1F6B2}'.repeat(4);

const freshness = { status: 'fresh', last_seen_at: null, last_verified_at: null, latest_source_at: null } as const;
const flags = { open: 0, total: 0, latest_at: null };
const source: Source = {
  id: '0199aaaa-0000-7000-8000-000000000001', url: 'https://news.example/a?b=1&c=2', title: AWKWARD, publication: 'The "Paper"', kind: 'news_article', published_at: null,
  retrieved_at: '2026-01-02T03:04:05.000Z', excerpt: null, content_hash: null, archived: false, entity_ids: [], freshness, flags, url_status: 'ok', last_checked_at: null,
};
const claim = (property: Claim['property'], value: Claim['value'], more: Partial<Claim> = {}): Claim => ({
  id: `0199aaaa-0000-7000-8000-00000000${String(property.length).padStart(4, '0')}`, property, value, rank: 'normal', confidence: 0.8, method: 'manual', source_id: source.id, excerpt: AWKWARD,
  locator: null, first_seen_at: '2026-01-02T03:04:05.000Z', last_seen_at: '2026-01-02T03:04:05.000Z', expires_at: null, status: 'active', ...more,
});
const actor: ActorDetail = {
  id: '0199aaaa-0000-7000-8000-0000000000aa', type: 'event', name: AWKWARD, slug: 'lodz', description: 'One line\nand another, with a comma; and more.',
  places: [{ place_key: 'lodz,tamarack', slug: 'lodz-tk', name: 'Łódź', state: 'TK', country: 'US' }], issue_areas: ['public_transit'],
  contact: { website: null, email: null, phone: null, social: [] }, identifiers: [{ scheme: 'demo', value: 'x' }], affiliations: [],
  event: { start: '2026-03-01T18:30:00.000Z', end: '2026-03-01T20:00:00.000Z', location: 'Hall, 1 Main Street; door B' }, status: 'active', visibility: 'public',
  source_count: 1, claim_count: 2, freshness, flags, created_at: '2026-01-02T03:04:05.000Z', updated_at: '2026-01-03T03:04:05.000Z', url: 'https://civic.example/api/entities/0199aaaa-0000-7000-8000-0000000000aa',
  claims: [claim('name', AWKWARD), claim('phone', '+12025550100', { rank: 'deprecated' }), claim('affiliation', { entity_id: null, name: 'A & B', role: null, since: '2020', until: null })], sources: [source],
};
const page = `https://civic.example/actors/${actor.id}`;
const feed = (actors: ActorDetail[]): ActorFeed => ({
  title: 'Łódź & more', description: 'What changed', id: 'tag:civic.example,2026:/api/places/lodz,tamarack/feed', self: 'https://civic.example/feed', home: 'https://civic.example/', author: { name: 'Civic', url: 'https://civic.example' }, actors,
  meetings: [], pageOf: () => page,
});
const around = { json: 'https://civic.example/feed.json', issueAreas: 'https://civic.example/api/issue-areas', places: 'https://civic.example/api/places' };
const shown = AWKWARD.replaceAll('\u0007', '');
const eventOf = (ics: string) => new ICAL.Event(new ICAL.Component(ICAL.parse(ics) as never).getFirstSubcomponent('vevent')!);

describe('An Atom feed', () => {
  it('says the same when it is read back, whatever characters are in it', () => {
    const read = parseAtomFeed(atomOf(feed([actor]), around));
    expect(read).to.include({ id: 'tag:civic.example,2026:/api/places/lodz,tamarack/feed', updated: actor.updated_at });
    expect(read.authors).to.equal([{ name: 'Civic', uri: 'https://civic.example' }]);
    const entry = read.entries![0]!;
    expect(entry.title!.value).to.equal(`${shown} (demo)`);
    expect(entry.id).to.equal(`urn:uuid:${actor.id}`);
    expect(entry.links!.filter(({ rel }) => rel === 'via').map(({ href }) => href)).to.equal([source.url]);
    expect(entry.categories!.map(({ term }) => term)).to.include(['event', 'demo', 'lodz,tamarack', 'public_transit']);
    expect(entry.content!.value).to.contain(['Demo: this is made up', 'no longer right', 'A &amp; B', 'href="https://news.example/a?b=1&amp;c=2"']);
    expect(entry.content!.value).to.not.contain('<Söhne>');
  });

  it('carries each claim with its source for programs', () => {
    const written = atomOf(feed([actor]), around);
    expect(written.match(/<civic:claim /g)).to.have.length(3);
    expect(written).to.contain(['<civic:place key="lodz,tamarack"/>', 'source="https://news.example/a?b=1&amp;c=2"', 'value="{&quot;entity_id&quot;:null']);
    expect(written).to.not.contain('\u0007');
  });

  it('is whole without entries', () => {
    const read = parseAtomFeed(atomOf(feed([]), around));
    expect([read.updated, read.entries]).to.equal(['1970-01-01T00:00:00.000Z', undefined]);
    expect(read.links!.map(({ rel }) => rel)).to.equal(['self', 'alternate', 'alternate']);
  });
});

describe('A JSON Feed', () => {
  it('has the members of version 1.1, and the whole record under _civic', () => {
    const made = jsonFeed(feed([actor]), 'https://civic.example/docs');
    const read = parseJsonFeed(JSON.parse(JSON.stringify(made)));
    expect(read.items![0]).to.include({ id: `urn:uuid:${actor.id}`, url: page, title: `${shown} (demo)`, date_modified: actor.updated_at });
    expect(made.items[0]!._civic).to.include({ demo: true, claims: actor.claims, sources: actor.sources, places: actor.places });
    expect(made.items[0]!.tags).to.include('demo');
  });

  it('keeps its list when it is empty', () => {
    expect(jsonFeed(feed([]), 'https://civic.example/docs')).to.include({ version: 'https://jsonfeed.org/version/1.1', items: [] });
  });
});

describe('A calendar', () => {
  it('says the same when it is read back, whatever characters are in it', () => {
    const event = eventOf(calendarOf(feed([actor])));
    expect(event.uid).to.equal(actor.id);
    expect(event.summary).to.equal(`${shown} (demo)`);
    expect(event.location).to.equal(actor.event!.location!);
    expect(event.description).to.contain(['One line\nand another, with a comma; and more.', source.url]);
    expect([event.startDate.toString(), event.endDate.toString()]).to.equal(['2026-03-01T18:30:00Z', '2026-03-01T20:00:00Z']);
    const of = (name: string) => event.component.getFirstPropertyValue(name);
    expect([of('status'), of('sequence'), String(of('dtstamp')), of('url')]).to.equal(['CONFIRMED', 86_400, '2026-01-03T03:04:05Z', page]);
    expect(event.component.getAllProperties('attach').map((property) => property.getFirstValue())).to.equal([source.url]);
    expect(event.component.getAllProperties('x-civic-claim')).to.have.length(3);
  });

  it('folds at 75 octets, ends lines with CRLF and cuts no character in two', () => {
    const written = calendarOf(feed([actor]));
    const lines = written.split('\r\n');
    expect(lines.pop()).to.equal('');
    for (const line of lines) expect(Buffer.byteLength(line), line).to.be.at.most(75);
    expect(written.replaceAll('\r\n', '')).to.not.match(/[\r\n]/);
    expect(written).to.not.contain('\ufffd');
    expect(written.replaceAll('\r\n ', '')).to.contain('SUMMARY:Łódź & <Söhne> “café”\\; a\\, b\\\\c \u{1F6B2}');
  });

  it('takes a date for a whole day, cancels what is inactive, and drops an end that lies before the start', () => {
    const day = calendarOf(feed([{ ...actor, status: 'inactive', event: { start: '2026-03-01', end: '2026-03-02', location: null } }]));
    // The end of a calendar is the day after the last one.
    expect(day).to.contain(['DTSTART;VALUE=DATE:20260301\r\n', 'DTEND;VALUE=DATE:20260303\r\n', 'STATUS:CANCELLED\r\n']);
    const back = calendarOf(feed([{ ...actor, event: { start: '2026-03-01T18:30:00.000Z', end: '2026-02-01', location: null } }]));
    expect(back).to.not.contain(['DTEND', 'LOCATION']);
  });

  it('has a component even when nothing is planned, and leaves out what has no start', () => {
    for (const actors of [[], [{ ...actor, event: { start: null, end: null, location: null } }], [{ ...actor, event: null }], [{ ...actor, event: { start: 'soon', end: null, location: null } }]]) {
      const calendar = new ICAL.Component(ICAL.parse(calendarOf(feed(actors))) as never);
      expect(calendar.getAllSubcomponents().map(({ name }) => name)).to.equal(['vtimezone']);
    }
  });
});
