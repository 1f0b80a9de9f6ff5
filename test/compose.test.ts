import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import pino from 'pino';
import { definePlugin, type Civic, type Plugin } from '../core/plugin.ts';
import { testDatabases, testServer } from '../core/testing.ts';
import notes from './plugins/notes/index.ts';
import digest from './plugins/digest/index.ts';
import { until } from '../core/test/wait.ts';

export const lab = Lab.script();
const { describe, it } = lab;

/** A plugin that writes down what is done to it. */
function traced(name: string, lines: string[], more: Partial<Plugin> = {}, fails?: 'start' | 'stop'): Plugin {
  return definePlugin({
    name,
    summary: name,
    register: () => {
      lines.push(`register ${name}`);
      return {
        start: async () => {
          lines.push(`start ${name}`);
          if (fails === 'start') throw new Error('no luck');
        },
        stop: async () => {
          lines.push(`stop ${name}`);
          if (fails === 'stop') throw new Error('stuck');
        },
      };
    },
    ...more,
  });
}

describe('The phases', () => {
  it('register all, then start in order, and stop in reverse', async () => {
    const lines: string[] = [];
    const kit = await testServer({ plugins: [traced('second', lines, { needs: ['first'] }), traced('first', lines)] });
    await kit.close();
    expect(lines).to.equal(['register first', 'register second', 'start first', 'start second', 'stop second', 'stop first']);
  });

  it('stop also the plugin whose start failed, name it, and start nothing after it', async () => {
    const lines: string[] = [];
    const failing = testServer({ plugins: [traced('first', lines), traced('second', lines, {}, 'start'), traced('third', lines)] });
    await expect(failing).to.reject(/^The plugin second failed to start: no luck \(\/.*compose\.test\.[jt]s:\d+:\d+\)$/);
    expect(lines.slice(3)).to.equal(['start first', 'start second', 'stop second', 'stop first']);
  });

  it('stop the others when one does not stop cleanly', async () => {
    const lines: string[] = [];
    const kit = await testServer({ plugins: [traced('first', lines), traced('second', lines, {}, 'stop')] });
    await expect(kit.close()).to.reject('second did not stop cleanly: stuck');
    expect(lines.slice(-2)).to.equal(['stop second', 'stop first']);
  });

  it('stop the others when one throws before it promises anything', async () => {
    const lines: string[] = [];
    const hasty = definePlugin({ name: 'hasty', summary: 'Throws', register: () => ({ stop: () => { throw new Error('at once'); } }) });
    const kit = await testServer({ plugins: [traced('first', lines), hasty] });
    await expect(kit.close()).to.reject('hasty did not stop cleanly: at once');
    expect(lines.at(-1)).to.equal('stop first');
  });

  it('give a stream under way its time, cut it, and call that clean', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => { lines.push(line); } });
    const endless = definePlugin({
      name: 'endless', summary: 'Streams', paths: { '/endless': { audience: 'people' } },
      register: (server, civic) => server.route({
        method: 'GET', path: '/endless', options: { plugins: { civic: { raw: true, internal: true } } },
        handler: (request, h) => {
          request.raw.res.writeHead(200, civic.headers(request)).write('on and on');
          return h.abandon;
        },
      }),
    });
    const kit = await testServer({ plugins: [endless], listen: true, config: { shutdown_seconds: 4 }, log });
    const stream = await fetch(`${kit.url}/endless`);
    const cut = stream.text().catch(() => 'cut');
    await kit.close();
    expect(await cut).to.equal('cut');
    expect(lines.join('')).to.not.contain('did not stop cleanly');
  });

  it('refuse an event that belongs to another plugin', async () => {
    const thief = definePlugin({ name: 'thief', summary: 'Takes', events: { 'notes.added': { summary: 'Mine', version: 9, payload: Joi.object() } }, register: () => undefined });
    await expect(testServer({ plugins: [notes, thief] })).to.reject(/The plugin thief cannot declare the event "notes\.added": its events begin with "thief\."/);
  });

  it('do not wait for ever for a plugin that hangs', async () => {
    const stuck = definePlugin({ name: 'stuck', summary: 'Never stops', register: () => ({ stop: () => new Promise<void>(() => undefined) }) });
    const kit = await testServer({ plugins: [stuck], config: { shutdown_seconds: 1 } });
    // On a busy machine others may be late too.
    await expect(kit.close()).to.reject(/^stuck did not stop cleanly: took longer than 1 s$/m);
  });

  it('refuse a plugin whose register fails, by name', async () => {
    const broken = definePlugin({ name: 'broken', summary: 'Breaks', register: () => { throw new Error('oh no'); } });
    await expect(testServer({ plugins: [broken] })).to.reject(/^The plugin broken failed to register: oh no \(\/.*:\d+:\d+\)$/);
  });

  it('say whose route another one collides with', async () => {
    const same = (name: string) => definePlugin({ name, summary: 'Same', register: (server) => { server.route({ method: 'GET', path: '/same', options: { plugins: { civic: { internal: true } } }, handler: () => 'same' }); } });
    await expect(testServer({ plugins: [same('first'), same('second')] })).to.reject(/^The plugin second failed to register: New route \/same conflicts with existing \/same of the plugin first/);
  });

  it('refuse the database before everything is migrated', async () => {
    const eager = definePlugin({ name: 'eager', summary: 'Too early', register: (_server, civic) => { void civic.db; } });
    await expect(testServer({ plugins: [eager] })).to.reject(/civic\.db of the plugin eager was used before everything was migrated.* \(\/.*compose\.test\.[jt]s:\d+:\d+\)$/);
  });

  it('refuse declarations after register', async () => {
    let kept: Civic | undefined;
    const late = definePlugin({ name: 'late', summary: 'Too late', register: (_server, civic) => { kept = civic; } });
    const kit = await testServer({ plugins: [late] });
    expect(() => kept!.provide({})).to.throw(/civic\.provide of the plugin late was called after register/);
    expect(() => kept!.jobs.define({ name: 'late.work', run: async () => undefined })).to.throw(/civic\.jobs\.define/);
    await kit.close();
  });

  it('let a plugin declare routes once it knows what the others declared', async () => {
    const greetings: string[] = [];
    const host = definePlugin({
      name: 'host', summary: 'Greets',
      register(server, civic) {
        civic.provide({ greets: (name: string) => greetings.push(name) });
        civic.whenComposed(() => server.route({
          method: 'GET', path: '/api/host',
          options: { description: 'Whom it greets', validate: { query: Joi.object({ name: Joi.string().valid(...greetings) }) }, response: { schema: Joi.array() } },
          handler: () => greetings,
        }));
      },
    });
    const guest = definePlugin({ name: 'guest', summary: 'Comes later', needs: ['host'], register(_server, civic) { (civic.service('host' as never) as { greets(name: string): void }).greets('Ada'); } });
    const kit = await testServer({ plugins: [host, guest] });
    expect((await kit.request('GET', '/api/host')).body).to.equal(['Ada']);
    expect((await kit.request('GET', '/api/host?name=Bob')).status).to.equal(400);
    await kit.close();
  });

  it('refuse a log whose tables would be another plugin’s', async () => {
    const thief = definePlugin({ name: 'thief', summary: 'Takes', register(_server, civic) { civic.sequence({ name: 'notes', columns: {} }); } });
    await expect(testServer({ plugins: [thief] })).to.reject(/cannot keep the log "notes": its tables begin with "thief_"/);
  });

  it('refuse a route under /api that says too little of itself', async () => {
    const sloppy = definePlugin({ name: 'sloppy', summary: 'Says too little', register: (server) => { server.route({ method: 'GET', path: '/api/sloppy', handler: () => ({}) }); } });
    await expect(testServer({ plugins: [sloppy] })).to.reject(/GET \/api\/sloppy \(sloppy\): has no description/);
  });
});

describe('Services', () => {
  it('are there for those who need them, and null for those who use one that is off', async () => {
    let seen: unknown;
    const asking = definePlugin({
      name: 'asking',
      summary: 'Asks',
      needs: ['notes'],
      uses: ['accounts'],
      register: (_server, civic) => { seen = [typeof civic.service('notes').textOf, civic.serviceIfOn('accounts' as never)]; },
    });
    await (await testServer({ plugins: [asking, notes] })).close();
    expect(seen).to.equal(['function', null]);
  });

  it('are refused to those who did not say so', async () => {
    const nosy = definePlugin({ name: 'nosy', summary: 'Asks', register: (_server, civic) => { civic.service('notes'); } });
    await expect(testServer({ plugins: [notes, nosy] })).to.reject(/asks for the service notes: add it to its needs/);
  });
});

for (const database of testDatabases()) {
  describe(`A composition on ${database}`, () => {
    it('writes, emits and handles: a note reaches the digest once', async () => {
      const kit = await testServer({ plugins: [digest, notes], database });
      const { body } = await kit.request('POST', '/api/notes', { payload: { text: 'hello' } });
      const entries = async () => (await kit.request('GET', '/api/digest')).body.data;
      await until(async () => (await entries()).length > 0);
      expect(await entries()).to.equal([{ seq: 1, text: body.id }]);
      await kit.close();
    });

    it('pages through a list with cursors that are enough by themselves', async () => {
      const kit = await testServer({ plugins: [notes], database });
      for (const text of ['one', 'two', 'three', 'four', 'five']) await kit.request('POST', '/api/notes', { payload: { text } });
      const texts: string[] = [];
      let path = '/api/notes?limit=2&word=o';
      for (;;) {
        const { body } = await kit.request('GET', path);
        texts.push(...body.data.map((note: { text: string }) => note.text));
        expect(body.total).to.equal(3);
        if (!body.next_cursor) break;
        path = `/api/notes?limit=1&cursor=${body.next_cursor}`;
      }
      expect(texts).to.equal(['one', 'two', 'four']);
      const changed = await kit.request('GET', `${path}&word=x`);
      expect(changed.status).to.equal(400);
      await kit.close();
    });

    it('runs a job of a plugin', async () => {
      const kit = await testServer({ plugins: [notes], database });
      await kit.request('POST', '/api/notes', { payload: { text: 'old' } });
      await kit.db.write((tx) => kit.composition.jobs.of('notes').enqueue(tx, 'notes.tidy', { older_than: '2999-01-01T00:00:00.000Z' }));
      await until(async () => (await kit.request('GET', '/api/notes')).body.total === 0);
      await kit.close();
    });
  });
}
