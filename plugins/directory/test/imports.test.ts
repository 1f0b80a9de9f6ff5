import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { directoryKit, type DirectoryKit } from './kit.ts';
import { emptied, exported, runCommand, testFolder } from './transfer.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const IRS_HEADER = 'EIN,NAME,ICO,STREET,CITY,STATE,ZIP,GROUP,SUBSECTION,AFFILIATION,CLASSIFICATION,RULING,DEDUCTIBILITY,FOUNDATION,ACTIVITY,ORGANIZATION,STATUS,TAX_PERIOD,ASSET_CD,INCOME_CD,FILING_REQ_CD,PF_FILING_REQ_CD,ACCT_PD,ASSET_AMT,INCOME_AMT,REVENUE_AMT,NTEE_CD,SORT_NAME';
const irsRow = (ein: number, name: string) => `${ein},${name},,,KANSAS CITY,MO,,,,,,,,,,,,,,,,,,,,,L20,`;

for (const database of testDatabases()) {
  describe(`An import on ${database}`, { timeout: 120_000 }, () => {
    const folder = testFolder();
    let kit: DirectoryKit;
    before(async () => { kit = await directoryKit({ database, clock: stoppedClock('2026-02-01T12:00:00.000Z') }); });
    after(async () => {
      folder.remove();
      await kit.close();
    });

    it('rejects a row that is nested too deep as one row, in every format, and goes on', async () => {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      const objects = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
      await emptied(kit);
      await runCommand(kit, 'import', ['irs', folder.file('one.csv', `${IRS_HEADER}\n${irsRow(431000001, 'ONE')}\n`)]);
      const [header, first] = (await exported(kit)).trim().split('\n');
      const id = '0f0e0d0c-0000-4000-8000-0000000000d1';
      const meeting = '"title":"Council","start":"2027-01-01T10:00:00Z","source":"https://a.example/m"';
      const files: [format: string, text: string, created: number, rejected: number][] = [
        ['ndjson', [header, `{"claims":${deep}}`, deep, `{"judgement":${objects}}`, `{"place":{"place_key":${deep}}}`, first!.replace('{', `{"note":${objects},`), first].join('\n'), 1, 5],
        ['csv', `actor_id,actor_type,property,value,source_url\n${id},person,name,A,https://a.example/1\n${id},person,affiliation,"${deep}",https://a.example/1\n`, 0, 1],
        ['popolo', `{"persons":[{"id":"1","name":"A","sources":[{"url":"https://a.example/1"}]},${deep},{"id":"2","name":${objects}}]}`, 1, 2],
        ['hsds', `[{"id":"1","name":"H","website":"https://h.example/"},${deep},{"id":"2","name":${deep}}]`, 1, 2],
        ['schemaorg', `[{"@type":"Person","name":"S","url":"https://s.example/"},{"@type":"Person","name":${objects}},${deep}]`, 1, 2],
        ['meetings', `{${meeting}}\n{${meeting},"x":${deep}}\n${objects}\n`, 1, 2],
        ['openstates', `id: ocd-person/${id}\nname: O\nsources: [{url: https://o.example/}]\n---\nid: ocd-person/${id.replace('d1', 'd2')}\nname: ${deep}\n---\n${'- '.repeat(5000)}x\n`, 1, 2],
      ];
      for (const [format, text, created, rejected] of files) {
        await emptied(kit);
        const { value, out } = await runCommand(kit, 'import', [format, folder.file(`deep.${format}`, text)], { timezone: 'America/Chicago', 'no-join': true, source: 'https://a.example/data' });
        expect(value.counts, `${format}: ${out.slice(0, 2000)}`).to.include({ created, rejected });
        for (const { detail } of value.faults) expect(detail, format).to.contain('nested more than 100 levels deep');
      }
    });
  });
}
