import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testServer, type TestServer } from '../../core/testing.ts';
import { SIGNAL_TYPES, type SignalDraft } from '../../plugins/firehose/types.ts';
import wire from '../plugins/wire/index.ts';
import { untranslated } from '../support/untranslated.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NOW = '2026-11-15T12:00:00.000Z';

const signal = (type: string): Partial<SignalDraft> => ({
  type, title: `A signal of the type ${type}`, summary: 'Data stays as it was published', source_class: 'news', occurred_at: '2026-11-19T18:30:00Z', places: ['kansas-city,missouri'], issues: ['housing_affordability'],
  evidence: [{ source_url: 'https://clerk.example/minutes', title: 'Minutes of 12 November', publisher: 'Office of the City Clerk', published_at: '2026-11-13' }],
  actors: [1, 2, 3, 4, 5].map((number) => ({ name: `Group of people ${number}`, type: 'organization' as const })),
  changes: [{ field: 'freshness', before: 'fresh', after: 'aging' }, { field: 'source_count', before: 1, after: 2 }],
});
/** Names and quotes, which are never translated. */
const DATA = [/^A signal of the type/, 'Data stays as it was published', 'Minutes of 12 November', 'Office of the City Clerk', /^Group of people/, /^Kansas City, M/];

describe('Pages in Spanish have nothing left in English:', { timeout: 60_000 }, () => {
  let kit: TestServer;
  before(async () => {
    kit = await testServer({ plugins: ['directory', 'firehose', wire], clock: stoppedClock(NOW) });
    await kit.request('POST', '/api/wire', { payload: { signals: SIGNAL_TYPES.map(signal) } });
  });
  after(async () => kit.close());

  async function leftovers(path: string): Promise<string[]> {
    const open = (language: string) => kit.request('GET', path, { headers: { 'accept': 'text/html', 'accept-language': language } });
    const [english, spanish] = [await open('en'), await open('es')];
    expect(spanish.text, path).to.contain('<html lang="es"');
    return untranslated(english.text, spanish.text, DATA);
  }

  it('signals', async () => {
    for (const query of ['', '?upkeep=1', '?q=signal', '?q=nothing', '?place=Nowhere', '?place=Springfield', '?since=2026-02-20', '?since=2026-02-20&until=2026-03-01', '?type=vote', '?until=2020-01-01']) {
      expect(await leftovers(`/signals${query}`), query).to.equal([]);
    }
  });
});
