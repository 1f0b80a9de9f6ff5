import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { testServer, type TestServer } from 'civic/testing';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { evalMeetings, type MeetingsReport } from '../eval/meetings.ts';

export const notQuick = 'it reads all labelled pages';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

const known = fileURLToPath(new URL('../shared/data/meetings', import.meta.resolve('civic/package.json')));
const isKnown = existsSync(known);
if (!isKnown) process.stderr.write(`skipped: nothing is at ${known}\n`);

describe('bin/civic eval meetings', () => {
  let kit: TestServer;
  const folder = mkdtempSync(join(tmpdir(), 'civic-eval-'));
  const user = definePlugin({
    name: 'listener', summary: 'Evaluates for tests', needs: ['reader'],
    register(_server, civic) { civic.command(evalMeetings({ document: (input) => civic.service('reader').document(input), now: () => Date.parse('2026-02-01') })); },
  });
  before(async () => { kit = await testServer({ plugins: ['reader', user] }); });
  after(async () => {
    await kit.close();
    rmSync(folder, { recursive: true });
  });

  async function run(path?: string, options: Record<string, string> = {}): Promise<{ report: MeetingsReport; words: string }> {
    const command = kit.composition.commands.find(({ name }) => name === 'eval meetings')!;
    let printed: { report: MeetingsReport; words: string } | null = null;
    const print = (report: unknown, words: () => string) => { printed = { report: report as MeetingsReport, words: words() }; };
    const silent = () => undefined;
    await command.run({ terminal: { out: silent, err: silent, print, progress: silent, style: (_, text) => text, json: true, signal: new AbortController().signal }, positionals: path === undefined ? [] : [path], options, cwd: folder });
    return printed!;
  }

  const page = '<main><h1>City Council meetings</h1><ul><li>Regular meeting, March 2, 2026 at 6:00 pm, City Hall</li><li>Special meeting, March 9, 2026 at 6:00 pm - cancelled</li></ul></main>';

  it('counts what is right of each event', async () => {
    mkdirSync(join(folder, 'one/labels'), { recursive: true });
    writeFileSync(join(folder, 'one/council.html'), page);
    writeFileSync(join(folder, 'one/council.labels.json'), '[["Regular meeting", "2026-03-02T18:00", "City Hall"], ["Special meeting", "2026-03-09T18:00", null, "cancelled"]]');
    writeFileSync(join(folder, 'one/other.html'), page);
    writeFileSync(join(folder, 'one/labels/other.json'), '[["Regular meeting", "2026-03-02T19:00", null], ["Special meeting", "2026-03-09T18:00", "Library", "confirmed"]]');
    const { report, words } = await run('one');
    expect(report.files.map(({ file, yields, labelled, start, title, status, place, placed, all, rows, invented, extra }) => [file, yields, labelled, start, title, status, place, placed, all, rows, invented, extra])).to.equal([
      ['council.html', true, 2, 2, 2, 2, 1, 1, 2, 2, 0, 0], ['other.html', false, 2, 1, 1, 0, 0, 1, 0, 2, 0, 1],
    ]);
    expect(report).to.include({ with_events: 2, yielding: 1, share: 0.5 });
    expect(words).to.contain('1 of 2 files with events yield them (50.00 %)').and.to.contain('below');
    expect((await run('one', { 'time-zone': 'America/New_York' })).report.files[0]!.start).to.equal(2);
  });

  it('rejects a folder without labels, and labels of another form', async () => {
    mkdirSync(join(folder, 'none'));
    await expect(run('none')).to.reject(`${join(folder, 'none')} has no labels: write labels.json, page.labels.json beside a page, or labels/page.json`);
    await expect(run('missing')).to.reject(`No folder is at ${join(folder, 'missing')}`);
    mkdirSync(join(folder, 'wrong'));
    writeFileSync(join(folder, 'wrong/a.html'), page);
    writeFileSync(join(folder, 'wrong/labels.json'), '{"files": {"a.html": [["Meeting", "tomorrow"]]}}');
    await expect(run('wrong')).to.reject(/is not \[title, start, place, status\]/);
  });

  it('finds the events of at least 80 % of the files that hold some', { skip: !isKnown, timeout: 60_000 }, async () => {
    const { report } = await run();
    expect(report.with_events).to.equal(86);
    expect(report.share).to.be.at.least(0.8);
    // No day is made up.
    expect(report.totals.invented).to.be.at.most(2);
  });
});
