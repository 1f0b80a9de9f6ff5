import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import type { ReaderService } from 'civic/reader';
import { stoppedClock, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLegistar, type LegistarEvent, type LegistarServer } from './legistar-server.ts';
import { openSite, type Site } from './site.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const LINES = Array.from({ length: 40 }, (_, index) => `Paragraph ${String.fromCodePoint(97 + index % 26, 97 + Math.floor(index / 26))} of the handbook, which residents read before they apply for a permit.`);
const page = (lines: string[], title = 'Policy handbook') => `<!doctype html><html><head><title>${title}</title></head><body><nav>Home Departments and services</nav><main><h1>${title}</h1>${lines.map((line) => `<p>${line}</p>`).join('')}</main></body></html>`;
const FEE = 'The fee is twenty dollars.';

interface Evidence { source_url: string; passage: string | null; locator: { start: number; end: number } | null; content_hash: string }
interface Signal { id: string; type: string; title: string; summary: string; changes: object[]; actors: { name: string; role: string }[]; evidence: Evidence[] }

const item = (EventItemId: number, EventItemTitle: string, more: object = {}) => ({ EventItemId, EventItemTitle, EventItemPassedFlagName: null, Votes: [], ...more });
const voteOf = (VoteId: number, VotePersonName: string) => (VoteValueName: string, VoteSort = VoteId) => ({ VoteId, VotePersonName, VoteValueName, VoteSort, VoteEventItemId: 9001 });
const [ana, bo, cy] = [voteOf(1, 'Ana Flores'), voteOf(2, 'Bo Smith'), voteOf(3, 'Cy Young')];
const passed = (EventItemPassedFlagName: string, ...Votes: object[]) => ({ EventItemPassedFlagName, Votes });

describe('the evidence of what changed', { timeout: 120_000 }, () => {
  const clock = stoppedClock('2026-02-01T12:00:00.000Z');
  const admin = { role: 'admin' as const, scope: ['workspace:read', 'workspace:write'] };
  let kit: TestServer;
  let site: Site;
  let legistar: LegistarServer;
  let reader: ReaderService;
  let id = '';
  const spy = definePlugin({ name: 'spy', summary: 'Reads the archive for tests', needs: ['reader'], register: (_server, civic) => ({ async start() { reader = civic.service('reader'); } }) });

  const show = (...EventItems: object[]) => legistar.show([{ EventGuid: 'G', EventComment: 'See {the "notice"}', EventId: 501, EventBodyName: 'City Council', EventDate: '2026-02-20T00:00:00', EventTime: '6:00 PM', EventItems }, { EventId: 502, EventGuid: 'H', EventBodyName: 'Zoning Board', EventDate: '2026-01-01T00:00:00', EventItems: [] }] as unknown as LegistarEvent[]);
  const get = async (path = '') => (await kit.request('GET', `/api/watched-sources/${id}${path}?visibility=public`, { as: admin })).body;
  const signals = async (type: string): Promise<Signal[]> => (await kit.request('GET', `/api/firehose?visibility=public&limit=100&signal_type=${type}`)).body.signals;
  async function untilRead(reads: number) {
    for (let waited = 0; (await get('/history')).total < reads; waited++) {
      if (waited > 400) throw new Error('The source was not read');
      await sleep(25);
    }
    return (await get('/history')).data[0];
  }
  async function next() {
    const { total } = await get('/history');
    clock.set((await get()).next_read_at);
    return untilRead(total + 1);
  }
  async function watch(url: string): Promise<void> {
    const { status, body } = await kit.request('POST', '/api/watched-sources', { as: admin, payload: { url, visibility: 'public', place: 'st-louis,missouri' } });
    expect(status, body.detail).to.equal(201);
    id = body.id;
    await untilRead(1);
  }
  /** Returns what the archive has at the ranges of evidence. */
  async function archived({ evidence }: Signal): Promise<(string | null)[]> {
    return Promise.all(evidence.map(async ({ source_url, locator, content_hash }) => {
      const content = (await reader.content(kit.db.read, content_hash))!;
      const { text, body } = await reader.document({ url: source_url, content_type: content.content_type, body: content.body });
      return locator && (text === '' ? body! : text).slice(locator.start, locator.end);
    }));
  }

  before(async () => {
    site = await openSite();
    legistar = await openLegistar();
    kit = await testServer({
      clock, plugins: ['accounts', 'directory', 'firehose', 'reader', 'ingest', spy],
      config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { firehose: { anonymous: true }, reader: { delay_seconds: 0 } } },
    });
  });
  after(async () => {
    await kit.close();
    await legistar.close();
    await site.close();
  });

  it('is the passage of a page that changed, at its range', async () => {
    site.pages['/handbook'] = page([...LINES, FEE]);
    await watch(`${site.url}/handbook`);
    site.pages['/handbook'] = page([...LINES, 'The fee is thirty dollars.']);
    expect(await next()).to.include({ changed: 1, signals: 1 });
    const [change] = await signals('source_change');
    expect(change!.evidence.map(({ passage }) => passage)).to.equal(['The fee is thirty dollars.']);
    expect(await archived(change!)).to.equal(['The fee is thirty dollars.']);
  });

  it('is the passage of the earlier content when lines were only removed', async () => {
    site.pages['/handbook'] = page(LINES);
    expect(await next()).to.include({ changed: 1, signals: 1 });
    const [change] = await signals('source_change');
    expect(change!.changes).to.equal([{ field: 'text', before: 'The fee is thirty dollars.', after: null }]);
    expect(change!.evidence.map(({ passage }) => passage)).to.equal(['The fee is thirty dollars.', null]);
    expect(await archived(change!)).to.equal(['The fee is thirty dollars.', null]);
  });

  it('is not published when a page shows a failure, or lost its text until the next read confirms it', async () => {
    const count = (await signals('source_change')).length;
    for (const failure of ['Error establishing a database connection', '503 Service Temporarily Unavailable', 'Page not found']) {
      site.pages['/handbook'] = `<!doctype html><html><head><title>Notice</title></head><body><h1>${failure}</h1></body></html>`;
      expect(await next()).to.include({ outcome: 'failed', signals: 0 });
      expect((await get()).health.reason).to.equal('lost_text');
    }
    site.pages['/handbook'] = page(LINES);
    expect(await next()).to.include({ outcome: 'unchanged', signals: 0 });
    site.pages['/handbook'] = page(['This handbook moved to the library.']);
    expect(await next()).to.include({ outcome: 'failed', signals: 0 });
    expect((await signals('source_change')).length).to.equal(count);
    expect(await next()).to.include({ outcome: 'read', signals: 1 });
    expect((await get()).health).to.include({ status: 'healthy', reason: null });
  });

  it('quotes the names of a vote and the title of an item from the documents that have them', async () => {
    show(item(9001, 'Budget amendment'));
    await watch(legistar.url);
    show(item(9001, 'Budget amendment', passed('Pass', ana('Affirmative'), bo('Negative'))), item(9002, 'Sewer "repairs"'));
    expect(await next()).to.include({ changed: 1 });
    const [vote] = await signals('vote');
    expect(vote!.evidence.map(({ source_url }) => new URL(source_url).pathname)).to.equal(['/v1/city/eventitems/9001/votes', '/v1/city/events/501/eventitems']);
    const records = (signal: Signal) => signal.evidence.map(({ passage }) => JSON.parse(`[${passage}]`).map((record: Record<string, unknown>) => record.VotePersonName ?? record.EventItemTitle ?? record.EventId));
    expect(records(vote!)).to.equal([['Ana Flores', 'Bo Smith'], ['Budget amendment']]);
    const [meeting] = await signals('public_meeting');
    expect(records(meeting!)).to.equal([[501]]);
    expect(await archived(meeting!)).to.equal(meeting!.evidence.map(({ passage }) => passage));
    expect(await archived(vote!)).to.equal(vote!.evidence.map(({ passage }) => passage));
    const change = (await signals('source_change')).find(({ title }) => title.includes('City Council'))!;
    expect(records(change)).to.equal([['Budget amendment'], ['Sewer "repairs"']]);
    expect(new Set(change.evidence.map(({ source_url }) => new URL(source_url).pathname))).to.equal(new Set(['/v1/city/events/501/eventitems']));
  });

  it('corrects a vote in a new version of its signal, and is silent about what did not change', async () => {
    const [{ id: first }] = await signals('vote') as [Signal];
    const [sewer, budget] = [item(9002, 'Sewer "repairs"'), (flag: string, ...votes: object[]) => item(9001, 'Budget amendment', passed(flag, ...votes))];
    show(budget('Pass', ana('Affirmative', 2), bo('Negative', 1)), sewer);
    expect(await next()).to.include({ signals: 0 });

    show(budget('Fail', ana('Negative'), bo('Negative'), cy('Affirmative')), sewer);
    await next();
    const [vote, ...others] = await signals('vote');
    expect(others).to.equal([]);
    expect(vote).to.include({ id: first, title: 'Failed: Budget amendment' });
    expect(vote!.summary).to.equal('2 Negative, 1 Affirmative, City Council. Corrected: result from Passed to Failed; Ana Flores from Affirmative to Negative; added Cy Young (Affirmative)');
    expect(vote!.changes).to.equal([
      { field: 'result', before: 'Passed', after: 'Failed' },
      { field: 'votes', before: { person: 'Ana Flores', value: 'Affirmative' }, after: { person: 'Ana Flores', value: 'Negative' } },
      { field: 'votes', before: null, after: { person: 'Cy Young', value: 'Affirmative' } },
    ]);
    expect(vote!.actors.map(({ name, role }) => `${name}: ${role}`)).to.equal(['City Council: body', 'Ana Flores: Negative', 'Bo Smith: Negative', 'Cy Young: Affirmative']);
    expect(await archived(vote!)).to.equal(vote!.evidence.map(({ passage }) => passage));
    expect(await next()).to.include({ outcome: 'unchanged', signals: 0 });
  });

  it('says nothing when votes are hidden for a while, and corrects a name that was changed meanwhile', async () => {
    const [{ id: first }] = await signals('vote') as [Signal];
    show(item(9001, 'Budget amendment'), item(9002, 'Sewer "repairs"'));
    await next();
    expect((await signals('vote')).length).to.equal(1);
    show(item(9001, 'Budget amendment', passed('Fail', ana('Negative'), bo('Negative'), voteOf(3, 'Cyrus Young')('Affirmative'))), item(9002, 'Sewer "repairs"'));
    await next();
    const votes = await signals('vote');
    expect(votes.map(({ id: vote }) => vote)).to.equal([first]);
    expect(votes[0]!.changes).to.equal([
      { field: 'votes', before: null, after: { person: 'Cyrus Young', value: 'Affirmative' } },
      { field: 'votes', before: { person: 'Cy Young', value: 'Affirmative' }, after: null },
    ]);
  });

  it('is not published again when the items of an agenda get other ids', async () => {
    const [{ id: first }] = await signals('vote') as [Signal];
    const changes = (await signals('source_change')).length;
    const votes = [ana('Negative'), bo('Negative'), voteOf(3, 'Cyrus Young')('Affirmative')];
    show(item(9101, 'Budget amendment', passed('Fail', ...votes)), item(9102, 'Sewer "repairs"'));
    expect(await next()).to.include({ outcome: 'unchanged', signals: 0 });
    show(item(9201, 'Budget amendment', passed('Fail', ...votes)), item(9202, 'Sewer "repairs"'), item(9203, 'Parks'));
    expect(await next()).to.include({ changed: 1, signals: 2 });
    const published = await signals('source_change');
    expect(published).to.have.length(changes + 1);
    expect(published.flatMap((change) => change.changes).filter((change) => JSON.stringify(change).includes('Parks'))).to.have.length(1);
    // A correction is still one of the same vote, also in the read that has yet another id.
    show(item(9301, 'Budget amendment', passed('Pass', ...votes)), item(9202, 'Sewer "repairs"'), item(9203, 'Parks'));
    await next();
    expect((await signals('vote')).map(({ id: vote, title }) => [vote, title])).to.equal([[first, 'Passed: Budget amendment']]);
    // An item of the same title about another matter is another one.
    show(item(9401, 'Budget amendment', { EventItemMatterFile: 'B 2', ...passed('Pass', ...votes) }), item(9202, 'Sewer "repairs"'), item(9203, 'Parks'));
    await next();
    expect(await signals('vote')).to.have.length(2);
  });

  it('quotes the votes of the item itself when ids of people and matters are equal to its id', async () => {
    const votes = (id: number, value: string) => [['Ann Lee', 206], ['Bo Ray', 207]].map(([VotePersonName, VotePersonId], at) => ({ VoteId: at, VotePersonId, VotePersonName, VoteValueName: value, VoteEventItemId: id }));
    const event = (id: number, EventBodyName: string, ...EventItems: object[]) => ({ EventId: id, EventGuid: `E${id}`, EventBodyName, EventDate: '2026-02-20T00:00:00', EventTime: '6:00 PM', EventItems });
    const shown = (isVoted: boolean) => legistar.show([
      event(520, 'Budget Board', item(300, 'Roll Call', { EventItemMatterId: 205 }), item(301, 'Loan', passed('Pass', ...votes(301, 'Aye')))),
      event(521, 'Zoning Board', item(205, 'Roll Call'), item(206, 'Permit', isVoted ? passed('Fail', ...votes(206, 'Nay')) : {})),
    ] as unknown as LegistarEvent[]);
    shown(false);
    await watch(`${legistar.url}?collision`);
    shown(true);
    expect(await next()).to.include({ changed: 1 });
    const vote = (await signals('vote')).find(({ title }) => title.includes('Permit'))!;
    expect(vote.evidence.map(({ source_url }) => new URL(source_url).pathname)).to.equal(['/v1/city/eventitems/206/votes', '/v1/city/events/521/eventitems']);
    expect(vote.evidence[0]!.passage).to.contain('Nay').and.not.contain('Aye');
    expect(await archived(vote)).to.equal(vote.evidence.map(({ passage }) => passage));
  });

  it('cancels a meeting whose comment says so of the meeting, and none whose comment mentions it of something else', async () => {
    const shown = (...comments: (string | null)[]) => legistar.show(comments.map((EventComment, at) => ({ EventId: 540 + at, EventGuid: `C${at}`, EventBodyName: `Commission ${at}`, EventDate: '2026-02-21T00:00:00', EventTime: '6:00 PM', EventComment, EventItems: [] })) as unknown as LegistarEvent[]);
    // Other sources of this file watch the same server.
    const cancelled = async () => [...new Set((await signals('meeting_cancelled')).flatMap(({ title }) => /Commission \d/.exec(title)?.[0] ?? []))].sort();
    shown(null, null, null, null, null, null);
    await watch(`${legistar.url}?comments`);
    shown('Item 12 (Res 14) has been postponed to the next meeting.', 'Workshop on deferred maintenance of city bridges', 'To cancel your registration to speak call 555-0100', 'Replaces the cancelled meeting of Nov 3', 'This meeting has been cancelled due to weather.', 'DEFERRED');
    await next();
    expect(await cancelled()).to.equal(['Commission 4', 'Commission 5']);
  });

  it('quotes the item that was added when others have its title', async () => {
    const contracts = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => item(9600 + number, 'Approval of contract'));
    show(...contracts.slice(0, 8));
    await watch(`${legistar.url}?contracts`);
    show(...contracts);
    expect(await next()).to.include({ changed: 1 });
    const [change] = (await signals('source_change')).filter(({ title }) => title.includes('Approval of contract'));
    expect(change!.evidence.map(({ passage }) => JSON.parse(passage!).EventItemId)).to.equal([9609]);
  });
});
