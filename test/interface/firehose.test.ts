import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from '../../core/testing.ts';
import { firehoseKit, sequenceOf, titlesOf, type FirehoseKit } from '../../plugins/firehose/test/kit.ts';
import { ACTOR_TYPES, SORTS, VISIBILITIES } from '../../plugins/firehose/types.ts';
import { covers } from './rows.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SSE = { accept: 'text/event-stream' };

for (const database of testDatabases()) describe(`The Firehose, on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;

  before(async () => {
    kit = await firehoseKit({ database, plugins: ['directory'] });
    await kit.publish(
      { title: 'meeting', type: 'public_meeting', source_class: 'government_agenda', places: ['kansas-city-mo'], issues: ['public_transit'], actors: [{ name: 'Ada', type: 'person' }], relevance: 1, detected_at: '2026-02-01T00:00:00.000Z', occurred_at: '2026-02-20T00:00:00.000Z' },
      { title: 'vote', type: 'vote', source_class: 'government_record', places: ['kansas-city-mo'], issues: ['housing_affordability'], actors: ACTOR_TYPES.map((type) => ({ name: type, type })), relevance: 3, detected_at: '2026-02-02T00:00:00.000Z', occurred_at: '2026-02-10T00:00:00.000Z' },
      { title: 'filing', type: 'filing', source_class: 'news', places: ['portland,oregon'], issues: ['public_transit'], relevance: 2, detected_at: '2026-02-03T00:00:00.000Z', occurred_at: '2026-02-15T00:00:00.000Z' },
    );
  });
  after(() => kit.close());

  const ask = (method: string, query = '', headers: Record<string, string> = {}, body?: string) => kit.ask(method, `/api/firehose?${query}`, { as: kit.reader, headers, body });
  const found = async (query: string) => titlesOf((await kit.snapshot(query)).signals);

  it(covers('service.firehose-signals', 'each signal has its sources, and is found by place, issue and actor'), async () => {
    const { signals } = await kit.snapshot('place=kansas-city-mo&issue=public_transit&actor_type=person');
    expect(titlesOf(signals)).to.equal(['meeting']);
    expect(signals[0].evidence[0].source_url).to.equal('https://example.org/agenda');
  });

  it(covers(['resources.signal-type', 'endpoints.firehose-signal-type'], 'meetings, votes and filings are told apart'), async () => {
    for (const [type, title] of [['public_meeting', 'meeting'], ['vote', 'vote'], ['filing', 'filing']]) {
      const { signals } = await kit.snapshot(`signal_type=${type}`);
      expect(signals.map((signal: { title: string; type: string }) => [signal.title, signal.type])).to.equal([[title, type]]);
    }
    expect((await ask('GET', 'signal_type=party')).status).to.equal(400);
  });

  it(covers(['endpoints.firehose-get', 'endpoints.accept-json', 'endpoints.accept-sse', 'endpoints.accept-any', 'headers.accept', 'errors.200'], 'Accept chooses snapshot or stream'), async () => {
    for (const accept of ['application/json', '*/*']) {
      const { status, headers, body } = await ask('GET', '', { accept });
      expect([status, String(headers['content-type']).startsWith('application/json'), body.signals.length]).to.equal([200, true, 3]);
    }
    const stream = await kit.stream('');
    expect([stream.status, String(stream.headers['content-type']).startsWith('text/event-stream')]).to.equal([200, true]);
    stream.close();
  });

  it(covers(['endpoints.accept-other', 'errors.406'], 'anything else is 406 and told what there is'), async () => {
    const { status, headers } = await ask('GET', '', { accept: 'text/html' });
    expect([status, headers.accept]).to.equal([406, 'application/json, text/event-stream']);
  });

  it(covers('endpoints.body-type', 'a body that is not JSON is 415'), async () => {
    const { status, headers } = await ask('GET', '', { 'content-type': 'text/plain' }, 'x');
    expect([status, headers['accept-post']]).to.equal([415, 'application/json']);
  });

  it(covers('endpoints.firehose-head', 'HEAD tells freshness and quota, and no body'), async () => {
    const { status, headers, text } = await ask('HEAD', '', SSE);
    expect([status, text, headers['last-modified']]).to.equal([200, '', 'Tue, 03 Feb 2026 00:00:00 GMT']);
    expect(headers).to.include(['etag', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']);
  });

  it(covers('endpoints.firehose-actor-type', 'by each of the five types of actor, and no sixth'), async () => {
    for (const type of ['person', 'organization', 'initiative', 'campaign', 'event']) expect(await found(`actor_type=${type}&signal_type=vote`), type).to.equal(['vote']);
    expect((await ask('GET', 'actor_type=robot')).status).to.equal(400);
  });

  it(covers('endpoints.firehose-visibility', 'four visibilities are known, and not everybody may use each'), async () => {
    expect(VISIBILITIES).to.equal(['workspace', 'partner', 'public', 'reviewer']);
    const statuses = await Promise.all(VISIBILITIES.map(async (visibility) => (await ask('GET', `visibility=${visibility}`)).status));
    expect(statuses).to.equal([200, 403, 200, 403]);
    expect((await ask('GET', 'visibility=secret')).status).to.equal(400);
  });

  it(covers('endpoints.firehose-cursor', 'page by page, each signal once'), async () => {
    const first = await kit.snapshot('limit=2');
    const second = await kit.snapshot(`cursor=${first.next_cursor}`);
    expect([titlesOf(first.signals), titlesOf(second.signals), second.next_cursor]).to.equal([['filing', 'vote'], ['meeting'], null]);
    expect((await ask('GET', 'cursor=nonsense')).status).to.equal(400);
  });

  it(covers('endpoints.firehose-sort', 'in three orders'), async () => {
    expect(await Promise.all(SORTS.map((sort) => found(`sort=${sort}`)))).to.equal([['filing', 'vote', 'meeting'], ['meeting', 'filing', 'vote'], ['vote', 'filing', 'meeting']]);
    expect((await ask('GET', 'sort=newest')).status).to.equal(400);
  });

  it(covers(['endpoints.conditional', 'headers.etag', 'errors.304'], 'who has the version gets 304'), async () => {
    const { headers } = await ask('GET', 'place=portland,oregon');
    const again = await ask('GET', 'place=portland,oregon', { 'if-none-match': String(headers.etag) });
    expect([again.status, again.text, again.headers.etag]).to.equal([304, '', headers.etag]);
    expect((await ask('GET', 'place=portland,oregon', { 'if-none-match': '"other"' })).status).to.equal(200);
  });

  it(covers('headers.content-location', 'the canonical address is named'), async () => {
    const { headers } = await ask('GET', 'place=kansas-city-mo');
    expect((await ask('GET', 'place=kansas-city,missouri')).headers['content-location']).to.equal(headers['content-location']);
    expect(headers['content-location']).to.match(/^https?:\/\/[^/]+\/api\/firehose\?/);
  });

  it(covers('headers.vary', 'caches are told what the answer depends on'), async () => {
    const vary = String((await ask('GET')).headers.vary).toLowerCase();
    for (const name of ['accept', 'authorization', 'x-api-key', 'prefer', 'last-event-id']) expect(vary.split(/\s*,\s*/)).to.include(name);
  });

  it(covers(['headers.prefer', 'headers.preference-applied'], 'who has the version may wait for the next one'), async () => {
    const { headers } = await ask('GET', 'place=nowhere,atall');
    const waiting = ask('GET', 'place=nowhere,atall', { 'if-none-match': String(headers.etag), prefer: 'wait=20' });
    await kit.publish({ title: 'at last', places: ['nowhere,atall'], detected_at: '2026-01-01T00:00:00.000Z' });
    const { status, headers: told, body } = await waiting;
    expect([status, titlesOf(body.signals)]).to.equal([200, ['at last']]);
    // It may have come before the wait began.
    expect(['wait=20', undefined]).to.include(told['preference-applied']);
    const brief = await ask('GET', 'place=nowhere,atall', { 'if-none-match': String(told.etag), prefer: 'wait=0' });
    expect([brief.status, brief.headers['preference-applied']]).to.equal([304, 'wait=0']);
  });

  it(covers(['headers.retry-after', 'errors.503-wait'], 'a wait that is too long is 503 and told when to come back'), async () => {
    const { status, headers } = await ask('GET', '', { prefer: 'wait=31' });
    expect([status, headers['retry-after']]).to.equal([503, '30']);
  });

  it(covers('versioning.openapi', 'the OpenAPI document names the statuses and headers of the Firehose'), async () => {
    const { get } = (await kit.ask('GET', '/openapi.json')).body.paths['/api/firehose'];
    expect(Object.keys(get.responses)).to.include(['200', '204', '304', '400', '401', '403', '406', '415', '429', '503']);
    expect(Object.keys(get.responses['200'].content)).to.equal(['application/json', 'text/event-stream']);
    for (const status of ['200', '304']) expect(Object.keys(get.responses[status].headers)).to.include(['Content-Location', 'ETag', 'Last-Modified', 'Preference-Applied', 'RateLimit-Remaining', 'Server-Timing', 'Vary', 'X-Request-ID']);
    expect(get.parameters.filter((parameter: { in?: string }) => parameter.in === 'header').map(({ name }: { name: string }) => name.toLowerCase())).to.include(['prefer', 'last-event-id', 'if-none-match']);
  });

  it(covers('errors.400-header', 'a malformed trace, preference or event id is 400'), async () => {
    for (const headers of [{ traceparent: 'nonsense' }, { prefer: 'wait=soon' }, { ...SSE, 'last-event-id': 'nonsense' }] as Record<string, string>[]) {
      expect((await ask('GET', '', headers)).status, JSON.stringify(headers)).to.equal(400);
    }
  });

  it(covers('errors.403-firehose', 'a known caller without Firehose is 403, an unknown one 401'), async () => {
    const { status, body } = await kit.ask('GET', '/api/firehose', { as: await kit.person({}, { scopes: ['directory:read'] }) });
    expect([status, body.code]).to.equal([403, 'insufficient_scope']);
    const lapsed = await kit.person();
    await kit.run('account set-plan', { account: lapsed.id, plan: 'free' });
    expect((await kit.ask('GET', '/api/firehose', { as: lapsed })).body.code).to.equal('plan_required');
    expect((await kit.ask('GET', '/api/firehose')).status).to.equal(401);
  });

  it(covers(['events.ready', 'events.retry'], 'a stream begins with ready, and says when to come back'), async () => {
    const stream = await kit.stream('');
    const { event, data, retry } = await stream.next();
    expect([event, data.type]).to.equal(['firehose.ready', 'firehose.ready']);
    expect(Number(retry)).to.be.between(1999, 5001);
    stream.close();
  });

  it(covers(['events.signal', 'events.resume', 'headers.last-event-id'], 'signals carry all that is promised, and a stream is taken up where it broke off'), async () => {
    const stream = await kit.stream('place=river,testland');
    await stream.next();
    await kit.publish({ title: 'one', places: ['river,testland'] });
    const { id, data } = await stream.signal();
    expect(data).to.include(['signal', 'query', 'workspace', 'usage', 'event_id', 'delivered_at']);
    expect([data.signal.title, data.event_id, data.query.places, data.workspace.id]).to.equal(['one', id, ['river,testland'], kit.reader.workspace_id]);
    stream.close();
    await kit.publish({ title: 'two', places: ['river,testland'] });
    const resumed = await kit.stream('place=river,testland', { headers: { 'last-event-id': id } });
    const next = await resumed.signal();
    expect([next.data.signal.title, sequenceOf(next.id)]).to.equal(['two', sequenceOf(id) + 1]);
    resumed.close();
  });

  it(covers('events.heartbeat', 'an idle stream beats'), async () => {
    const stream = await kit.stream('place=still,testland');
    await stream.next();
    kit.clock.advance(16_000);
    const { event, data } = await stream.next();
    expect([event, data.type]).to.equal(['heartbeat', 'heartbeat']);
    stream.close();
  });
});
