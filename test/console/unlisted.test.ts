import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from '../../core/testing.ts';
import { consoleKit, type ConsoleKit, type Reader } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PAGE = '/console/unlisted';
const ADA = { name: 'Ada Brandt', place: 'Kansas City, MO', email: 'ada@harvest.example.org', reference: 'Letter 7' };

for (const database of testDatabases()) {
  describe(`Unlisted people in the console on ${database}`, { timeout: 60_000 }, () => {
    let kit: ConsoleKit;
    let admin: Reader;
    let id = '';
    before(async () => {
      kit = await consoleKit({ database, plugins: ['directory'] });
      admin = await kit.signedIn('admin');
      const source = { local_id: 's', url: 'https://harvest.example.org/' };
      const claims = [['name', 'Ada Brandt'], ['place', 'kansas-city,missouri']].map(([property, value]) => ({ property, value, source_local_id: 's' }));
      const made = await kit.request('POST', '/api/entities', { payload: { type: 'person', visibility: 'public', sources: [source], claims }, as: { role: 'reviewer', scope: ['entities:write'] } });
      id = made.body.id;
    });
    after(() => kit.close());

    const audited = async () => (await kit.db.read('accounts_audit').where('kind', 'like', 'directory_unlisted%').orderBy('seq').select('kind', 'account_id', 'detail')).map((row) => [row.kind, row.account_id]);

    it('are kept by administrators only', async () => {
      for (const who of ['reviewer', 'user'] as const) {
        const other = await kit.signedIn(who);
        expect((await other.get(PAGE)).status, who).to.equal(403);
        expect((await other.post(PAGE, ADA)).status, who).to.equal(403);
      }
      expect((await admin.get('/console')).text).to.contain(`href="${PAGE}"`);
    });

    it('are not added without what recognizes them', async () => {
      const refused = await admin.post(PAGE, { name: 'Ada Brandt' });
      expect([refused.status, refused.text.includes('A name needs a place.'), refused.text.includes('value="Ada Brandt"')]).to.equal([400, true, true]);
    });

    it('are added with the entries that match, which one button deletes', async () => {
      const added = await admin.post(PAGE, ADA);
      expect(added.text).to.contain('The person was added to the register.').and.contain('1 public entry matches').and.contain(`value="${id}" checked`);
      const action = /action="(\/console\/unlisted\/[^"]+\/delete-matches)"/.exec(added.text)![1]!;
      const deleted = await admin.post(action, { actor: id });
      expect((await admin.get(deleted.headers.location as string)).text).to.contain('1 entry was deleted.');
      expect((await kit.request('GET', `/api/entities/${id}`)).status).to.equal(404);
    });

    it('are listed without names, and removed', async () => {
      const { text } = await admin.get(PAGE);
      expect(text).to.contain('1 person is in the register').and.contain('Letter 7').and.contain('in kansas-city,missouri').and.not.contain('Brandt');
      const removed = await admin.post(/action="(\/console\/unlisted\/[^"]+\/remove)"/.exec(text)![1]!);
      expect((await admin.get(removed.headers.location as string)).text).to.contain('The entry was removed.').and.contain('The register is empty');
    });

    it('leave a trace of each step in the audit record, without names', async () => {
      expect(await audited()).to.equal(['added', 'deleted', 'removed'].map((step) => [`directory_unlisted_${step}`, admin.id]));
      expect(JSON.stringify(await kit.db.read('accounts_audit').where('kind', 'like', 'directory_unlisted%').select('*'))).to.not.contain('Brandt');
    });
  });
}
