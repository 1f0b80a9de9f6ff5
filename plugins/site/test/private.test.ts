import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import type { FirehoseService } from 'civic/firehose';
import { stoppedClock, testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { entryKit, HEADERS, type EntryKit } from './entry-kit.ts';
import { EDITOR } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PLACE = 'gladstone,missouri';
const SOURCE = 'https://tenants.example/about';
const START = '2026-11-16T12:00:00.000Z';

let firehose: FirehoseService;
const signaller = definePlugin({
  name: 'signaller', summary: 'Publishes signals for tests', needs: ['firehose'],
  register(_server, civic) {
    const service = civic.service('firehose');
    service.produces(['vote']);
    return { async start() { firehose = service; } };
  },
});

/** Returns where pages differ. */
function changed(before: string[], after: string[]): string[] {
  return before.flatMap((page, at) => {
    const start = [...page].findIndex((_, index) => page[index] !== after[at]![index]);
    return page === after[at] ? [] : [`${page.slice(0, 60)}: ${page.slice(start - 40, start + 60)} / ${after[at]!.slice(start - 40, start + 60)}`];
  });
}

for (const database of testDatabases()) {
  describe(`Private data and public pages on ${database}`, { timeout: 60_000 }, () => {
    const clock = stoppedClock(START);
    let kit: EntryKit;
    let paths: string[] = [];
    const publish = (title: string, id: string, more: object = {}) => kit.db.write((tx) => firehose.publish(tx, [{
      type: 'vote', title, source_class: 'news', detected_at: START, places: [PLACE], issues: ['housing_affordability'], evidence: [{ source_url: SOURCE }],
      actors: [{ id, name: 'Gladstone Tenants Union', type: 'organization' }], ...more,
    }]));

    /** Reads each page twice: what is rendered, and what the response cache holds. */
    async function read(): Promise<string[]> {
      const pages: string[] = [];
      for (const path of paths) {
        for (const query of ['', `${path.includes('?') ? '&' : '?'}uncached=1`]) {
          const { status, text, headers } = await kit.open(path + query);
          pages.push(`${path + query} ${status} ${String(query === '' ? headers['etag'] : '')} ${text.replaceAll(/[0-9a-f]{32}/g, '')}`);
        }
      }
      return pages;
    }

    before(async () => {
      kit = await entryKit({ database, clock, plugins: ['firehose', signaller] });
      const { body: { id } } = await kit.create([
        { property: 'name', value: 'Gladstone Tenants Union', source: SOURCE, excerpt: 'We are the union.' },
        { property: 'place', value: PLACE, source: SOURCE }, { property: 'issue_area', value: 'housing_affordability', source: SOURCE },
      ]);
      const { body: { sources: [source] } } = await kit.send('GET', `/api/entities/${id}`);
      await publish('The union votes', id);
      // The Firehose reports the new entry in a signal of its own.
      while ((await firehose.signals({ visibility: 'public' }, null)).total < 2) await sleep(20);
      paths = [
        '/', '/search', '/search?query=union', '/search?query=quozlander', '/search?query=quozlandre', '/search?freshness=fresh', '/suggest?q=quoz', '/suggest?q=gladst', '/places', '/places?name=b', '/map', '/map/missouri', '/map/idaho',
        `/places/${PLACE}`, `/places/${PLACE}/entries`, `/places/${PLACE}/sources`, `/places/${PLACE}/sheet`, '/places/boise,idaho', '/places/missouri', '/places/idaho', '/issues', '/issues/housing_affordability', '/issues/public_transit',
        `/actors/${id}`, `/actors/${id}/history`, `/sources/${source.id}`, '/sitemap.xml', '/sitemap/pages.xml', '/sitemap/places-0.xml', '/sitemap/entries-0.xml', '/signals', '/signals?q=quozlander', `/signals?place=${PLACE}`,
        `/api/places/${PLACE}/meetings.ics`, `/api/places/${PLACE}/feed.atom`, '/api/signals/feed.atom',
      ];
    });
    after(() => kit.close());

    it('have nothing to do with each other', async () => {
      const [, id] = /actors\/([^ /]+)/.exec(paths.find((path) => path.startsWith('/actors/'))!)!;
      const first = await read();
      clock.advance(60_000);
      const secret = await kit.create([
        { property: 'name', value: 'Quozlander Hearing', source: SOURCE, excerpt: 'Quozlander.' }, { property: 'place', value: PLACE, source: SOURCE }, { property: 'place', value: 'boise,idaho', source: 'https://quozlander.example/' },
        { property: 'issue_area', value: 'housing_affordability', source: SOURCE }, { property: 'issue_area', value: 'public_transit', source: SOURCE },
        { property: 'event_start', value: '2026-12-01T18:00:00.000Z', source: SOURCE }, { property: 'affiliation', value: { entity_id: id, name: 'Gladstone Tenants Union', role: 'host' }, source: SOURCE },
      ], { type: 'event', visibility: 'workspace' });
      const other = await kit.create([{ property: 'name', value: 'Quozlander Society', source: 'https://quozlander.example/' }, { property: 'place', value: PLACE, source: SOURCE }], { visibility: 'workspace' });
      await publish('Quozlander votes', id!, { visibility: 'workspace', workspace_id: EDITOR.workspace_id });
      expect(changed(first, await read())).to.equal([]);
      await kit.send('POST', `/api/entities/${other.body.id}/merge`, { into: secret.body.id });
      expect(changed(first, await read()), 'after a private merge').to.equal([]);
      for (const one of [secret, other]) {
        for (const path of [`/actors/${one.body.id}`, `/actors/${one.body.id}/history`, `/actors/${one.body.id}/event.ics`, `/actors/${id}?from=${one.body.id}`]) {
          const { status, text } = await kit.open(path);
          expect(status, path).to.equal(path.includes('from=') ? 302 : 404);
          expect(text).not.to.contain('Quozlander');
        }
      }
      await kit.request('DELETE', `/api/entities/${secret.body.id}`, { headers: HEADERS });
      expect((await kit.open(`/actors/${secret.body.id}`)).status, 'a deleted private id is unknown').to.equal(404);
      expect(changed(first, await read()), 'after a private deletion').to.equal([]);
    });
  });
}
