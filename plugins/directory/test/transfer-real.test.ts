import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { Failure } from 'civic';
import { stoppedClock } from 'civic/testing';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { directoryKit, type DirectoryKit } from './kit.ts';
import { exported, runCommand, testFolder } from './transfer.ts';

export const notQuick = 'it imports real data';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

const data = fileURLToPath(new URL('../shared/data', import.meta.resolve('civic/package.json')));
const isThere = existsSync(data);
if (!isThere) process.stderr.write(`skipped: the real data of ${data} is not here\n`);

// Reading is what these files try, and that is the same on every database.
describe('Import of real data', { timeout: 120_000 }, () => {
  const folder = testFolder();
  const rejects = join(folder.path, 'real.rejects');
  let kit: DirectoryKit;
  before(async () => { kit = await directoryKit({ clock: stoppedClock('2026-02-01T12:00:00.000Z') }); });
  after(async () => {
    folder.remove();
    await kit.close();
  });

  it('takes a state’s legislators and mayors, each in the right place', { skip: !isThere }, async () => {
    for (const part of ['executive', 'legislature', 'municipalities']) {
      const { value, out } = await runCommand(kit, 'import', ['openstates', join(data, 'openstates/mo', part)], { source: 'https://github.com/openstates/people', rejects });
      expect(value.counts, out).to.include({ updated: 0, unchanged: 0, rejected: 0 });
      expect(Number(value.counts.created), part).to.be.above(2);
      expect(value.noted, out).to.equal(0);
    }
    const lines = (await exported(kit)).trim().split('\n').slice(1).map((line) => JSON.parse(line));
    for (const { name, places } of lines) expect(places.map((place: { state: string }) => place.state), name).to.equal(['MO']);
    const mayor = lines.find(({ name }) => name === 'Cara Spencer');
    expect([mayor.id, mayor.places[0].place_key, mayor.affiliations[1]]).to.equal(['ca4ccf60-f3e3-4a06-86b1-55c502c2f2af', 'st-louis,missouri', { entity_id: null, name: 'City of Saint Louis', role: 'Mayor', since: null, until: '2029-04-17' }]);
  });

  it('takes what it knows of real calendars, and refuses the rest in words', { skip: !isThere }, async () => {
    const outcomes: Record<string, number> = {};
    for (const file of readdirSync(join(data, 'meetings')).filter((name) => name.endsWith('.json'))) {
      try {
        const { value } = await runCommand(kit, 'import', ['meetings', join(data, 'meetings', file)], { timezone: 'America/Chicago', 'no-join': true, rejects });
        expect(value.counts.rejected, file).to.equal(0);
        outcomes[file] = value.counts.read;
      } catch (error) {
        expect(error, file).to.be.an.instanceof(Failure);
        expect((error as Error).message, file).to.match(/^This is no list of meetings/);
      }
    }
    expect(outcomes).to.include({ 'chi_buildings.json': 29, 'chi_parks.json': 19, 'cook_board.json': 167, 'cook_forest_preserves.json': 94, 'cook_water.json': 23 });
  });
});
