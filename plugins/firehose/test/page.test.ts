import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { SIGNAL_TYPES, type SignalDraft } from '../types.ts';
import { firehoseKit, type FirehoseKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HASH = 'a'.repeat(64);
/** A cut after an odd or an even number of characters halves one of these. */
const EMOJI = '😀'.repeat(150);
const LONG = 'words '.repeat(60).trim();

const SIGNALS: Partial<SignalDraft>[] = [
  { title: 'Zoning vote', type: 'vote', detected_at: '2026-03-01T11:00:00Z', occurred_at: '2026-02-28T18:00:00Z', summary: LONG, places: ['kansas-city,missouri'], issues: ['housing_affordability'], actors: [{ name: 'Ada Osei', type: 'person' }] },
  { title: 'Reunión del consejo', type: 'public_meeting', detected_at: '2026-02-28T10:00:00Z', occurred_at: '2026-03-05T00:30:00Z', summary: 'About the <b>bridge</b> & the river' },
  { title: 'Bridge money', type: 'grant_award', detected_at: '2026-02-20T10:00:00Z' },
  { title: 'Page changed', type: 'source_change', source_class: 'directory', detected_at: '2026-03-01T10:00:00Z', changes: [{ field: 'content_hash', before: HASH, after: 'b'.repeat(64) }] },
  { title: 'Bridge Club is getting old', type: 'freshness_change', source_class: 'directory', detected_at: '2026-03-01T09:00:00Z', changes: [{ field: 'freshness', before: 'fresh', after: 'aging' }, { field: 'status', before: EMOJI, after: `x${EMOJI}` }] },
  { title: 'Two entries were merged', type: 'actor_merged', source_class: 'directory', detected_at: '2026-03-01T08:00:00Z', changes: [{ field: 'id', before: '01890000-0000-7000-8000-000000000001', after: '01890000-0000-7000-8000-000000000002' }] },
];

for (const database of testDatabases()) describe(`The page /signals, on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  before(async () => {
    kit = await firehoseKit({ database });
    await kit.publish(...SIGNALS);
  });
  after(async () => kit.close());

  const page = async (query: string, language = 'en'): Promise<string> => {
    const { status, text } = await kit.ask('GET', `/signals${query && `?${query}`}`, { headers: { 'accept': 'text/html', 'accept-language': language } });
    expect(status, text).to.equal(200);
    return text;
  };
  const titles = (text: string): string[] => [...text.matchAll(/<h3>(.*?)<\/h3>/g)].map(([, title]) => title!);
  const linkOf = (text: string, label: string): string => new RegExp(`<a[^>]* href="/signals\\??([^"]*)"[^>]*>${label}`).exec(text)![1]!.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&');

  it('leaves out the upkeep of the directory, counts it, and includes it on request', async () => {
    const text = await page('');
    expect(titles(text)).to.equal(['Zoning vote', 'Reunión del consejo', 'Bridge money']);
    expect(text).to.contain(['3 signals', 'Include upkeep of the directory (3)']);
    const all = await page(linkOf(text, 'Include upkeep'));
    expect(titles(all)).to.have.length(6);
    expect(all).to.contain(['6 signals', 'Hide upkeep of the directory', '<input type="hidden" name="upkeep" value="1">']);
    expect(linkOf(await page('upkeep=1&place=kansas-city,missouri'), 'Hide upkeep')).to.equal('place=kansas-city,missouri');
    const chosen = await page('type=source_change');
    expect(titles(chosen)).to.equal(['Page changed']);
    expect(chosen).to.not.contain('pkeep of the directory');
  });

  it('shows no half of a character where it cuts a value', async () => {
    expect(await page('upkeep=1')).to.contain('😀…').and.to.not.contain('\ufffd');
  });

  it('shows no hashes and ids, and at most 140 characters of a summary', async () => {
    const text = await page('upkeep=1');
    expect(text).to.not.contain(HASH).and.to.not.contain('00000001');
    expect(text).to.contain(['<del>up to date</del>', '<ins>may be out of date</ins>']);
    expect(/<p class="sum">(words[^<]*)</.exec(text)![1]!.length).to.be.within(130, 140);
  });

  it('finds words at the beginning of words in title and summary, without regard to accents', async () => {
    for (const [q, found] of [['bridge', ['Reunión del consejo', 'Bridge money']], ['REUNION', ['Reunión del consejo']], ['brid riv', ['Reunión del consejo']], ['ridge', []], ['"%_', ['Zoning vote', 'Reunión del consejo', 'Bridge money']]] as const) {
      expect(titles(await page(`q=${encodeURIComponent(q)}`)), q).to.equal([...found]);
    }
    const text = await page('q=bridge');
    expect(text).to.contain(['Signals with “bridge”', 'value="bridge"', 'About the &lt;b&gt;bridge&lt;/b&gt; &amp; the river']).and.to.not.contain('data-live="/signals"');
    expect(titles(await page(linkOf(text, 'Include upkeep')))).to.equal(['Bridge Club is getting old', 'Reunión del consejo', 'Bridge money']);
    expect(await page('q=%3Cscript%3Ealert(1)%3C%2Fscript%3E')).to.not.contain('<script>alert').and.to.contain('No signals match');
  });

  it('is limited to days, which links keep', async () => {
    const text = await page('since=2026-02-20&until=2026-03-01');
    expect(titles(text)).to.equal(['Reunión del consejo', 'Bridge money']);
    expect(text).to.contain(['From Feb 20, 2026 to Feb 28, 2026.', '<input type="hidden" name="since" value="2026-02-20">']);
    expect(linkOf(text, 'Show all days')).to.equal('');
    expect(linkOf(await page('until=2026-03-01&place=x&upkeep=1'), 'Hide upkeep')).to.equal('place=x&until=2026-03-01');
    expect(titles(await page('since=2026-03-01T10:30:00Z'))).to.equal(['Zoning vote']);
    expect((await kit.ask('GET', '/signals?since=soon')).status).to.equal(400);
  });

  it('names the time zone of every time', async () => {
    expect(await page('')).to.contain(['>11:00 AM UTC</time>', '>Mar 5, 2026, 12:30 AM UTC</time>']);
    expect(await page('', 'es')).to.contain('>5 mar 2026, 12:30 a.m. UTC</time>');
  });

  it('is in Spanish', async () => {
    const spanish = await page('upkeep=1', 'es');
    expect(spanish).to.contain(['Actividad pública', 'Votación', 'Subvención otorgada', '<option value="coverage_gap">Falta de cobertura</option>', 'Ocultar el mantenimiento del directorio', '>Hoy</h2>']);
    for (const type of SIGNAL_TYPES) expect(spanish).to.contain(`<option value="${type}">`);
  });

  it('shows what changed on a public page: that is no upkeep of the directory', async () => {
    const changes = [{ field: 'start', before: '2026-02-10T00:30:00.000Z', after: '2026-02-11T00:30:00.000Z' }];
    await kit.publish({ title: 'Fees of the city were changed', type: 'source_change', source_class: 'government_record', places: ['kansas-city,missouri'], changes, detected_at: '2026-02-01T10:00:00Z' }, { title: 'Entry of a feed', type: 'new_source', source_class: 'organization_update', detected_at: '2026-02-01T09:00:00Z' });
    const text = await page('until=2026-02-10');
    expect(titles(text)).to.equal(['Fees of the city were changed', 'Entry of a feed']);
    expect(text).to.contain(['<del>Feb 10, 2026, 12:30 AM UTC</del>', '<ins>Feb 11, 2026, 12:30 AM UTC</ins>']);
  });

  it('links addresses of the web only, whatever the log holds', async () => {
    await kit.db.write(async (tx) => {
      for (const { seq, signal } of await tx('firehose_log').select('seq', 'signal')) await tx('firehose_log').where({ seq }).update({ signal: String(signal).replaceAll('"source_url":"https:', '"source_url":"javascript:') });
    });
    const text = await page('q=money');
    expect(titles(text)).to.equal(['Bridge money']);
    expect(text).to.contain('Read at').and.not.to.contain('href="javascript:');
  });
});

describe('The search of /signals', { timeout: 60_000 }, () => {
  it('reads a limited number of signals and continues with older ones', async () => {
    const kit = await firehoseKit();
    const filings = (count: number, title: string, detected_at: string): Partial<SignalDraft>[] => Array.from({ length: count }, (_, index) => ({ title: `${title} ${index}`, type: 'filing', detected_at }));
    await kit.publish(...filings(21, 'Needle', '2026-01-01T00:00:00Z'));
    for (let batch = 0; batch < 5; batch++) await kit.publish(...filings(410, 'Hay', '2026-02-01T00:00:00Z'));
    const open = async (path: string) => (await kit.ask('GET', path)).text;
    const first = await open('/signals?q=needle');
    expect(first).to.contain(['No match in 2,000 signals', 'Search older signals']);
    const older = (text: string): string => /rel="next" href="([^"]+)"/.exec(text)![1]!.replaceAll('&#x3D;', '=');
    const second = await open(older(first));
    expect(second.match(/<h3>Needle/g)).to.have.length(20);
    const third = await open(older(second));
    expect(third.match(/<h3>Needle/g)).to.have.length(1);
    expect(third).to.not.contain('rel="next"').and.to.contain('Back to the newest');
    await kit.close();
  });
});
