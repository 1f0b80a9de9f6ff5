import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { entryKit, type EntryKit } from './entry-kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PAGE = 'https://ledger.example/unions';

for (const database of testDatabases()) {
  describe(`The page of a source on ${database}`, () => {
    let kit: EntryKit;
    let source: string;
    before(async () => {
      kit = await entryKit({ database });
      for (let at = 0; at < 26; at++) {
        const { body } = await kit.create([
          { property: 'name', value: `Union ${at}`, source: PAGE, excerpt: `Union ${at} meets on Mondays.` },
          { property: 'website', value: `https://union${at}.example`, source: 'https://other.example/' },
        ], { sources: { [PAGE]: { title: 'Unions & more', publication: 'Ledger', kind: 'news_article', published_at: '2026-09-16T00:00:00.000Z' } } });
        source = body.claims.find(({ property }: { property: string }) => property === 'name').source_id;
      }
      await kit.create([{ property: 'name', value: 'Secret Union', source: PAGE }], { visibility: 'workspace' });
    });
    after(() => kit.close());

    it('shows what was read in it, and nothing that is private or from elsewhere', async () => {
      const { status, text } = await kit.open(`/sources/${source}`);
      expect(status).to.equal(200);
      expect(text).to.contain([
        '<title>Unions &amp; more, Ledger · ', '<h1>Unions &amp; more</h1>', 'Ledger · News article · Sep 16, 2026', 'href="https://ledger.example/unions"', '26 entries cite this source.',
        'Union 0</a>', '<mark>Union 0</mark> meets on Mondays.', 'The link has not been checked since.', 'content="noindex"',
      ]);
      expect(text).to.not.contain(['Secret Union']);
      expect(text).to.not.contain(['union0.example']);
    });

    it('continues on further pages', async () => {
      const { text } = await kit.open(`/sources/${source}`);
      const [, next] = /rel="next" href="([^"]+)"/.exec(text)!;
      const second = await kit.open(next!.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&'));
      expect(second.text).to.contain('Union 25</a>');
      expect(second.text).to.not.contain('Union 24</a>');
    });

    it('is in Spanish, too', async () => {
      expect((await kit.open(`/es/sources/${source}`)).text).to.contain(['Qué se leyó aquí', 'Artículo de prensa', '26 fichas citan esta fuente.']);
    });
  });
}
