import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { Failure } from 'civic';
import { stoppedClock, testDatabases } from 'civic/testing';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COLUMNS } from '../transfer/csv.ts';
import { FORMATS } from '../transfer/formats.ts';
import { actorPayload, directoryKit, WORKSPACE, type DirectoryKit } from './kit.ts';
import { emptied, exported, runCommand, testFolder, upload } from './transfer.ts';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const root = fileURLToPath(new URL('.', import.meta.resolve('civic/package.json')));
const fixture = (name: string) => join(root, 'plugins/directory/test/transfer', name);
const clockAt = () => stoppedClock('2026-02-01T12:00:00.000Z');
const ZONE = { timezone: 'America/Chicago', 'no-join': true };

/** Files written by hand, each with rows that cannot be read. */
const FILES: [format: string, file: string, counts: Record<string, number>][] = [
  ['popolo', 'popolo.json', { read: 8, created: 5, updated: 1, unchanged: 0, rejected: 2, joined: 0 }],
  ['openstates', 'openstates.yml', { read: 6, created: 3, updated: 1, unchanged: 0, rejected: 2, joined: 0 }],
  ['hsds', 'hsds.json', { read: 4, created: 3, updated: 0, unchanged: 0, rejected: 1, joined: 0 }],
  ['irs', 'irs.csv', { read: 5, created: 3, updated: 0, unchanged: 0, rejected: 2, joined: 0 }],
  ['schemaorg', 'schemaorg.jsonld', { read: 4, created: 3, updated: 0, unchanged: 0, rejected: 1, joined: 0 }],
  ['meetings', 'meetings.jsonl', { read: 5, created: 3, updated: 0, unchanged: 0, rejected: 2, joined: 0 }],
];

describe('The page about importing', () => {
  const page = readFileSync(join(root, 'docs/importing.md'), 'utf8');

  it('has every format in the words of the code, and what each can do', () => {
    const rows = FORMATS.map(({ name, summary, reads, writes }) => `| \`${name}\` | ${summary} | ${reads ? 'yes ' : ''}| ${writes ? 'yes ' : ''}|`);
    for (const row of rows) expect(page).to.contain(row);
  });

  it('has every column of the CSV, and no other', () => {
    const [, table] = page.split('| columns | what they hold |');
    const named = table!.split('\n\n')[0]!.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map((match) => match[1]!));
    expect(named.sort()).to.equal([...COLUMNS].sort());
  });
});

for (const database of testDatabases()) {
  describe(`Import and export on ${database}`, { timeout: 120_000 }, () => {
    const folder = testFolder();
    let kit: DirectoryKit;
    let other: DirectoryKit;
    before(async () => {
      kit = await directoryKit({ database, clock: clockAt() });
      other = await directoryKit({ database, clock: clockAt() });
    });
    after(async () => {
      folder.remove();
      await kit.close();
      await other.close();
    });
    const copyOf = (name: string) => folder.file(name, readFileSync(fixture(name)));

    it('emits the end of an import once, when it has ended', async () => {
      await emptied(kit);
      const rows = Array.from({ length: 100 }, (_, i) => `43${String(i).padStart(7, '0')},A long way ${i},,,KANSAS CITY,MO,,,,,,,,,,,,,,,,,,,,,,`);
      const path = folder.file('long.csv', `${readFileSync(fixture('irs.csv'), 'utf8').split('\n')[0]}\n${rows.join('\n')}\n`);
      const { err } = await runCommand(kit, 'import', ['irs', path], { 'no-join': true });
      const shown = [...err.matchAll(/ (\d+)\/(\d+)\n/g)].map(([, done, total]) => Number(done) / Number(total));
      expect(shown.filter((share) => share >= 1)).to.have.length(1);
      expect(shown.at(-1)).to.equal(1);
    });

    it('refuses a pipe, which can be read only once, instead of finding nothing in it', async () => {
      const pipe = join(folder.path, 'pipe');
      execFileSync('mkfifo', [pipe]);
      await expect(runCommand(kit, 'import', ['ndjson', pipe])).to.reject(Failure, /pipe is not a file.*save it as a file first/i);
      await expect(runCommand(kit, 'import', ['ndjson', '-'])).to.reject(Failure, /standard input.*save it as a file first/i);
    });

    it('enters the last actor of a CSV file before the judgements about it', async () => {
      const ids = [1, 2].map((number) => `2222222${number}-1111-4111-8111-111111111111`);
      const quoted = (value: object) => `"${JSON.stringify(value).replaceAll('"', '""')}"`;
      const actors = ids.map((id) => `${id},organization,name,Two ${id},https://two.example/`);
      // More rows than the first batch has.
      const judgements = Array.from({ length: 30 }, (_, at) => `${ids[0]},,judgement,${quoted({ id: `3333${1000 + at}-1111-4111-8111-111111111111`, left_id: ids[0], right_id: ids[1], verdict: 'different', reason: null, score: null, at: '2026-01-01T00:00:00.000Z' })},`);
      const path = folder.file('two.csv', `${['actor_id,actor_type,property,value,source_url', ...actors, ...judgements].join('\n')}\n`);
      const { value, out } = await runCommand(kit, 'import', ['csv', path]);
      expect(value.counts, out).to.include({ created: 3, unchanged: 29, rejected: 0 });
    });

    it('says a fault once for each row, however many claims have it', async () => {
      await emptied(kit);
      const path = folder.file('nowhere.csv', `actor_id,actor_type,property,value,source_url\n${['name,Nobody', 'place,nowhere', 'place,nowhere'].map((claim, i) => `11111111-1111-4111-8111-111111111111,organization,${claim},https://a.example/${i}`).join('\n')}\n`);
      const { value } = await runCommand(kit, 'import', ['csv', path]);
      expect(value.faults[0].detail.match(/"nowhere" is no place/g)).to.have.length(1);
    });

    it('takes the website of a schema.org node as its source only when nothing says where the file comes from', async () => {
      await emptied(kit);
      const path = folder.file('sheet.jsonl', '{"@type":"Organization","name":"Sheet Club","url":"https://club.example/","email":"hello@club.example"}\n');
      const imported = async (options: Record<string, string>) => {
        await runCommand(kit, 'import', ['schemaorg', path], options);
        const { data: [found] } = (await kit.get('/api/entities?query=sheet')).body;
        return (await kit.get(`/api/entities/${found.id}`)).body.sources.map(({ url }: { url: string }) => url);
      };
      expect(await imported({ source: 'https://library.example/organizations' })).to.equal(['https://library.example/organizations']);
      await emptied(kit);
      expect(await imported({})).to.equal(['https://club.example/']);
    });

    it('says which folder is missing when an export cannot be written', async () => {
      const out = join(folder.path, 'nowhere/civic.ndjson');
      await expect(runCommand(kit, 'export', [], { out })).to.reject(Failure, `There is no folder ${join(folder.path, 'nowhere')}`);
    });

    describe('of files in other formats', () => {
      const byName = async (name: string) => {
        const { body } = await kit.get(`/api/entities?query=${encodeURIComponent(name)}`);
        const found = body.data.find((actor: { name: string }) => actor.name === name);
        expect(found, `${name} in ${JSON.stringify(body.data.map((each: { name: string }) => each.name))}`).to.exist();
        return (await kit.get(`/api/entities/${found.id}`)).body;
      };

      for (const [format, file, counts] of FILES) {
        it(`reads ${file}, sets bad rows aside with the reason, and changes nothing the second time`, async () => {
          const path = copyOf(file);
          const { value, out } = await runCommand(kit, 'import', [format, path], ZONE);
          expect(value.counts, out).to.equal(counts);
          const rejects = readFileSync(`${path}.rejects.ndjson`, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
          expect(rejects).to.have.length(counts.rejected!);
          for (const reject of rejects) expect(reject).to.only.include(['row', 'reason', 'content']);
          const again = await runCommand(kit, 'import', [format, path], ZONE);
          expect(again.value.counts, again.out).to.equal({ ...counts, created: 0, updated: 0, unchanged: counts.created! + counts.updated! });
        });
      }

      it('takes names, contacts, places and memberships of Popolo, and never a place it is not sure of', async () => {
        const council = await byName('Riverbend Neighborhood Council');
        expect(council).to.include({ type: 'organization', identifiers: [{ scheme: 'wikidata', value: 'Q9000001' }] });
        expect(council.places.map((place: { place_key: string }) => place.place_key)).to.equal(['kansas-city,missouri']);
        expect(council.contact).to.include({ website: 'https://riverbend.example.org/', phone: '816-555-0101' });
        const ruth = await byName('Ruth Okafor');
        expect(ruth.affiliations).to.equal([{ entity_id: council.id, name: council.name, role: 'chair', since: '2023-05-01', until: '2027' }]);
        expect(ruth.description).to.equal('Chairs the council.\nGrew up by the river.');
        expect(ruth.contact.social).to.equal([{ network: 'twitter', url: 'https://twitter.com/ruthokafor' }]);
        const emile = await byName('Émile Nuñez');
        expect([emile.places, emile.contact.email]).to.equal([[], null]);
        expect((await byName('Riverbend Streetcar League')).status).to.equal('inactive');
        expect((await byName('Levee Walk')).event).to.include({ start: '2027-05-01T15:00:00.000Z', location: 'Levee Park' });
      });

      it('keeps the ids of Open States, and gives legislators their state', async () => {
        const { body: dana } = await kit.get('/api/entities/0f0e0d0c-0000-4000-8000-000000000001');
        expect(dana).to.include({ name: 'Dana Whitfield', type: 'person', status: 'active' });
        expect(dana.places.map((place: { place_key: string }) => place.place_key)).to.equal(['missouri']);
        expect(dana.affiliations).to.include([
          { entity_id: null, name: 'Missouri House of Representatives', role: 'Representative, district 29', since: '2023-01-04', until: null },
          { entity_id: null, name: 'Prairie Party', role: 'party member', since: null, until: null },
          { entity_id: '0f0e0d0c-0000-4000-8000-000000000003', name: 'Rivers and Harbors', role: 'chair', since: null, until: null },
        ]);
        expect(dana.sources.map((source: { url: string }) => source.url)).to.include(['https://house.example.gov/29', 'https://ballot.example.org/Dana_Whitfield', 'https://house.example.gov/committees/rivers']);
        expect(JSON.stringify(dana)).to.not.contain('1970');
        const { body: jo } = await kit.get('/api/entities/0f0e0d0c-0000-4000-8000-000000000002');
        expect([jo.status, jo.places[0].place_key]).to.equal(['inactive', 'st-louis,missouri']);
      });

      it('makes organizations, initiatives and persons of HSDS', async () => {
        const table = await byName('Harvest Table');
        expect(table.identifiers).to.include([{ scheme: 'ein', value: '04-1234567' }]);
        expect(table.places[0].place_key).to.equal('st-louis,missouri');
        expect(table.issue_areas).to.equal(['sustainable_agriculture_and_food_systems']);
        expect(await byName('Rolling Pantry')).to.include({ type: 'initiative' });
        const ada = await byName('Ada Brandt');
        expect(ada.affiliations).to.equal([{ entity_id: table.id, name: 'Harvest Table', role: 'Director', since: null, until: null }]);
      });

      it('reads IRS rows with their zeros, without NUL bytes, and guesses issue areas with half confidence', async () => {
        const harvest = await byName('HARVEST TABLE INC');
        expect(harvest.identifiers).to.equal([{ scheme: 'ein', value: '04-1234567' }]);
        expect(harvest.places[0].place_key).to.equal('st-louis,missouri');
        const guess = harvest.claims.find((claim: { property: string }) => claim.property === 'issue_area');
        expect(guess).to.include({ value: 'sustainable_agriculture_and_food_systems', confidence: 0.5, method: 'import' });
        expect(harvest.sources[0]).to.include({ publication: 'Internal Revenue Service', kind: 'dataset' });
        expect((await byName('NOWHERE LEAGUE')).places).to.equal([]);
      });

      it('reads a graph of schema.org, joined by @id', async () => {
        const tenants = await byName('Tenants of the Bluff');
        expect(tenants.contact).to.equal({ website: 'https://tenants.example.org/', email: 'hi@tenants.example.org', phone: '+18165550130', social: [{ network: 'facebook', url: 'https://www.facebook.com/bluff' }] });
        expect(tenants.identifiers).to.only.include([{ scheme: 'ein', value: '43-7654321' }, { scheme: 'wikidata', value: 'Q9000002' }]);
        expect((await byName('Pat Lindqvist')).affiliations[0]).to.include({ entity_id: tenants.id, role: 'Organizer' });
        expect(await byName('Tenant Night')).to.include({ type: 'event', status: 'inactive', event: { start: '2027-02-04T00:30:00.000Z', end: '2027-02-04T02:00:00.000Z', location: 'Union Hall' } });
      });

      it('makes events of meetings, in UTC', async () => {
        const council = await byName('City Council');
        expect(council.event).to.equal({ start: '2027-02-03T19:00:00.000Z', end: '2027-02-03T21:00:00.000Z', location: 'City Hall, 414 E 12th St, Kansas City, MO 64106' });
        expect(council.places[0].place_key).to.equal('kansas-city,missouri');
        expect(council.sources.map((source: { url: string }) => source.url)).to.only.include(['https://kc.example.gov/calendar', 'https://kc.example.gov/agenda.pdf']);
        expect((await byName('Zoning Board')).status).to.equal('inactive');
        const { body: hearing } = await kit.get('/api/entities/0f0e0d0c-0000-4000-8000-000000000010');
        expect(hearing.affiliations).to.equal([{ entity_id: null, name: 'Finance Committee', role: 'host', since: null, until: null }]);
      });

      it('joins new actors with existing ones that are surely the same, unless --no-join is given, and that can be undone', async () => {
        await emptied(kit);
        await runCommand(kit, 'import', ['hsds', copyOf('hsds.json')]);
        const table = await byName('Harvest Table');
        const { value, out } = await runCommand(kit, 'import', ['irs', copyOf('irs.csv')]);
        expect(value.counts, out).to.include({ created: 3, joined: 1 });
        const joined = (await kit.get(`/api/entities/${table.id}`)).body;
        expect(joined.identifiers).to.include({ scheme: 'ein', value: '04-1234567' });
        expect(joined.sources.map(({ publication }: { publication: string }) => publication)).to.include('Internal Revenue Service');
        const again = await runCommand(kit, 'import', ['irs', copyOf('irs.csv')]);
        expect(again.value.counts).to.include({ created: 0, joined: 0, unchanged: 3 });
        const split = await kit.send('POST', `/api/entities/${table.id}/split`, {}, 'reviewer');
        expect(split.body.entities.map(({ name }: { name: string }) => name).sort()).to.equal(['HARVEST TABLE INC', 'Harvest Table']);
      });

      it('keeps a date without an hour as a whole day, with and without a zone', async () => {
        for (const [at, options] of [[1, {}], [2, ZONE]] as const) {
          const file = folder.file(`days-${at}.jsonl`, ['2027-07-04', '7/4/2027'].map((start, row) => JSON.stringify({ title: `Fair ${at} ${row}`, start, source: `https://fair.example/${at}/${row}` })).join('\n'));
          expect((await runCommand(kit, 'import', ['meetings', file], { 'no-join': true, ...options })).value.counts).to.include({ created: 2 });
          for (const row of [0, 1]) expect((await kit.get(`/api/entities/${(await byName(`Fair ${at} ${row}`)).id}`)).body.event.start).to.equal('2027-07-04');
        }
      });

      it('asks for the zone of local times rather than guessing it', async () => {
        await expect(runCommand(kit, 'import', ['meetings', copyOf('meetings.jsonl')])).to.reject(/has no zone.*--timezone America\/Chicago/);
      });
    });

    describe('an export that is imported again', () => {
      before(async () => {
        await emptied(kit);
        for (const [format, file] of FILES) await runCommand(kit, 'import', [format, copyOf(file)], ZONE);
        const made = [];
        for (const name of ['Old Mill Trust', 'The Old Mill Trust', '=HYPERLINK("x")', 'Mill Trust']) {
          made.push((await kit.send('POST', '/api/entities', actorPayload({ name, url: `https://mill.example.org/${made.length}`, place: 'joplin,missouri', description: 'Grain, "flour"\nand, water', phone: '+1 417 555 0100' }), 'reviewer')).body);
        }
        const [one, other, , third] = made;
        const description = one.claims.find((claim: { property: string }) => claim.property === 'description');
        expect((await kit.send('PATCH', `/api/entities/${one.id}`, { rank: [{ claim_id: description.id, rank: 'deprecated' }] }, 'reviewer')).status).to.equal(200);
        expect((await kit.send('POST', `/api/entities/${other.id}/merge`, { into: one.id, reason: 'Same mill' }, 'reviewer')).status).to.equal(200);
        expect((await kit.send('POST', `/api/entities/${third.id}/merge`, { into: one.id, reason: null }, 'reviewer')).status).to.equal(200);
      });

      for (const format of ['ndjson', 'csv']) {
        it(`loses nothing in the kit’s own ${format}`, async () => {
          const before = await exported(kit, format);
          const empty = await emptied(other);
          const { value, out } = await runCommand(empty, 'import', [format, folder.file(`own.${format}`, before)]);
          expect(value.counts.rejected, out).to.equal(0);
          expect(await exported(empty, format)).to.equal(before);
          expect(await exported(empty)).to.equal(await exported(kit));
          const again = await runCommand(empty, 'import', [format, folder.file(`own.${format}`, before)]);
          expect(again.value.counts).to.include({ created: 0, updated: 0, rejected: 0 });
          expect(await exported(empty, format)).to.equal(before);
        });
      }

      /** What each format has room for, of an actor. */
      const CARRIES: Record<string, { types: string[]; fields: string[] }> = {
        popolo: { types: ['person', 'organization', 'initiative', 'campaign', 'event'], fields: ['id', 'type', 'name', 'description', 'places', 'issue_areas', 'contact', 'identifiers', 'affiliations', 'event', 'status'] },
        openstates: { types: ['person', 'organization'], fields: ['id', 'type', 'name', 'description', 'places', 'issue_areas', 'contact', 'identifiers', 'affiliations', 'status'] },
        hsds: { types: ['organization', 'initiative', 'person'], fields: ['id', 'type', 'name', 'description', 'places', 'issue_areas', 'identifiers', 'status'] },
        schemaorg: { types: ['person', 'organization', 'initiative', 'campaign', 'event'], fields: ['id', 'type', 'name', 'description', 'places', 'issue_areas', 'contact', 'identifiers', 'affiliations', 'event'] },
        meetings: { types: ['event'], fields: ['id', 'type', 'name', 'description', 'places', 'issue_areas', 'affiliations', 'event', 'status'] },
      };
      for (const [format, { types, fields }] of Object.entries(CARRIES)) {
        it(`brings back what ${format} has room for`, async () => {
          const text = await exported(kit, format);
          const empty = await emptied(other);
          const { value, out } = await runCommand(empty, 'import', [format, folder.file(`back.${format}`, text)], { 'no-join': true });
          expect(value.counts.rejected, out).to.equal(0);
          const actorsOf = async (from: DirectoryKit) => (await exported(from)).trim().split('\n').map((line) => JSON.parse(line)).filter((line) => types.includes(line.type));
          const back = new Map((await actorsOf(empty)).map((actor) => [actor.id, actor]));
          const pick = (actor: Record<string, unknown> | undefined) => actor && Object.fromEntries(fields.map((field) => [field, sorted(actor[field])]));
          const sent = await actorsOf(kit);
          expect(sent.length).to.be.above(1);
          for (const actor of sent) expect(pick(back.get(actor.id)), actor.name).to.equal(pick(actor));
        });
      }

      it('carries place, claims and sources in every row of every format', async () => {
        const joplin = 'joplin,missouri';
        const rows: Record<string, (text: string) => object[]> = {
          ndjson: (text) => text.trim().split('\n').map((line) => JSON.parse(line)).filter((line) => line.claims),
          csv: (text) => text.trim().split(/\n(?=[0-9a-f]{8}-)/).slice(1).filter((line) => !line.includes(',judgement,')).map((line) => ({ line })),
          popolo: (text) => Object.values(JSON.parse(text) as Record<string, object[]>).flat(),
          openstates: (text) => text.split('---\n').slice(1).map((line) => ({ line })),
          hsds: (text) => Object.values(JSON.parse(text) as Record<string, object[]>).flat(),
          schemaorg: (text) => JSON.parse(text)['@graph'],
          meetings: (text) => text.trim().split('\n').map((line) => JSON.parse(line)),
        };
        for (const [format, split] of Object.entries(rows)) {
          const found = split(await exported(kit, format)).map((row) => JSON.stringify(row));
          expect(found.length, format).to.be.above(0);
          for (const row of found) {
            expect(row, `${format}: a source`).to.match(/https?:\/\/[^"\\]*example\.|irs\.gov/);
            expect(row, `${format}: claims`).to.match(/"claims|claims:|"metadata|"subjectOf|,name,|,place,|,type,|,(identifier|issue_area|description|phone|email|website|social|affiliation|status|event_\w+),/);
          }
          const mill = found.filter((row) => row.includes('Old Mill Trust'));
          if (format !== 'meetings') expect(mill.length, format).to.be.above(0);
          for (const row of mill) expect(row, `${format}: the place`).to.contain(joplin);
        }
      });

      it('answers exports as files that can be imported, and only what is public', async () => {
        await kit.send('POST', '/api/entities', actorPayload({ name: 'Secret Garden', visibility: 'workspace' }), 'member');
        const open = await kit.get('/api/exports/entities');
        expect(open.headers['content-type']).to.equal('application/x-ndjson');
        expect(open.headers['content-disposition']).to.equal('attachment; filename="civic-ndjson.ndjson"');
        expect(open.text).to.not.contain('Secret Garden');
        const own = await kit.get('/api/exports/entities?visibility=workspace', 'member');
        expect(own.text).to.contain('Secret Garden');
        expect(own.headers['cache-control']).to.contain('no-store');
        expect((await kit.get('/api/exports/entities?visibility=workspace', 'stranger')).text).to.not.contain('Secret Garden');
        expect((await kit.get('/api/exports/entities?visibility=workspace')).status).to.equal(401);
        expect((await kit.get('/api/exports/entities?format=irs')).status).to.equal(400);
        const path = join(folder.path, 'out.ndjson');
        const { value } = await runCommand(kit, 'export', [], { out: path });
        expect(value.path).to.equal(path);
        expect(readFileSync(path, 'utf8')).to.equal(open.text);
        expect(existsSync(`${path}.part`)).to.be.false();
        expect((await runCommand(kit, 'export', [], { format: 'csv' })).out).to.equal(await exported(kit, 'csv'));
        await expect(runCommand(kit, 'export', [], { format: 'pdf' })).to.reject(/no format that can be written: there are ndjson, csv, popolo/);
      });
    });

    describe('of wrong files', () => {
      before(async () => { await emptied(kit); });

      const WRONG: [what: string, format: string, content: string | Buffer, words: RegExp][] = [
        ['an empty file', 'ndjson', '', /is empty/],
        ['a ZIP archive', 'csv', Buffer.from('504b03041400000008', 'hex'), /a ZIP archive or a spreadsheet: unpack it/],
        ['a binary file', 'popolo', Buffer.alloc(1000), /is not a text file/],
        ['CSV said to be NDJSON', 'ndjson', 'name,type\nA,person\n', /not the kit’s own NDJSON/],
        ['a list of something else', 'ndjson', '{"a":1}\n{"a":2}\n', /not the kit’s own NDJSON/],
        ['a newer version', 'ndjson', '{"civic_export":2}\n', /version 2 of the format/],
        ['a header that is missing', 'csv', '0f0e0d0c-0000-4000-8000-000000000001,person,name,A\n', /no column actor_id, actor_type, property, value, source_url/],
        ['a header of something else', 'irs', 'id,name\n1,A\n', /no column EIN, NAME, CITY, STATE/],
        ['CSV said to be Popolo', 'popolo', 'a,b\n1,2\n', /not JSON: it begins with "a,b/],
        ['JSON that is no Popolo', 'popolo', '{"a": [1, 2]}', /not a Popolo document/],
        ['JSON that is no HSDS', 'hsds', '{"a": [1, 2]}', /has no HSDS organizations/],
        ['JSON-LD of nothing we know', 'schemaorg', '{"@type":"WebSite","name":"x"}', /has no schema.org Person/],
        ['YAML of something else', 'openstates', 'a: 1\n', /has no Open States person or committee/],
        ['JSON that is no meeting', 'meetings', '[{"a":1}]', /no list of meetings/],
      ];
      for (const [what, format, content, words] of WRONG) {
        it(`refuses ${what} (${format}) in words`, async () => {
          await expect(runCommand(kit, 'import', [format, folder.file('wrong', content)])).to.reject(words);
        });
      }

      it('refuses a file that is not there, and a format that is none', async () => {
        await expect(runCommand(kit, 'import', ['ndjson', join(folder.path, 'nowhere')])).to.reject(/There is no file/);
        await expect(runCommand(kit, 'import', ['xml', fixture('popolo.json')])).to.reject(/"xml" is no format that can be read/);
        await expect(runCommand(kit, 'import', ['irs', fixture('irs.csv')], { source: 'my desk' })).to.reject(/--source must be a web address/);
      });

      it('keeps the rows before the place where a file breaks off, and fails', async () => {
        const text = readFileSync(fixture('popolo.json'), 'utf8');
        const path = folder.file('cut.json', text.slice(0, text.indexOf('"person/2"')));
        await expect(runCommand(kit, 'import', ['popolo', path])).to.reject(/breaks off in the middle, after 4 whole items/);
        expect(await count(kit)).to.equal(3);
      });

      it('reads Windows and UTF-16 text, and says so', async () => {
        const irs = readFileSync(fixture('irs.csv'), 'utf8').replaceAll('\0', '').replace('﻿', '').replace('RIVERBEND HOMES, THE', 'MAISON ÉTÉ').replace('431000002', '431000009');
        for (const [name, bytes] of [['latin.csv', Buffer.from(irs, 'latin1')], ['utf16.csv', Buffer.from(`﻿${irs}`, 'utf16le')]] as const) {
          const { value } = await runCommand(kit, 'import', ['irs', folder.file(name, bytes)]);
          expect(value.file_notes[0]).to.match(/is not UTF-8 and was read as (windows-1252|utf-16le)/);
        }
        expect((await kit.get('/api/entities?query=MAISON')).body.data[0].name).to.equal('MAISON ÉTÉ');
      });

      it('goes on after one bad line in the middle', async () => {
        await emptied(other);
        await runCommand(other, 'import', ['irs', copyOf('irs.csv')]);
        const lines = (await exported(other)).trim().split('\n');
        lines.splice(2, 0, '{"id": "0f0e0d0c', '{"id":"0f0e0d0c-0000-4000-8000-0000000000aa","type":"robot"}');
        const { value } = await runCommand(kit, 'import', ['ndjson', folder.file('bad-line.ndjson', lines.join('\r\n'))], { json: true });
        expect(value.counts).to.include({ read: 5, rejected: 2 });
        expect(value.faults.map(({ row }: { row: number }) => row)).to.equal([3, 4]);
        expect(value.faults[1].detail).to.match(/its type is "robot": use one of person/);
      });

      it('reads CSV whose lines end in several ways, and counts lines inside cells', async () => {
        const row = (at: number, name: string) => `0f0e0d0c-0000-4000-8000-00000000000${at},organization,name,${name},https://ends.example/${at}`;
        const header = 'actor_id,actor_type,property,value,source_url';
        for (const [first, end] of [['\r\n', '\n'], ['\n', '\r\n'], ['\n', '\r']] as const) {
          await emptied(kit);
          const path = folder.file('ends.csv', `${header}${first}${[row(1, 'First Council'), row(2, '"Second\r\nCouncil"'), `${row(3, 'Third Council')},more`, row(4, 'Fourth Council')].join(end)}${end}`);
          const { value } = await runCommand(kit, 'import', ['csv', path]);
          expect(value.counts).to.include({ read: 4, created: 3, rejected: 1 });
          expect(value.faults).to.equal([{ row: 5, detail: 'it has 6 cells and the header has 5' }]);
        }
      });
    });

    describe('that is cut short', () => {
      beforeEach(async () => { await emptied(kit); });

      const many = async (count: number) => {
        const rows = Array.from({ length: count }, (_, at) => `4${String(at).padStart(8, '0')},ORGANIZATION NUMBER ${at},,,KANSAS CITY,MO,,,,,,,,,,,,,,,,,,,,,L20,`);
        const header = readFileSync(fixture('irs.csv'), 'utf8').split('\r\n')[0]!.slice(1);
        rows.splice(5, 0, 'BAD,ROW,,,,,,,,,,,,,,,,,,,,,,,,,,');
        return folder.file(`many-${count}.csv`, `${header}\n${rows.join('\n')}\n`);
      };

      it('goes on where it stopped, and rejects no row twice', async () => {
        const path = await many(150);
        const stop = new AbortController();
        const stopped = runCommand(kit, 'import', ['irs', path], {}, stop.signal);
        const unwatch = setInterval(() => {
          void kit.db.read('directory_imports').first('position').then((row) => { if (Number(row?.position) > 0) stop.abort(); });
        }, 1);
        await expect(stopped).to.reject(/the same command again goes on from there/);
        clearInterval(unwatch);
        const { position } = await kit.db.read('directory_imports').first('position');
        expect(Number(position)).to.be.between(0, 151);
        // As a process that was killed leaves it: lines after the last commit.
        const rejects = `${path}.rejects.ndjson`;
        folder.file('many-150.csv.rejects.ndjson', `${readFileSync(rejects, 'utf8')}{"row":99,"reason":"never committed"}\n`);
        const { value, out } = await runCommand(kit, 'import', ['irs', path]);
        expect(value.resumed_at).to.equal(Number(position));
        expect(out).to.contain('Went on after row');
        expect(value.counts).to.equal({ read: 151, created: 150, updated: 0, unchanged: 0, rejected: 1, joined: 0 });
        expect(readFileSync(rejects, 'utf8').trim().split('\n')).to.have.length(1);
        expect(await count(kit)).to.equal(150);
        const again = await runCommand(kit, 'import', ['irs', path]);
        expect([again.value.resumed_at, again.value.counts.unchanged]).to.equal([0, 150]);
      });

      it('changes nothing in a dry run, and says what would happen', async () => {
        const path = await many(30);
        const { value, out } = await runCommand(kit, 'import', ['irs', path], { 'dry-run': true });
        expect(value).to.include({ dry_run: true, counts: { read: 31, created: 30, updated: 0, unchanged: 0, rejected: 1, joined: 0 }, rejects: null });
        expect(out).to.match(/31 rows read: 30 created, 0 updated, 0 unchanged, 1 rejected\. This was a dry run: nothing was changed\.[^]*row 7: its EIN is not a number/);
        expect(await count(kit)).to.equal(0);
        for (const table of ['directory_records', 'directory_sources', 'directory_imports']) expect(await kit.db.read(table).select('key'), table).to.equal([]);
        expect(existsSync(`${path}.rejects.ndjson`)).to.be.false();
      });

      it('takes the same thing twice in one file as one', async () => {
        const path = await many(3);
        const twice = folder.file('twice.csv', `${readFileSync(path, 'utf8')}${readFileSync(path, 'utf8').split('\n').slice(1).join('\n')}`);
        const { value } = await runCommand(kit, 'import', ['irs', twice]);
        expect(value.counts).to.equal({ read: 8, created: 3, updated: 0, unchanged: 3, rejected: 2, joined: 0 });
      });
    });

    describe('over HTTP', () => {
      before(async () => { await emptied(kit); });
      const irs = readFileSync(fixture('irs.csv'));

      it('reads the body in a job and reports on every row', async () => {
        const sent = await kit.send('POST', '/api/imports?format=irs&visibility=public', irs, 'reviewer', { 'content-type': 'text/csv' });
        expect(sent.status, sent.text).to.equal(202);
        expect(sent.headers.location).to.equal(sent.body.links.self);
        expect(sent.headers['retry-after']).to.equal('1');
        const { body } = await upload(kit, 'format=irs&visibility=public', irs, 'reviewer', 'text/csv');
        expect(body).to.include({ format: 'irs', state: 'completed', visibility: 'public', error: null, progress: { phase: 'done', done: irs.length, total: irs.length } });
        expect(body.counts.rejected).to.equal(2);
        expect(body.faults.map(({ row }: { row: number }) => row)).to.equal([4, 5]);
        expect(body.notes).to.equal([{ row: 6, detail: 'no place is surely meant by "SPRINGFEILD, ZZ"' }]);
        const rejects = await kit.get(`/api/imports/${body.id}/rejects`, 'reviewer');
        expect(rejects.headers['content-type']).to.equal('application/x-ndjson');
        expect(JSON.parse(rejects.text.split('\n')[0]!)).to.include({ row: 4, reason: 'its EIN is not a number of up to 9 digits: "NOT-AN-EIN"' });
        expect(await count(kit)).to.equal(3);
      });

      it('is for callers with the scope, and each sees their own', async () => {
        expect((await upload(kit, 'format=irs', irs, '')).status).to.equal(401);
        expect((await upload(kit, 'format=irs', irs, 'reader')).status).to.equal(403);
        expect((await upload(kit, 'format=irs&visibility=public', irs, 'member')).body.code).to.equal('permission_required');
        const own = await upload(kit, 'format=meetings&timezone=America/Chicago', readFileSync(fixture('meetings.jsonl')), 'member');
        expect(own.body.counts.created).to.equal(3);
        expect((await kit.get('/api/entities?query=Zoning')).body.total).to.equal(0);
        expect(await kit.db.read('directory_records').where({ visibility: 'workspace' }).pluck('workspace_id')).to.equal([WORKSPACE, WORKSPACE, WORKSPACE]);
        for (const path of ['', '/rejects']) {
          expect((await kit.get(`/api/imports/${own.body.id}${path}`, 'stranger')).body.code).to.equal('unknown_import');
          expect((await kit.get(`/api/imports/nonsense${path}`, 'member')).status).to.equal(404);
          expect((await kit.get(`/api/imports/${own.body.id}${path}`)).status).to.equal(401);
        }
      });

      it('rejects changes of public actors and judgements by callers without the role', async () => {
        const { body } = await upload(kit, 'format=irs', irs, 'member', 'text/csv');
        expect(body.counts).to.equal({ read: 5, created: 0, updated: 0, unchanged: 0, rejected: 5, joined: 0 });
        expect(body.faults.map(({ detail }: { detail: string }) => detail)).to.include('it is in the directory already, where only reviewers may add to it');
        const line = JSON.stringify({ judgement: { id: '0f0e0d0c-0000-4000-8000-0000000000bb', left_id: '0f0e0d0c-0000-4000-8000-0000000000bc', right_id: '0f0e0d0c-0000-4000-8000-0000000000bd', verdict: 'same', at: '2026-01-01T00:00:00Z' } });
        expect((await upload(kit, 'format=ndjson', line, 'member')).body.faults).to.equal([{ row: 1, detail: 'No actor has the id 0f0e0d0c-0000-4000-8000-0000000000bc.' }]);
        expect((await upload(kit, 'format=ndjson', line, 'editor')).body.counts.rejected).to.equal(1);
      });

      it('refuses what is empty, too large, of no format or of another type', async () => {
        expect((await upload(kit, 'format=irs', '', 'editor')).status).to.equal(400);
        const large = await upload(kit, 'format=irs', Buffer.alloc(33 * 1024 * 1024, 'a'), 'editor');
        expect([large.status, large.body.code]).to.equal([413, 'body_too_large']);
        expect((await upload(kit, 'format=xml', irs, 'editor')).body.errors[0].parameter).to.equal('format');
        expect((await upload(kit, '', irs, 'editor')).status).to.equal(400);
        expect((await upload(kit, 'format=irs&source_url=desk', irs, 'editor')).status).to.equal(400);
        expect((await upload(kit, 'format=irs', irs, 'editor', 'image/png')).status).to.equal(415);
        const wrong = await upload(kit, 'format=popolo', irs, 'editor');
        expect(wrong.body).to.include({ state: 'failed' });
        expect(wrong.body.error).to.include({ code: 'unreadable_file' });
        expect(wrong.body.error.detail).to.match(/^This is not JSON/);
        expect(wrong.text).to.not.contain('.upload');
      });
    });
  });
}

/** Answers are kept, also those from before the tables were emptied. */
async function count(kit: DirectoryKit): Promise<number> {
  return (await kit.db.read('directory_actors').select('key')).length;
}

/** Lists of a record have no order of their own. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return value !== null && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, sorted(part)])) : value;
}
