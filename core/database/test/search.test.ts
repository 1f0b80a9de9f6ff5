import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { OpenDatabase } from '../connect.ts';
import { foldText, putSearchTokens, searchMatch, tokens, type SearchWords } from '../search.ts';
import { databasesOfDrivers, openWith, type TestDatabase } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('tokens', () => {
  it('fold case, accents and forms of letters', () => {
    expect(foldText('ÉCOLE Straße ﬁne Ⅻ İstanbul ΟΔΟΣ')).to.equal('ecole strasse fine xii istanbul οδοσ');
    expect(tokens("Women's Co-op №5, Women's!")).to.equal(['women', 's', 'co', 'op', 'no5']);
    expect(tokens(' .,;— ')).to.equal([]);
    expect(tokens('x'.repeat(100))).to.equal(['x'.repeat(64)]);
  });
});

// The same sequence in each run, so that a failure can be repeated.
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

const WORDS = ['housing', 'house', 'hous', 'Über', 'uber', 'straße', 'école', 'école2', 'ΟΔΟΣ', '東京', '東京都', 'москва', 'мост', "o'neil", 'AND', 'OR', 'NOT', 'near', '5', '55', '42nd', 'naïve', 'ﬁne', 'हिन्दी', '𝒜bc', 'a', 'co-op'];

for (const { name, create } of databasesOfDrivers()) {
  describe(`search on ${name}`, () => {
    let database: TestDatabase;
    let db: OpenDatabase;
    const next = sequence(7);
    const some = (count: number) => Array.from({ length: count }, () => WORDS[next(WORDS.length)]!).join(next(2) ? ' ' : ', ');
    const documents = Array.from({ length: 300 }, () => tokens(some(1 + next(8))));

    before(async () => {
      database = await create();
      db = await openWith(database, "await schema.createTable('notes_docs', { key: 'id' }); await schema.createSearchIndex('notes_search');");
      await db.write(async (tx) => {
        for (const [index, words] of documents.entries()) {
          await tx('notes_docs').insert({ key: index + 1 });
          await putSearchTokens(tx, 'notes_search', index + 1, words);
        }
      });
    });
    after(() => database.drop());

    const find = async (words: SearchWords): Promise<number[]> => {
      const query = db.read('notes_docs').orderBy('key').pluck('key');
      searchMatch(db.read, query, 'key', 'notes_search', words);
      return await query;
    };

    it('finds in 300 documents exactly what holds all words and the prefix', async () => {
      for (let round = 0; round < 150; round++) {
        const all = tokens(some(next(3)));
        const word = tokens(WORDS[next(WORDS.length)]!)[0]!;
        const prefix = next(2) ? Array.from(word).slice(0, 1 + next(4)).join('') : undefined;
        const expected = documents.flatMap((words, index) => {
          const matches = all.every((each) => words.includes(each)) && (!prefix || words.some((each) => each.startsWith(prefix)));
          return matches && (all.length > 0 || prefix) ? [index + 1] : [];
        });
        expect(await find({ all, ...(prefix && { prefix }) }), `${all.join(' ')} ${prefix ?? ''}*`).to.equal(expected);
      }
    });

    it('replaces and removes what a row is found by', async () => {
      await db.write((tx) => putSearchTokens(tx, 'notes_search', 1, ['replaced']));
      expect(await find({ all: ['replaced'] })).to.equal([1]);
      await db.write((tx) => putSearchTokens(tx, 'notes_search', 1, []));
      expect(await find({ all: ['replaced'] })).to.equal([]);
    });

    it('takes words that look like operators, quotes or stars as words', async () => {
      for (const word of ['"', "'", '*', ':*', 'a"b', "a'b", '\\', 'tokens:', '(', '^a']) await find({ all: [word], prefix: word });
      expect(await find({ all: [] })).to.equal([]);
    });
  });
}
