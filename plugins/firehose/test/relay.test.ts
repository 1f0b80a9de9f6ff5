import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Plugin } from 'civic';
import { slowness, testDatabases, testServer, type TestServer } from 'civic/testing';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import firehose from '../index.ts';
import { createEventReader } from '../relay/events.ts';
import type { Signal, SignalDraft } from '../types.ts';
import { herons } from './herons.ts';
import { WIRE } from './people.ts';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const draft = (title: string, more: Partial<SignalDraft> = {}): SignalDraft => ({ type: 'vote', title, source_class: 'government_record', evidence: [{ source_url: 'https://example.org/minutes' }], ...more });

async function until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = Date.now() + 60_000 * slowness; !(await condition());) {
    if (Date.now() > end) throw new Error(`Waited in vain: ${what}`);
    await sleep(20);
  }
}

for (const database of testDatabases()) {
  describe(`A relay on ${database}`, { timeout: 120_000 }, () => {
    let open: TestServer[] = [];
    let lines: Record<string, any>[] = [];
    afterEach(async () => {
      for (const kit of open.reverse().splice(0)) await kit.close();
      for (const server of fronts.splice(0)) server.close();
      lines = [];
      open = [];
    });

    const log = () => pino({ base: null }, { write: (line: string) => { lines.push(JSON.parse(line)); } });

    async function instance(relay: { url: string; api_key?: string } | null, config: object = {}, plugins: Plugin[] = []): Promise<TestServer> {
      const kit = await testServer({
        plugins: [firehose, ...plugins], database, listen: true, log: log(),
        config: {
          metrics: { enabled: true },
          http: { port: 0, fetch: { allow_private_addresses: true } },
          plugins: { firehose: { anonymous: true, ...(relay && { relay }) }, wire: { from: WIRE } },
          ...config,
        },
      });
      open.push(kit);
      return kit;
    }

    async function publish(kit: TestServer, body: { signals?: SignalDraft[]; withdraw?: string[] }): Promise<string[]> {
      const answer = await kit.request('POST', '/api/wire', { payload: body });
      expect(answer.status, answer.text).to.equal(201);
      return answer.body.ids;
    }

    async function signalsOf(kit: TestServer): Promise<Signal[]> {
      const answer = await kit.request('GET', '/api/firehose?visibility=public&limit=200');
      return answer.body.signals;
    }

    const titlesOf = async (kit: TestServer): Promise<string[]> => (await signalsOf(kit)).map(({ title }) => title).sort();

    async function lineCount(kit: TestServer): Promise<number> {
      return Number((await kit.request('GET', '/api/firehose?visibility=public&limit=1')).body.last_event_id.split('-')[1]);
    }

    /** Waits until each of these relays has read all that the instance it follows has published: nothing is still on its way. */
    async function settled(...followed: [relay: TestServer, origin: TestServer][]): Promise<void> {
      const origins = followed.map(([, origin]) => origin);
      await until('the end of the logs', async () => {
        const positions = await Promise.all(followed.map(async ([relay]) => Number((await relay.db.read('firehose_relay').first('event_id')).event_id.split('-')[1])));
        const heads = await Promise.all(origins.map(lineCount));
        // On Postgres entries are numbered after their transaction.
        const unnumbered = await Promise.all(origins.map((origin) => origin.db.read('firehose_outbox').first('key')));
        return [heads, await Promise.all(origins.map(lineCount))].every((counts) => counts.join() === positions.join()) && unnumbered.every((row) => !row);
      });
    }

    it('tells what the other instance tells, before and after it began, with the same ids and where it is from, also new versions and retractions', async () => {
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

    it('names the instance that it follows along a chain, and ends cycles', async () => {
      const front = await frontDoor();
      const first = await instance({ url: front.url });
      const second = await instance({ url: first.url });
      const third = await instance({ url: second.url });
      front.lead(third.url);
      const [id] = await publish(first, { signals: [draft('Round')] });
      await until('the third', async () => (await titlesOf(third)).length === 1);
      expect((await signalsOf(third))[0]).to.include({ id, title: 'Round' });
      expect((await signalsOf(third))[0]!.origin!.url).to.equal(second.url);
      // The version comes back to the first after the first retracted it.
      const [brief] = await publish(first, { signals: [draft('Brief')] });
      await publish(first, { withdraw: [brief!] });
      await until('the retraction', async () => await lineCount(third) === 3);
      await settled([first, third], [second, first], [third, second]);
      expect(await Promise.all([first, second, third].map(lineCount))).to.equal([3, 3, 3]);
      expect((await signalsOf(first))[0]!.origin).to.be.null();
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

    it('does not take back into its log what was first told by itself', async () => {
      const front = await frontDoor();
      const a = await instance({ url: front.url });
      const b = await instance({ url: a.url });
      front.lead(b.url);
      const [id] = await publish(a, { signals: [draft('Mine')] });
      await publish(a, { signals: [draft('Mine, better', { id })] });
      await until('the copy', async () => (await titlesOf(b))[0] === 'Mine, better');
      const [theirs] = await publish(b, { signals: [draft('Theirs')] });
      await until('theirs', async () => (await titlesOf(a)).length === 2);
      await publish(b, { withdraw: [theirs!] });
      await until('its end', async () => (await titlesOf(a)).length === 1);
      await settled([a, b], [b, a]);
      // The retraction comes back to b, where the signal is gone: the relay skips it.
      expect([await lineCount(a), await lineCount(b)]).to.equal([4, 4]);
      expect((await signalsOf(a))[0]).to.include({ title: 'Mine, better', origin: null });
    });

    it('reads everything anew when the log it followed is gone, and takes back what is there no more', async () => {
      const front = await frontDoor();
      const lost = await instance(null);
      front.lead(lost.url);
      const relay = await instance({ url: front.url });
      const stays = draft('Stays', { detected_at: '2026-03-01T00:00:00.000Z' });
      const ids = await publish(lost, { signals: [draft('Forgotten by age', { detected_at: '2025-01-01T00:00:00.000Z' }), stays, draft('Changes'), draft('Goes')] });
      await until('all', async () => (await titlesOf(relay)).length === 4);
      await publish(relay, { signals: [draft('Of its own')] });

      const restored = await instance(null);
      await publish(restored, { signals: [{ ...stays, id: ids[1] }, draft('Changed', { id: ids[2] }), draft('New')] });
      front.lead(restored.url);
      await lost.composition.stop();
      await until('the change', async () => (await titlesOf(relay)).includes('New') && !(await titlesOf(relay)).includes('Goes'));
      expect(await titlesOf(relay)).to.equal(['Changed', 'Forgotten by age', 'New', 'Of its own', 'Stays']);
      await publish(restored, { signals: [draft('Later')] });
      await until('what comes later', async () => (await titlesOf(relay)).includes('Later'));
      // What was the same was not told again.
      expect(await lineCount(relay)).to.equal(9);
      expect(lines.find(({ reason }) => reason === 'epoch_changed')!['msg']).to.contain('read anew');
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
      expect((await check(relay)).detail).to.contain('nothing is missing');
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

      it('publishes signals of a declared type with their facts where a plugin declares the type, and skips them elsewhere', async () => {
        const count = (title: string, birds: number) => draft(title, { type: 'heron_count', facts: { birds, site: 'The pond' } });
        const origin = await instance(null, {}, [herons]);
        const [knowing, plain] = [await instance({ url: origin.url }, {}, [herons]), await instance({ url: origin.url })];
        const [id] = await publish(origin, { signals: [count('Two herons', 2), count('Nine herons', 9), draft('A vote')] });
        await publish(origin, { signals: [{ ...count('Three herons', 3), id: id! }, draft('Another vote')] });
        await until('all of them', async () => (await titlesOf(knowing)).length === 4 && (await titlesOf(knowing)).includes('Three herons'));
        expect((await signalsOf(knowing)).map((signal): Signal => ({ ...signal, origin: null })).sort(byId)).to.equal((await signalsOf(origin)).sort(byId));
        await until('the votes', async () => (await titlesOf(plain)).includes('Another vote'));
        expect(await titlesOf(plain)).to.equal(['A vote', 'Another vote']);
        expect(lines.filter(({ type }) => type === 'heron_count'), 'the type is named once').to.have.length(1);
        expect((await plain.request('GET', '/health/ready')).body.checks).to.include({ name: 'relay', status: 'ok' });
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

const byId = (a: Signal, b: Signal): number => (a.id < b.id ? -1 : 1);
const fronts: Server[] = [];

/** Stands where an instance will be: keeps requests waiting until it knows whether to respond with a status or to lead to another address. */
async function frontDoor(): Promise<{ url: string; lead(to: string): void; answer(status: number): void }> {
  type Reply = (request: IncomingMessage, response: ServerResponse) => void;
  let know!: (reply: Reply) => void;
  let reply = new Promise<Reply>((resolve) => { know = resolve; });
  const decide = (next: Reply) => {
    know(next);
    reply = Promise.resolve(next);
  };
  const server = createServer(async (request, response) => { (await reply)(request, response); });
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  fronts.push(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead: (to) => decide((request, response) => response.writeHead(307, { location: to + request.url }).end()),
    answer: (status) => decide((_request, response) => response.writeHead(status, { 'content-type': 'application/problem+json' }).end('{"detail":"Said so."}')),
  };
}

/** Speaks like an instance, and says whatever it is told to. */
async function liar(): Promise<{ url: string; say(...messages: object[]): void; write(...events: string[]): void }> {
  const streams: ServerResponse[] = [];
  let said = '';
  let seq = 0;
  const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event('firehose.ready', { resume: { status: 'complete' }, last_event_id: 'liar-0' }) + said);
    streams.push(response);
  });
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  fronts.push(server);
  const write = (...events: string[]) => {
    const text = events.join('');
    said += text;
    for (const stream of streams) stream.write(text);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    say(...messages) {
      write(...messages.map((message) => event('firehose.signal', { event_id: `liar-${++seq}`, ...message })));
    },
    write,
  };
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
