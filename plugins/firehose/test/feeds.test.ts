import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { parseAtomFeed, parseJsonFeed } from 'feedsmith';
import type { SignalDraft } from '../types.ts';
import { firehoseKit, type FirehoseKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const ID = '01890000-0000-7000-8000-00000000000a';
const EVIDENCE = [{ source_url: 'https://council.example/minutes?a=1&b=2', title: 'Minutes', publisher: 'City Council', passage: 'Adopted <7> to 2 & recorded' }];
const SIGNALS: Partial<SignalDraft>[] = [
  { id: ID, title: 'Zoning <vote> & more', type: 'vote', detected_at: '2026-03-01T11:00:00Z', occurred_at: '2026-02-28T18:00:00Z', summary: 'Seven to two', places: ['kansas-city,missouri'], issues: ['housing_affordability'], actors: [{ name: 'Ada Osei', type: 'person', role: 'chair' }], evidence: EVIDENCE },
  { title: 'Reunión del consejo', type: 'public_meeting', detected_at: '2026-02-28T10:00:00Z', summary: 'About the bridge' },
  { title: 'Bridge money', type: 'grant_award', detected_at: '2026-02-20T10:00:00Z' },
  { title: 'Page changed', type: 'source_change', source_class: 'directory', detected_at: '2026-03-01T10:00:00Z' },
  { title: 'Held for review', type: 'vote', visibility: 'reviewer', detected_at: '2026-03-01T09:00:00Z' },
];

for (const database of testDatabases()) describe(`Feeds of signals, on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  before(async () => {
    kit = await firehoseKit({ database });
    await kit.publish(...SIGNALS);
  });
  after(async () => kit.close());

  const get = (path: string, headers: Record<string, string> = {}) => kit.ask('GET', `/api/signals/${path}`, { headers });
  const atom = async (query = '') => parseAtomFeed((await get(`feed.atom${query}`)).text);
  const titles = async (query: string): Promise<string[]> => (await get(`feed.json${query}`)).body.items.map(({ title }: { title: string }) => title);

  it('have the newest public signals, without the upkeep of the directory', async () => {
    const feed = await atom();
    expect(feed.entries!.map(({ title }) => title!.value)).to.equal(['Zoning <vote> & more', 'Reunión del consejo', 'Bridge money']);
    expect(feed.updated).to.equal('2026-03-01T11:00:00.000Z');
    const json = parseJsonFeed((await get('feed.json')).body);
    expect(json.items!.map(({ id }) => id)).to.equal(feed.entries!.map(({ id }) => id));
    expect(await titles('?upkeep=true')).to.equal(['Zoning <vote> & more', 'Page changed', 'Reunión del consejo', 'Bridge money']);
    expect((await get('feed.atom?upkeep=true&visibility=reviewer')).text).to.not.contain('Held for review');
    expect((await kit.ask('GET', '/api/signals/feed.atom', { as: kit.reader })).text).to.not.contain('Held for review');
  });

  it('have in every entry its type, places, issues and sources', async () => {
    const [entry] = (await atom()).entries!;
    expect(entry!.id).to.equal(`urn:uuid:${ID}`);
    expect(entry!.links!.map(({ rel, href }) => [rel, href])).to.equal([['alternate', EVIDENCE[0]!.source_url], ['via', EVIDENCE[0]!.source_url]]);
    expect(entry!.categories!.map(({ term }) => term)).to.equal(['vote', 'kansas-city,missouri', 'housing_affordability']);
    expect(entry!.content!.value).to.contain(['Seven to two', 'Adopted &lt;7&gt; to 2 &amp; recorded', 'Ada Osei (chair)', 'Date: Feb 28, 2026, 6:00 PM UTC', 'https://council.example/minutes?a=1&amp;b=2']);
    const [item] = (await get('feed.json')).body.items;
    expect(item).to.include({ date_published: '2026-03-01T11:00:00.000Z', date_modified: '2026-03-01T11:00:00.000Z', summary: 'Seven to two' });
    expect(item._civic.signal).to.include({ id: ID, type: 'vote', visibility: 'public' });
  });

  it('show a record of JSON as its fields', async () => {
    const record = { EventId: 5, EventGuid: '19DAD529-E0D6-4B38-A169-EDC0D9C54F9A', EventBodyName: 'Board of "Aldermen" & <co>', EventTime: null, EventDate: '2026-02-20T00:00:00', EventRowVersion: 'AAAA' };
    const [id] = await kit.publish({ title: 'A record', type: 'grant_award', detected_at: '2026-02-01T10:00:00Z', evidence: [{ ...EVIDENCE[0]!, passage: JSON.stringify(record) }] });
    const entry = (await atom('?query=record')).entries![0]!;
    expect(entry.content!.value).to.contain('<br>EventBodyName: Board of &quot;Aldermen&quot; &amp; &lt;co&gt;<br>EventDate: 2026-02-20T00:00:00</li>').and.not.contain(['EventGuid', 'EventTime', 'EventId', '{']);
    await kit.withdraw(id!);
  });

  it('are narrowed down as the page is', async () => {
    expect(await titles('?place=kansas-city,missouri')).to.equal(['Zoning <vote> & more']);
    expect(await titles('?issue=housing_affordability&since=2026-03-01')).to.equal(['Zoning <vote> & more']);
    expect(await titles('?signal_type=source_change')).to.equal(['Page changed']);
    expect(await titles('?query=bridge')).to.equal(['Reunión del consejo', 'Bridge money']);
    expect(await titles('?until=2026-02-25')).to.equal(['Bridge money']);
    expect(await titles('?place=nowhere,atall')).to.equal([]);
    expect((await get('feed.json?signal_type=gossip')).status).to.equal(400);
    expect((await get('feed.json?since=yesterday')).status).to.equal(400);
    const { text, headers } = await get('feed.atom?utm_source=reader&place=kansas-city,missouri&query=zoning');
    expect(headers['content-location']).to.match(/\/api\/signals\/feed\.atom\?place=kansas-city,missouri&query=zoning$/);
    expect(parseAtomFeed(text).links!.map(({ href }) => new URL(href!).pathname + new URL(href!).search)).to.equal([
      '/api/signals/feed.atom?place=kansas-city,missouri&query=zoning', '/signals?q=zoning&place=kansas-city,missouri', '/api/signals/feed.json?place=kansas-city,missouri&query=zoning',
    ]);
  });

  it('are linked on the page, with its filters', async () => {
    const page = async (query: string) => (await kit.ask('GET', `/signals${query}`, { headers: { accept: 'text/html' } })).text.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&');
    expect(await page('')).to.contain(['<link rel="alternate" type="application/atom+xml" title="Signals" href="/api/signals/feed.atom">', '<a href="/api/signals/feed.json" type="application/feed+json">JSON Feed</a>']);
    expect(await page('?q=bridge&type=grant_award')).to.contain('<a href="/api/signals/feed.atom?signal_type=grant_award&query=bridge"');
    expect(await page('?upkeep=1&place=kansas-city,missouri&since=2026-02-01')).to.contain('<a href="/api/signals/feed.atom?place=kansas-city,missouri&since=2026-02-01T00:00:00.000Z&upkeep=true"');
  });

  for (const [file, type] of Object.entries({ 'feed.atom': 'application/atom+xml', 'feed.json': 'application/feed+json' })) {
    it(`return ${file} as ${type}, with an ETag that holds until something changes`, async () => {
      const origin = { origin: 'https://reader.example' };
      for (const query of ['', '?query=zoning']) {
        const { status, headers } = await get(file + query, origin);
        expect([status, headers['content-type']]).to.equal([200, `${type}; charset=utf-8`]);
        expect(headers).to.include({ 'cache-control': 'public, no-cache', 'access-control-allow-origin': '*' });
        expect((await get(file + query, { 'if-none-match': headers['etag'] as string })).status).to.equal(304);
        const head = await kit.ask('HEAD', `/api/signals/${file}${query}`);
        expect([head.status, head.text, head.headers['etag']]).to.equal([200, '', headers['etag']]);
        const [first] = SIGNALS;
        await kit.publish({ ...first, summary: `Seven to two, ${file}${query}` });
        const changed = await get(file + query, { 'if-none-match': headers['etag'] as string });
        expect(changed.status).to.equal(200);
        expect(changed.text).to.contain(`Seven to two, ${file}`);
      }
    });
  }

  it('tell when a later version was published', async () => {
    const [item] = (await get('feed.json')).body.items;
    expect(item.date_published).to.equal('2026-03-01T11:00:00.000Z');
    expect(item.date_modified > item.date_published).to.be.true();
  });

  it('are not changed by signals that they do not have', async () => {
    const { headers } = await get('feed.atom?place=kansas-city,missouri');
    await kit.publish({ title: 'Elsewhere', type: 'vote', detected_at: '2026-03-02T11:00:00Z' }, { title: 'Secret', type: 'vote', visibility: 'reviewer', places: ['kansas-city,missouri'] });
    expect((await get('feed.atom?place=kansas-city,missouri', { 'if-none-match': headers['etag'] as string })).status).to.equal(304);
  });
});
