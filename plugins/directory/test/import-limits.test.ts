import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness } from 'civic/testing';
import { directoryKit, type DirectoryKit } from './kit.ts';
import { runCommand, testFolder } from './transfer.ts';
import { httpUrl, townOf } from '../transfer/row.ts';

export const notQuick = 'it reaches limits with large data';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Milliseconds of processor time: the clock on the wall also counts other processes. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('Limits of imported rows', { timeout: 120_000 }, () => {
  const folder = testFolder();
  let kit: DirectoryKit;
  before(async () => { kit = await directoryKit(); });
  after(async () => {
    folder.remove();
    await kit.close();
  });

  const read = async (format: string, text: string) => (await runCommand(kit, 'import', [format, folder.file(`limits.${format}`, text)], { 'dry-run': true, source: 'https://a.example/data' })).value;
  const meeting = (members: object) => JSON.stringify({ title: 'Council', start: '2027-01-01T10:00:00Z', source: 'https://a.example/m', ...members });

  it('reject a YAML document that takes long to parse, and read the next one', async () => {
    const person = (id: number) => `id: ocd-person/8c1f3c1e-0000-4000-8000-00000000000${id}\nname: P${id}\nsources: [{url: https://o.example/${id}}]\n`;
    const keys = Array.from({ length: 16_000 }, (_, index) => `  k${index}: 1`).join('\n');
    let value: any;
    const cpu = await cpuOf(async () => { value = await read('openstates', `${person(1)}extras:\n${keys}\n---\n${person(2)}`); });
    expect(value.faults).to.equal([{ row: 1, detail: 'is longer than 128 kB' }]);
    expect(value.counts).to.include({ created: 1, rejected: 1 });
    expect(cpu).to.be.below(2000 * slowness);
  });

  it('reject a row with a text too long for any field, name the field, and read the next row', async () => {
    const long = 'a'.repeat(60_000);
    const files: [format: string, text: string, field: string][] = [
      ['meetings', `${meeting({ location: { name: 'Hall', address: long } })}\n${meeting({})}\n`, 'location.address'],
      ['popolo', JSON.stringify({ persons: [{ id: '1', name: 'P', contact_details: [{ type: 'address', value: long }] }, { id: '2', name: 'Q' }] }), 'contact_details.0.value'],
      ['schemaorg', JSON.stringify([{ '@type': 'Person', name: 'S', email: `a@${'.'.repeat(60_000)}@` }, { '@type': 'Person', name: 'T' }]), 'email'],
      ['hsds', JSON.stringify([{ id: '1', name: 'H', website: `https://h.example/${'#'.repeat(60_000)}` }, { id: '2', name: 'I' }]), 'website'],
      ['irs', `EIN,NAME,CITY,STATE\n431000001,${long},KANSAS CITY,MO\n431000002,TWO,KANSAS CITY,MO\n`, 'NAME'],
    ];
    for (const [format, text, field] of files) {
      let value: any;
      const cpu = await cpuOf(async () => { value = await read(format, text); });
      expect(value.faults, format).to.equal([{ row: format === 'irs' ? 2 : 1, detail: `${field} is longer than 20000 characters` }]);
      expect(value.counts, format).to.include({ created: 1, rejected: 1 });
      expect(cpu, format).to.be.below(3000 * slowness);
    }
  });

  it('reject an overlong value of our own format before its form is checked', async () => {
    const source = '01890000-0000-7000-8000-0000000000fe';
    const { faults } = await read('ndjson', JSON.stringify({ type: 'person', sources: [{ id: source, url: `https://a.example/${'a'.repeat(100_000)}` }], claims: [{ property: 'name', value: 'N', source_id: source }] }));
    expect(faults).to.equal([{ row: 1, detail: '/sources/0/url: is longer than 5000 characters' }]);
  });

  it('reject a row of more claims or sources than an actor may have', async () => {
    const many = (length: number) => Array.from({ length }, (_, at) => ({ url: `https://a.example/${at}` }));
    expect((await read('popolo', JSON.stringify([{ name: 'P', birth_date: '1970', sources: many(5000) }]))).faults[0].detail).to.equal('it names 5000 sources; at most 500 are allowed');
    expect((await read('popolo', JSON.stringify([{ name: 'P', birth_date: '1970', other_names: Array.from({ length: 3000 }, (_, at) => ({ name: `N ${at}` })) }]))).faults[0].detail).to.equal('it has more than 2000 values');
  });

  it('refuse an item of more than 1 MB, and accept other members of the outer object', async () => {
    const filler = Array.from({ length: 40_000 }, (_, at) => `filler number ${at} of many`);
    await expect(read('popolo', JSON.stringify({ persons: [{ id: '1', name: 'P', extras: filler }] }))).to.reject(/Item 1 is longer than 1 MB/);
    expect((await read('popolo', JSON.stringify({ persons: [{ id: '1', name: 'P' }], notes: filler }))).counts).to.include({ created: 1, rejected: 0 });
  });

  it('keep the work in proportion to the text', async () => {
    const texts = [' ', ';', ' ;', '\n', ', ', 'a', 'a ', 'a,', 'A, ', "'", '#', '.', '@', '%', '%4', '/'].map((part) => part.repeat(Math.floor(19_000 / part.length)));
    for (const text of texts) {
      const cpu = await cpuOf(() => {
        for (const whole of [`x${text}`, `x${text}^`]) {
          townOf(whole);
          for (const address of [whole, `https://a.example/${whole}`]) httpUrl(address);
        }
      });
      expect(cpu, JSON.stringify(text.slice(0, 5))).to.be.below(60);
    }
  });

  it('read towns and addresses as before', () => {
    expect(townOf('414 E 12th St; Kansas City, MO 64106')).to.equal('Kansas City, MO');
    expect(townOf('City Hall\r\n  1 Main St \n\n St. Louis ,  Missouri\nUSA')).to.equal('St. Louis, Missouri');
    expect(httpUrl('https://a.example/b#c#d#e|')).to.equal('https://a.example/b#c%23d%23e%7C');
  });

  it('bound the key of a place in a path', async () => {
    let status = 0;
    const cpu = await cpuOf(async () => { status = (await kit.get(`/api/places/${'-'.repeat(14_000)},a`)).status; });
    expect(status).to.equal(404);
    expect(cpu).to.be.below(150 * slowness);
  });
});
