import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replay } from '../eval/replay.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const DATA = join(import.meta.dirname, '../../../../../shared/data/legistar');
const isThere = existsSync(DATA);
if (!isThere) console.log('skipped the replay of a real calendar: shared/data/legistar is not beside the project');

const linesOf = (name: string) => readFileSync(join(DATA, name), 'utf8').split('\n').filter((line) => line !== '');
/** Changes a matter as the city would. */
const edited = (line: string, edit: (matter: any) => void) => {
  const matter = JSON.parse(line);
  edit(matter);
  return JSON.stringify(matter);
};

describe('the replay of a real calendar', { skip: !isThere, timeout: 60_000 }, () => {
  // The changes were also counted by an independent script that compares the fields of the file. The meeting of the day before the first sync has no signal.
  it('finds every change of 72 syncs, invents nothing, and is silent in a second pass', async () => {
    expect(await replay(linesOf('nyc-2024q1.replay.ndjson'))).to.equal({
      reads: 72,
      rows: 146,
      // One meeting was listed as cancelled and took place after all: its cancellation became a correction.
      signals: { 'public_meeting': 138, 'public_meeting (new version)': 279, 'source_change': 273, 'source_change (new version)': 1, 'meeting_cancelled': 21, 'short_notice': 5 },
      changes: { added: 147, changed: 287, gone: 1 },
      second_pass: 0,
    });
  });

  it('finds each filing and each vote of 80 matters', async () => {
    expect(await replay(linesOf('nyc-2024.matters.ndjson'))).to.equal({
      reads: 2, rows: 80, signals: { filing: 80, vote: 50 }, changes: { added: 80, changed: 0, gone: 0 }, second_pass: 0,
    });
  });

  it('finds a sponsor that was added', async () => {
    const lines = linesOf('nyc-2024.matters.ndjson');
    const later = edited(lines[0]!, (matter) => matter.MatterSponsors.push({ MatterSponsorName: 'Pat Example', MatterSponsorSequence: 99 }));
    const { signals, changes } = await replay([...lines, later]);
    expect(changes).to.equal({ added: 80, changed: 1, gone: 0 });
    expect(signals).to.equal({ 'filing': 80, 'vote': 50, 'filing (new version)': 1, 'source_change': 1 });
  });
});
