import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Texts } from 'civic';
import type { Source, StatedClaim, StatedValue } from 'civic/directory';
import { addressOfPassage, quoteAround } from '../quotes.ts';
import { shownStatements } from '../statements.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const t = Object.assign((key: string) => key, { formatDate: (time: string) => time.slice(0, 10) }) as unknown as Texts;
const referred = { t, places: new Map(), issueName: () => null, affiliated: new Set<string>(), now: 0 };
const source = { id: 's', url: 'https://union.example/', title: 'About', publication: null, published_at: null } as Source;
const claim = (id: string, more: Partial<StatedClaim> = {}): StatedClaim => ({
  id, property: 'phone', value: '+18165550160', rank: 'normal', confidence: 1, method: 'manual', source_id: 's', source, excerpt: null, locator: null, freshness: 'fresh',
  first_seen_at: '2026-01-01T00:00:00.000Z', last_seen_at: '2026-01-01T00:00:00.000Z', expires_at: null, status: 'active', ...more,
});
const phone = (claims: StatedClaim[], more: Partial<StatedValue> = {}): StatedValue => ({ property: 'phone', value: '+18165550160', claims, isCurrent: true, ...more });

describe('Statements', () => {
  it('state what weakens them', () => {
    const doubts = (more: Partial<StatedClaim>, value: Partial<StatedValue> = {}) => shownStatements([phone([claim('a', more)], value)], referred)[0]!.statements[0]!.best.doubts;
    expect(doubts({ method: 'model' })).to.equal(['statement.doubts.model']);
    expect(doubts({ confidence: 0.8 })).to.equal([]);
    expect(doubts({ confidence: 0.6 })).to.equal(['statement.doubts.likely']);
    expect(doubts({ confidence: 0.59, status: 'disputed' })).to.equal(['statement.doubts.disputed', 'statement.doubts.uncertain']);
    expect(doubts({ rank: 'deprecated' }, { isCurrent: false })).to.equal(['statement.doubts.outdated']);
  });

  it('disagree when a property of one value has several that hold, or one that is disputed', () => {
    const isDisputed = (...values: StatedValue[]) => shownStatements(values, referred)[0]!.isDisputed;
    expect(isDisputed(phone([claim('a')]), phone([claim('b')], { value: '+18165550161' }))).to.be.true();
    expect(isDisputed(phone([claim('a', { status: 'disputed' })]))).to.be.true();
    expect(isDisputed(phone([claim('a')]), phone([claim('b')], { value: '+18165550161', isCurrent: false }))).to.be.false();
    expect(isDisputed(phone([claim('a')], { property: 'name' }), phone([claim('b')], { property: 'name', value: 'B' }))).to.be.false();
  });

  it('quote a passage once, where it is in the open', () => {
    const passage = { excerpt: 'Call us.' };
    const shown = shownStatements([phone([claim('a'), claim('b', passage)]), phone([claim('c', { ...passage, property: 'email' })], { property: 'email', value: 'a@b.example' })], referred);
    expect(shown.map(({ statements: [one] }) => [one!.best.quote?.after, one!.others[0]?.sameAs?.id])).to.equal([[undefined, 'c'], ['Call us.', undefined]]);
  });
});

describe('A quote', () => {
  it('has whole words around the value', () => {
    const { before, match, after } = quoteAround(`${'before '.repeat(50)}816-555-0160 ${'after '.repeat(50)}`, ['(816) 555-0160', '816-555-0160']);
    expect(match).to.equal('816-555-0160');
    expect(before).to.match(/^…(before )+$/);
    expect(after).to.match(/^( after)+…$/);
    expect(`${before}${match}${after}`.length).to.be.between(120, 165);
  });

  it('begins at the beginning when the value is not in it, and never splits a character', () => {
    expect(quoteAround('Short.', ['x'])).to.equal({ before: '', match: '', after: 'Short.' });
    const { after } = quoteAround('🏛️'.repeat(100), []);
    expect(after).to.not.match(/\p{Surrogate}/u);
  });

  it('becomes the address of the passage on the web', () => {
    expect(addressOfPassage('https://a.example/x', 'a-b, c')).to.equal('https://a.example/x#:~:text=a%2Db%2C%20c');
    expect(addressOfPassage('https://a.example/x', null)).to.equal('https://a.example/x');
    expect(addressOfPassage('javascript:alert(1)', 'a')).to.be.null();
    expect(addressOfPassage('https://a.example/x', 'broken \ud83c')).to.equal('https://a.example/x#:~:text=broken%20');
  });
});
