import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Caller } from '../../core/index.ts';
import { stoppedClock, testDatabases } from '../../core/testing.ts';
import { startMailbox } from '../../plugins/accounts/test/mailbox.ts';
import { htmlFaults } from '../support/validator.ts';
import { BASE, consoleKit, until, type ConsoleKit, type Reader } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const UNKNOWN = '01890000-0000-7000-8000-00000000dead';
const editor: Partial<Caller> = { role: 'reviewer', scope: ['entities:write'], workspace_id: '01890000-0000-7000-8000-00000000000a', workspace_role: 'member' };
const NEW_PAGE = 'https://example.org/new-page';

for (const database of testDatabases()) {
  describe(`The review queue on ${database}`, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: ConsoleKit;
    let reviewer: Reader;
    before(async () => {
      kit = await consoleKit({ database, clock, plugins: ['directory', 'firehose', 'flags'], config: { plugins: { firehose: { anonymous: true } } } });
      reviewer = await kit.signedIn('reviewer');
    });
    after(() => kit.close());

    let made = 0;
    async function actor(name = `Tenants ${made++}`, more: object[] = []): Promise<any> {
      const url = `https://example.org/${encodeURIComponent(name)}`;
      const claim = (property: string, value: string) => ({ property, value, source_local_id: 's' });
      const { body } = await kit.request('POST', '/api/entities', {
        as: editor,
        payload: { type: 'organization', visibility: 'public', sources: [{ local_id: 's', url, title: `About ${name}` }], claims: [claim('name', name), claim('phone', '816-555-0160'), claim('place', 'gladstone,missouri'), ...more] },
      });
      return body;
    }
    const claimOf = (of: any, property: string) => of.claims.find((claim: any) => claim.property === property).id as string;
    async function report(of: any, fields: Record<string, string> = {}): Promise<any> {
      const { body } = await kit.request('POST', '/api/entity-flags', { payload: { entity_id: of.id, reason: `The number is wrong, says reader ${made++}.`, flag_type: 'incorrect', ...fields } });
      return body;
    }
    async function proposed(of: any, value: string, source: string): Promise<any> {
      const flag = await report(of, { claim_id: claimOf(of, 'phone') });
      await kit.db.write((tx) => tx('flags_flags').where({ id: flag.id }).update({ proposed_value: value, proposed_source: source }));
      return flag;
    }
    const decide = (flag: any, fields: Record<string, string | string[]>, by = reviewer) => by.post(`/console/reports/${flag.id}`, fields);
    const statusOf = async (flag: any): Promise<string> => (await kit.db.read('flags_flags').where({ id: flag.id }).first('status')).status;
    const detail = async (id: string): Promise<any> => (await kit.request('GET', `/api/entities/${id}`)).body;
    const phones = async (id: string): Promise<string[]> => (await detail(id)).claims.filter(({ property }: any) => property === 'phone').map(({ value }: any) => value);
    const lastBatch = async (): Promise<string> => (await kit.db.read('flags_steps').orderBy('key', 'desc').first('batch')).batch;
    const undo = async (batch?: string) => reviewer.post('/console/reports/undo', { batch: batch ?? await lastBatch() });
    const audit = async (flag: any): Promise<string[]> => kit.db.read('accounts_audit').where({ subject: flag.id }).orderBy('seq').pluck('kind');
    const names = ({ text }: { text: string }): string[] => [...text.matchAll(/<h2><a href="[^"]*">([^<]*)</g)].map(([, name]) => name!);
    const list = async (query = ''): Promise<string[]> => names(await reviewer.get(`/console/reports${query}`));

    it('is for reviewers and administrators, and is never stored', async () => {
      const flag = await report(await actor());
      const user = await kit.signedIn('user');
      const writes = ['confirm', 'decide', 'undo', flag.id].map((part) => `/console/reports/${part}`);
      for (const path of ['/console/reports', `/console/reports/${flag.id}`, '/es/console/reports']) {
        const refused = await user.get(path);
        expect([path, refused.status, refused.text.includes('number is wrong')]).to.equal([path, 403, false]);
        expect((await kit.visitor().get(path)).headers.location).to.match(/sign-in/);
        for (const role of ['reviewer', 'admin'] as const) {
          const shown = role === 'reviewer' ? await reviewer.get(path) : await (await kit.signedIn(role)).get(path);
          expect([path, shown.status, shown.headers['cache-control']]).to.equal([path, 200, 'private, no-store']);
        }
      }
      for (const path of writes) expect([path, (await user.post(path, { decision: 'dismiss' })).status]).to.equal([path, 403]);
      expect((await reviewer.post(`/console/reports/${flag.id}`, { decision: 'dismiss', form_token: 'forged' })).status).to.equal(403);
      expect(await statusOf(flag)).to.equal('open');
      for (const id of [UNKNOWN, 'x']) expect((await reviewer.get(`/console/reports/${id}`)).status).to.equal(404);
      const menu = (await reviewer.get('/')).text;
      expect(menu).to.contain('href="/console/reports"');
      expect(menu).to.not.contain('href="/console"');
      expect((await reviewer.get('/console/reports')).text).to.not.contain('/console/accounts');
      await decide(flag, { decision: 'dismiss' });
    });

    it('groups reports of a target, sorts by severity, number and age, and filters', async () => {
      const [few, many, private_, old] = [await actor('Few'), await actor('Many'), await actor('Private'), await actor('Old')];
      await report(old, { flag_type: 'stale' });
      clock.advance(8 * 86_400_000);
      await report(few, { flag_type: 'closed' });
      for (let count = 0; count < 3; count++) await report(many, { flag_type: count === 0 ? 'other' : 'incorrect', reason: `Words ${count}` });
      await report(private_, { flag_type: 'privacy', reason: '<b>My</b> home number' });
      const source = (await detail(few.id)).sources[0];
      await kit.request('POST', '/api/source-flags', { payload: { source_id: source.id, reason: 'Gone', flag_type: 'broken_link' } });
      expect(await list()).to.equal(['Private', 'Many', 'Few', 'Old', 'About Few']);
      const { text } = await reviewer.get('/console/reports');
      expect(text).to.contain(['7 reports about 5 entries, sources and places', '3 reports, the oldest', '&lt;b&gt;My']);
      for (const [query, found] of [
        ['?severity=high', ['Many', 'Few']], ['?type=other', ['Many']], ['?target=source', ['About Few']], ['?age=7', ['Old']], ['?place=gladstone-mo&severity=urgent', ['Private']],
        ['?place=Gladstone, Missouri&age=7', ['Old']], ['?place=kansas-city-mo', []], ['?place=nowhere at all', []], ['?state=dismissed&age=90', []], ['?severity=x&type=x&state=x&after=x', ['Private', 'Many', 'Few', 'Old', 'About Few']],
      ] as const) expect(await list(query), query).to.equal([...found]);
      expect(await htmlFaults(text)).to.equal([]);
      expect(await htmlFaults((await reviewer.get('/es/console/reports?type=other')).text)).to.equal([]);
    });

    it('has pages of 25 targets, and exact totals', async () => {
      const before = (await list()).length;
      for (let count = 0; count < 26; count++) await report(await actor(`Paged ${String(count).padStart(2, '0')}`), { flag_type: 'other', reason: `Paged ${count}` });
      const all: string[] = [];
      for (let path: string | undefined = '/console/reports'; path;) {
        const page = await reviewer.get(path);
        all.push(...names(page));
        path = /href="([^"]*)" rel="next"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
      }
      expect([all.length, new Set(all).size]).to.equal([before + 26, before + 26]);
      expect((await reviewer.get('/console/reports')).text).to.contain(`about ${before + 26} entries, sources and places`);
      const targets = await kit.db.read('flags_queue').where({ place_key: '', state: 'open', severity: 0 }).pluck('target_id');
      const answer = await reviewer.post('/console/reports/confirm', { decision: 'dismissed', state: 'open', 'target[]': targets.map((id: string) => `entity:${id}`) });
      const ids = [...answer.text.matchAll(/name="report\[\]" value="([^"]*)"/g)].map(([, id]) => id!);
      expect(ids.length).to.equal(26);
      expect(await htmlFaults(answer.text)).to.equal([]);
      expect((await reviewer.post('/console/reports/decide', { decision: 'dismissed', 'report[]': ids, note: 'All the same' })).headers.location).to.equal('/console/reports?done=dismissed&count=26');
      expect((await list()).length).to.equal(before);
      expect((await reviewer.get('/console/reports')).text).to.match(/Your last decision: dismissed 26 reports, <time [^>]*>now<\/time>/);
      expect((await undo()).headers.location).to.equal('/console/reports?done=undone&count=26');
      expect(await kit.db.read('flags_queue').where({ place_key: '', state: 'open', severity: 0 }).pluck('target_id')).to.only.include(targets);
      await reviewer.post('/console/reports/decide', { decision: 'dismissed', 'report[]': ids });
    });

    it('decides on all or none of the selected reports', async () => {
      const [first, second] = [await report(await actor()), await report(await actor())];
      await decide(second, { decision: 'dismiss' });
      const failed = await reviewer.post('/console/reports/decide', { decision: 'accepted', 'report[]': [first.id, second.id] });
      expect([failed.status, await statusOf(first), await statusOf(second)]).to.equal([409, 'open', 'dismissed']);
      expect(failed.text).to.contain('nothing was changed');
      for (const report_ of [[], ['x'], [UNKNOWN]]) expect((await reviewer.post('/console/reports/decide', { decision: 'accepted', 'report[]': report_ })).status).to.be.within(303, 409);
      expect((await reviewer.post('/console/reports/confirm', { decision: 'accepted', state: 'open' })).headers.location).to.equal('/console/reports?none=1');
      await decide(first, { decision: 'dismiss' });
    });

    it('returns to the list with the filters from which a report or a form was opened, and to no other address', async () => {
      const flag = await report(await actor('Filtered'), { flag_type: 'wrong_place' });
      const here = '/console/reports?place=gladstone%2Cmissouri&type=wrong_place';
      const listed = await reviewer.get(here);
      const opened = `/console/reports/${flag.id}?place=gladstone%2Cmissouri&type=wrong_place`;
      const addresses = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
      expect(addresses(listed.text)).to.contain([`href="${opened}"`, `name="list" value="${here}"`]);
      expect(addresses((await reviewer.get(opened)).text)).to.contain([`href="${here}">All reports`, `name="list" value="${here}"`]);
      const confirmed = await reviewer.post('/console/reports/confirm', { list: here, decision: 'dismissed', state: 'open', 'target[]': `entity:${flag.target_id}` });
      expect(addresses(confirmed.text)).to.contain([`href="${here}">Cancel`, `name="list" value="${here}"`]);
      expect((await reviewer.post('/console/reports/decide', { list: here, decision: 'dismissed', 'report[]': flag.id })).headers.location).to.equal(`${here}&done=dismissed&count=1`);
      expect((await reviewer.post('/console/reports/undo', { list: here, batch: await lastBatch() })).headers.location).to.equal(`${here}&done=undone&count=1`);
      expect((await reviewer.post(`/console/reports/${flag.id}/ask`, { list: here, question: 'Where is it?' })).headers.location).to.equal(`${opened}&asked=1`);
      expect((await decide(flag, { list: 'https://evil.example/?state=suspected&next=x', decision: 'dismiss' })).headers.location).to.equal('/console/reports?state=suspected&done=dismissed&count=1');
    });

    it('says what follows from a decision on several reports: contacts that are shown again', async () => {
      const flags = [await report(await actor('Plain one')), await report(await actor('Private one'), { flag_type: 'privacy' })];
      const confirm = async (some: any[], decision: string) => (await reviewer.post('/console/reports/confirm', { decision, state: 'open', 'target[]': some.map((flag) => `entity:${flag.target_id}`) })).text;
      const shown = 'that the reports of private information hide are shown again';
      expect(await confirm(flags, 'dismissed')).to.contain([shown, '<li class="card urgent">', '<li class="card high">']);
      expect(await confirm(flags, 'accepted')).to.not.contain(shown);
      expect(await confirm(flags.slice(0, 1), 'dismissed')).to.contain('Plain one').and.not.contain(shown);
      for (const flag of flags) await decide(flag, { decision: 'dismiss' });
    });

    it('shows a report beside the statement, its source and the proposal', async () => {
      const of = await actor('Shown <Union>');
      const flag = await proposed(of, '816-555-0199', NEW_PAGE);
      await report(of, { flag_type: 'closed', reason: 'They <i>closed</i>' });
      const { text } = await reviewer.get(`/console/reports/${flag.id}`);
      expect(text).to.contain(['Report: Shown &lt;Union&gt;', 'The number is wrong, says', '<del>816-555-0160</del>', '<ins>816-555-0199</ins>', NEW_PAGE, 'About Shown &lt;Union&gt;', 'They &lt;i&gt;closed', 'Also decide 1 other report', `value="${claimOf(of, 'phone')}" selected`]);
      expect(await htmlFaults(text)).to.equal([]);
      expect((await reviewer.get(`/es/console/reports/${flag.id}`)).text).to.contain(['El dato y su fuente', 'Poner el valor correcto']);
      await decide(flag, { decision: 'dismiss', others: '1' });
      expect(await list()).to.not.include('Shown &lt;Union&gt;');
    });

    it('names a single report and its statements in Spanish, and shows an excerpt once', async () => {
      const subject = await actor('Once', [{ property: 'issue_area', value: 'housing_affordability', source_local_id: 's' }]);
      await kit.db.write(async (tx) => {
        await tx('directory_sources').where({ id: subject.sources[0].id }).update({ excerpt: 'Call 816-555-0160' });
        await tx('directory_claims').where({ id: claimOf(subject, 'phone') }).update({ excerpt: 'Call 816-555-0160' });
      });
      const flag = await report(subject, { claim_id: claimOf(subject, 'phone') });
      const { text } = await reviewer.get(`/es/console/reports/${flag.id}`);
      expect(text).to.contain(['<strong>Abierto</strong>', 'Tipo: Organización</option>', 'Tema: Vivienda asequible</option>']).and.to.not.contain(['<strong>Abiertos</strong>', 'Dato nuevo: Empieza']);
      expect(text.split('Call 816-555-0160').length - 1).to.equal(1);
      await decide(flag, { decision: 'dismiss' });
    });

    it('offers to merge when a report of a duplicate names the other entry', async () => {
      const [twin, other] = [await actor('Twin'), await actor('Other twin')];
      const flag = await report(twin, { flag_type: 'duplicate' });
      await kit.db.write((tx) => tx('flags_flags').where({ id: flag.id }).update({ proposed_value: `${BASE}/actors/${other.id}` }));
      const { text } = await reviewer.get(`/console/reports/${flag.id}`);
      expect(text).to.contain([`name="into" value="${BASE}/actors/${other.id}"`, 'name="edit" value="merge" checked', 'name="value" value=""']);
      await decide(flag, { decision: 'dismiss' });
    });

    it('applies a proposal as a claim with its source, and undoes it', async () => {
      const of = await actor();
      const flag = await proposed(of, '816-555-0199', NEW_PAGE);
      const signals = async () => (await kit.request('GET', '/api/places/gladstone,missouri/signals')).body.data.filter(({ type }: any) => type === 'flag_resolved').length as number;
      const counted = await signals();
      const fields = { decision: 'accept', edit: 'value', statement: claimOf(of, 'phone'), value: '816-555-0199', address: NEW_PAGE, note: 'Called them' };
      expect((await decide(flag, fields)).headers.location).to.equal('/console/reports?done=resolved&count=1');
      const corrected = await detail(of.id);
      expect([corrected.contact.phone, corrected.flags.open, await statusOf(flag)]).to.equal(['816-555-0199', 0, 'resolved']);
      expect(corrected.sources.map(({ url }: any) => url)).to.include(NEW_PAGE);
      // On Postgres the log gets its entries after the commit.
      await until(async () => await signals() === counted + 1);
      const page = await reviewer.get(`/console/reports/${flag.id}`);
      expect(page.text).to.contain(['Report resolved. Statements were changed', 'Called them', 'A reviewer']);
      expect((await undo()).status).to.equal(303);
      const restored = await detail(of.id);
      expect([restored.contact.phone, restored.flags.open, await statusOf(flag)]).to.equal([of.contact.phone, 1, 'open']);
      await until(async () => await signals() === counted);
      expect(await audit(flag)).to.equal(['flags_resolved', 'flags_undone']);
      expect((await reviewer.get(`/console/reports/${flag.id}`)).text).to.contain(['Decision on a report undone', 'undone</span>']);
      await decide(flag, { decision: 'dismiss' });
    });

    it('removes a statement, deactivates an entry, moves it, and marks a source as broken; each can be undone', async () => {
      const of = await actor();
      const flag = await report(of, { claim_id: claimOf(of, 'phone') });
      const step = async (fields: Record<string, string>, check: (now: any) => unknown, expected: unknown, restored: unknown) => {
        const answer = await decide(flag, { decision: 'accept', ...fields });
        expect(answer.headers.location, answer.text.slice(0, 3000)).to.equal('/console/reports?done=resolved&count=1');
        expect(check(await detail(of.id))).to.equal(expected);
        expect((await undo()).status).to.equal(303);
        expect(check(await detail(of.id))).to.equal(restored);
      };
      await step({ edit: 'retract', statement: claimOf(of, 'phone') }, ({ contact }) => contact.phone, null, of.contact.phone);
      await step({ edit: 'deactivate', address: NEW_PAGE }, ({ status }) => status, 'inactive', 'active');
      await step({ edit: 'value', statement: claimOf(of, 'place'), value: 'Kansas City, MO', address: NEW_PAGE }, ({ places }) => places.map(({ place_key }: any) => place_key), ['kansas-city,missouri'], ['gladstone,missouri']);
      await step({ edit: 'value', statement: 'new:website', value: 'https://tenants.example.org/', address: NEW_PAGE }, ({ contact }) => contact.website, 'https://tenants.example.org/', null);
      await step({ edit: 'source_broken', source: of.sources[0].id }, ({ sources }) => sources[0].url_status, 'broken', 'unknown');
      await decide(flag, { decision: 'dismiss' });
    });

    it('hides contacts of a person again for the rest of the time when the dismissal of a privacy report is undone', async () => {
      const { body: person } = await kit.request('POST', '/api/entities', {
        as: editor,
        payload: { type: 'person', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/undone' }], claims: [{ property: 'name', value: 'Undone Person', source_local_id: 's' }, { property: 'email', value: 'undone@private.example', source_local_id: 's' }] },
      });
      const email = async () => (await detail(person.id)).contact.email;
      const flag = await report(person, { flag_type: 'privacy' });
      expect(await email()).to.be.null();
      const { body: twin } = await kit.request('POST', '/api/entities', {
        as: editor,
        payload: { type: 'person', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/twin' }], claims: [{ property: 'name', value: 'Other Name', source_local_id: 's' }, { property: 'email', value: 'Undone@private.example', source_local_id: 's' }] },
      });
      const twinEmail = async () => (await detail(twin.id)).contact.email;
      expect(await twinEmail()).to.be.null();
      await decide(flag, { decision: 'dismiss' });
      expect([await email(), await twinEmail()]).to.equal(['undone@private.example', 'Undone@private.example']);
      clock.advance(3_600_000);
      expect((await undo()).status).to.equal(303);
      expect([await email(), await twinEmail(), await statusOf(flag)]).to.equal([null, null, 'open']);
      const over = 'The time is over, and they are shown again.';
      expect((await reviewer.get(`/console/reports/${flag.id}`)).text).to.contain('E-mail and phone are hidden until').and.not.contain(over);
      const { ends_at } = await kit.db.read('directory_holds').first('ends_at');
      expect(ends_at, 'not longer than at first').to.equal(new Date(clock.now() + 71 * 3_600_000).toISOString());
      expect(await audit(flag)).to.equal(['flags_held', 'flags_dismissed', 'flags_hold_ended', 'flags_undone', 'flags_held']);
      await decide(flag, { decision: 'dismiss' });
      expect([await email(), await twinEmail()]).to.equal(['undone@private.example', 'Undone@private.example']);
      clock.advance(72 * 3_600_000);
      expect((await undo()).status).to.equal(303);
      expect(await email(), 'the time is over').to.equal('undone@private.example');
      expect((await reviewer.get(`/console/reports/${flag.id}`)).text).to.contain(over).and.not.contain('E-mail and phone are hidden until');
      expect((await reviewer.get(`/es/console/reports/${flag.id}`)).text).to.contain('El plazo terminó y se vuelven a mostrar.');
      await decide(flag, { decision: 'dismiss' });
    });

    it('merges an entry into another, and separates them again', async () => {
      const [of, other] = [await actor('Twice'), await actor('Twice')];
      const flag = await report(of, { flag_type: 'duplicate' });
      await decide(flag, { decision: 'accept', edit: 'merge', into: `${BASE}/actors/${other.id}` });
      const gone = await kit.request('GET', `/api/entities/${of.id}`);
      expect([gone.status, gone.body.merged_into, await statusOf(flag)]).to.equal([404, other.id, 'resolved']);
      expect((await reviewer.get(`/console/reports/${flag.id}`)).text).to.contain('was merged into this one');
      expect(await list('?state=resolved')).to.include('Twice');
      await undo();
      expect([(await kit.request('GET', `/api/entities/${of.id}`)).status, await statusOf(flag)]).to.equal([200, 'open']);
      await decide(flag, { decision: 'dismiss' });
    });

    it('changes nothing when the correction is wrong or impossible, and says why', async () => {
      const of = await actor();
      const flag = await proposed(of, 'x', NEW_PAGE);
      const before = await kit.db.read('directory_changes').count({ count: '*' }).first();
      const phone = claimOf(of, 'phone');
      for (const [fields, said] of [
        [{ edit: 'value', statement: phone, value: '', address: NEW_PAGE }, 'Enter the correct value'], [{ edit: 'value', statement: phone, value: '816-555-0111', address: 'nowhere' }, 'Enter the whole address'],
        [{ edit: 'value', statement: UNKNOWN, value: 'x', address: NEW_PAGE }, 'Choose the statement'], [{ edit: 'retract', statement: '' }, 'Choose the statement'],
        [{ edit: 'value', statement: claimOf(of, 'place'), value: 'Atlantis under the sea', address: NEW_PAGE }, 'No place is certainly meant'], [{ edit: 'value', statement: 'new:issue_area', value: 'nothing of the kind', address: NEW_PAGE }, 'No issue is called'],
        [{ edit: 'value', statement: 'new:email', value: 'no e-mail', address: NEW_PAGE }, 'lang="en"'], [{ edit: 'merge', into: UNKNOWN }, 'No actor has the id'], [{ edit: 'merge', into: 'x' }, 'Enter the address or the id'],
        [{ edit: 'merge', into: of.id }, 'itself'], [{ edit: 'source_broken', source: UNKNOWN }, 'Choose the source'], [{ edit: 'retract', statement: claimOf(of, 'name') }, 'no name'], [{ edit: 'erase' }, 'not possible'],
      ] as [Record<string, string>, string][]) {
        const answer = await decide(flag, { decision: 'accept', ...fields });
        expect(answer.status, JSON.stringify(fields)).to.be.within(400, 409);
        expect(answer.text, JSON.stringify(fields)).to.contain(['nothing was changed', said]);
      }
      expect((await decide(flag, { decision: 'resolve' })).status).to.equal(409);
      expect((await decide(flag, { decision: 'constructor' })).status).to.equal(400);
      expect([await statusOf(flag), await phones(of.id), await kit.db.read('directory_changes').count({ count: '*' }).first()]).to.equal(['open', [of.contact.phone], before]);
      expect(await audit(flag)).to.equal([]);
      await decide(flag, { decision: 'dismiss' });
    });

    it('accepts without a correction, and resolves later', async () => {
      const flag = await report(await actor('Later'));
      await decide(flag, { decision: 'accept', edit: 'none' });
      expect([await statusOf(flag), await list('?state=accepted')]).to.equal(['accepted', ['Later']]);
      await decide(flag, { decision: 'resolve', edit: 'none', note: 'Done by hand' });
      expect([await statusOf(flag), await audit(flag)]).to.equal(['resolved', ['flags_accepted', 'flags_resolved']]);
      const [first] = await kit.db.read('flags_steps').join('flags_flags', 'flags_flags.key', 'flag_key').where('flags_flags.id', flag.id).orderBy('flags_steps.key').pluck('batch');
      expect((await undo(first)).status).to.equal(409);
      expect(await statusOf(flag)).to.equal('resolved');
      for (const batch of ['x', UNKNOWN, '']) expect((await undo(batch)).status).to.equal(409);
    });

    it('lists suspected spam separately, until a reviewer clears it', async () => {
      const of = await actor('Spammed');
      const flag = await report(of, { reason: 'Buy <a href="https://example.com">pills</a>', flag_type: 'other' });
      expect([await list('?state=suspected'), (await list()).includes('Spammed'), (await detail(of.id)).flags.open]).to.equal([['Spammed'], false, 0]);
      expect((await reviewer.get(`/console/reports/${flag.id}`)).text).to.contain('May be spam: markup for links');
      await decide(flag, { decision: 'clear' });
      expect([await list('?state=suspected'), (await list()).includes('Spammed'), (await detail(of.id)).flags.open, await statusOf(flag)]).to.equal([[], true, 1, 'open']);
      expect((await decide(flag, { decision: 'clear' })).status).to.equal(409);
      await undo();
      expect([await list('?state=suspected'), (await detail(of.id)).flags.open]).to.equal([['Spammed'], 0]);
      await decide(flag, { decision: 'dismiss' });
      expect(await list('?state=suspected')).to.equal([]);
    });

    it('asks the reporter, shows the reply, and gets a reopened report again', async () => {
      const flag = await report(await actor('Asked'));
      expect((await reviewer.post(`/console/reports/${flag.id}/ask`, { question: ' ' })).status).to.equal(400);
      expect((await reviewer.post(`/console/reports/${flag.id}/ask`, { question: 'Which <number>?' })).headers.location).to.equal(`/console/reports/${flag.id}?asked=1`);
      await kit.request('POST', `/api/flags/receipts/${flag.receipt}/messages`, { payload: { text: 'The <second> one' } });
      expect((await reviewer.get('/console/reports')).text).to.match(/Asked<\/a> <span class="tag">The reporter replied</);
      const { text } = await reviewer.get(`/console/reports/${flag.id}?asked=1`);
      expect(text).to.contain(['The question was sent', 'Which &lt;number&gt;?', 'Reply of the reporter', 'The &lt;second&gt; one']);
      expect(await htmlFaults(text)).to.equal([]);
      await decide(flag, { decision: 'dismiss' });
      expect((await reviewer.post(`/console/reports/${flag.id}/ask`, { question: 'Why?' })).status).to.equal(409);
      await kit.request('POST', `/api/flags/receipts/${flag.receipt}/reopen`, { payload: { text: 'It is still wrong' } });
      expect((await reviewer.get('/es/console/reports')).text).to.match(/Asked<\/a> <span class="tag">Reabierto</);
      expect((await reviewer.get(`/console/reports/${flag.id}`)).text).to.contain(['It is still wrong', 'Report reopened by its reporter']).and.not.contain('<span class="tag">undone</span>');
      await decide(flag, { decision: 'dismiss' });
    });

    it('is announced on the home of the console', async () => {
      const admin = await kit.signedIn('admin');
      expect((await admin.get('/console')).text).to.match(/\d open reports[^]*One of the reported entries has[^]*id="reports"/);
    });

    it('can be derived again from the flags', async () => {
      const rows = () => kit.db.read('flags_queue').orderBy(['place_key', 'state', 'rank', 'target_id']);
      const totals = () => kit.db.read('flags_queue_totals').where('targets', '>', 0).orderBy(['place_key', 'state', 'target_type', 'severity']);
      const before = [await rows(), await totals()];
      const { rebuildQueue } = await import('../../plugins/flags/review/queue.ts');
      await rebuildQueue({ from: null, write: kit.db.write, progress: async () => undefined });
      expect([await rows(), await totals()]).to.equal(before);
      expect(await kit.db.read('flags_queue_totals').where('targets', '<', 0).orWhere('reports', '<', 0)).to.equal([]);
    });

    it('has counts of flags that follow every decision, undo and reopening', async () => {
      const counts = () => kit.db.read('flags_counts').where('flags', '<>', 0).orderBy(['place_key', 'status', 'flag_type', 'target_type']);
      const before = await counts();
      expect(before.map(({ status }) => status)).to.include(['open', 'resolved', 'dismissed']);
      const { rebuildCounts } = await import('../../plugins/flags/counts-store.ts');
      await rebuildCounts({ write: kit.db.write });
      expect(await counts()).to.equal(before);
    });

    it('lists reports about places, which are decided without a correction', async () => {
      const sent = await kit.visitor().post('/report', { place: 'gladstone,missouri', kind: 'missing', words: 'The library board is not here.' });
      expect(sent.status, sent.text).to.equal(303);
      expect(await list('?target=place')).to.equal(['Gladstone, MO']);
      const flag = await kit.db.read('flags_flags').where({ target_type: 'place' }).first();
      const shown = await reviewer.get(`/console/reports/${flag.id}`);
      expect(shown.text).to.contain(['The place</h2>', 'The library board is not here.']).and.not.contain('value="retract"');
      expect(await htmlFaults(shown.text)).to.equal([]);
      const confirmed = await reviewer.post('/console/reports/confirm', { decision: 'dismissed', state: 'open', 'target[]': 'place:gladstone,missouri' });
      expect(confirmed.text).to.contain('The library board is not here.');
      expect((await decide(flag, { decision: 'accept' })).status).to.equal(303);
      expect((await decide(flag, { decision: 'resolve' })).status).to.equal(303);
      expect(await statusOf(flag)).to.equal('resolved');
    });

    it('hides a contact for good, also in the history and after the hold, until the decision is undone', async () => {
      const person = (await kit.request('POST', '/api/entities', {
        as: editor,
        payload: { type: 'person', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/eve' }], claims: [{ property: 'name', value: 'Eve Private', source_local_id: 's' }, { property: 'email', value: 'eve@private.example', source_local_id: 's' }] },
      })).body;
      const path = `/api/entities/${person.id}`;
      const patch = async (payload: object): Promise<any> => (await kit.request('PATCH', path, { as: editor, headers: { 'if-match': (await kit.request('GET', path)).headers.etag as string }, payload })).body;
      // A claim of the same address that was retracted before can be read, too, also in another spelling.
      const { claims } = await patch({ sources: [{ local_id: 's', url: 'https://example.net/eve' }], add: [{ property: 'email', value: 'Eve@private.example', source_local_id: 's' }] });
      await patch({ retract: [claims.find(({ id, property }: any) => property === 'email' && id !== claimOf(person, 'email')).id] });
      const shown = async () => (await Promise.all([path, `${path}/claims`, `${path}/claims?status=retracted`, `${path}/history`].map(async (one) => (await kit.request('GET', one)).text))).join('\n');
      expect(await shown()).to.contain('eve@private.example');
      const flag = await report(person, { flag_type: 'privacy', claim_id: claimOf(person, 'email') });
      const done = await decide(flag, { decision: 'accept', edit: 'hide', statement: claimOf(person, 'email') });
      expect(done.status, done.text).to.equal(303);
      expect(await statusOf(flag)).to.equal('resolved');
      const isHidden = async () => expect((await shown()).toLowerCase()).to.contain('eve private').and.not.contain('eve@private.example');
      await isHidden();
      const hiding = await lastBatch();
      // Neither a retraction nor the same source shows it again.
      await patch({ retract: [claimOf(person, 'email')] });
      await isHidden();
      await patch({ sources: [{ local_id: 's', url: 'https://example.org/eve' }], add: [{ property: 'email', value: 'eve@private.example', source_local_id: 's' }] });
      await isHidden();
      await undo(hiding);
      await decide(flag, { decision: 'dismiss' });
      expect((await detail(person.id)).contact.email.toLowerCase()).to.equal('eve@private.example');
      expect((await kit.request('GET', `${path}/claims?status=retracted`)).text, 'what was retracted before is retracted again').to.contain('Eve@private.example');
    });

    it('does not show what was hidden for good when an earlier decision is undone', async () => {
      const of = await actor('Undone Union');
      const first = await report(of, { claim_id: claimOf(of, 'phone') });
      await decide(first, { decision: 'accept', edit: 'value', statement: claimOf(of, 'phone'), value: '816-555-0177', address: NEW_PAGE });
      const setting = await lastBatch();
      expect((await detail(of.id)).contact.phone).to.contain('0177');
      const second = await report(of, { flag_type: 'incorrect' });
      const hidden = await decide(second, { decision: 'accept', edit: 'hide', statement: claimOf(await detail(of.id), 'phone') });
      expect(hidden.status, hidden.text).to.equal(303);
      await undo(setting);
      const path = `/api/entities/${of.id}`;
      const shown = await Promise.all([path, `${path}/claims`, `${path}/claims?status=retracted`, `${path}/history`].map(async (one) => (await kit.request('GET', one)).text));
      expect(shown.join('\n')).to.not.contain('555-0177');
    });

    it('shows contacts that a privacy report hides, and retracts them', async () => {
      const person = (await kit.request('POST', '/api/entities', {
        as: editor,
        payload: { type: 'person', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/ada' }], claims: [{ property: 'name', value: 'Ada Private', source_local_id: 's' }, { property: 'email', value: 'ada@private.example', source_local_id: 's' }] },
      })).body;
      const flag = await report(person, { flag_type: 'privacy', claim_id: claimOf(person, 'email') });
      expect((await detail(person.id)).contact.email).to.be.null();
      const shown = await reviewer.get(`/console/reports/${flag.id}`);
      expect(shown.text).to.contain(['E-mail and phone are hidden until', 'ada@private.example']);
      const done = await decide(flag, { decision: 'accept', edit: 'retract', statement: claimOf(person, 'email') });
      expect(done.status, done.text).to.equal(303);
      expect([(await detail(person.id)).contact.email, await statusOf(flag)]).to.equal([null, 'resolved']);
      await undo();
      expect((await detail(person.id)).contact.email, 'hidden again, as the report is open again').to.be.null();
      expect((await reviewer.get(`/console/reports/${flag.id}`)).text).to.contain('ada@private.example');
      await decide(flag, { decision: 'dismiss' });
      expect((await detail(person.id)).contact.email).to.equal('ada@private.example');
    });
  });

  describe(`Reports with addresses on ${database}`, () => {
    it('are counted before a decision on several of them, unless no mail follows', async () => {
      const box = await startMailbox();
      const kit = await consoleKit({ database, plugins: ['directory', 'site', 'flags'], config: { plugins: { accounts: { mail: { smtp_url: box.url } } } } });
      try {
        const reviewer = await kit.signedIn('reviewer');
        for (const [email, words] of [['ana@example.org', 'Something is missing.'], ['ben@example.org', 'All is missing.'], ['cat@example.org', '[url]x[/url]'], ['', 'Much is missing.']]) {
          expect((await kit.visitor().post('/report', { place: 'gladstone,missouri', kind: 'missing', words: words!, email: email! })).status).to.equal(303);
        }
        const confirm = async (decision: string, state: string, language = '') => (await reviewer.post(`${language}/console/reports/confirm`, { decision, state, 'target[]': 'place:gladstone,missouri' })).text;
        expect(await confirm('dismissed', 'open')).to.contain('2 reporters left an address and get a mail five minutes after the decision, unless it is undone.');
        expect(await confirm('accepted', 'open', '/es')).to.contain('2 personas que avisaron dejaron una dirección');
        for (const decision of ['dismissed', 'cleared']) expect(await confirm(decision, 'suspected')).to.contain('[url]x[/url]').and.not.contain('left an address');
      } finally {
        await kit.close();
        box.close();
      }
    });
  });
}
