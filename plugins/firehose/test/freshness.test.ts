import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness, testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { firehoseKit, pathOf, titlesOf, type FirehoseKit } from './kit.ts';
import type { Person } from './people.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DAY = 86_400_000;

for (const database of testDatabases()) describe(`Freshness on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  let places = 0;

  before(async () => { kit = await firehoseKit({ database, firehose: { retention_days: 10 } }); });
  after(() => kit.close());

  const newPlace = () => `town-${++places},testland`;
  const ask = (method: string, query: string, headers: Record<string, string> = {}, as: Person = kit.reader) => kit.ask(method, `/api/firehose?${query}`, { as, headers });
  const tagOf = async (query: string, as?: Person) => String((await ask('GET', query, {}, as)).headers.etag);
  async function timed<T>(work: Promise<T>): Promise<[T, number]> {
    const since = performance.now();
    return [await work, performance.now() - since];
  }

  describe('has an ETag that', () => {
    it('stays while the result does: for other signals, others’ signals and time', async () => {
      const query = `place=${newPlace()}&signal_type=vote`;
      const stranger = await kit.person();
      await kit.publish({ places: [`town-${places},testland`], type: 'vote' });
      const tag = await tagOf(query);
      expect(tag).to.match(/^(W\/)?"[\x21\x23-\x7e]+"$/);
      expect(await tagOf(query)).to.equal(tag);
      await kit.publish({ places: [newPlace()], type: 'vote' }, { places: [`town-${places - 1},testland`], type: 'filing' });
      expect(await tagOf(query)).to.equal(tag);
      const place = `town-${places - 1},testland`;
      const [hidden] = await kit.publish({ places: [place], type: 'vote', visibility: 'workspace', workspace_id: stranger.workspace_id }, { places: [place], type: 'vote', review_state: 'held' }, { places: [place], type: 'vote', visibility: 'reviewer' });
      expect(await tagOf(query)).to.equal(tag);
      await kit.withdraw(hidden!);
      expect(await tagOf(query)).to.equal(tag);
      kit.clock.advance(3_600_000);
      expect(await tagOf(query)).to.equal(tag);
    });

    it('changes with a new match, a new version, one that no longer matches, and one that is withdrawn', async () => {
      const place = newPlace();
      const tags = [await tagOf(`place=${place}`)];
      const note = async () => { tags.push(await tagOf(`place=${place}`)); };
      const [id, gone] = await kit.publish({ places: [place] }, { places: [place] });
      await note();
      await kit.publish({ id, title: 'Another room', places: [place] });
      await note();
      await kit.withdraw(gone!);
      await note();
      await kit.publish({ id, places: [newPlace()] });
      await note();
      for (const [index, tag] of tags.slice(1).entries()) expect(tag, `change ${index + 1}`).to.not.equal(tags[index]!);
      expect(new Set(tags.slice(0, 4)).size).to.equal(4);
    });

    it('changes when retention takes a signal away', async () => {
      const place = newPlace();
      await kit.publish({ title: 'old', places: [place] });
      kit.clock.advance(6 * DAY);
      await kit.publish({ title: 'young', places: [place] });
      const tag = await tagOf(`place=${place}`);
      kit.clock.advance(6 * DAY);
      expect(await tagOf(`place=${place}`)).to.equal(tag);
      await kit.prune();
      const body = await kit.snapshot(`place=${place}`);
      expect([titlesOf(body.signals), body.summary.total_signals]).to.equal([['young'], 1]);
      expect(await tagOf(`place=${place}`)).to.not.equal(tag);
    });

    it('is another one for another caller, whose workspace is in the response', async () => {
      const other = await kit.person();
      const tag = await tagOf('place=a,b');
      expect((await ask('GET', 'place=a,b', { 'if-none-match': tag }, other)).status).to.equal(200);
    });

    it('gets 304 when the caller has it, alone, in a list, weak or as *, with the same headers and no body', async () => {
      const query = `place=${newPlace()}`;
      const { headers } = await ask('GET', query);
      const tag = String(headers.etag);
      const strong = tag.replace(/^W\//, '');
      for (const given of [tag, strong, `W/${strong}`, `"other", ${tag}`, `"a,b" , ${strong},"c"`, '*']) {
        const answer = await ask('GET', query, { 'if-none-match': given });
        expect([answer.status, answer.text], given).to.equal([304, '']);
        for (const name of ['etag', 'cache-control', 'vary', 'content-location']) expect(answer.headers[name], name).to.equal(headers[name]);
        for (const name of ['ratelimit-limit', 'x-request-id', 'traceparent', 'server-timing']) expect(answer.headers[name], name).to.exist();
      }
      for (const given of ['"other"', `"${strong}"`, 'nonsense', strong.replaceAll('"', '')]) expect((await ask('GET', query, { 'if-none-match': given })).status, given).to.equal(200);
    });

    it('is the only thing that makes an answer 304: the latest detection stays when an older signal comes', async () => {
      const place = newPlace();
      await kit.publish({ places: [place], detected_at: '2026-02-10T00:00:00.000Z' });
      const since = String((await ask('GET', `place=${place}`)).headers['last-modified']);
      await kit.publish({ places: [place], detected_at: '2026-02-01T00:00:00.000Z' });
      for (const method of ['GET', 'HEAD']) expect((await ask(method, `place=${place}`, { 'if-modified-since': since })).status, method).to.equal(200);
    });

    it('fits the compressed answer too', async () => {
      const place = newPlace();
      await kit.publish(...Array.from({ length: 20 }, () => ({ places: [place], summary: 'x'.repeat(5000) })));
      const { headers } = await ask('GET', `place=${place}`, { 'accept-encoding': 'gzip' });
      expect(headers['content-encoding']).to.equal('gzip');
      expect((await ask('GET', `place=${place}`, { 'accept-encoding': 'gzip', 'if-none-match': String(headers.etag) })).status).to.equal(304);
    });
  });

  describe('is probed by HEAD, which', () => {
    it('returns ETag, the latest detection and the remaining limits, and has no body', async () => {
      const place = newPlace();
      await kit.publish({ places: [place], detected_at: '2026-02-03T04:05:06.789Z' }, { places: [place], detected_at: '2026-02-01T00:00:00.000Z' });
      const { status, headers, text } = await ask('HEAD', `place=${place}`);
      expect([status, text, headers['last-modified']]).to.equal([200, '', 'Tue, 03 Feb 2026 04:05:06 GMT']);
      expect(headers.etag).to.equal(await tagOf(`place=${place}`));
      for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) expect(headers[name], name).to.match(/^\d+$/);
      expect((await ask('GET', `place=${place}`)).headers['last-modified']).to.equal(headers['last-modified']);
      expect((await ask('HEAD', `place=${newPlace()}`)).headers['last-modified']).to.be.undefined();
    });

    it('names the next page as GET does, and meters nothing', async () => {
      const place = newPlace();
      await kit.publish({ places: [place] }, { places: [place] }, { places: [place] });
      const { id } = (await kit.ask('POST', '/api/firehose/sessions', { as: kit.reader, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query: { places: [place], limit: 2 } }) })).body;
      const linkOf = async (method: string, path: string) => (await kit.ask(method, path, { as: kit.reader })).headers.link;
      const used = async () => (await kit.snapshot(`place=${newPlace()}`)).usage.meter;
      for (const path of [`/api/firehose?place=${place}&limit=2`, `/api/firehose/sessions/${id}/snapshot`]) {
        const link = await linkOf('GET', path);
        expect(link).to.match(/; rel="next"$/);
        const before = await used();
        expect(await linkOf('HEAD', path), path).to.equal(link);
        expect(await used()).to.equal(before);
        const last = pathOf(/<(.*)>/.exec(String(link))![1]!);
        expect([await linkOf('GET', last), await linkOf('HEAD', last)]).to.equal([undefined, undefined]);
      }
    });

    it('never opens a stream, whatever Accept says', async () => {
      for (const accept of ['text/event-stream', 'text/event-stream, application/json;q=0.1', 'text/*']) {
        const [{ status, headers, text }, ms] = await timed(ask('HEAD', '', { accept }));
        expect([status, text, headers['x-accel-buffering']], accept).to.equal([200, '', undefined]);
        expect(headers.etag).to.exist();
        expect(ms).to.be.below(5000 * slowness);
      }
    });

    it('is 304 to who has the version, and never waits', async () => {
      const tag = await tagOf('place=a,b');
      const [{ status, headers }, ms] = await timed(ask('HEAD', 'place=a,b', { 'if-none-match': tag, prefer: 'wait=20' }));
      expect([status, headers['preference-applied']]).to.equal([304, undefined]);
      expect(ms).to.be.below(5000 * slowness);
    });

    it('is refused like GET', async () => {
      expect((await kit.ask('HEAD', '/api/firehose')).status).to.equal(401);
      expect((await ask('HEAD', 'sort=newest')).status).to.equal(400);
    });
  });

  describe('is waited for with Prefer: wait, which', () => {
    it('answers at once and applies nothing without a version, or with another one', async () => {
      for (const headers of [{ prefer: 'wait=20' }, { prefer: 'wait=20', 'if-none-match': '"other"' }] as Record<string, string>[]) {
        const [{ status, headers: told }, ms] = await timed(ask('GET', `place=${newPlace()}`, headers));
        expect([status, told['preference-applied']]).to.equal([200, undefined]);
        expect(ms).to.be.below(5000 * slowness);
      }
    });

    it('answers 200 on the first new match, and not on anything else', async () => {
      const place = newPlace();
      const tag = await tagOf(`place=${place}`);
      let isAnswered = false;
      const waiting = ask('GET', `place=${place}`, { prefer: 'wait=20', 'if-none-match': tag }).finally(() => { isAnswered = true; });
      await sleep(50);
      await kit.publish({ title: 'elsewhere', places: [newPlace()] }, { title: 'held', places: [place], review_state: 'held' });
      await sleep(150);
      expect(isAnswered).to.be.false();
      await kit.publish({ title: 'here', places: [place] });
      const { status, headers, body } = await waiting;
      expect([status, headers['preference-applied'], titlesOf(body.signals)]).to.equal([200, 'wait=20', ['here']]);
      expect(headers.etag).to.not.equal(tag);
      expect(headers.etag).to.equal(await tagOf(`place=${place}`));
    });

    it('answers 304 with the same version when time is up', async () => {
      const query = `place=${newPlace()}`;
      const tag = await tagOf(query);
      const [{ status, headers, text }, ms] = await timed(ask('GET', query, { prefer: 'wait=1', 'if-none-match': tag }));
      expect([status, headers['preference-applied'], headers.etag, text]).to.equal([304, 'wait=1', tag, '']);
      expect(ms).to.be.between(850, 6000);
    });

    it('is not 304 when a signal was withdrawn meanwhile', async () => {
      const place = newPlace();
      const [id] = await kit.publish({ places: [place] });
      const tag = await tagOf(`place=${place}`);
      const waiting = ask('GET', `place=${place}`, { prefer: 'wait=2', 'if-none-match': tag });
      await sleep(50);
      await kit.withdraw(id!);
      const { status, body } = await waiting;
      expect([status, body.signals]).to.equal([200, []]);
    });

    it('does not say 304 when retention took a signal away meanwhile', async () => {
      const place = newPlace();
      await kit.publish({ places: [place] });
      kit.clock.advance(11 * DAY);
      const tag = await tagOf(`place=${place}`);
      const waiting = ask('GET', `place=${place}`, { prefer: 'wait=1', 'if-none-match': tag });
      await kit.prune();
      const { status, body, headers } = await waiting;
      expect([status, body.signals, headers.etag === tag]).to.equal([200, [], false]);
    });

    it('misses nothing that comes between the version and the wait', async () => {
      const place = newPlace();
      const tag = await tagOf(`place=${place}`);
      await kit.publish({ places: [place] });
      const [{ status }, ms] = await timed(ask('GET', `place=${place}`, { prefer: 'wait=20', 'if-none-match': tag }));
      expect(status).to.equal(200);
      expect(ms).to.be.below(5000 * slowness);
    });

    it('is 400 when malformed', async () => {
      for (const prefer of ['wait', 'wait=', 'wait=soon', 'wait=-1', 'wait=1.5', 'wait=1s', 'wait=0x10', 'wait=1 2', 'respond-async, wait=x']) {
        const { status, body } = await ask('GET', '', { prefer });
        expect([status, body.code], prefer).to.equal([400, 'invalid_preference']);
      }
    });

    it('is 503 with Retry-After when longer than 30 s, with a version or without', async () => {
      const tag = await tagOf('place=a,b');
      for (const headers of [{ prefer: 'wait=31' }, { prefer: 'wait=31', 'if-none-match': tag }, { prefer: 'wait=99999999999999999999' }] as Record<string, string>[]) {
        const { status, headers: told, body } = await ask('GET', 'place=a,b', headers);
        expect([status, told['retry-after'], body.code], headers.prefer).to.equal([503, '30', 'wait_too_long']);
      }
      expect((await ask('GET', 'place=a,b', { prefer: 'wait=30' })).status).to.equal(200);
    });

    it('is found among other preferences, which are ignored, and counts once', async () => {
      const query = 'place=a,b';
      const tag = await tagOf(query);
      for (const prefer of ['respond-async, wait=0', 'wait=0; strict', 'foo="bar, wait=99", wait=0', 'WAIT=0', 'wait=0, wait=99', 'wait="0"', 'wait = 0', 'return=minimal,handling=lenient,wait=0']) {
        const { status, headers } = await ask('GET', query, { prefer, 'if-none-match': tag });
        expect([status, headers['preference-applied']], prefer).to.equal([304, 'wait=0']);
      }
      for (const prefer of ['respond-async', 'return=minimal', 'foo="wait=99"', 'waiting=5', 'x-wait=99', '']) {
        const { status, headers } = await ask('GET', query, { prefer, 'if-none-match': tag });
        expect([status, headers['preference-applied']], prefer).to.equal([304, undefined]);
      }
    });

    it('ends for clients that disconnect, and for all when the key is revoked', async () => {
      const query = `place=${newPlace()}`;
      const guest = await kit.person();
      const tag = await tagOf(query, guest);
      const leaving = new AbortController();
      const left = kit.ask('GET', `/api/firehose?${query}`, { as: guest, headers: { prefer: 'wait=30', 'if-none-match': tag }, signal: leaving.signal });
      const stayed = ask('GET', query, { prefer: 'wait=30', 'if-none-match': tag }, guest).then(({ status }) => status, () => 'cut');
      await sleep(50);
      leaving.abort();
      await expect(left).to.reject();
      await kit.run('key revoke', {}, [guest.key_id]);
      const [ended, ms] = await timed(stayed);
      expect([401, 403, 'cut']).to.include(ended);
      expect(ms).to.be.below(5000 * slowness);
      expect((await ask('GET', query)).status).to.equal(200);
    });
  });
});
