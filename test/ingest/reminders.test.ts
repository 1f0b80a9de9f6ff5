import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from '../../core/testing.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMailbox, type Mailbox } from '../../plugins/accounts/test/mailbox.ts';
import { openSite, type Site } from '../../plugins/ingest/test/site.ts';
import { consoleKit, type ConsoleKit } from '../console/kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HOUR = 3600_000;
const DAY = 24 * HOUR;

for (const database of testDatabases()) {
  describe(`Mails about failing sources on ${database}`, { timeout: 180_000 }, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let box: Mailbox;
    let kit: ConsoleKit;
    let site: Site;
    let key: string;
    const operator = { role: 'admin' as const, scope: ['workspace:read', 'workspace:write'] };

    const add = async (path: string, headers?: Record<string, string>) => (await kit.request('POST', '/api/watched-sources', { payload: { url: `${site.url}/${path}`, name: path, test: false, ...(!headers && { visibility: 'public' }) }, ...(headers ? { headers } : { as: operator }) })).body.id as string;
    const failing = async () => {
      const [ours, theirs] = await Promise.all([kit.request('GET', '/api/watched-sources?visibility=public&health=failing', { as: operator }), kit.request('GET', '/api/watched-sources?health=failing', { headers: { 'x-api-key': key } })]);
      return ours.body.total + theirs.body.total;
    };
    /** Lets so much time pass, and the jobs run that are due. */
    async function pass(ms: number): Promise<void> {
      clock.advance(ms);
      await sleep(1500);
    }
    /** Without those about new keys. */
    const mailsTo = (address: string) => box.mails.filter((mail) => mail.includes(`To: ${address}`) && /watched sources? fail/.test(mail));

    before(async () => {
      box = await startMailbox();
      site = await openSite();
      kit = await consoleKit({
        database, clock, plugins: ['directory', 'firehose', 'reader', 'workspaces', 'ingest'],
        config: { http: { fetch: { allow_private_addresses: true } }, jobs: { poll_seconds: 0.1 }, plugins: { accounts: { mail: { smtp_url: box.url } }, reader: { delay_seconds: 0 }, ingest: { failing_after: 1 } } },
      });
      await kit.run('account create', { name: 'Ann', role: 'admin', email: 'ann@example.org' });
      const { id } = await kit.run('account create', { name: 'Mo', plan: 'team', email: 'mo@example.org' });
      await kit.run('account create', { name: 'Eve', role: 'reviewer', email: 'eve@example.org' });
      ({ key } = await kit.run('key create', { account: id }));
    });
    after(async () => {
      await kit.close();
      await site.close();
      box.close();
    });

    it('list all of them to administrators, and to members those that they added', async () => {
      await add('gone-1');
      await add('gone-2');
      await add('theirs', { 'x-api-key': key });
      for (let waited = 0; waited < 200 && await failing() < 3; waited++) await sleep(50);
      expect(await failing()).to.equal(3);
      await pass(10 * 60_000);
      const mail = await box.mailTo('ann@example.org', '2 watched sources fail');
      expect(mail).to.contain(['gone-1', 'gone-2', 'responded with the status 404.', '/console/sources']).and.not.contain('theirs');
      expect(await box.mailTo('mo@example.org', 'A watched source fails')).to.contain('theirs').and.match(/\/workspaces\/[\w-]{36}\/sources/).and.not.contain('gone-1');
      expect(mailsTo('eve@example.org')).to.equal([]);
    });

    it('are sent once, and again after a week until the source is fixed', async () => {
      await pass(2 * DAY);
      await pass(4 * DAY);
      expect([mailsTo('ann@example.org').length, mailsTo('mo@example.org').length]).to.equal([1, 1]);
      site.pages['/theirs'] = '<p>The page is back, with a text that is long enough to be read and watched.</p>';
      await pass(23 * HOUR);
      for (let waited = 0; waited < 100 && await failing() > 2; waited++) await sleep(50);
      await pass(2 * HOUR);
      for (let waited = 0; waited < 100 && mailsTo('ann@example.org').length < 2; waited++) await sleep(50);
      expect([mailsTo('ann@example.org').length, mailsTo('mo@example.org').length]).to.equal([2, 1]);
    });

    it('are sent once a day at most, however often sources fail and recover', async () => {
      const counts = () => [mailsTo('ann@example.org').length, mailsTo('mo@example.org').length];
      const { '/theirs': page } = site.pages;
      await add('gone-3');
      for (const isBack of [false, true, false]) {
        if (isBack) site.pages['/theirs'] = page!;
        else delete site.pages['/theirs'];
        clock.advance(HOUR);
        for (let waited = 0; waited < 100 && await failing() !== (isBack ? 3 : 4); waited++) await sleep(50);
        expect(await failing()).to.equal(isBack ? 3 : 4);
        await pass(10 * 60_000);
      }
      expect(counts()).to.equal([2, 2]);
      await pass(DAY);
      for (let waited = 0; waited < 100 && counts().join() !== '3,3'; waited++) await sleep(50);
      expect(counts()).to.equal([3, 3]);
      expect(mailsTo('ann@example.org').at(-1)).to.contain(['gone-1', 'gone-3']);
    });
  });
}
