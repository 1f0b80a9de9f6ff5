import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testServer, type TestServer } from 'civic/testing';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import directory from '../index.ts';
import type { GovernmentReport, TextReport } from '../places/eval.ts';

export const notQuick = 'it evaluates results on many records';
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

  async function run(path: string): Promise<{ texts: TextReport[]; governments: GovernmentReport[]; words: string }> {
    const command = kit.composition.commands.find(({ name }) => name === 'eval places')!;
    let answer: { texts: TextReport[]; governments: GovernmentReport[]; words: string } | null = null;
    const print = (value: unknown, words: () => string) => { answer = { ...(value as { texts: TextReport[]; governments: GovernmentReport[] }), words: words() }; };
    const silent = () => undefined;
    await command.run({ terminal: { out: silent, err: silent, print, progress: silent, style: (_, text) => text, json: true, signal: new AbortController().signal }, positionals: [path], options: {}, cwd: process.cwd() });
    return answer!;
  }

  it('counts right, rejected and wrong results, for groups in the US', async () => {
    const file = join(folder, 'groups.json');
    writeFileSync(file, JSON.stringify([
      group('St. Louis, MO', 'Missouri'), group('Columbia County PA', 'PA', 'Bloomsburg'), group('Xyzzyx, MO', 'Missouri'), group('Portland, OR', 'Maine'), group('Springfield', 'Illinois'),
      { city: 'Berlin, Germany', location: { city: 'Berlin', country: 'Germany' } }, { city: '', location: { country: 'USA' } }, { city: 'Boise, ID' },
    ]));
    const { texts: [report], words } = await run(file);
    expect(report).to.equal({ file, texts: 5, right: 2, wrong_place: [], wrong_state: ['Portland, OR → portland,oregon'], refused: ['Xyzzyx, MO', 'Springfield'] });
    expect(words).to.include('2 of 5 texts to the right place, 2 refused, 0 to another place, 1 to a wrong state');
  });

  it('counts the governments of a file that are found by their OCD id and by their name', async () => {
    const file = join(folder, 'divisions.csv');
    const [mo, nj] = ['ocd-division/country:us/state:mo', 'ocd-division/country:us/state:nj'];
    writeFileSync(file, [
      'id,name,census_geoid', `${mo}/place:st_louis,St. Louis city,`, `${mo}/county:jackson,Jackson County,`, `${nj}/county:essex,Essex County,`, `${nj}/county:essex/place:bloomfield,Bloomfield township,`,
      `${mo}/place:x_louis,St. Louis city,`, `${mo}/place:nowhere,Nowhere city,`, `${mo}/sldl:1,House District 1,`, 'ocd-division/country:ca/csd:3520005,Toronto,',
    ].join('\n'));
    const { governments: [report], words } = await run(file);
    expect(report).to.equal({
      file, governments: 6, skipped: 2,
      by_id: { itself: 4, share: 0.6666, another: [], unresolved: [`${mo}/place:x_louis (${mo}/place:x_louis)`, `${mo}/place:nowhere (${mo}/place:nowhere)`] },
      by_name: { itself: 4, share: 0.6666, another: [`St. Louis city, MO (${mo}/place:x_louis) → st-louis,missouri`], unresolved: [`Nowhere city, MO (${mo}/place:nowhere)`] },
    });
    expect(words).to.include('by name: 4 to themselves (66.66 %), 1 to another, 1 unresolved');
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
    const { texts: [text] } = await run(join(known, 'brigades.json'));
    expect(text!.texts).to.equal(135);
    expect(text!.right).to.be.at.least(132);
    expect([...text!.wrong_state, ...text!.wrong_place]).to.equal([]);
    // A tenth of them, of every state and type; bin/civic eval places measures all.
    const [header, ...lines] = readFileSync(join(known, 'ocd_us_census_places.csv'), 'utf8').trim().split('\n');
    const sample = join(folder, 'sample.csv');
    writeFileSync(sample, [header, ...lines.filter((_, index) => index % 10 === 3)].join('\n'));
    const { governments: [report] } = await run(sample);
    expect(report!.governments).to.equal(3924);
    for (const found of [report!.by_id, report!.by_name]) {
      expect(found.another).to.equal([]);
      expect(found.share).to.be.at.least(0.99);
    }
  });
});
