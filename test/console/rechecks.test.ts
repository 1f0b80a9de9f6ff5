import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from '../../core/testing.ts';
import { consoleKit, until, type ConsoleKit, type Reader } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PAGE = '/console/rechecks';
const OLD = '2020-01-05T00:00:00.000Z';

for (const database of testDatabases()) {
  describe(`Re-checks in the console on ${database}`, { timeout: 60_000 }, () => {
    let kit: ConsoleKit;
    let reviewer: Reader;
    let id = '';
    before(async () => {
      kit = await consoleKit({ database, plugins: ['directory'] });
      const source = { local_id: 's', url: 'https://union.example/contact', title: 'Contact', retrieved_at: OLD };
      const claims = [['name', 'Westside Tenants Union'], ['phone', '+18165550100'], ['description', 'Renters who organize']].map(([property, value]) => ({ property, value, source_local_id: 's' }));
      id = (await kit.request('POST', '/api/entities', { payload: { type: 'organization', visibility: 'public', sources: [source], claims }, as: { role: 'reviewer', scope: ['entities:write'] } })).body.id;
      const jobs = kit.composition.jobs.of('directory');
      const queued = await kit.db.write((tx) => jobs.enqueue(tx, 'directory.rechecks', {}));
      await until(async () => (await jobs.byId(queued))?.state === 'completed');
      reviewer = await kit.signedIn('reviewer');
    });
    after(() => kit.close());

    const actor = async () => (await kit.request('GET', `/api/entities/${id}`)).body;
    /** Sends the form of the first source, as the button with this value does. */
    const press = async (act: string) => {
      const { text } = await reviewer.get(PAGE);
      const action = /action="(\/console\/rechecks\/[^"]+)"/.exec(text)![1]!;
      const fields = [...text.matchAll(/name="statement" value="([^"]+)"/g)].map((match) => match[1]!);
      const token = /name="form_token" value="([^"]*)"/.exec(text)![1]!;
      const payload = new URLSearchParams([['form_token', token], ...fields.map((field): [string, string] => ['statement', field]), ['act', act]]).toString();
      const done = await kit.request('POST', action, { payload, headers: { 'cookie': reviewer.cookie(), 'content-type': 'application/x-www-form-urlencoded', 'accept': 'text/html' } });
      expect(done.status, done.text).to.equal(303);
      return reviewer.get(done.headers.location as string);
    };

    it('are for reviewers, who see the source and its statements', async () => {
      expect((await (await kit.signedIn('user')).get(PAGE)).status).to.equal(403);
      const { text } = await reviewer.get(PAGE);
      expect(text).to.contain('href="https://union.example/contact"').and.contain('<strong>+18165550100</strong>').and.contain('Cited by 1 entry.').and.contain('Renters who organize');
    });

    it('confirm one statement, retract another, and mark the source as broken, each in the audit record', async () => {
      const { text } = await reviewer.get(PAGE);
      const number = (value: string) => [...text.matchAll(/<strong>([^<]+)<\/strong>/g)].findIndex((match) => match[1] === value);
      expect((await press(`confirmed ${number('+18165550100')}`)).text).to.contain('The check was stored.');
      expect((await actor()).claims.find(({ property }: any) => property === 'phone').last_seen_at > OLD).to.be.true();
      const left = (await reviewer.get(PAGE)).text;
      expect(left).to.not.contain('+18165550100');
      const at = [...left.matchAll(/<strong>([^<]+)<\/strong>/g)].findIndex((match) => match[1] === 'Renters who organize');
      expect((await press(`retracted ${at}`)).text).to.contain('The statement was retracted.');
      expect((await actor()).description).to.be.null();
      expect((await press('broken')).text).to.contain('The source was marked as broken.').and.contain('There is nothing to check.');
      expect((await actor()).sources[0].url_status).to.equal('broken');
      const audited = await kit.db.read('accounts_audit').where('kind', 'like', 'directory_recheck%').orderBy('seq').select('kind', 'account_id');
      expect(audited.map(({ kind, account_id }) => [kind, account_id])).to.equal(['confirmed', 'retracted', 'broken'].map((outcome) => [`directory_recheck_${outcome}`, reviewer.id]));
    });
  });
}
