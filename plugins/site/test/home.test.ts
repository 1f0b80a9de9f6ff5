import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import type { FirehoseService } from 'civic/firehose';
import { testDatabases } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { EDITOR, plainText, siteKit, type SiteKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DAY_MS = 86_400_000;

for (const database of testDatabases()) {
  describe(`The home page on ${database}`, () => {
    let kit: SiteKit;
    let firehose: FirehoseService;
    const reader = definePlugin({
      name: 'signaller', summary: 'Publishes a signal for tests', needs: ['firehose'],
      register(_server, civic) {
        const service = civic.service('firehose');
        service.produces(['vote', 'new_source']);
        return { async start() { firehose = service; } };
      },
    });
    const textOf = async (path: string, headers = {}): Promise<string> => plainText((await kit.open(path, headers)).text);
    before(async () => {
      kit = await siteKit({ database, plugins: ['firehose', reader], config: { plugins: { site: { about: 'Made by <neighbours>.', operator: 'Harbour Town Library', contact: 'civic@example.org' } } } });
    });
    after(() => kit.close());

    it('of an empty instance informs visitors, and shows administrators the next steps', async () => {
      const visitors = await textOf('/');
      expect(visitors).to.contain('This directory is being set up.');
      expect(visitors).not.to.contain('bin/civic');
      expect(await textOf('/', { 'x-editor': 'yes' })).not.to.contain('bin/civic');
      const { text } = await kit.request('GET', '/', { headers: { accept: 'text/html' }, as: { role: 'admin' } });
      expect(text).to.contain(['Nothing here yet. Do one of these:', 'bin/civic import csv people.csv', 'bin/civic demo load', 'bin/civic init']);
      expect(await textOf('/es/')).to.contain('Este directorio se está preparando.');
    });

    it('shows numbers, the next events, places and issues with counts, and who runs the instance', async () => {
      await kit.add({ name: 'Gladstone Tenants Union', place: 'gladstone,missouri', issue_area: 'housing_affordability', website: 'https://one.example' });
      expect(await textOf('/')).to.contain('This directory covers Gladstone, MO: 1 entry.');
      await kit.add({ name: 'Topeka <Renters>', place: 'topeka,kansas', issue_area: 'housing_affordability', website: 'https://two.example' });
      await kit.addPrivate({ name: 'Secret Group', place: 'liberty,missouri', website: 'https://three.example' });
      const start = new Date(Date.now() + DAY_MS).toISOString();
      await kit.add({ name: 'Council of <Gladstone>', place: 'gladstone,missouri', event_start: start }, 'event');
      await kit.add({ name: 'Council of last week', place: 'gladstone,missouri', event_start: new Date(Date.now() - 7 * DAY_MS).toISOString() }, 'event');
      const text = await textOf('/');
      expect(text).to.contain([
        '4 entries: people, groups and meetings in 2 places.', 'Council of &lt;Gladstone&gt;</a>', / C[SD]T<\/time>/.exec(text)![0],
        'href="/places/gladstone,missouri">Gladstone, MO</a> <span class="count">3<', 'href="/places/topeka,kansas">Topeka, KS</a> <span class="count">1<',
        'href="/domains/housing-and-the-built-environment">', 'href="/issues/housing_affordability">Housing Affordability</a> <span class="count">2<',
        'Made by &lt;neighbours&gt;.', 'This directory is run by Harbour Town Library.', 'href="mailto:civic@example.org"',
      ]);
      expect(text).not.to.contain(['Secret', 'Liberty']);
      // The latest signals may name it: they show which entries were added.
      expect(/<ul class="events">[^]*?<\/ul>/.exec(text)![0]).to.contain('Council of').and.not.contain('last week');
      const [, json] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(text)!;
      expect(String(JSON.parse(json!).potentialAction.target.urlTemplate)).to.match(/\/search\?query=\{query\}$/);
    });

    it('shows the latest public signals, without those about upkeep', async () => {
      const draft = { source_class: 'government_agenda' as const, places: ['gladstone,missouri'], evidence: [{ source_url: 'https://council.example/agenda' }] };
      await kit.db.write((tx) => firehose.publish(tx, [
        { ...draft, type: 'vote', title: 'Council votes on <rents>' }, { ...draft, type: 'new_source', source_class: 'directory', title: 'A source was added' },
        { ...draft, type: 'new_source', title: 'Entry of a feed of the city' },
        { ...draft, type: 'vote', title: 'Private vote', visibility: 'workspace', workspace_id: EDITOR.workspace_id },
      ]));
      // On Postgres the log numbers signals after their commit.
      const end = Date.now() + 10_000;
      while (!(await textOf('/')).includes('Council votes') && Date.now() < end) await sleep(50);
      const text = await textOf('/');
      expect(text).to.contain(['Council votes on &lt;rents&gt;', 'Entry of a feed of the city', 'today', 'href="/signals">All signals']);
      expect(text).not.to.contain('A source was added');
      expect(text).not.to.contain('Private vote');
    });
  });
}
