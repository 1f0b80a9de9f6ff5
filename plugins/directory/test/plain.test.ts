import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import fc from 'fast-check';
import { isPlainDraft } from '../ledger/plain.ts';
import { actorDraft } from '../ledger/schemas.ts';
import { PROPERTIES } from '../types.ts';

export const notQuick = 'it generates its input';
export const lab = Lab.script();
const { describe, it } = lab;

const id = fc.constantFrom('01890000-0000-7000-8000-00000000000a', '01890000-0000-7000-8000-00000000000A', '{01890000-0000-7000-8000-00000000000a}', '01890000000070008000000000000001', '01890000-0000-9000-8000-00000000000a');
const time = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom('2026-01-01', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z', '2026-02-30T00:00:00.000Z', '2026-01-01T24:00:00.000Z', '2026-01-01T00:00:00.000+00:00', '+010000-01-01T00:00:00.000Z', '2026-01-01 00:00:00.000Z'),
);
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', ' ', ' a', 'a ', 'Name', 'name', 'a\u00a0', '\ufeffa', 'İ', 'ß', 'x'.repeat(50), 'x'.repeat(51), 'x'.repeat(301), 'x'.repeat(5001)));
const url = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.webUrl({ withQueryParameters: true }).map((address) => address.toLowerCase()),
  fc.string({ unit: fc.constantFrom('a', 'Z', '9', '.', '-', '_', '~', '%', '%20', '%zz', '/', '?', '#', '[', ']', '@', ':', ':80', ' ', 'é', '|', '{', "'", '(', ';', '='), maxLength: 12 }).map((rest) => `https://example.org${rest}`),
  fc.constantFrom('http://localhost', 'https://a_b.example', 'https://a..b/', 'https://-a.example/', 'HTTP://example.org/', 'ftp://example.org/', 'https://example.org:99999/', 'https://1.2.3.4/', 'https:///x', `https://example.org/${'x'.repeat(2000)}`),
);
const email = fc.oneof(fc.emailAddress(), fc.constantFrom('a@b.co', 'a@b', 'a.@b.co', '.a@b.co', 'a..b@c.de', 'a@-b.co', 'a@b-.co', 'a@b.c', `${'a'.repeat(64)}@b.co`, 'A@b.co', 'a_b+c@d-e.example', 'a@1.2', 'a@b.c0'));
const day = fc.constantFrom('2026', '2026-01', '2026-01-31', '2026-1', '26', null);
const odd = fc.oneof(text, url, email, time, id, fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.constant(undefined), fc.constant({}), fc.constant([]));

const most = { requiredKeys: [] };
const value = fc.oneof(
  odd,
  fc.record({ network: text, url, scheme: text, value: text }, most),
  fc.record({ network: fc.constantFrom('mastodon', 'Mastodon'), url }),
  fc.record({ scheme: fc.constantFrom('ein', 'EIN'), value: text }),
  fc.record({ entity_id: fc.oneof(id, fc.constant(null)), name: text, role: fc.oneof(text, fc.constant(null)), since: day, until: day }, { requiredKeys: ['name'] }),
);
const claim = fc.record({
  property: fc.constantFrom(...PROPERTIES, 'other', '__proto__'), value, source_local_id: text, excerpt: fc.oneof(text, fc.constant(null)),
  locator: fc.oneof(fc.constant(null), fc.record({ start: fc.integer(), end: fc.integer() }), fc.record({ start: fc.nat(9), end: fc.constantFrom(10, '10', 10.5) })),
  confidence: fc.constantFrom(0, 0.5, 1, 1.1, -0.1, '0.5', Number.NaN), expires_at: fc.oneof(time, fc.constant(null)), id, method: fc.constantFrom('import', 'guess'), rank: fc.constantFrom('normal', 'odd'),
  status: fc.constantFrom('active', 'gone'), first_seen_at: time, last_seen_at: time, more: odd,
}, { requiredKeys: ['property', 'value', 'source_local_id'] });
const source = fc.record({
  local_id: text, id, url, title: fc.oneof(text, fc.constant(null)), publication: text, kind: fc.constantFrom('dataset', 'rumour'), published_at: time, retrieved_at: fc.oneof(time, fc.constant(null)), excerpt: text, content_hash: text, more: odd,
}, { requiredKeys: ['local_id', 'url'] });
const draft = fc.record({
  id, type: fc.constantFrom('person', 'event', 'ghost'), visibility: fc.constantFrom('public', 'secret'), sources: fc.array(source, { maxLength: 2 }), claims: fc.array(claim, { maxLength: 2 }), origin: text, created_at: time, updated_at: time, more: odd,
}, { requiredKeys: ['type', 'sources', 'claims'] });

/** The same draft with one member of it replaced. */
const plain = {
  id: '01890000-0000-7000-8000-00000000000a', type: 'person', visibility: 'public', origin: 'x:1', created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z',
  sources: [{ local_id: 's', url: 'https://example.org/a?b=c', title: 'T', publication: null, kind: 'dataset', published_at: null, retrieved_at: '2026-01-01T00:00:00.000Z' }],
  claims: [
    { property: 'name', value: 'Ada', source_local_id: 's', excerpt: 'Ada', locator: { start: 0, end: 3 }, confidence: 0.9, expires_at: null, id: '01890000-0000-7000-8000-00000000000b', method: 'import', rank: 'normal', status: 'active', first_seen_at: '2026-01-01T00:00:00.000Z', last_seen_at: '2026-01-01T00:00:00.000Z' },
    { property: 'email', value: 'ada@example.org', source_local_id: 's' },
    { property: 'phone', value: '+1 816 555 0142', source_local_id: 's' },
    { property: 'affiliation', value: { entity_id: null, name: 'Union', role: null, since: '2024', until: null }, source_local_id: 's' },
  ],
};
const nearlyPlain = fc.oneof(
  fc.record({ at: fc.constantFrom(...Object.keys(plain)), to: odd }).map(({ at, to }) => ({ ...plain, [at]: to })),
  fc.record({ at: fc.constantFrom(...Object.keys(plain.sources[0]!), 'more'), to: odd }).map(({ at, to }) => ({ ...plain, sources: [{ ...plain.sources[0], [at]: to }] })),
  claim.map((one) => ({ ...plain, claims: [one] })),
  fc.record({ at: fc.constantFrom(...Object.keys(plain.claims[0]!), 'more'), to: odd }).map(({ at, to }) => ({ ...plain, claims: [{ ...plain.claims[0], [at]: to }] })),
  fc.record({ property: fc.constantFrom(...PROPERTIES), to: value }).map(({ property, to }) => ({ ...plain, claims: [{ property, value: to, source_local_id: 's' }] })),
);

// About one draft in twenty is plain; `npm run soak -- generated` tries many more.
const RUNS = process.env.CIVIC_TEST_SOAK === '1' ? 100_000 : 1000;

describe('A draft that is plain', { timeout: 60_000 }, () => {
  it('is accepted by the schema, and as it is', () => {
    expect(isPlainDraft(plain)).to.be.true();
    let count = 0;
    fc.assert(fc.property(fc.oneof(nearlyPlain, draft), (input) => {
      if (!isPlainDraft(input)) return;
      count += 1;
      const { value: read, error } = actorDraft.validate(input);
      expect(error?.message).to.be.undefined();
      expect(read).to.equal(input as typeof read);
    }), { numRuns: RUNS });
    expect(count).to.be.above(RUNS / 50);
  });

  it('is not what no schema takes', () => {
    for (const input of [null, undefined, 1, 'x', [], {}, { ...plain, claims: [] }, { ...plain, sources: [] }, { ...plain, type: undefined }]) expect(isPlainDraft(input)).to.be.false();
  });
});
