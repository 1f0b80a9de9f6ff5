import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Document } from 'civic/reader';
import { extractActors } from '../extract/extract.ts';
import { startExtraction, type Extraction } from './extract-kit.ts';

export const notQuick = 'it extracts from very large pages';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

const many = (count: number, part: (at: number) => string) => Array.from({ length: count }, (_, at) => part(at)).join('');
/** A number in letters: names have no digits. */
const letters = (at: number) => String(at).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)]!);

/** Pages of about a megabyte, each meant to make one part of the extractor slow. */
const PAGES: Record<string, string> = {
  'ten thousand blocks': many(10_000, (at) => `<p>Jane D${letters(at)} Smith, Director of Riverside Council ${letters(at)} Inc. call 555-010-0100</p>`),
  'ten thousand cards': `<title>Riverside Council</title>${many(10_000, (at) => `<li>Maria X${letters(at)}<br>Director<br>m${at}@host${at}.example</li>`)}`,
  'one line of a megabyte': `<p>${'Riverside Tenants Union of North '.repeat(32_000)}</p>`,
  'one word of a megabyte': `<p>${'A'.repeat(1_000_000)}</p>`,
  'initials without end': `<p>${'A.'.repeat(500_000)}</p>`,
  'numbers without end': `<p>${'555-'.repeat(250_000)}</p>`,
  'half an address of e-mail': `<p>${'a.'.repeat(500_000)}@</p>`,
  'one name again and again': many(100_000, () => 'Jane Doe<br>'),
  'open parentheses': `<p>${'Aa ('.repeat(250_000)}</p>`,
  'dates without end': `<p>${'Council meeting March 2, 2026 '.repeat(30_000)}</p>`,
  'items whose name is nearly in the text': `<script type="application/ld+json">${JSON.stringify(Array.from({ length: 4000 }, (_, at) => ({ '@type': 'Event', 'name': 'a a a a b', 'startDate': '2026-03-02', 'url': `https://x.example/${at}` })))}</script><p>${'a '.repeat(400_000)}</p>`,
  'a title without end': `<title>${'Riverside - '.repeat(50_000)}</title><p>Riverside</p>`,
};

describe('Extraction of actors from a hostile page', () => {
  let kit: Extraction;
  before(async () => { kit = await startExtraction(); });
  after(() => kit.close());

  for (const [what, html] of Object.entries(PAGES)) {
    it(`ends soon, with bounded output: ${what}`, { timeout: 60_000 }, async () => {
      const document = await kit.read(html);
      const before = process.cpuUsage();
      const actors = extractActors(document);
      const { user } = process.cpuUsage(before);
      expect(user / 1e6, 'seconds').to.be.below(5);
      expect(actors.length).to.be.at.most(200);
      expect(actors.every(({ name, claims }) => name.length <= 300 && claims.length <= 40)).to.be.true();
    });
  }

  it('takes time in proportion to the page', { timeout: 60_000 }, async () => {
    const seconds = async (count: number) => {
      const document: Document = await kit.read(many(count, (at) => `<li>Maria X${letters(at)}<br>Director<br>Council of ${letters(at)} X${letters(at)}</li>`));
      extractActors(document);
      const before = process.cpuUsage();
      for (let time = 0; time < 3; time++) extractActors(document);
      return process.cpuUsage(before).user;
    };
    const [small, large] = [await seconds(1000), await seconds(8000)];
    expect(large / small).to.be.below(32);
  });
});
