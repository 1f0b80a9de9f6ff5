import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from '../../core/testing.ts';
import { consoleKit, flakyPlugin, SECRET, section, until, type ConsoleKit, type Reader } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`The console on ${database}`, () => {
    const { plugin, state } = flakyPlugin();
    let kit: ConsoleKit;
    let admin: Reader;
    before(async () => {
      kit = await consoleKit({ database, plugins: [plugin] });
      admin = await kit.signedIn('admin');
    });
    after(() => kit.close());

    const failJob = async (key?: string): Promise<string> => {
      state.fails = true;
      const { body } = await kit.request('POST', '/api/flaky', { payload: key ? { key } : {} });
      await until(async () => (await kit.db.read('core_jobs').where({ id: body.id }).first('state')).state === 'failed');
      return body.id as string;
    };
    const kinds = async (): Promise<string[]> => (await kit.db.read('accounts_audit').orderBy('seq').pluck('kind')) as string[];

    it('is for administrators alone, and is never stored', async () => {
      const job = await failJob();
      const reads = ['/console', '/es/console', '/console/jobs', '/console/backups', '/console/backups/x/file', '/console/audit'];
      const writes = ['/console/backups', `/console/jobs/${job}/retry`, `/console/jobs/${job}/discard`, '/console/events/flaky/retry', '/console/backups/x/download'];
      const before = await kinds();
      for (const role of ['user', 'reviewer'] as const) {
        const member = await kit.signedIn(role);
        for (const path of reads) {
          const response = await member.get(path);
          expect([path, response.status, response.text.includes('flaky.work'), response.headers['cache-control']]).to.equal([path, 403, false, 'no-store']);
        }
        for (const path of writes) expect([path, (await member.post(path)).status]).to.equal([path, 403]);
      }
      for (const path of reads) expect((await kit.visitor().get(path)).headers.location, path).to.match(/\/sign-in\?next=/);
      for (const path of writes) expect((await kit.visitor().post(path)).headers.location, path).to.match(/\/sign-in\?next=/);
      expect((await kit.db.read('core_jobs').where({ id: job }).first('state')).state).to.equal('failed');
      expect(await kit.db.read('core_jobs').where({ name: 'console.backup' })).to.equal([]);
      expect((await kinds()).filter((kind) => kind.startsWith('console_'))).to.equal(before.filter((kind) => kind.startsWith('console_')));
      for (const path of ['/console', '/console/jobs', '/console/backups', '/console/audit']) expect((await admin.get(path)).headers['cache-control'], path).to.equal('private, no-store');
      await admin.post(`/console/jobs/${job}/discard`);
    });

    it('rejects forms of other sites', async () => {
      const job = await failJob();
      expect((await admin.post(`/console/jobs/${job}/retry`, { form_token: 'forged' })).status).to.equal(403);
      expect((await kit.db.read('core_jobs').where({ id: job }).first('state')).state).to.equal('failed');
      await admin.post(`/console/jobs/${job}/discard`);
    });

    it('shows a failed job without its payload and with secrets masked, and retries it', async () => {
      const job = await failJob();
      for (const path of ['/console', '/console/jobs']) {
        const { text } = await admin.get(path);
        expect(text).to.contain(['flaky.work', 'Sending with [masked] to smtp://[masked]@mail.example.org', `/console/jobs/${job}/retry`]);
        for (const secret of [SECRET, 'pw1234', 'payload-secret', 'x'.repeat(20), '<script>alert']) expect(text.includes(secret), `${path} ${secret}`).to.be.false();
      }
      state.fails = false;
      const retried = await admin.post(`/console/jobs/${job}/retry`, { from: 'home' });
      expect([retried.status, retried.headers.location]).to.equal([303, '/console?done=retried']);
      await until(async () => (await kit.db.read('core_jobs').where({ id: job }).first('state')).state === 'completed');
      expect(await kit.db.read('core_jobs').where({ id: job }).first('attempts', 'error')).to.equal({ attempts: 1, error: null });
      expect(section(await admin.get('/console'), 'attention')).to.not.contain('flaky.work');
      expect((await admin.post(`/console/jobs/${job}/retry`)).headers.location).to.equal('/console/jobs?done=not_failed');
      for (const id of ['nothing', '01890000-0000-7000-8000-000000000000']) expect((await admin.post(`/console/jobs/${id}/retry`)).headers.location).to.equal('/console/jobs?done=not_failed');
      expect((await kinds()).filter((kind) => kind === 'console_job_retried').length).to.equal(1);
    });

    it('does not retry a job while another one with its key waits or runs', async () => {
      const job = await failJob('one');
      await kit.db.write(async (tx) => {
        const row = await tx('core_jobs').where({ id: job }).first('*');
        await tx('core_jobs').insert({ ...row, key: undefined, id: '01890000-0000-7000-8000-00000000000a', state: 'pending', run_at: '2099-01-01T00:00:00.000Z', finished_at: null, cancel_requested: false, error: null, attempts: 0 });
      });
      expect((await admin.post(`/console/jobs/${job}/retry`)).headers.location).to.equal('/console/jobs?done=underway');
      await kit.db.write((tx) => tx('core_jobs').where({ unique_key: 'one' }).delete());
    });

    it('leaves out a run of a schedule that failed before another one succeeded', async () => {
      const job = await failJob('schedule');
      expect((await admin.get('/console/jobs')).text).to.contain(job);
      state.fails = false;
      const { body } = await kit.request('POST', '/api/flaky', { payload: { key: 'schedule' } });
      await until(async () => (await kit.db.read('core_jobs').where({ id: body.id }).first('state')).state === 'completed');
      expect((await admin.get('/console/jobs')).text).to.not.contain(job);
    });

    it('deletes a failed job', async () => {
      const job = await failJob();
      expect((await admin.post(`/console/jobs/${job}/discard`)).headers.location).to.equal('/console/jobs?done=discarded');
      expect(await kit.db.read('core_jobs').where({ id: job })).to.equal([]);
      expect((await admin.get('/console/jobs?done=discarded')).text).to.contain('The failed job is deleted.');
      expect((await admin.get('/console/jobs?done=<b>')).text).to.not.contain('<b>');
    });

    it('shows entries of plugins, also while one of them fails', async () => {
      state.attention = 'one';
      expect(section(await admin.get('/es/console'), 'attention')).to.contain(['The &lt;b&gt;roof&lt;/b&gt; leaks (es)', 'Since today.', 'href="/es/roof"']);
      state.attention = 'throws';
      const shown = section(await admin.get('/console'), 'attention');
      expect(shown).to.contain(['flaky could not report', 'smtp://[masked]@mail.example.org']).and.not.contain(SECRET);
      state.attention = 'none';
    });

    it('shows the delivery of events that stopped, and resumes it', async () => {
      await kit.db.write((tx) => tx('core_event_positions').where({ plugin: 'flaky' }).update({ attempts: 12, failed_seq: 7, error: `not with ${SECRET}`, stopped_at: new Date().toISOString() }));
      const { text } = await admin.get('/console');
      expect(text).to.contain(['flaky no longer receives events', 'not with [masked]', '/console/events/flaky/retry']);
      expect((await admin.post('/console/events/flaky/retry', { from: 'home' })).headers.location).to.equal('/console?done=events_retried');
      expect((await admin.get('/console')).text).to.not.contain('no longer receives events');
      expect((await admin.post('/console/events/nothing/retry')).headers.location).to.equal('/console/jobs?done=not_failed');
    });

    it('shows plugins with their state and version, jobs with their next run, accounts and the audit record', async () => {
      const home = await admin.get('/console');
      const plugins = section(home, 'plugins').replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
      expect(plugins).to.match(/console The console of administrators.* Ready 0\.1\.0/).and.match(/site Off/).and.match(/flaky A job that fails/);
      expect(section(home, 'now')).to.match(/\d+ accounts, \d administrators, 0 disabled/);
      expect(section(home, 'audit')).to.contain('A failed job was deleted').and.contain('href="/console/audit"');
      expect((await admin.get('/console/jobs')).text).to.contain(['console.prune', 'every day', 'core.prune_jobs', 'every hour']);
      const audit = await admin.get('/console/audit');
      expect(audit.text).to.contain(['A failed job was retried', 'A admin', 'The account was created']);
    });

    it('is in Spanish', async () => {
      const { text } = await admin.get('/es/console');
      expect(text).to.contain(['Requiere atención', 'Actividad', 'Solicitudes', 'Errores del servidor', 'Complementos', 'Listo', 'lang="es"']);
    });

    it('plots requests, errors and jobs, each with its numbers as a table', async () => {
      await kit.request('GET', '/api/flaky/broken');
      for (const [path, bars] of [['/console', 30], ['/console?span=day', 24]] as const) {
        const plots = section(await admin.get(path), 'activity').split('<figure').slice(1);
        expect(plots.map((plot) => /<h3>([^<]+)/.exec(plot)![1])).to.equal(['Requests', 'Server errors', 'Jobs']);
        const [requests, errors, jobs] = plots.map((plot) => Number(/<strong>([\d,]+)/.exec(plot)![1]!.replace(',', '')));
        expect([requests! > 20, errors, jobs! > 5]).to.equal([true, 1, true]);
        for (const plot of plots) expect((plot.match(/<th scope="row">/g) ?? []).length).to.equal(bars);
        expect(plots[0]).to.match(/role="img" aria-label="Requests from .+ in total, at most/).and.contain('<rect class="bar"');
        expect(plots[2]).to.contain('<rect class="failed"');
      }
      expect((await admin.get('/console?span=%3Cb%3E')).text).to.contain('aria-current="true">30 days');
    });
  });
}
