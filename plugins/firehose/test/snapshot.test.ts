import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { firehoseKit, pathOf, sequenceOf, titlesOf, type FirehoseKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PUBLIC_URL = 'http://localhost';

for (const database of testDatabases()) describe(`The snapshot on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  let places = 0;

  before(async () => { kit = await firehoseKit({ database }); });
  after(() => kit.close());

  const newPlace = () => `town-${++places},testland`;
  const get = (query: string, headers: Record<string, string> = {}) => kit.ask('GET', `/api/firehose?${query}`, { as: kit.reader, headers });

  /** Every page from the first on, by cursor alone. */
  async function pages(query: string, limit: number): Promise<any[]> {
    const all = [await kit.snapshot(`${query}&limit=${limit}`)];
    while (all.at(-1).next_cursor) all.push(await kit.snapshot(`cursor=${all.at(-1).next_cursor}&limit=${limit}`));
    return all;
  }

  it('returns a signal with all its members', async () => {
    const place = newPlace();
    const [id] = await kit.publish({
      title: 'Budget hearing', summary: 'The council hears the public.', places: [place], issues: ['budget'], occurred_at: '2026-03-09T18:00:00.000Z',
      actors: [{ name: 'City Council', type: 'organization', role: 'host' }], confidence: 0.8, relevance: 3,
      evidence: [{ source_url: 'https://example.org/a', title: 'Agenda', passage: 'Item 4', locator: { start: 1, end: 7 } }], changes: [{ field: 'room', before: '1', after: null }],
    });
    const { signals: [signal] } = await kit.snapshot(`place=${place}`);
    expect(signal).to.equal({
      id, type: 'public_meeting', title: 'Budget hearing', summary: 'The council hears the public.', occurred_at: '2026-03-09T18:00:00.000Z', detected_at: kit.clock.iso(),
      places: [place], issues: ['budget'], actors: [{ id: null, name: 'City Council', type: 'organization', role: 'host' }], source_class: 'government_agenda', confidence: 0.8, relevance: 3,
      review_state: 'not_required', visibility: 'public', changes: [{ field: 'room', before: '1', after: null }], supersedes: null, origin: null,
      evidence: [{ source_id: null, source_url: 'https://example.org/a', title: 'Agenda', publisher: null, published_at: null, captured_at: null, passage: 'Item 4', locator: { start: 1, end: 7 }, content_hash: null }],
    });
  });

  it('says what was asked, for whom, when, and what there is', async () => {
    const place = newPlace();
    await kit.publish({ places: [place], detected_at: '2026-02-01T00:00:00.000Z' }, { places: [place], detected_at: '2026-02-03T00:00:00.000Z' }, { places: [place], detected_at: '2026-02-02T00:00:00.000Z' });
    const body = await kit.snapshot(`place=${place}&limit=2`);
    expect(body).to.only.include(['query', 'workspace', 'usage', 'generated_at', 'last_event_id', 'summary', 'signals', 'cursor', 'next_cursor', 'links', 'session']);
    expect(body.workspace).to.only.include(['id', 'name']);
    expect(body.workspace.id).to.equal(kit.reader.workspace_id);
    expect(body.usage).to.only.include(['meter', 'query_fingerprint']);
    expect(body.generated_at).to.equal(kit.clock.iso());
    expect(body.last_event_id).to.match(/^[0-9a-z]+-\d+$/);
    expect(body.summary).to.equal({ total_signals: 3, latest_detected_at: '2026-02-03T00:00:00.000Z' });
    expect([body.signals.length, body.cursor, body.session]).to.equal([2, null, null]);
    expect((await kit.snapshot(`place=${newPlace()}`)).summary).to.equal({ total_signals: 0, latest_detected_at: null });
  });

  it('gives the same fingerprint to the same question, however it is written', async () => {
    const print = async (query: string) => (await kit.snapshot(query)).usage.query_fingerprint;
    expect(await print('place=a,b&place=c,d&signal_type=vote')).to.equal(await print('signal_type=vote&place=c,d&place=a,b&place=a,b'));
    expect(await print('place=a,b')).to.not.equal(await print('place=c,d'));
    expect(await print('place=a,b')).to.not.equal(await print('issue=a,b'));
  });

  it('returns the head of the log at the time of reading', async () => {
    const before = sequenceOf((await kit.snapshot('')).last_event_id);
    await kit.publish({}, {}, {});
    expect(sequenceOf((await kit.snapshot(`place=${newPlace()}`)).last_event_id)).to.equal(before + 3);
  });

  it('returns the current version of a signal once, and no withdrawn signal', async () => {
    const place = newPlace();
    const [id, other] = await kit.publish({ title: 'first', places: [place] }, { title: 'other', places: [place] });
    await kit.publish({ id, title: 'second', places: [place] });
    expect(titlesOf((await kit.snapshot(`place=${place}`)).signals).sort()).to.equal(['other', 'second']);
    await kit.withdraw(other!);
    const body = await kit.snapshot(`place=${place}`);
    expect([titlesOf(body.signals), body.summary.total_signals]).to.equal([['second'], 1]);
    await kit.publish({ id, title: 'moved', places: [newPlace()] });
    expect((await kit.snapshot(`place=${place}`)).signals).to.equal([]);
  });

  it('links itself, the next page and the stream that goes on from here', async () => {
    const place = newPlace();
    await kit.publish({ title: 'a', places: [place] }, { title: 'b', places: [place] });
    const { headers, body } = await get(`place=${place}&limit=1`);
    for (const url of [body.links.self, body.links.next, body.links.events]) expect(url.startsWith(`${PUBLIC_URL}:`), url).to.be.true();
    expect((await kit.ask('GET', pathOf(body.links.self), { as: kit.reader })).body.signals).to.equal(body.signals);
    const next = (await kit.ask('GET', pathOf(body.links.next), { as: kit.reader })).body;
    expect(next.signals).to.have.length(1);
    expect(next.signals[0].title).to.not.equal(body.signals[0].title);
    expect([next.next_cursor, next.links.next, next.cursor]).to.equal([null, null, body.next_cursor]);
    expect(headers.link).to.equal(`<${body.links.next}>; rel="next"`);
    expect((await kit.ask('GET', pathOf(body.links.next), { as: kit.reader })).headers.link).to.be.undefined();
    expect(new URL(body.links.events).searchParams.get('last_event_id')).to.equal(body.last_event_id);
    await kit.publish({ title: 'elsewhere', places: [newPlace()] }, { title: 'c', places: [place] });
    const stream = await kit.stream(new URL(body.links.events).search.slice(1));
    expect((await stream.signal()).data.signal.title).to.equal('c');
    stream.close();
  });

  describe('is sorted', () => {
    const place = newPlace();
    const moments = [5, 3, 3, 3, 9, 1, 3];

    before(async () => {
      await kit.publish(...moments.map((minute, index) => ({
        title: `s${index}`, places: [place], relevance: minute / 2, detected_at: `2026-02-01T00:0${minute}:00.000Z`, occurred_at: index % 3 === 2 ? null : `2026-01-01T00:0${minute}:00.000Z`,
      })));
    });

    const values: Record<string, (signal: any) => number> = {
      detected_at_desc: ({ detected_at }) => Date.parse(detected_at),
      occurred_at_desc: ({ occurred_at }) => (occurred_at === null ? -Infinity : Date.parse(occurred_at)),
      relevance_desc: ({ relevance }) => relevance,
    };
    it('by occurred_at_desc, without signals that have no such time when a bound is given', async () => {
      const all = 7;
      for (const bound of ['since=2000-01-01', 'until=2030-01-01', 'since=2000-01-01&until=2030-01-01']) {
        const { signals, summary } = await kit.snapshot(`place=${place}&sort=occurred_at_desc&${bound}`);
        expect(titlesOf(signals), bound).to.equal(['s4', 's0', 's6', 's3', 's1']);
        expect(summary.total_signals).to.equal(5);
        expect((await kit.snapshot(`place=${place}&${bound}`)).signals).to.have.length(all);
      }
      expect((await kit.snapshot(`place=${place}&sort=occurred_at_desc`)).signals).to.have.length(all);
      const stream = await kit.stream(`place=${place}&sort=occurred_at_desc&until=2030-01-01&last_event_id=0`);
      await stream.signals(all);
      stream.close();
    });

    for (const [sort, valueOf] of Object.entries(values)) {
      it(`by ${sort}, what has no value last, and equal ones in the same order on every page`, async () => {
        const { signals } = await kit.snapshot(`place=${place}&sort=${sort}`);
        expect(signals.map(valueOf)).to.equal(signals.map(valueOf).sort((a: number, b: number) => b - a || 0));
        for (const limit of [1, 2, 3, 7]) {
          const all = await pages(`place=${place}&sort=${sort}`, limit);
          expect(titlesOf(all.flatMap((page) => page.signals)), `${limit} a page`).to.equal(titlesOf(signals));
          expect(all.map(({ summary }) => summary.total_signals)).to.equal(all.map(() => 7));
        }
      });
    }

    it('by the time of detection by default', async () => {
      expect(titlesOf((await kit.snapshot(`place=${place}`)).signals)).to.equal(titlesOf((await kit.snapshot(`place=${place}&sort=detected_at_desc`)).signals));
    });
  });

  describe('is paged by a cursor that', () => {
    const place = newPlace();
    let first: any;

    before(async () => {
      await kit.publish(...Array.from({ length: 6 }, (_, index) => ({ title: `p${index}`, type: 'vote' as const, places: [place], detected_at: `2026-02-02T00:0${index}:00.000Z` })));
      first = await kit.snapshot(`place=${place}&signal_type=vote&limit=2`);
    });

    it('is enough by itself, and goes with equal parameters and another limit', async () => {
      const cursor = encodeURIComponent(first.next_cursor);
      const next = await kit.snapshot(`cursor=${cursor}&limit=2`);
      expect([titlesOf(next.signals), next.query.signal_types, next.cursor]).to.equal([['p3', 'p2'], ['vote'], first.next_cursor]);
      expect((await kit.snapshot(`cursor=${cursor}&place=${place}&signal_type=vote&sort=detected_at_desc&limit=2`)).signals).to.equal(next.signals);
      expect(titlesOf((await kit.snapshot(`cursor=${cursor}&limit=3`)).signals)).to.equal(['p3', 'p2', 'p1']);
      expect(titlesOf((await kit.snapshot(`cursor=${cursor}`)).signals)).to.equal(['p3', 'p2', 'p1', 'p0']);
    });

    it('is refused with parameters that differ', async () => {
      for (const other of ['place=x,y', `place=${place}&place=x,y`, 'signal_type=filing', 'sort=relevance_desc', 'since=2026-01-01', 'visibility=public', 'issue=a', 'actor_type=person', 'source_class=news', 'until=2026-05-01']) {
        const { status, body } = await get(`cursor=${first.next_cursor}&${other}`);
        expect([status, body.code], other).to.equal([400, 'invalid_cursor']);
      }
    });

    it('is refused when it is cut, changed or made up', async () => {
      const good: string = first.next_cursor;
      const changed = [...good].map((letter, index) => (index === Math.floor(good.length / 2) ? (letter === 'A' ? 'B' : 'A') : letter)).join('');
      for (const cursor of [good.slice(1), good.slice(0, -1), changed, `${good}A`, 'nonsense', '', Buffer.from('{}').toString('base64url'), '%00']) {
        const { status, body } = await get(`cursor=${cursor}`);
        expect([status, body.errors?.[0].parameter], cursor).to.equal([400, 'cursor']);
      }
    });

    it('neither loses nor repeats anything while signals come, change and go', async () => {
      const page = await kit.snapshot(`place=${place}&limit=2`);
      const [id] = (await kit.snapshot(`place=${place}&limit=1&until=2026-02-02T00:02:00.000Z`)).signals.map((signal: { id: string }) => signal.id);
      await kit.publish(
        { title: 'newest', places: [place] },
        { title: 'between', places: [place], detected_at: '2026-02-02T00:03:30.000Z' },
        { id, title: 'p1 again', type: 'vote', places: [place], detected_at: '2026-02-02T00:01:00.000Z' },
      );
      const seen = titlesOf([page, ...await pages(`cursor=${page.next_cursor}`, 2)].flatMap(({ signals }) => signals)).filter((title) => title !== 'between');
      expect(seen).to.equal(['p5', 'p4', 'p3', 'p2', 'p1 again', 'p0']);
    });
  });

  it('carries the headers of every answer, and those of its own', async () => {
    const { status, headers } = await get('', { 'x-request-id': 'mine-1', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'vendor=1' });
    expect([status, headers['x-request-id'], headers.tracestate]).to.equal([200, 'mine-1', 'vendor=1']);
    expect(headers.traceparent).to.match(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    expect(headers['content-type']).to.match(/^application\/json/);
    expect(headers['server-timing']).to.match(/^total;dur=\d+(, db;dur=\d+)?$/);
    expect(headers['cache-control']).to.match(/\bprivate\b/);
    expect(headers['cache-control']).to.not.match(/\bpublic\b/);
    const vary = String(headers.vary).toLowerCase().split(/\s*,\s*/);
    for (const name of ['accept', 'accept-encoding', 'authorization', 'x-api-key', 'prefer', 'last-event-id']) expect(vary).to.include(name);
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) expect(headers[name], name).to.match(/^\d+$/);
  });

  it('names its canonical address, which is one for all ways to ask the same', async () => {
    const place = newPlace();
    await kit.publish({ places: [place] });
    const location = async (query: string) => (await get(query)).headers['content-location'];
    const canonical = String(await location(`place=${place}&place=z,z&signal_type=vote&signal_type=public_meeting`));
    expect(canonical.startsWith(`${PUBLIC_URL}:`)).to.be.true();
    expect(await location(`signal_type=public_meeting&signal_type=vote&place=z,z&place=${place}&sort=detected_at_desc&limit=50`)).to.equal(canonical);
    expect((await kit.ask('GET', pathOf(canonical), { as: kit.reader })).body.signals).to.have.length(1);
    expect(await location(`place=${place}`)).to.not.equal(canonical);
  });

  it('refuses a malformed trace and request id, and drops a malformed state', async () => {
    for (const traceparent of ['nonsense', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more', '']) {
      for (const accept of ['application/json', 'text/event-stream']) {
        const { status, body } = await get('', { traceparent, accept });
        expect([status, body.code], `${traceparent} ${accept}`).to.equal([400, 'invalid_header']);
      }
    }
    expect((await get('', { 'x-request-id': 'has a space' })).status).to.equal(400);
    const { status, headers } = await get('', { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'NOT OK' });
    expect([status, headers.tracestate]).to.equal([200, undefined]);
  });

  it('is what Accept prefers, JSON on a tie', async () => {
    const accepted = ['application/json', '*/*', 'application/*', 'application/json;q=0.5', 'text/event-stream, application/json', 'text/*, application/json', 'text/event-stream;q=0.5, application/json;q=0.9', 'text/html, */*;q=0.1', 'text/event-stream;q=0, */*', 'APPLICATION/JSON', ''];
    for (const accept of accepted) {
      const { status, headers } = await get('', { accept });
      expect([status, String(headers['content-type']).startsWith('application/json')], accept).to.equal([200, true]);
    }
    expect((await get('')).status).to.equal(200);
  });

  it('answers 406 to who wants anything else, naming what there is', async () => {
    for (const accept of ['text/html', 'application/xml', 'application/json;q=0', 'image/*, text/plain', 'nonsense', '*/*;q=0', 'application/json;q=0, text/event-stream;q=0, */*']) {
      const { status, headers, body } = await get('', { accept });
      expect([status, body.code, headers.accept], accept).to.equal([406, 'not_acceptable', 'application/json, text/event-stream']);
      expect(headers['content-type']).to.match(/^application\/problem\+json/);
    }
  });

  it('takes a body only as JSON, and other methods not at all', async () => {
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded']) {
      const { status, headers, body } = await kit.ask('GET', '/api/firehose', { as: kit.reader, headers: { 'content-type': type }, body: 'a=b' });
      expect([status, headers['accept-post'], body.code], type).to.equal([415, 'application/json', 'unsupported_media_type']);
    }
    expect((await kit.ask('GET', '/api/firehose', { as: kit.reader, body: '{}' })).status).to.equal(415);
    expect((await kit.ask('GET', '/api/firehose', { as: kit.reader, headers: { 'content-type': 'application/json; charset=utf-8' }, body: '{}' })).status).to.equal(200);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await kit.ask(method, '/api/firehose', { as: kit.reader, headers: { 'content-type': 'application/json' }, body: '{}' });
      expect(status, method).to.equal(405);
      for (const allowed of ['GET', 'HEAD']) expect(String(headers.allow).split(/\s*,\s*/)).to.include(allowed);
    }
  });

  it('is compressed for who can read that', async () => {
    await kit.publish(...Array.from({ length: 20 }, () => ({ summary: 'x'.repeat(5000) })));
    expect((await get('', { 'accept-encoding': 'gzip' })).headers['content-encoding']).to.equal('gzip');
  });
});
