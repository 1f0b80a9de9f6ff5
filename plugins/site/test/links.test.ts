import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import type { FirehoseService, SignalDraft } from 'civic/firehose';
import { testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { entryKit, type EntryKit } from './entry-kit.ts';
import { EDITOR } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const OWN = 'https://union.example/contact';
let firehose: FirehoseService;

const publisher = definePlugin({
  name: 'publisher',
  summary: 'Publishes signals for tests',
  needs: ['firehose'],
  register(_server, civic) {
    const service = civic.service('firehose');
    service.produces(['vote']);
    return { async start() { firehose = service; } };
  },
});

const signal = (title: string, id: string | null, more: Partial<SignalDraft> = {}): SignalDraft => ({
  type: 'vote', title, source_class: 'news', evidence: [{ source_url: 'https://ledger.example/vote', publisher: 'Ledger' }], actors: [{ id, name: 'Gladstone Tenants Union', type: 'organization' }], ...more,
});

/** Follows everything that leads people to an actor. */
async function addressesOf(kit: TestServer, id: string): Promise<Record<string, string | undefined>> {
  const feed = (await kit.request('GET', '/api/places/gladstone,missouri/feed.atom')).text;
  const json = (await kit.request('GET', '/api/places/gladstone,missouri/feed.json')).body;
  const calendar = (await kit.request('GET', '/api/places/gladstone,missouri/meetings.ics')).text.replaceAll('\r\n ', '');
  const { view } = (await kit.request('GET', '/reconcile')).body;
  const preview = (await kit.request('GET', `/reconcile/preview?id=${id}`)).text;
  const signals = (await kit.request('GET', '/signals', { headers: { accept: 'text/html' } })).text;
  const found = await kit.tool('search', { query: 'Gladstone' });
  const fetched = await kit.tool('fetch', { id });
  return {
    atom: /<entry>.*?<link rel="alternate" href="([^"]+)"/s.exec(feed)?.[1],
    json: json.items[0].url,
    calendar: /BEGIN:VEVENT.*?URL;VALUE=URI:(\S+)/s.exec(calendar)?.[1],
    openrefine: view.url.replace('{{id}}', id),
    preview: /<h1><a href="([^"]+)"/.exec(preview)?.[1],
    signals: new RegExp(`href="([^"]*${id})"`).exec(signals)?.[1],
    search: found.data.results[0].url,
    fetch: fetched.data.url,
  };
}

for (const database of testDatabases()) {
  describe(`Links for people on ${database}`, () => {
    let kit: EntryKit;
    let id: string;
    before(async () => {
      kit = await entryKit({ database, plugins: ['firehose', 'mcp', publisher] });
      ({ id } = (await kit.create([
        { property: 'name', value: 'Gladstone meeting', source: OWN }, { property: 'place', value: 'gladstone,missouri', source: OWN }, { property: 'event_start', value: '2099-11-24T18:30:00.000Z', source: OWN },
      ], { type: 'event' })).body);
      await kit.db.write((tx) => firehose.publish(tx, [signal('The union votes', id)]));
    });
    after(() => kit.close());

    it('lead to pages', async () => {
      const addresses = await addressesOf(kit, id);
      for (const [from, address] of Object.entries(addresses)) {
        expect(new URL(address!, 'http://localhost').pathname, from).to.equal(`/actors/${id}`);
        expect((await kit.open(new URL(address!, 'http://localhost').pathname)).status).to.equal(200);
      }
    });

    it('lead from signals to pages of places and issues, in the language of the page', async () => {
      await kit.db.write((tx) => firehose.publish(tx, [signal('A vote in town', id, { places: ['gladstone,missouri', 'nowhere,atall'], issues: ['housing_affordability', 'old_issue'] })]));
      const read = async (path: string) => (await kit.request('GET', path, { headers: { accept: 'text/html' } })).text.replaceAll('&#x3D;', '=');
      // On Postgres a signal is numbered after its commit.
      for (let tries = 0; tries < 200 && !(await read('/es/signals')).includes('A vote in town'); tries++) await sleep(50);
      expect(await read('/es/signals')).to.contain([
        '<a class="chip place" href="/es/places/gladstone,missouri">Gladstone, MO</a>', '<a class="chip" href="/es/issues/housing_affordability">', `<a href="/es/actors/${id}">`,
        'href="/es/signals?place=nowhere,atall"', 'href="/es/signals?issue=old_issue"',
      ]);
      const feed = (await kit.request('GET', '/api/signals/feed.atom?place=gladstone,missouri')).text;
      expect(/<entry>.*?<link rel="alternate" href="([^"]+)"/s.exec(feed)![1]).to.match(new RegExp(`^http://[^/]+/actors/${id}$`));
      expect((await kit.request('GET', '/api/places/gladstone,missouri/feed.atom')).text).to.match(/<link rel="alternate" href="http:\/\/[^/]+\/places\/gladstone,missouri"\/>/);
    });

    it('lead to the API where there is no page: for private entries', async () => {
      const { body } = await kit.create([{ property: 'name', value: 'Secret Union', source: OWN }], { visibility: 'workspace' });
      expect((await kit.tool('fetch', { id: body.id }, { as: EDITOR })).data.url).to.equal(body.url);
    });

    it('show the public signals about an entry on its page, under every id that it has had', async () => {
      const { body: old } = await kit.create([{ property: 'name', value: 'Old meeting', source: OWN }, { property: 'event_start', value: '2099-11-24T18:30:00.000Z', source: OWN }], { type: 'event' });
      await kit.db.write((tx) => firehose.publish(tx, [
        signal('The old union votes', old.id), signal('A vote of others', null), signal('A held vote', id, { review_state: 'held' }), signal('A private vote', id, { visibility: 'workspace', workspace_id: EDITOR.workspace_id }),
        signal('A vote elsewhere', id, { origin: { url: 'https://elsewhere.example', event_id: '1' } }),
      ]));
      await kit.send('POST', `/api/entities/${old.id}/merge`, { into: id, reason: null });
      const { text } = await kit.open(`/actors/${id}`, { 'x-editor': 'yes' });
      expect(text).to.contain(['The union votes', 'The old union votes', 'href="https://ledger.example/vote"']);
      for (const other of ['A vote of others', 'A held vote', 'A private vote', 'A vote elsewhere']) expect(text).to.not.contain(other);
    });
  });
}

describe('Without the site', () => {
  it('links for people lead to the API', async () => {
    const callers = definePlugin({ name: 'callers', summary: 'A caller for tests', register(_server, civic) { civic.identify((request) => (request.headers['x-editor'] ? EDITOR : null)); } });
    const kit = await testServer({ plugins: ['directory', 'firehose', 'mcp', callers, publisher] });
    try {
      const payload = {
        type: 'event', visibility: 'public', sources: [{ local_id: 's', url: OWN }],
        claims: Object.entries({ name: 'Gladstone meeting', place: 'gladstone,missouri', event_start: '2099-11-24T18:30:00.000Z' }).map(([property, value]) => ({ property, value, source_local_id: 's' })),
      };
      const { id } = (await kit.request('POST', '/api/entities', { payload, headers: { 'x-editor': 'yes' } })).body;
      await kit.db.write((tx) => firehose.publish(tx, [signal('The union votes', id)]));
      await kit.db.write((tx) => firehose.publish(tx, [signal('A vote in town', id, { places: ['gladstone,missouri'] })]));
      expect((await kit.request('GET', '/signals', { headers: { accept: 'text/html' } })).text.replaceAll('&#x3D;', '=')).to.contain('href="/signals?place=gladstone,missouri"');
      for (const [from, address] of Object.entries(await addressesOf(kit, id))) expect(new URL(address!, 'http://localhost').pathname, from).to.equal(`/api/entities/${id}`);
    } finally {
      await kit.close();
    }
  });
});
