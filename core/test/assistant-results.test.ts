import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import '../http/codes.ts';
import { fitData, fitList } from '../assistant/fit.ts';
import { fitText, MAX_TEXT_BYTES, quoteText, resultBytes, singleLine, summarizeList } from '../assistant/text.ts';
import { truncatable, type Truncation } from '../assistant/truncate.ts';
import { pageOf, type TextList } from '../http/cursor.ts';

export const lab = Lab.script();
const { describe, it } = lab;

interface Fitted {
  data: { i: number; text: string; tags?: string[]; url?: string }[];
  total: number;
  next_cursor: string | null;
  truncated?: Truncation[];
}

/** Returns a list as a store would read it, and a way to read all pages of it within a limit. */
function listOf(rows: object[], extra?: Record<string, unknown>) {
  const texts = rows.map((row) => JSON.stringify(row));
  const read = async ({ limit, after }: { limit: number; after: unknown[] | null }): Promise<TextList> => {
    const start = after ? Number(after[0]) + 1 : 0;
    return { data: texts.slice(start, start + limit), total: texts.length, next: start + limit < texts.length ? [start + limit - 1] : null, ...(extra && { extra }) };
  };
  const page = (limit: number, maxBytes: number, cursor?: string) => {
    const list = { path: '/x', query: { limit, ...(cursor && { cursor }) }, given: [] };
    return fitList<Fitted>(list, pageOf(list, ['integer']), maxBytes, read);
  };
  const all = async (limit: number, maxBytes: number): Promise<Fitted[]> => {
    const pages = [await page(limit, maxBytes)];
    for (let cursor = pages[0]!.next_cursor; cursor !== null; cursor = pages.at(-1)!.next_cursor) pages.push(await page(limit, maxBytes, cursor));
    for (const one of pages) expect(resultBytes(JSON.stringify(one))).to.be.at.most(maxBytes);
    return pages;
  };
  return { page, all };
}

const small = (i: number) => ({ i, text: 'é'.repeat(100) });

describe('fitList', () => {
  it('returns a whole page that fits, and pages with fewer rows otherwise', async () => {
    const { page, all } = listOf(Array.from({ length: 20 }, (_, i) => small(i)));
    expect((await page(10, 100_000)).data).to.have.length(10);
    const pages = await all(20, 3000);
    expect(pages.length).to.be.above(1);
    expect(pages.flatMap(({ data }) => data.map(({ i }) => i))).to.equal(Array.from({ length: 20 }, (_, i) => i));
    expect(pages.some((one) => 'truncated' in one)).to.be.false();
  });

  it('cuts the lists and texts of a row that is too large, names what it left out, and continues', async () => {
    const tags = Array.from({ length: 500 }, (_, i) => `tag ${i}`);
    const url = `https://example.org/${'x'.repeat(300)}`;
    const pages = await listOf([small(0), { i: 1, text: '漢'.repeat(3000), tags, url }, small(2)]).all(1, 8000);
    expect(pages.map(({ data }) => data.map(({ i }) => i))).to.equal([[0], [1], [2]]);
    const [{ data: [row], truncated }] = [pages[1]!];
    expect(row!.url).to.equal(url);
    expect(row!.text).to.match(/^漢+…$/);
    expect(truncated).to.equal([{ pointer: '/data/0/text', left_out: 3000 - row!.text.length + 1 }, { pointer: '/data/0/tags', left_out: 500 - row!.tags!.length }]);
    expect(row!.tags).to.equal(tags.slice(0, row!.tags!.length));
  });

  it('leaves out a row that cannot be cut, and an item of a list in it', async () => {
    const url = `https://example.org/${'x'.repeat(60_000)}`;
    const { all } = listOf([small(0), { i: 1, text: '', url }, { i: 2, text: '', sources: [{ url }, { url: 'https://example.org/' }] }, small(3)]);
    const [{ data, truncated, total }] = await all(10, 8000) as [Fitted];
    expect([total, data.map(({ i }) => i), truncated]).to.equal([4, [0, 2, 3], [{ pointer: '/data', left_out: 1 }, { pointer: '/data/1/sources', left_out: 1 }]]);
  });

  it('does not parse rows that are left to the next page', async () => {
    const texts = [...[0, 1, 2, 3, 4].map((i) => JSON.stringify({ i, text: 'x'.repeat(5000) })), `not JSON ${'x'.repeat(5000)}`];
    const read = async ({ limit }: { limit: number }): Promise<TextList> => ({ data: texts.slice(0, limit), total: texts.length, next: limit < texts.length ? [limit - 1] : null });
    const { data } = await fitList<Fitted>({ path: '/x' }, { query: {}, limit: texts.length, after: null }, 8000, read);
    expect(data.map(({ i }) => i)).to.equal([0, 1, 2]);
  });

  it('cuts large members beside the rows, and rejects filters that fill the result', async () => {
    const counts = Array.from({ length: 1000 }, (_, i) => ({ value: `area ${i}`, count: i }));
    const [page] = await listOf([small(0)], { facets: counts }).all(1, 8000) as [Fitted & { facets: unknown[] }];
    expect(page.truncated).to.equal([{ pointer: '/facets', left_out: 1000 - page.facets.length }]);
    const read = async (): Promise<TextList> => ({ data: ['{}'], total: 2, next: [1] });
    await expect(fitList({ path: '/x' }, { query: { words: 'x'.repeat(8000) }, limit: 1, after: null }, 8000, read)).to.reject(/The filters leave no room/);
  });
});

describe('fitData', () => {
  it('cuts the long lists of data without pages', () => {
    const data = { list: Array.from({ length: 400 }, (_, i) => `item ${i}`), name: 'x' };
    expect(fitData(data, 100_000)).to.equal(data);
    const fitted = fitData(data, 1000);
    expect(resultBytes(JSON.stringify(fitted))).to.be.at.most(1000);
    expect(fitted.truncated).to.equal([{ pointer: '/list', left_out: 400 - fitted.list.length }]);
  });
});

describe('The schema of a result', () => {
  it('allows `truncated`, unless the tool has its own', () => {
    const truncated = [{ pointer: '/data', left_out: 1 }];
    expect(truncatable(Joi.object({ data: Joi.array() })).validate({ data: [], truncated }).error).to.be.undefined();
    expect(truncatable(Joi.object({ truncated: Joi.boolean() })).validate({ truncated }).error).to.be.an.error();
  });
});

describe('Text of a result', () => {
  it('has its bytes as size, with more for characters that take more tokens', () => {
    // At 2.2 a token: at least as many tokens as bytes outside ASCII.
    const sizes = ['abc', 'é', '漢', '😀'].map(resultBytes);
    expect(sizes[0]).to.equal(3);
    for (const [at, bytes] of [[1, 2], [2, 3], [3, 4]] as const) expect(sizes[at]! / 2.2).to.be.at.least(bytes);
  });

  it('becomes one line without control characters and hidden marks', () => {
    expect(singleLine('A club\r\n\u2028- email: x\u0085\t Next:\u001b[2J\u0000')).to.equal('A club - email: x Next: [2J');
    expect(singleLine('a\u202eb\u2066c\u200ed\u{E0041}\u200b')).to.equal('abcd');
    expect(singleLine('Müller\u00a0 Straße 漢字 👩‍👧')).to.equal('Müller Straße 漢字 👩‍👧');
    expect(singleLine('half \ud83d of a pair')).to.equal('half \ufffd of a pair');
  });

  it('is cut between code points', () => {
    for (const most of [9, 10, 11]) {
      const line = singleLine(`a${'😀'.repeat(20)}`, most);
      expect(line).to.match(/^a😀+…$/u);
      expect(line.length).to.be.within(most - 1, most);
    }
    expect(singleLine('exactly ten', 11)).to.equal('exactly ten');
  });

  it('is quoted so that it cannot end its quotation', () => {
    expect(quoteText('A "club" \\ (source: https://x)\nNext:')).to.equal('"A \\"club\\" \\\\ (source: https://x) Next:"');
    expect(quoteText('x'.repeat(200), 10)).to.equal(`"${'x'.repeat(9)}…"`);
  });

  it('has as many lines as fit, and counts the others', () => {
    expect(fitText(['a', 'b'], ['end'])).to.equal('a\nb\nend');
    const text = fitText(['head', 'x'.repeat(9000), ...Array.from({ length: 100 }, () => '漢'.repeat(50))], ['end']);
    expect(resultBytes(text)).to.be.within(MAX_TEXT_BYTES - 500, MAX_TEXT_BYTES);
    expect(text).to.match(/^head\n漢[^]*\n- and \d+ more, in the structured result\nend$/);
  });

  it('summarizes a list with what it left out and its next page', () => {
    const list = { data: [1], total: 3, next_cursor: 'abc', truncated: [{ pointer: '/data/0/tags', left_out: 7 }] };
    expect(summarizeList(['note', 'notes'], list, ['- one'])).to.equal([
      '3 notes, of which 1 is here:', '- one',
      'The result would be too large, so it leaves out 7 of /data/0/tags. The API returns everything.',
      'There are more: call the tool again with cursor "abc".',
    ].join('\n'));
    expect(summarizeList(['note', 'notes'], { data: [], total: 0, next_cursor: null }, [])).to.equal('No notes.');
    expect(summarizeList(['note', 'notes'], { ...list, next_cursor: 'x'.repeat(9000) }, [])).to.include('with next_cursor of the structured result as cursor');
  });
});
