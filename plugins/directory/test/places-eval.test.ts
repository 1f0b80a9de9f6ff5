import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testServer, type TestServer } from 'civic/testing';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import directory from '../index.ts';
import type { OcdReport, TextReport } from '../places/eval.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const known = fileURLToPath(new URL('../shared/data/places', import.meta.resolve('civic/package.json')));
const isKnown = existsSync(known);
if (!isKnown) process.stderr.write(`skipped: nothing is at ${known}\n`);

const group = (city: string, state: string, name = city.split(',')[0]!) => ({ city, location: { city: name, state, country: 'USA' } });

describe('bin/civic eval places', () => {
  let kit: TestServer;
  const folder = mkdtempSync(join(tmpdir(), 'civic-eval-'));
  before(async () => { kit = await testServer({ plugins: [directory] }); });
  after(async () => {
    await kit.close();
    rmSync(folder, { recursive: true });
  });

  async function run(path: string): Promise<{ texts: TextReport[]; ocd_ids: OcdReport[]; words: string }> {
    const command = kit.composition.commands.find(({ name }) => name === 'eval places')!;
    let answer: { texts: TextReport[]; ocd_ids: OcdReport[]; words: string } | null = null;
    const print = (value: unknown, words: () => string) => { answer = { ...(value as { texts: TextReport[]; ocd_ids: OcdReport[] }), words: words() }; };
    const silent = () => undefined;
    await command.run({ terminal: { out: silent, err: silent, print, progress: silent, style: (_, text) => text, json: true, signal: new AbortController().signal }, positionals: [path], options: {}, cwd: process.cwd() });
    return answer!;
  }

  it('tells right, refused and wrong apart, for groups in the US', async () => {
    const file = join(folder, 'groups.json');
    writeFileSync(file, JSON.stringify([
      group('St. Louis, MO', 'Missouri'), group('Columbia County PA', 'PA', 'Bloomsburg'), group('Xyzzyx, MO', 'Missouri'), group('Portland, OR', 'Maine'), group('Springfield', 'Illinois'),
      { city: 'Berlin, Germany', location: { city: 'Berlin', country: 'Germany' } }, { city: '', location: { country: 'USA' } }, { city: 'Boise, ID' },
    ]));
    const { texts: [report], words } = await run(file);
    expect(report).to.equal({ file, texts: 5, right: 2, wrong_place: [], wrong_state: ['Portland, OR → portland,oregon'], refused: ['Xyzzyx, MO', 'Springfield'] });
    expect(words).to.include('2 of 5 texts to the right place, 2 refused, 0 to another place, 1 to a wrong state');
  });

  it('counts OCD ids of places that a file has', async () => {
    const file = join(folder, 'divisions.csv');
    const prefix = 'ocd-division/country:us/state:mo';
    writeFileSync(file, `id,name\n${prefix}/place:st_louis,St. Louis city\n${prefix}/place:lee~s_summit,Lee's Summit city\n${prefix}/place:o_fallon,O'Fallon city\n${prefix}/county:jackson,Jackson County\n${prefix}/county:x/place:columbia,Columbia township\n`);
    const { ocd_ids: [report] } = await run(file);
    expect(report).to.equal({ file, divisions: 5, found: 4, right: 3, share: 0.75, wrong: [`ofallon,missouri → ${prefix}/place:o~fallon`], only_townships: 1 });
  });

  it('refuses what it cannot read, by name', async () => {
    const odd = join(folder, 'odd.json');
    writeFileSync(odd, '{');
    await expect(run(odd)).to.reject(/odd.json cannot be read/);
    await expect(run(join(folder, 'absent.json'))).to.reject(/Nothing is at/);
    const list = join(folder, 'list.csv');
    writeFileSync(list, 'name\nx\n');
    await expect(run(list)).to.reject(/has no column id with OCD ids/);
  });

  it('reaches its bars on the known sets', { skip: !isKnown }, async () => {
    const { texts: [text], ocd_ids: [ids] } = await run(known);
    expect(text!.texts).to.equal(135);
    expect(text!.right).to.be.at.least(132);
    expect(text!.wrong_state).to.equal([]);
    expect(ids!.found).to.be.above(19_000);
    expect(ids!.share).to.be.at.least(0.97);
  });
});
