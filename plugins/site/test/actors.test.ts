import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { EDITOR } from './kit.ts';
import { entryKit, HEADERS, type EntryKit } from './entry-kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const OWN = 'https://union.example/contact';
const NEWS = 'https://ledger.example/unions';
const PRIVATE = { visibility: 'workspace' };

for (const database of testDatabases()) {
  describe(`The page of an entry on ${database}`, () => {
    let kit: EntryKit;
    let id: string;
    before(async () => {
      kit = await entryKit({ database });
      const { body } = await kit.create([
        { property: 'name', value: 'Gladstone Tenants Union', source: OWN, excerpt: 'Gladstone Tenants Union' },
        { property: 'name', value: 'G Tenants & Co', source: NEWS, confidence: 0.5 },
        { property: 'place', value: 'gladstone,missouri', source: OWN },
        { property: 'issue_area', value: 'housing_affordability', source: OWN },
        { property: 'phone', value: '+18165550160', source: OWN, excerpt: 'Visit us at 173 Court Square, call (816) 555-0160 or write to hello@union.example.' },
        { property: 'phone', value: '+18165550160', source: NEWS, excerpt: 'Their number is 816-555-0160.' },
        { property: 'phone', value: '+12025550145', source: NEWS },
        { property: 'email', value: 'hello@union.example', source: OWN, excerpt: 'Visit us at 173 Court Square, call (816) 555-0160 or write to hello@union.example.' },
        { property: 'description', value: 'Advice on <b>leases</b>.', source: OWN },
      ], { sources: { [OWN]: { title: 'Contact <us>', publication: 'Tenants Union' }, [NEWS]: { title: null, kind: 'news_article', published_at: '2024-05-01T00:00:00.000Z', retrieved_at: '2024-05-29T00:00:00.000Z' } } });
      id = body.id;
      const old = body.claims.findLast(({ property }: { property: string }) => property === 'phone');
      await kit.send('PATCH', `/api/entities/${id}`, { rank: [{ claim_id: old.id, rank: 'deprecated' }] });
    });
    after(() => kit.close());

    it('shows each statement beside its best source, with the value in the quote', async () => {
      const { status, text } = await kit.open(`/actors/${id}`);
      expect(status).to.equal(200);
      expect(text).to.contain([
        '<h1>Gladstone Tenants Union</h1>', 'Organization · Active', 'href="/places/gladstone,missouri">Gladstone, MO</a>', 'href="/issues/housing_affordability">Housing Affordability</a>',
        '<title>Gladstone Tenants Union, Organization in Gladstone · ', 'Also called G Tenants &amp; Co', '<mark>(816) 555-0160</mark>', 'Same passage as Phone',
        'Contact &lt;us&gt;</a>, Tenants Union', 'Advice on &lt;b&gt;leases&lt;/b&gt;.', '2 sources', 'No quote was kept.',
      ]);
      expect(text).to.match(/1 more source · 1 outdated value/);
      expect(text).to.match(/Outdated: \(202\) 555-0145, seen May 29, 2024 in ledger\.example/);
      expect(text).to.not.contain('<b>leases');
    });

    it('links to the passage in the source, and each statement by the id of its claim', async () => {
      const { claims } = (await kit.request('GET', `/api/entities/${id}`)).body;
      const { text } = await kit.open(`/actors/${id}`);
      for (const claim of claims) expect(text.split(`id="${claim.id}"`).length, claim.property).to.equal(2);
      expect(text).to.contain(['href="https://union.example/contact#:~:text&#x3D;Visit%20us%20at%20173%20Court,555%2D0160%20or%20write%20to%20hello%40union.example."', 'href="https://ledger.example/unions#:~:text&#x3D;Their%20number%20is%20816%2D555%2D0160."']);
    });

    it('states in words how sure and how old a statement is', async () => {
      const { text } = await kit.open(`/actors/${id}`);
      expect(text).to.contain(['<strong>Uncertain</strong>', 'last seen May 29, 2024, probably out of date', 'confidence 50 %']);
    });

    it('shows disagreement side by side', async () => {
      const { body } = await kit.create([
        { property: 'name', value: 'Liberty Town Council', source: OWN }, { property: 'phone', value: '+18165550101', source: OWN }, { property: 'phone', value: '+18165550102', source: NEWS, confidence: 0.7 },
      ]);
      const { text } = await kit.open(`/actors/${body.id}`);
      expect(text).to.match(/Sources disagree[^]*Shown here[^]*\(816\) 555-0101[^]*Also stated[^]*\(816\) 555-0102[^]*<strong>Likely/);
    });

    it('has linked data that matches the entry', async () => {
      const { text } = await kit.open(`/actors/${id}`);
      const [, json] = /<script type="application\/ld\+json">([^<]+)<\/script>/.exec(text)!;
      const node = JSON.parse(json!);
      const { body: actor } = await kit.request('GET', `/api/entities/${id}`);
      expect(node).to.include({ '@context': 'https://schema.org', '@type': 'Organization', '@id': actor.url, name: actor.name, description: actor.description, telephone: actor.contact.phone, email: actor.contact.email });
      expect(node.subjectOf).to.have.length(actor.claims.length);
      expect(text).to.match(new RegExp(`rel="canonical" href="[^"]*/actors/${id}"`));
    });

    it('names related public entries, and why', async () => {
      const common = [{ property: 'place', value: 'raytown,missouri', source: OWN }, { property: 'issue_area', value: 'zoning_and_land_use', source: OWN }];
      const named = async (name: string, url: string, more: object = {}) => (await kit.create([...common.map((claim) => ({ ...claim, source: url })), { property: 'name', value: name, source: url }], { ...more })).body.id as string;
      const [one] = await Promise.all([named('Raytown Builders', 'https://builders.example'), named('Raytown Planners', 'https://planners.example'), named('Raytown Secrets', 'https://secrets.example', PRIVATE)]);
      const { text } = await kit.open(`/actors/${one}`);
      expect(text).to.match(/Related, and why[^]*Raytown Planners<\/a>[^]*Same issue: Zoning and Land Use · Same place: Raytown/);
      expect(text).to.not.contain('Raytown Secrets');
    });

    it('is in Spanish, too', async () => {
      const { text } = await kit.open(`/es/actors/${id}`);
      expect(text).to.contain(['Qué se sabe y dónde se leyó', 'Fuente:', 'Leer en la fuente', 'href="/es/sources/', '2 fuentes']);
    });

    it('does not show private entries, statements and sources', async () => {
      const hidden = await kit.create([{ property: 'name', value: 'Secret Union', source: 'https://secret.example/a' }, { property: 'affiliation', value: { entity_id: id, name: 'Gladstone Tenants Union', role: 'chapter' }, source: OWN }], PRIVATE);
      for (const headers of [{}, HEADERS] as Record<string, string>[]) {
        expect((await kit.open(`/actors/${hidden.body.id}`, headers)).status).to.equal(404);
        expect((await kit.open(`/actors/${hidden.body.id}/history`, headers)).status).to.equal(404);
        for (const { source_id } of hidden.body.claims) expect((await kit.open(`/sources/${source_id}`, headers)).status).to.equal(404);
      }
      const { body } = await kit.create([{ property: 'name', value: 'Ann Open', source: OWN }, { property: 'affiliation', value: { entity_id: hidden.body.id, name: 'A union', role: 'member' }, source: OWN }], { type: 'person' });
      const pages = [await kit.open(`/actors/${id}`), await kit.open(`/actors/${body.id}`)].map(({ text }) => text).join('');
      expect(pages).to.not.contain('Secret Union');
      expect(pages).to.not.contain(`/actors/${hidden.body.id}`);
    });

    it('is 404 for an unknown id, as a page', async () => {
      for (const path of ['/actors/nothing', '/actors/01890000-0000-7000-8000-000000000009', '/actors/nothing/history', '/actors/nothing/event.ics', '/sources/nothing']) {
        const { status, headers, text } = await kit.open(path);
        expect([status, headers['content-type']], path).to.equal([404, 'text/html; charset=utf-8']);
        expect(text).to.not.match(/\bactor\b/i);
      }
    });

    it('redirects from a merged id, and states what was merged and when', async () => {
      const [left, right] = await Promise.all(['Old Union', 'New Union'].map(async (name) => (await kit.create([{ property: 'name', value: name, source: OWN }])).body.id as string));
      await kit.send('POST', `/api/entities/${left}/merge`, { into: right, reason: 'The same address' });
      const moved = await kit.open(`/es/actors/${left}`);
      expect([moved.status, moved.headers['location'], moved.headers['cache-control']]).to.equal([301, `/es/actors/${right}?from=${left}`, 'max-age=3600']);
      expect((await kit.open(`/actors/${left}/event.ics`)).headers['location']).to.equal(`/actors/${right}/event.ics`);
      const { text } = await kit.open(`/actors/${right}?from=${left}`);
      expect(text).to.match(/Old Union was merged into this entry on \w+ \d+, \d{4}\./);
      expect(text).to.match(new RegExp(`rel="canonical" href="[^"?]*/actors/${right}"`));
      expect((await kit.open(`/actors/${right}?from=${id}`)).headers['location']).to.equal(`/actors/${right}`);
      const history = await kit.open(`/actors/${right}/history`);
      expect(history.text).to.match(/3 changes[^]*merged with Old Union · by a reviewer[^]*The same address/);
      expect(history.text).to.not.contain('merged into');
      await kit.send('DELETE', `/api/entities/${right}`);
      for (const gone of [left, right]) expect((await kit.open(`/actors/${gone}`)).status).to.equal(410);
    });

    it('states when an entry was deleted, without its name', async () => {
      const { body } = await kit.create([{ property: 'name', value: 'Forgotten Union', source: 'https://forgotten.example/' }]);
      const source = body.claims[0].source_id;
      await kit.open(`/actors/${body.id}`);
      await kit.send('DELETE', `/api/entities/${body.id}`);
      const { status, text } = await kit.open(`/actors/${body.id}`);
      expect(status).to.equal(410);
      expect(text).to.match(/This entry was deleted on \w+ \d+, \d{4}\./);
      expect(text).to.not.contain('Forgotten');
      expect((await kit.open(`/actors/${body.id}/history`)).status).to.equal(410);
      expect((await kit.open(`/sources/${source}`)).status).to.equal(404);
      expect((await kit.request('GET', `/api/entities/${body.id}`)).status).to.equal(404);
    });

    it('shows an event with its time, place and calendar', async () => {
      const event = [{ property: 'name', value: 'Council meeting', source: OWN }, { property: 'event_start', value: '2099-11-24T18:30:00.000Z', source: OWN }, { property: 'event_location', value: 'City Hall', source: OWN }];
      const { body } = await kit.create([...event, { property: 'place', value: 'gladstone,missouri', source: OWN }], { type: 'event' });
      const { text } = await kit.open(`/actors/${body.id}`);
      expect(text).to.contain(['<time datetime="2099-11-24T18:30:00.000Z">Tue, Nov 24, 12:30 PM CST (2099)</time><br>City Hall', `href="/actors/${body.id}/event.ics"`]);
      const ics = await kit.open(`/actors/${body.id}/event.ics`);
      expect(ics.headers['content-type']).to.match(/^text\/calendar/);
      expect(ics.text.replaceAll('\r\n ', '')).to.contain(['DTSTART:20991124T183000Z', `/actors/${body.id}\r\n`]);
      const past = await kit.create(event.map((claim) => (claim.property === 'event_start' ? { ...claim, value: '2020-11-24T18:30:00.000Z' } : claim)), { type: 'event' });
      expect((await kit.open(`/actors/${past.body.id}`)).text).to.contain('This event is over.');
      expect((await kit.open(`/actors/${id}/event.ics`)).status).to.equal(404);
    });

    it('shows a whole day as a date, everywhere in the same day', async () => {
      const { body } = await kit.create([
        { property: 'name', value: 'Town fair', source: OWN }, { property: 'place', value: 'gladstone,missouri', source: OWN },
        { property: 'event_start', value: '2099-12-24', source: OWN }, { property: 'event_end', value: '2099-12-26', source: OWN },
      ], { type: 'event' });
      expect(body.event).to.include({ start: '2099-12-24', end: '2099-12-26' });
      const { text } = await kit.open(`/actors/${body.id}`);
      expect(text).to.contain(['<time datetime="2099-12-24">Dec 24, 2099</time>', '"startDate":"2099-12-24"']).and.not.contain('Dec 23');
      expect((await kit.open('/places/gladstone,missouri')).text).to.contain('<time datetime="2099-12-24">Thu, Dec 24</time>');
      expect((await kit.open(`/actors/${body.id}/event.ics`)).text).to.contain(['DTSTART;VALUE=DATE:20991224\r\n', 'DTEND;VALUE=DATE:20991227\r\n']);
      const today = await kit.create([{ property: 'name', value: 'Fair of today', source: OWN }, { property: 'place', value: 'gladstone,missouri', source: OWN }, { property: 'event_start', value: new Date().toISOString().slice(0, 10), source: OWN }], { type: 'event' });
      expect((await kit.open('/places/gladstone,missouri')).text).to.contain('Fair of today');
      expect((await kit.open(`/actors/${today.body.id}`)).text).to.not.contain('This event is over.');
    });

    it('folds long lists, and stays small', async () => {
      const many = Array.from({ length: 120 }, (_, at) => ({ property: 'social', value: { network: `net${at}`, url: `https://net.example/${at}` }, source: `https://many.example/${at % 90}`, excerpt: 'word '.repeat(300).trim() }));
      const { body } = await kit.create([{ property: 'name', value: 'Everywhere', source: OWN }, ...many]);
      const { status, text } = await kit.open(`/actors/${body.id}`);
      expect(status).to.equal(200);
      expect(text).to.contain(['45 more', '70 further values are not listed here.', 'All 91 sources', '81 more sources']);
      expect(text.length).to.be.below(300_000);
    });

    it('names kinds of editors in the history, never accounts', async () => {
      const { text } = await kit.open(`/actors/${id}/history`);
      expect(text).to.contain(['<h1>History of Gladstone Tenants Union</h1>', 'entered · by a reviewer', 'Added Phone: (816) 555-0160', 'content="noindex"']);
      expect(text).to.not.contain(EDITOR.account_id);
    });
  });
}
