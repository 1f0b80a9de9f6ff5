import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases, testServer, type TestServer } from 'civic/testing';
import firehose from '../index.ts';
import { createEventReader } from '../relay/events.ts';
import type { Signal } from '../types.ts';
import { herons } from './herons.ts';
import { createInstances, draft, frontDoor, liar, lineCount, publish, signalsOf, titlesOf, until } from './relay-kit.ts';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

for (const database of testDatabases()) {
  describe(`A relay on ${database}`, { timeout: 120_000 }, () => {
    const { instance, lines, close } = createInstances(database);
    afterEach(close);

    it('publishes the signals of the other instance, from before and after its start, with the same ids and their origin, also new versions and retractions', async () => {
      const origin = await instance(null);
      const [first] = await publish(origin, { signals: [draft('Before'), draft('Ours alone', { visibility: 'partner' })] });
      const relay = await instance({ url: `${origin.url}/` });
      await until('the first', async () => (await titlesOf(relay)).length === 1);
      const [second] = await publish(origin, { signals: [draft('After', { places: ['austin,texas'], summary: 'Words' })] });
      await until('the second', async () => (await titlesOf(relay)).length === 2);
      const [theirs, ours] = [await signalsOf(origin), await signalsOf(relay)];
      expect(ours.map(({ id }) => id).sort()).to.equal([first, second].sort());
      expect(ours.map((signal): Signal => ({ ...signal, origin: null }))).to.equal(theirs);
      for (const { origin: from } of ours) {
        expect(from!.url).to.equal(origin.url);
        expect(from!.event_id).to.match(/^[0-9a-z]+-\d+$/);
      }
      // New versions and retractions follow the same way.
      const ids = await publish(origin, { signals: [draft('A first'), draft('B'), draft('C')] });
      await publish(origin, { signals: [draft('A second', { id: ids[0] })], withdraw: [ids[1]!] });
      await publish(origin, { signals: [draft('C', { id: ids[2], visibility: 'reviewer' })] });
      await until('the end of it', async () => (await lineCount(relay)) === 8);
      expect(await titlesOf(relay)).to.equal(['A second', 'After', 'Before']);
    });

    it('takes no origin from a signal, and changes no signal of another origin', async () => {
      const [one, two] = [await liar(), await liar()];
      const relay = await instance({ url: one.url });
      const signal = (number: number, title: string, origin: object | null = null) => ({ id: `01990000-0000-7000-8000-00000000000${number}`, ...draft(title, { visibility: 'public', review_state: 'approved' }), origin });
      one.say({ signal: signal(1, 'Claimed', { url: 'https://victim.example', event_id: 'v-1' }) }, { signal: signal(2, 'Kept') });
      await until('both', async () => (await titlesOf(relay)).length === 2);
      for (const { origin } of await signalsOf(relay)) expect(origin!.url).to.equal(one.url);
      expect(JSON.stringify(await signalsOf(relay))).to.not.include('victim.example');
      if (database === 'sqlite') return;
      const other = await instance({ url: two.url }, { database: { url: relay.composition.config.database.url } });
      two.say({ signal: signal(1, 'Overwritten') }, { signal: signal(2, 'Kept'), retracted: true }, { signal: signal(3, 'Last') });
      await until('the last', async () => (await titlesOf(other)).includes('Last'));
      expect(await titlesOf(other)).to.equal(['Claimed', 'Kept', 'Last']);
      one.say({ signal: signal(1, 'Corrected') }, { signal: signal(2, 'Kept'), retracted: true });
      await until('the correction', async () => (await titlesOf(relay)).includes('Corrected') && !(await titlesOf(relay)).includes('Kept'));
    });

    it('takes nothing from an instance that means harm but what is public and a signal, and goes on', async () => {
      const origin = await liar();
      const relay = await instance({ url: origin.url });
      const [mine] = await publish(relay, { signals: [draft('Mine', { visibility: 'partner' })] });
      const fine = { id: '01990000-0000-7000-8000-000000000001', ...draft('Fine', { visibility: 'public', review_state: 'approved' }), origin: null };
      const id = (number: number) => fine.id.replace(/\d{2}$/, String(number));
      const workspace_id = '01990000-0000-7000-8000-0000000000ff';
      const bad: any[] = [
        null, {}, { ...fine, id: 7 }, { ...fine, id: undefined }, { ...fine, id: 'no-id' },
        { ...fine, id: id(10), visibility: 'workspace', workspace_id }, { ...fine, id: id(11), visibility: 'workspace' }, { ...fine, id: id(12), visibility: 'reviewer' }, { ...fine, id: id(13), review_state: 'held' },
        { ...fine, id: id(14), title: 'x'.repeat(501) }, { ...fine, id: id(15), actors: Array.from({ length: 200 }, () => ({ id: null, type: 'person', name: 'x'.repeat(500), role: null })) },
        { ...fine, id: id(16), issues: ['a\0b'] }, { ...fine, id: id(17), issues: ['\ud800', '\ud801'] }, { ...fine, id: id(18), detected_at: '2026-W05-1' },
        { ...fine, id: id(19), origin: { url: 'javascript:alert(1)', event_id: 'x-1' } }, { ...fine, id: mine, title: 'Taken over' }, { ...fine, id: mine!.toUpperCase(), title: 'Taken over' },
        { ...fine, id: id(20), detected_at: '9999-01-01T00:00:00.000Z' }, ...['captured_at', 'published_at'].map((name, at) => ({ ...fine, id: id(21 + at), evidence: [{ ...fine.evidence[0], [name]: '9999-01-01T00:00:00.000Z' }] })),
      ];
      origin.say(...bad.map((signal) => ({ signal })), ...bad.map((signal) => ({ signal, retracted: true })), { signal: fine });
      await until('what is fine', async () => (await titlesOf(relay)).includes('Fine'));
      expect(await titlesOf(relay)).to.equal(['Fine']);
      const present: { signal: string }[] = await relay.db.read('firehose_signals as signals').join('firehose_log as log', 'log.seq', 'signals.seq').select('log.signal');
      expect(present.map(({ signal }) => (JSON.parse(signal) as Signal).title).sort()).to.equal(['Fine', 'Mine']);
      expect((await relay.request('GET', '/signals')).status).to.equal(200);
    });

    it('says what is wrong, and goes on by itself when it is mended', async () => {
      const check = (kit: TestServer) => kit.composition.checks.find(({ name }) => name === 'relay')!.run();
      const front = await frontDoor();
      front.answer(401);
      const relay = await instance({ url: front.url });
      await until('the fault', async () => (await check(relay)).detail.includes('wants an API key'));
      expect((await check(relay)).status).to.equal('warning');
      expect((await check(relay)).fix).to.be.a.string();
      expect(lines.filter(({ level }) => level > 40)).to.equal([]);
      const origin = await instance(null);
      await publish(origin, { signals: [draft('At last')] });
      front.lead(origin.url);
      await until('it is told', async () => (await titlesOf(relay)).length === 1);
      expect((await check(relay))).to.include({ status: 'ok' });
      expect((await check(relay)).detail).to.contain('up to date');
      expect((await relay.request('GET', '/health/ready')).body.checks).to.include({ name: 'relay', status: 'ok' });
      expect((await relay.request('GET', '/metrics')).text).to.contain('civic_firehose_relayed_total 1');
    });

    // Decided before anything is written: the same on every database.
    if (database === 'sqlite') {
      it('leaves out records that cannot be read, and goes on', async () => {
        const origin = await liar();
        const relay = await instance({ url: origin.url });
        const fine = { id: '01990000-0000-7000-8000-000000000001', ...draft('Fine', { visibility: 'public', review_state: 'approved' }), origin: null };
        const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
        const broken = [deep, ...['id', 'title', 'places', 'evidence', 'origin', 'other'].map((member) => {
          const rest = JSON.stringify({ ...fine, id: fine.id.replace(/1$/, '2'), [member]: undefined });
          return rest.replace('{', `{"${member}":${deep},`);
        })];
        origin.write(...broken.map((signal, at) => `event: firehose.signal\ndata: {"event_id":"liar-${at + 1}","signal":${signal}}\n\n`), 'id: liar-98\nevent: firehose.signal\ndata: {"event_id"\n\n', 'id: liar-99\nevent: firehose.signal\ndata: null\n\n');
        origin.write(`event: firehose.signal\ndata: {"event_id":"liar-100","signal":${JSON.stringify(fine)}}\n\n`);
        await until('what is fine', async () => (await titlesOf(relay)).includes('Fine'));
        expect(await titlesOf(relay)).to.equal(['Fine']);
        expect((await relay.db.read('firehose_relay').first('event_id')).event_id).to.equal('liar-100');
        expect(lines.filter(({ reason }) => String(reason).includes('more than 100 levels')).length).to.equal(broken.length);
      });

      it('keeps no place in a log that it could never ask for again', async () => {
        const origin = await liar();
        const relay = await instance({ url: origin.url });
        origin.say({ event_id: 'x\r\nx-evil: y-1', signal: { id: '01990000-0000-7000-8000-000000000001', ...draft('Fine'), origin: null } });
        await until('the fault', async () => (await relay.composition.checks.find(({ name }) => name === 'relay')!.run()).status === 'warning');
        expect((await relay.db.read('firehose_relay').first('event_id')).event_id).to.equal('0');
      });

      it('drops facts that are unknown here, and skips signals whose facts do not fit', async () => {
        const teller = await liar();
        const kit = await instance({ url: teller.url }, {}, [herons]);
        const at = (n: number) => ({ ...draft(`Number ${n}`), id: `00000000-0000-4000-8000-00000000000${n}`, visibility: 'public', detected_at: '2026-01-01T00:00:00.000Z' });
        teller.say(
          { signal: { ...at(1), type: 'heron_count', facts: { birds: 'many', site: 'The pond' } } },
          { signal: { ...at(2), type: 'heron_count' } },
          { signal: { ...at(3), type: 'heron_count', facts: { birds: 1, site: 'The pond', mood: 'calm' } } },
          { signal: { ...at(4), facts: { birds: 1 } } },
          { signal: { ...at(5), type: 'Not <a> type' } },
          { signal: at(6) },
        );
        await until('the last', async () => (await titlesOf(kit)).includes('Number 6'));
        const found = await signalsOf(kit);
        expect(found.map(({ title, facts }) => [title, facts]).sort()).to.equal([['Number 3', { birds: 1, site: 'The pond' }], ['Number 4', undefined], ['Number 6', undefined]]);
        const reasons = lines.filter(({ reason }) => reason).map(({ reason }) => reason as string);
        expect(reasons).to.have.length(2);
        for (const reason of reasons) expect(reason).to.contain('the facts of heron_count do not match its schema');
      });
    }

    if (database === 'postgres') {
      it('is one node at a time, and another takes over', async () => {
        const origin = await instance(null);
        const first = await instance({ url: origin.url });
        const second = await instance({ url: origin.url }, { database: { url: first.composition.config.database.url } });
        await publish(origin, { signals: Array.from({ length: 250 }, (_, i) => draft(`Number ${i}`)) });
        await until('all of them', async () => (await lineCount(second)) === 250);
        await first.composition.stop();
        await publish(origin, { signals: [draft('For the other')] });
        await until('the other', async () => (await lineCount(second)) > 250);
        expect(await lineCount(second)).to.equal(251);
        expect(await titlesOf(second)).to.include('For the other');
      });
    }
  });
}

describe('A relay without a database', () => {
  it('announces every type, and refuses to follow itself', async () => {
    const kit = await testServer({ plugins: [firehose], open: false, config: { plugins: { firehose: { relay: { url: 'https://elsewhere.example' } } } } });
    const document = kit.composition.openApi() as any;
    expect(document.components.schemas.SignalType.anyOf[0].enum).to.have.length(16);
    await kit.close();
    await expect(testServer({ plugins: [firehose], open: false, config: { public_url: 'https://here.example', plugins: { firehose: { relay: { url: 'https://here.example/' } } } } })).to.reject(/address of this instance itself/);
  });
});

describe('A stream of server-sent events', () => {
  it('may not go on without an end', () => {
    const read = createEventReader();
    const line = Buffer.from(`data: ${'x'.repeat(100_000)}\n`);
    expect(() => { for (let i = 0; i < 100; i++) read(line); }).to.throw(/does not end/);
  });

  it('is read the same however it is cut', () => {
    const bytes = Buffer.from('retry: 2000\nid: a-1\nevent: firehose.ready\ndata: {"a":"ü"}\n\n: nothing\r\nevent: heartbeat\r\ndata: one\r\ndata: two\r\n\r\ndata:three\n\nid: a-9\n\n');
    const whole = createEventReader()(bytes);
    expect(whole).to.equal([{ event: 'firehose.ready', id: 'a-1', data: '{"a":"ü"}' }, { event: 'heartbeat', id: null, data: 'one\ntwo' }, { event: 'message', id: null, data: 'three' }]);
    for (const size of [1, 2, 3, 7]) {
      const read = createEventReader();
      const pieces = [];
      for (let i = 0; i < bytes.length; i += size) pieces.push(...read(bytes.subarray(i, i + size)));
      expect(pieces).to.equal(whole);
    }
  });
});
