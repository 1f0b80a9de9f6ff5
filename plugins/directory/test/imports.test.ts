import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { actorPayload, directoryKit, OTHER_WORKSPACE, type DirectoryKit } from './kit.ts';
import { emptied, exported, runCommand, testFolder, upload } from './transfer.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const IRS_HEADER = 'EIN,NAME,ICO,STREET,CITY,STATE,ZIP,GROUP,SUBSECTION,AFFILIATION,CLASSIFICATION,RULING,DEDUCTIBILITY,FOUNDATION,ACTIVITY,ORGANIZATION,STATUS,TAX_PERIOD,ASSET_CD,INCOME_CD,FILING_REQ_CD,PF_FILING_REQ_CD,ACCT_PD,ASSET_AMT,INCOME_AMT,REVENUE_AMT,NTEE_CD,SORT_NAME';
const CSV_HEADER = 'actor_id,actor_type,property,value,source_url\n';
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
        ['openstates', `id: ocd-person/${id}\nname: O\nsources: [{url: https://o.example/}]\n---\nid: ocd-person/${id.replace('d1', 'd2')}\nname: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n---\n${'- '.repeat(5000)}x\n---\n${'!a '.repeat(30_000)}x\n`, 1, 3],
      ];
      for (const [format, text, created, rejected] of files) {
        await emptied(kit);
        const { value, out } = await runCommand(kit, 'import', [format, folder.file(`deep.${format}`, text)], { timezone: 'America/Chicago', 'no-join': true, source: 'https://a.example/data' });
        expect(value.counts, `${format}: ${out.slice(0, 2000)}`).to.include({ created, rejected });
        for (const { detail } of value.faults) expect(detail, format).to.contain('nested more than 100 levels deep');
      }
    });

    it('rejects a row of too many members, and imports the rest', async () => {
      await emptied(kit);
      const many = JSON.stringify(Object.fromEntries(Array.from({ length: 100_001 }, (_, i) => [i, 1])));
      const rows = `{"persons":[{"id":"1","name":"A","sources":[{"url":"https://a.example/1"}]},${many},{"id":"2","name":"B","sources":[{"url":"https://a.example/1"}],"note":[${'1,'.repeat(99_999)}1]}]}`;
      const { value } = await runCommand(kit, 'import', ['popolo', folder.file('many.json', rows)], { 'no-join': true, source: 'https://a.example/data' });
      expect(value.counts).to.include({ created: 1, rejected: 2 });
      for (const { detail } of value.faults) expect(detail).to.contain('has more than 100000 members and items in total');
    });

    it('rejects malformed lines of our own format one by one with a pointer, and imports the rest', async () => {
      await emptied(kit);
      const key = (number: number) => `0f0e0d0c-0000-4000-8000-0000000000${number}`;
      const claim = (value: string) => ({ property: 'name', value, source_id: '1' });
      const sources = [{ id: '1', url: 'https://a.example/' }];
      const actor = (number: number, more: object = {}) => ({ id: key(number), type: 'organization', claims: [claim(`Number ${number}`)], sources, ...more });
      const judgement = (more: object) => ({ judgement: { id: key(90), left_id: key(11), right_id: key(12), verdict: 'different', reason: null, score: null, at: '2026-01-01T00:00:00.000Z', ...more } });
      const bad: [line: object, pointer: string][] = [
        [actor(20, { claims: [null] }), '/claims/0'], [actor(21, { claims: [claim('X'), null] }), '/claims/1'], [actor(22, { sources: [null] }), '/sources/0'], [actor(23, { merged: [null] }), '/merged/0'],
        [actor(24, { origins: [7] }), '/origins/0'], [actor(25, { merged: {} }), '/merged'], [actor(26, { claims: [{ ...claim('X'), property: {} }] }), '/claims/0/property'],
        [judgement({ at: 'Nov 1 2020' }), '/judgement/at'], [judgement({ score: 'abc' }), '/judgement/score'], [judgement({ score: 7 }), '/judgement/score'], [judgement({ reason: {} }), '/judgement/reason'],
        [judgement({ reason: 'x'.repeat(2001) }), '/judgement/reason'], [judgement({ by_kind: 'king' }), '/judgement/by_kind'], [judgement({ id: 7 }), '/judgement/id'], [{ judgement: null }, '/judgement'], [{ judgement: [] }, '/judgement'],
        [{ place: { place_key: 'x', name: {}, country: 'US' } }, '/place/name'], [{ place: { place_key: 'x', name: 'X', country: 'US', latitude: 'north' } }, '/place/latitude'], [{ place: null }, '/place'],
      ];
      const lines = [actor(11), actor(12), ...bad.map(([line]) => line), actor(13), judgement({ by_kind: 'reviewer' })];
      const { body } = await upload(kit, 'format=ndjson&visibility=public', lines.map((line) => JSON.stringify(line)).join('\n'), 'reviewer');
      expect(body.state, JSON.stringify(body.error)).to.equal('completed');
      expect(body.counts).to.include({ created: 4, rejected: bad.length });
      body.faults.forEach(({ detail }: { detail: string }, at: number) => expect(detail, JSON.stringify(bad[at])).to.startWith(`${bad[at]![1]}: `));
      // An upload is an import, whatever kind of editor its file names.
      expect((await kit.db.read('directory_judgements').select('by_kind')).map(({ by_kind }) => by_kind)).to.equal(['import']);
    });

    it('cuts long texts between characters, also in its report', async () => {
      await emptied(kit);
      const meetings = ['', 'a'].map((start, at) => ({ title: `Council ${at}`, start: '2027-01-01T10:00:00Z', source: 'https://a.example/m', description: `${start}${'😀'.repeat(3000)}`, location: { name: `${start}${'😀'.repeat(300)}` } }));
      const events = ['', 'a'].map((start, at) => ({ '@type': 'Event', name: `Fair ${at}`, url: 'https://a.example/e', startDate: '2027-01-01T10:00:00Z', location: `${start}${'😀'.repeat(300)}`, areaServed: `${start}${'😀'.repeat(70)}` }));
      const files = { meetings: meetings.map((one) => JSON.stringify(one)).join('\n'), schemaorg: JSON.stringify(events) };
      for (const [format, text] of Object.entries(files)) {
        const { value } = await runCommand(kit, 'import', [format, folder.file(`emoji.${format}`, text)], { timezone: 'America/Chicago', 'no-join': true });
        expect(value.counts, JSON.stringify(value.faults)).to.include({ created: 2, rejected: 0 });
        expect(value.notes.map(({ detail }: { detail: string }) => detail).join('\n'), format).to.not.match(/\p{Surrogate}/u);
        expect(value.notes.length, format).to.equal(format === 'schemaorg' ? 2 : 0);
      }
      expect(await exported(kit)).to.not.match(/\p{Surrogate}|\\ud[89a-f]/u);
    });

    it('rejects a row that the database refuses, and imports the others of its batch', async () => {
      await emptied(kit);
      await kit.db.write(async (tx) => {
        if (database === 'sqlite') return tx.raw("create trigger cursed before insert on directory_claims when new.value like '%Cursed%' begin select raise(abort, 'refused'); end");
        await tx.raw("create function cursed() returns trigger as $$ begin if new.value::text like '%Cursed%' then raise check_violation; end if; return new; end $$ language plpgsql");
        return tx.raw('create trigger cursed before insert on directory_claims for each row execute function cursed()');
      });
      const line = (number: number) => JSON.stringify({ type: 'organization', claims: [{ property: 'name', value: number % 10 === 7 ? 'Cursed' : `Blessed ${number}`, source_id: '1' }], sources: [{ id: '1', url: 'https://a.example/' }] });
      const { body } = await upload(kit, 'format=ndjson&visibility=public', Array.from({ length: 30 }, (_, at) => line(at + 1)).join('\n'), 'reviewer');
      await kit.db.write((tx) => tx.raw(database === 'sqlite' ? 'drop trigger cursed' : 'drop function cursed() cascade'));
      expect([body.state, body.counts.created, body.counts.rejected]).to.equal(['completed', 27, 3]);
      expect(body.faults).to.equal([7, 17, 27].map((row) => ({ row, detail: 'the server cannot store this row' })));
      const { text } = await kit.get(`/api/imports/${body.id}/rejects`, 'reviewer');
      expect(text.trim().split('\n').map((one) => JSON.parse(one).row)).to.equal([7, 17, 27]);
    });

    const id = (number: number) => `0f0e0d0c-0000-4000-8000-${String(number).padStart(12, '0')}`;
    const judgementLine = (number: number, left_id: string, right_id: string, verdict = 'same') => JSON.stringify({ judgement: { id: id(900_000 + number), left_id, right_id, verdict, reason: 'They say so', at: '2026-01-01T00:00:00.000Z' } });

    /** The different actors of records. */
    const actorsOf = (...numbers: number[]) => kit.db.read('directory_records').whereIn('id', numbers.map(id)).distinct('actor_key');

    it('enters judgements after the actors, wherever they are in the file, so that the size of batches does not matter', async () => {
      const actor = (number: number) => JSON.stringify({ id: id(number), type: 'organization', claims: [{ property: 'name', value: `Actor ${number}`, source_id: '1' }], sources: [{ id: '1', url: 'https://a.example/' }] });
      const cells = (...row: string[]) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');
      const csvActor = (number: number) => [
        cells(id(number), 'organization', 'email', `a${number}@a.example`, 'https://a.example/'),
        cells(id(number), '', 'judgement', JSON.stringify(JSON.parse(judgementLine(number, id(number), id(61))).judgement), ''),
        cells(id(number), 'organization', 'name', `Actor ${number}`, 'https://a.example/'),
      ].filter((_line, at) => at !== 1 || number <= 2);
      const numbers = Array.from({ length: 61 }, (_, at) => at + 1);
      const files = {
        ndjson: [judgementLine(1, id(1), id(61)), judgementLine(2, id(2), id(61)), ...numbers.map(actor)].join('\n'),
        csv: CSV_HEADER + numbers.flatMap(csvActor).join('\n'),
      };
      for (const [format, text] of Object.entries(files)) {
        await emptied(kit);
        const { value, out } = await runCommand(kit, 'import', [format, folder.file(`early.${format}`, text)]);
        expect(value.counts, out).to.include({ read: 63, created: 63, rejected: 0 });
        expect(await actorsOf(1, 2, 61)).to.have.length(1);
      }
    });

    it('of a file that breaks off enters the judgements before the break', async () => {
      await emptied(kit);
      const [left, right] = [1, 2].map((number) => `${id(number)},organization,name,Actor ${number},https://a.example/`);
      const judgement = JSON.stringify(JSON.parse(judgementLine(1, id(1), id(2))).judgement).replaceAll('"', '""');
      const path = folder.file('broken.csv', `${CSV_HEADER}${id(1)},,judgement,"${judgement}",\n${left}\n${right}\n${id(3)},organization,name,"${'x'.repeat(9_000_000)}`);
      await expect(runCommand(kit, 'import', ['csv', path])).to.reject(/cannot be read as CSV/);
      expect(await actorsOf(1, 2)).to.have.length(1);
    });

    /** A folder of a committee with its members, the members themselves, and one file that is none of ours. */
    function openStates(): string {
      const people = Array.from({ length: 60 }, (_, at) => at + 1);
      const members = people.map((each) => `- {name: Person ${each}, role: member, person_id: ocd-person/${id(each)}}`).join('\n');
      const texts: Record<string, string> = {
        'committees/water.yml': `id: ocd-organization/${id(500)}\nname: Water\nsources: [{url: https://a.example/water}]\nmembers:\n${members}\n`,
        'wrong/one.yml': 'id: somewhat/else\nname: X\n',
        ...Object.fromEntries(people.map((each) => [`people/${each}.yml`, `id: ocd-person/${id(each)}\nname: Person ${each}\nemail: p${each}@a.example\nsources: [{url: https://a.example/p${each}}]\n`])),
        'people/twin.yml': `id: ocd-person/${id(700)}\nname: Person 7\nemail: p7@a.example\nother_identifiers: [{scheme: wikidata, identifier: Q7}]\nsources: [{url: https://a.example/twin}]\n`,
        'people/7.yml': `id: ocd-person/${id(7)}\nname: Person 7\nemail: p7@a.example\nother_identifiers: [{scheme: wikidata, identifier: Q7}]\nsources: [{url: https://a.example/p7}]\n`,
      };
      for (const [name, text] of Object.entries(texts)) {
        mkdirSync(dirname(join(folder.path, 'states', name)), { recursive: true });
        writeFileSync(join(folder.path, 'states', name), text);
      }
      return join(folder.path, 'states');
    }

    it('does in earnest what the dry run listed row by row, and names files and joined actors', async () => {
      await emptied(kit);
      const path = openStates();
      const dry = await runCommand(kit, 'import', ['openstates', path], { 'dry-run': true });
      for (const table of ['directory_records', 'directory_sources', 'directory_imports', 'directory_actors']) expect(await kit.db.read(table).select('*'), table).to.equal([]);
      expect(existsSync(`${path}.rejects.ndjson`)).to.be.false();
      expect(readdirSync(kit.composition.config.data_dir).filter((name) => name.startsWith('scratch-'))).to.equal([]);
      const listed = dry.out.split('\n').filter((line) => /^\S+\.yml, row \d+: (created|updated|unchanged|rejected)/.test(line));
      expect(listed).to.have.length(dry.value.counts.read);
      expect(listed.filter((line) => line.includes(': updated ')).length).to.equal(dry.value.counts.updated);
      expect(listed).to.include('wrong/one.yml, row 63: rejected: its id is neither ocd-person/… nor ocd-organization/…: "somewhat/else"');
      expect(listed.find((line) => line.startsWith('people/twin.yml'))).to.match(/: created Person 7 \(0f0e0d0c-0000-4000-8000-000000000700\), joined with 0f0e0d0c-0000-4000-8000-000000000007$/);
      const json = await runCommand(kit, 'import', ['openstates', path], { 'dry-run': true, json: true });
      expect(json.value.rows).to.have.length(dry.value.counts.read);
      expect(json.value.rows_omitted).to.equal(0);

      const real = await runCommand(kit, 'import', ['openstates', path]);
      expect(real.value.counts).to.equal(dry.value.counts);
      expect(real.value.counts).to.equal({ read: 123, created: 62, updated: 60, unchanged: 0, rejected: 1, joined: 1 });
      expect(real.value.joined).to.equal(dry.value.joined);
      expect(real.value.joined).to.equal([{ row: 62, file: 'people/twin.yml', id: id(700), name: 'Person 7', into: id(7) }]);
      expect(real.value.faults[0]).to.include({ row: 63, file: 'wrong/one.yml' });
      expect(real.out).to.contain('wrong/one.yml, row 63: its id is neither').and.to.contain(`people/twin.yml, row 62: Person 7 (${id(700)}) joined ${id(7)}`);
      expect(JSON.parse(readFileSync(`${path}.rejects.ndjson`, 'utf8'))).to.include({ row: 63, file: 'wrong/one.yml' });
      const again = await runCommand(kit, 'import', ['openstates', path], { 'dry-run': true });
      expect(again.value.counts).to.include({ created: 0, updated: 0, rejected: 1 });
    });

    it('of our own export over the same data, or over data that was joined in the same way, rejects nothing', async () => {
      const text = (await exported(kit)).replaceAll(/"judgement":\{"id":"[^"]+"/g, `"judgement":{"id":"${id(800)}"`);
      expect(text).to.contain(`"judgement":{"id":"${id(800)}"`);
      for (const [name, content] of [['own.ndjson', await exported(kit)], ['other.ndjson', text]] as const) {
        const { value, out } = await runCommand(kit, 'import', ['ndjson', folder.file(name, content)]);
        expect(value.counts, out).to.include({ created: 0, updated: 0, rejected: 0 });
      }
      expect(await kit.db.read('directory_judgements').select('key')).to.have.length(1);
    });

    it('reports what an export wrote, of formats that hold some types only', async () => {
      await kit.send('POST', '/api/entities', actorPayload({ type: 'event', name: 'Hearing', event_start: '2027-01-01T10:00:00.000Z' }), 'editor');
      const wrote = async (format: string) => (await runCommand(kit, 'export', [], { format, out: join(folder.path, 'out') }));
      const meetings = await wrote('meetings');
      expect(meetings.value).to.include({ actors: 1, by_type: { event: 1 }, left_out: 61 });
      expect(meetings.out).to.contain('Wrote 1 events to').and.to.contain('61 actors of other types are not in it: the format holds events only.');
      const counts = { ndjson: [62, 0], csv: [62, 0], popolo: [62, 0], schemaorg: [62, 0], openstates: [61, 1], hsds: [61, 1] };
      for (const [format, expected] of Object.entries(counts)) {
        const { value } = await wrote(format);
        expect([value.actors, value.left_out], format).to.equal(expected);
      }
    });

    describe('of what belongs to a workspace', () => {
      const enter = async (name: string, who: string, visibility: string): Promise<string> => (await kit.send('POST', '/api/entities', actorPayload({ name, visibility }), who)).body.id;
      let own: string[];
      let theirs: string[];
      let open: string[];
      before(async () => {
        await emptied(kit);
        own = [await enter('Ours A', 'member', 'workspace'), await enter('Ours B', 'member', 'workspace')];
        theirs = [await enter('Theirs A', 'stranger', 'workspace'), await enter('Theirs B', 'stranger', 'workspace')];
        open = [await enter('Open A', 'editor', 'public'), await enter('Open B', 'editor', 'public')];
      });
      const state = async () => [
        await kit.db.read('directory_records').where({ workspace_id: OTHER_WORKSPACE, visibility: 'workspace' }).orderBy('key').select('*'),
        await kit.db.read('directory_claims').orderBy('key').whereIn('record_key', kit.db.read('directory_records').where({ workspace_id: OTHER_WORKSPACE, visibility: 'workspace' }).select('key')).select('*'),
      ];

      it('no judgement of others merges it or reveals that it exists', async () => {
        const before = await state();
        const unknown = id(999);
        const pairs = [[theirs[0]!, theirs[1]!], [theirs[0]!, open[0]!], [open[0]!, theirs[0]!], [own[0]!, theirs[0]!]] as const;
        const lines = pairs.flatMap(([left, right], at) => ['same', 'different'].map((verdict, more) => judgementLine(10 * at + more, left, right, verdict)));
        for (const who of ['reviewer', 'editor', 'member']) {
          const { body } = await upload(kit, `format=ndjson${who === 'reviewer' ? '&visibility=public' : ''}`, lines.join('\n'), who);
          expect(body.counts, who).to.include({ created: 0, unchanged: 0, rejected: lines.length });
          const hidden = body.faults.map(({ detail }: { detail: string }) => detail).filter((detail: string) => theirs.some((one) => detail.includes(one)));
          const { body: asked } = await upload(kit, `format=ndjson${who === 'reviewer' ? '&visibility=public' : ''}`, judgementLine(99, unknown, unknown.replace('999', '998')), who);
          for (const detail of hidden) expect(detail.replaceAll(/[0-9a-f-]{36}/g, 'X')).to.equal(asked.faults[0].detail.replaceAll(/[0-9a-f-]{36}/g, 'X'));
          expect(Number(hidden.length), who).to.be.above(1);
        }
        const path = folder.file('judgements.ndjson', lines.join('\n'));
        expect((await runCommand(kit, 'import', ['ndjson', path])).value.counts, 'the operator').to.include({ created: 0, rejected: lines.length });
        expect(await state()).to.equal(before);
        expect(await kit.db.read('directory_judgements').select('key')).to.equal([]);
      });

      it('its members judge it, and reviewers what is public', async () => {
        const member = await upload(kit, 'format=ndjson', [judgementLine(200, own[0]!, own[1]!), judgementLine(201, open[0]!, open[1]!)].join('\n'), 'member');
        expect(member.body.counts).to.include({ created: 1, rejected: 1 });
        expect(member.body.faults[0].detail).to.contain('A public actor is changed by reviewers');
        expect((await upload(kit, 'format=ndjson&visibility=public', judgementLine(202, open[0]!, open[1]!), 'reviewer')).body.counts).to.include({ created: 1, rejected: 0 });
        // The id of a judgement of others is neither told nor in the way.
        expect((await upload(kit, 'format=ndjson', judgementLine(202, theirs[0]!, theirs[1]!), 'stranger')).body.counts).to.include({ created: 1, rejected: 0 });
      });

      it('no row with its id or origin changes it, and it does not prevent others from importing the same', async () => {
        const before = await state();
        const rows = (who: string) => CSV_HEADER + [theirs[0]!, theirs[1]!].map((one) => `${one},organization,name,Taken over by ${who},https://a.example/${who}\n`).join('');
        for (const who of ['reviewer', 'editor']) {
          for (const again of [false, true]) {
            const { body } = await upload(kit, `format=csv${who === 'reviewer' ? '&visibility=public' : ''}`, rows(who), who, 'text/csv');
            expect(body.counts, JSON.stringify(body)).to.include(again ? { unchanged: 2, rejected: 0 } : { created: 2, rejected: 0 });
          }
        }
        expect((await runCommand(kit, 'import', ['csv', folder.file('taken.csv', rows('operator'))])).value.counts).to.include({ updated: 2, rejected: 0 });
        expect(await state()).to.equal(before);
      });
    });
  });
}
