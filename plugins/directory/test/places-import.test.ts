import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';
import { runCommand, testFolder } from './transfer.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const [MO, PA] = ['ocd-division/country:us/state:mo', 'ocd-division/country:us/state:pa'];
const FILE = [
  'id,name,sameAs,validThrough,population,lat,lon',
  `${MO},Missouri,,,,,`,
  `${MO}/place:alder_falls,Alder Falls city,,,"1200",38.5,-92.5`,
  `${MO}/place:st_louis,St. Louis city,,,,,`,
  `${MO}/sldl:1,House district 1,,,,,`,
  `${MO}/place:gone,Gone city,,2001-01-01,,,`,
  `${PA}/county:adams/place:alder_falls,Alder Falls township,,,,,`,
  `${PA}/county:adams/place:whitpain,Whitpain township,,,,,`,
  `${PA}/county:berks/place:whitpain,Whitpain township,,,,,`,
  'ocd-division/country:ca/csd:3520005,Toronto,,,,,',
  'ocd-division/country:ca/csd:3599999,Alder Bay,,,,,',
  'ocd-division/country:xy/region:north/municipality:alder,Alder,,,,,',
  '"not an id",Nowhere,,,,,',
  `${MO}/place:nameless,,,,,,`,
  `${MO}/place:odd,Odd city,,,many,,`,
  'ocd-division/country:us/state:zz/place:x,X city,,,,,',
].join('\n');

for (const database of testDatabases()) {
  describe(`bin/civic places on ${database}`, { timeout: 60_000 }, () => {
    let kit: DirectoryKit;
    const folder = testFolder();
    const file = folder.file('divisions.csv', FILE);
    before(async () => { kit = await directoryKit({ database }); });
    after(async () => {
      await kit.close();
      folder.remove();
    });

    const imported = async (path = file, options = {}) => (await runCommand(kit, 'places import', [path], options)).value;
    const keyOf = async (text: string) => (await kit.get(`/api/places?query=${encodeURIComponent(text)}`)).body.data[0]?.place_key;
    const EXPECTED = {
      rows: 15, added: 6, updated: 0, unchanged: 2, skipped: { state: 1, sldl: 1, ended: 1 },
      keys: ['alder-falls,missouri', 'alder-falls,pennsylvania', 'whitpain-township,pennsylvania', 'whitpain-township-berks-county,pennsylvania', 'alder-bay,ontario', 'alder,north'],
    };

    it('import says with --dry-run what it would do, row by row, and changes nothing', async () => {
      const report = await imported(file, { 'dry-run': true });
      expect(report).to.include({ ...EXPECTED, dry_run: true });
      expect(report.errors.map(({ line }: { line: number }) => line)).to.equal([13, 14, 15, 16]);
      expect((await kit.get('/api/places/alder-falls,missouri')).status).to.equal(404);
      expect((await runCommand(kit, 'places list', [])).out).to.equal('No places were added.\n');
    });

    it('import adds what the gazetteer lacks, abroad too, and nothing the second time', async () => {
      const { out, err } = await runCommand(kit, 'places import', [file]);
      expect(out).to.contain(['15 rows read: 6 added, 0 updated, 2 unchanged, 4 rejected.', 'Line 13 was rejected: "not an id" is no OCD id', 'Line 15 was rejected: its population "many" is no population']);
      expect(err).to.contain('Importing');
      expect(await imported()).to.include({ added: 0, updated: 0, unchanged: 8 });
      expect((await kit.get('/api/places/alder-falls-mo')).body).to.include({ name: 'Alder Falls', kind: 'city', population: 1200, latitude: 38.5, ocd_id: `${MO}/place:alder_falls` });
      expect(await keyOf('Alder Falls Twp, PA')).to.equal('alder-falls,pennsylvania');
      expect(await keyOf('Alder Falls, PA')).to.equal('alder-falls,pennsylvania');
      expect(await keyOf('Whitpain Township, Berks County, PA')).to.equal('whitpain-township-berks-county,pennsylvania');
      expect(await keyOf('Alder Bay, ON')).to.equal('alder-bay,ontario');
      expect((await runCommand(kit, 'places list', [], { json: true })).value).to.have.length(6);
    });

    it('import updates a place that changed in the file', async () => {
      const changed = folder.file('changed.csv', FILE.replace('"1200"', '1300'));
      expect(await imported(changed)).to.include({ added: 0, updated: 1, unchanged: 7 });
      expect((await kit.get('/api/places/alder-falls-mo')).body.population).to.equal(1300);
    });

    it('keep added places through a rebuild, and remove takes one away from its actors', async () => {
      const { id } = (await kit.send('POST', '/api/entities', actorPayload({ name: 'Alder Falls Council', place: 'alder-falls,missouri' }), 'reviewer')).body;
      const placesOf = async () => (await kit.get(`/api/entities/${id}`)).body.places.length;
      await runCommand(kit, 'directory rebuild', []);
      expect([(await kit.get('/api/places/alder-falls-mo')).status, await placesOf()]).to.equal([200, 1]);
      expect((await runCommand(kit, 'places remove', ['alder-falls,missouri'])).value).to.equal({ place_key: 'alder-falls,missouri', actors: 1 });
      expect([(await kit.get('/api/places/alder-falls-mo')).status, await placesOf()]).to.equal([404, 0]);
      // The claim stays, so the actor is listed again when the place comes back.
      expect(await imported()).to.include({ added: 1, relisted: 1 });
      expect(await placesOf()).to.equal(1);
      await expect(runCommand(kit, 'places remove', ['st-louis,missouri'])).to.reject(/No added place has the key st-louis,missouri/);
    });

    it('import reads every row, however lines end, and rejects one with another number of cells by its line', async () => {
      const rows = [`${MO}/place:birch_falls,Birch Falls city,"a\r\nb"`, `${MO}/place:cedar_falls,Cedar Falls city,`, '', `${MO}/place:elm_falls,Elm Falls city`, `${MO}/place:fir_falls,Fir Falls city,,more`, `${MO}/place:gum_falls,Gum Falls city,`];
      for (const [header, end] of [['\r\n', '\n'], ['\n', '\r\n'], ['\r', '\n'], ['\r\n', '\r'], ['\n', '\n']] as const) {
        const path = folder.file('ends.csv', `id,name,note${header}${rows.join(end)}${end}`);
        const report = await imported(path, { 'dry-run': true });
        expect(report).to.include({ rows: 5, keys: ['birch-falls,missouri', 'cedar-falls,missouri', 'gum-falls,missouri'] });
        expect(report.errors).to.equal([{ line: 6, detail: 'it has 2 cells and the header has 3' }, { line: 7, detail: 'it has 4 cells and the header has 3' }]);
      }
      const { out } = await runCommand(kit, 'places import', [folder.file('one.csv', `id,name\n${MO}/place:birch_falls,Birch Falls city\n`)], { 'dry-run': true });
      expect(out).to.startWith('1 row read: 1 added');
    });

    it('import refuses a file that is none', async () => {
      await expect(imported(folder.file('other.csv', 'a,b\n1,2\n'))).to.reject(/has no columns id and name/);
      await expect(imported('/nowhere/at-all.csv')).to.reject(/There is no file/);
      await expect(imported(folder.file('broken.csv', 'id,name\n"x'))).to.reject(/cannot be read as CSV: Quote Not Closed/);
      expect(await imported(folder.file('empty.csv', 'id,name\n'))).to.include({ rows: 0, added: 0 });
    });
  });
}
