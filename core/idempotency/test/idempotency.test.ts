import { expect } from '@hapi/code';
import type { Lifecycle, ResponseToolkit } from '@hapi/hapi';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { stoppedClock } from '../../clock.ts';
import { exceededHeaders } from '../../http/exceeded.ts';
import { definePlugin, type Caller } from '../../plugin.ts';
import { problem } from '../../problems.ts';
import { until } from '../../test/wait.ts';
import { testDatabases, testServer, type TestResponse, type TestServer } from '../../testing.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

let calls = 0;
let hold: Promise<void> | null = null;

/** Every kind of value that a hapi handler may return. */
const RESULTS: Record<string, (h: ResponseToolkit) => Lifecycle.ReturnValue> = {
  object: () => ({ calls }),
  array: () => [calls],
  number: () => calls,
  boolean: () => true,
  null: () => null,
  text: () => `text ${calls}`,
  'empty text': () => '',
  buffer: () => Buffer.from([0, 255, 128, calls]),
  'empty buffer': () => Buffer.alloc(0),
  'response without a status': (h) => h.response({ calls }).etag('v1'),
  'response with JSON text': (h) => h.response(`{"calls":${calls}}`).type('application/json; charset=utf-8').header('cache-control', 'private, no-store'),
  'response with a typed buffer': (h) => h.response(Buffer.from(`${calls} ü`)).type('text/plain; charset=utf-8'),
  'created response': (h) => h.response({ calls }).created('/api/counter-kinds/1'),
  'accepted response': (h) => h.response({ calls }).code(202).header('retry-after', '3'),
  'empty response': (h) => h.response(),
  'empty response with a status': (h) => h.response().code(204),
  'returned problem': () => problem('counter_full', { detail: `Asked ${calls} times.` }),
};
const VARYING = ['date', 'x-request-id', 'traceparent', 'server-timing', 'idempotency-replayed'];

/** Codes of problems by the status that a request asks for. */
const REJECTIONS: Record<number, string> = { 400: 'invalid_request', 403: 'plan_required', 429: 'too_many_requests' };

const counter = definePlugin({
  name: 'counter',
  summary: 'Counts how often it was asked',
  problems: { counter_full: { status: 409, title: 'It counts no further', advice: 'Begin anew.' } },
  register(server, civic) {
    civic.identify((request) => {
      const name = request.headers['x-api-key'] as string | undefined;
      return name ? { account_id: name, via: 'key', scope: [], role: 'user', plan: 'free', capabilities: [], workspace_id: (request.headers['x-workspace-id'] as string | undefined) ?? null, workspace_role: null } satisfies Caller : null;
    });
    server.route({
      method: 'POST',
      path: '/api/counter/{name}',
      options: {
        description: 'Counts',
        validate: { query: Joi.object({}), params: Joi.object({ name: Joi.string() }), payload: Joi.object({ by: Joi.number().required() }) },
        plugins: { civic: { problems: ['counter_full', 'too_many_requests'] } },
        response: { status: { 201: Joi.object({ count: Joi.number() }) } },
      },
      handler: async (request, h) => {
        calls++;
        await hold;
        const { by } = request.payload as { by: number };
        if (by === 0) throw problem('counter_full', { detail: `Asked ${calls} times.` });
        if (by < 0) throw new Error('broken');
        if (REJECTIONS[by]) throw problem(REJECTIONS[by], by === 429 ? { headers: exceededHeaders({ limit: 1, resetAt: 1000, now: 0 }) } : {});
        return h.response({ count: calls }).code(201).header('location', civic.url('/api/counter'));
      },
    });
    server.route({
      method: 'POST',
      path: '/api/counter-secret',
      options: { description: 'Tells a secret', validate: { query: Joi.object({}), payload: Joi.object({}) }, plugins: { civic: { secret: true } }, response: { schema: Joi.object({ secret: Joi.string() }) } },
      handler: () => ({ secret: 'the-secret-word' }),
    });
    server.route({
      method: 'POST',
      path: '/api/counter-kinds/{kind}',
      options: { description: 'Returns each kind of handler result', validate: { query: Joi.object({ page: Joi.number() }), params: Joi.object({ kind: Joi.string() }) }, response: { status: { 200: Joi.any(), 201: Joi.any(), 202: Joi.any(), 204: Joi.any() }, sample: 0 }, plugins: { civic: { produces: ['text/plain', 'application/octet-stream'], problems: ['counter_full'] } } },
      handler: (request, h) => {
        calls++;
        return RESULTS[request.params['kind'] as string]!(h);
      },
    });
  },
});

for (const database of testDatabases()) {
  describe(`Idempotency-Key on ${database}`, () => {
    let kit: TestServer;
    const clock = stoppedClock();
    before(async () => { kit = await testServer({ plugins: [counter], database, clock }); });
    beforeEach(() => { calls = 0; hold = null; });
    after(() => kit.close());

    function post(key: string | null, options: { by?: number; name?: string; account?: string } = {}): Promise<TestResponse> {
      const { by = 1, name = 'a', account } = options;
      return kit.request('POST', `/api/counter/${name}`, { payload: { by }, headers: { ...(key && { 'idempotency-key': key }), ...(account && { 'x-api-key': account }) } });
    }

    it('keeps nothing of an answer that shows a secret, and says so when asked again', async () => {
      const ask = () => kit.request('POST', '/api/counter-secret', { payload: {}, headers: { 'idempotency-key': 'secret' } });
      expect((await ask()).body).to.equal({ secret: 'the-secret-word' });
      expect([(await ask()).status, (await ask()).body.code]).to.equal([409, 'secret_shown_once']);
      expect(JSON.stringify(await kit.db.read('core_answers').select())).to.not.include('the-secret-word');
    });

    it('gives the first answer again, with its headers, and does nothing twice', async () => {
      const first = await post('one');
      const second = await post('one');
      expect(calls).to.equal(1);
      expect(first.headers['idempotency-replayed']).to.be.undefined();
      expect(second.headers['idempotency-replayed']).to.equal('true');
      expect(second.status).to.equal(201);
      expect(second.body).to.equal(first.body);
      expect(second.headers['location']).to.equal(first.headers['location']);
      expect(second.headers['x-request-id']).to.not.equal(first.headers['x-request-id']);
    });

    for (const kind of Object.keys(RESULTS)) {
      it(`replays status, headers and body of a handler result: ${kind}`, async () => {
        const send = () => kit.server.inject({ method: 'POST', url: `/api/counter-kinds/${encodeURIComponent(kind)}`, headers: { 'idempotency-key': `kind ${kind}`.replaceAll(' ', '-') } });
        const [first, second] = [await send(), await send()];
        expect(first.statusCode).to.be.below(500);
        expect(calls).to.equal(1);
        expect(second.headers['idempotency-replayed']).to.equal('true');
        expect(second.statusCode).to.equal(first.statusCode);
        expect(kind === 'returned problem' ? JSON.parse(second.payload).detail : second.rawPayload.toString('hex')).to.equal(kind === 'returned problem' ? JSON.parse(first.payload).detail : first.rawPayload.toString('hex'));
        const steady = (headers: object) => Object.fromEntries(Object.entries(headers).filter(([name]) => !VARYING.includes(name)));
        if (kind !== 'returned problem') expect(steady(second.headers)).to.equal(steady(first.headers));
      });
    }

    it('does not keep a key for a day that was claimed while the clock was a day ahead', async () => {
      await post('ahead');
      const ahead = new Date(clock.now() + 86_400_000).toISOString();
      await kit.db.write((tx) => tx('core_answers').where({ idempotency_key: 'ahead' }).update({ answer: null, begun_at: ahead }));
      expect((await post('ahead')).status).to.equal(201);
      expect(calls).to.equal(2);
    });

    it('refuses the same key with another query', async () => {
      const send = (query: string) => kit.request('POST', `/api/counter-kinds/object${query}`, { headers: { 'idempotency-key': 'query' } });
      expect((await send('?page=1')).status).to.equal(200);
      expect((await send('?page=2')).body.code).to.equal('idempotency_key_reused');
      expect((await send('?page=1')).headers['idempotency-replayed']).to.equal('true');
    });

    it('asks again without a key, with another key, by another account and on another address', async () => {
      await post('two');
      await Promise.all([post(null), post(null), post('three'), post('two', { account: 'ada' }), post('two', { account: 'bob' }), post('two', { name: 'b' })]);
      expect(calls).to.equal(7);
    });

    it('replays no response of another workspace', async () => {
      const ask = (workspace: string) => kit.request('POST', '/api/counter/a', { payload: { by: 1 }, headers: { 'idempotency-key': 'shared', 'x-api-key': 'ada', 'x-workspace-id': workspace } });
      const answers = [await ask('one'), await ask('two'), await ask('one')];
      expect(answers.map(({ headers }) => headers['idempotency-replayed'])).to.equal([undefined, undefined, 'true']);
      expect(calls).to.equal(2);
    });

    it('refuses the same key with another body', async () => {
      await post('four');
      const other = await post('four', { by: 2 });
      expect(other.status).to.equal(409);
      expect(other.body.code).to.equal('idempotency_key_reused');
      expect(calls).to.equal(1);
    });

    it('executes one of many concurrent requests, and asks the others to retry', async () => {
      let release = (): void => undefined;
      hold = new Promise((done) => { release = done; });
      const asked = Array.from({ length: 10 }, () => post('five'));
      const refused = await Promise.race(asked);
      expect(refused.body.code).to.equal('idempotency_in_progress');
      expect(refused.headers['retry-after']).to.equal('1');
      release();
      const statuses = (await Promise.all(asked)).map((answer) => answer.status).sort();
      expect(statuses.filter((status) => status === 201).length).to.be.at.least(1);
      expect(calls).to.equal(1);
      expect((await post('five')).body).to.equal({ count: 1 });
    });

    it('gives a refusal of the handler again too', async () => {
      const first = await post('six', { by: 0 });
      const second = await post('six', { by: 0 });
      expect([first.status, second.status]).to.equal([409, 409]);
      expect(second.body.detail).to.equal('Asked 1 times.');
      expect(second.headers['idempotency-replayed']).to.equal('true');
    });

    it('keeps no failure of the server: the same key may try again', async () => {
      expect((await post('seven', { by: -1 })).status).to.equal(500);
      expect((await post('seven', { by: -1 })).status).to.equal(500);
      expect(calls).to.equal(2);
    });

    it('refuses input before it takes the key, so that it can be mended', async () => {
      const wrong = await kit.request('POST', '/api/counter/a', { payload: { by: 'x' }, headers: { 'idempotency-key': 'eight' } });
      expect(wrong.status).to.equal(400);
      expect((await post('eight')).status).to.equal(201);
    });

    it('stores no rejection that a later or corrected request can avoid', async () => {
      for (const [status, by] of [[400, 400], [403, 403], [429, 429]] as const) {
        const key = `rejected-${status}`;
        expect((await post(key, { by })).status).to.equal(status);
        const again = await post(key, { by });
        expect([again.status, again.headers['idempotency-replayed']]).to.equal([status, undefined]);
        expect((await post(key)).status, 'the same key with a corrected body').to.equal(201);
      }
    });

    it('refuses a malformed key', async () => {
      for (const key of ['a b', 'x'.repeat(256), 'ü']) expect((await post(key)).body.code).to.equal('invalid_header');
      expect(calls).to.equal(0);
    });

    it('lets another try when the process that began has died', async () => {
      await kit.db.write((tx) => tx('core_answers').insert({ caller: '127.0.0.1', route: '/api/counter/a', idempotency_key: 'nine', token: '01900000-0000-7000-8000-000000000000', body_hash: '31c4a9ea0e2e3ae7b4e1b8e2c5f8a7a0', answer: null, begun_at: clock.iso() }));
      expect((await post('nine')).status).to.equal(409);
      clock.advance(61_000);
      expect((await post('nine')).status).to.equal(201);
    });

    it('forgets after a day', async () => {
      await post('ten');
      clock.advance(25 * 3600_000);
      await kit.db.write((tx) => kit.composition.jobs.of('core').enqueue(tx, 'core.prune_answers', {}));
      await until(async () => (await kit.db.read('core_answers').where({ idempotency_key: 'ten' })).length === 0);
      expect((await post('ten')).headers['idempotency-replayed']).to.be.undefined();
    });
  });
}
