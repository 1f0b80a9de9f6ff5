import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from '../../core/testing.ts';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { consoleKit, section, until, type ConsoleKit, type Reader } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`Backups in the console on ${database}`, () => {
    let kit: ConsoleKit;
    let admin: Reader;
    let folder: string;
    before(async () => {
      kit = await consoleKit({ database, config: { plugins: { console: { backups_kept: 2 } } } });
      admin = await kit.signedIn('admin');
      folder = join(kit.composition.config.data_dir, 'backups');
    });
    after(() => kit.close());

    const jobs = () => kit.db.read('core_jobs').where({ name: 'console.backup' }).orderBy('key').select('state', 'error');
    const backUp = async (): Promise<void> => {
      await admin.post('/console/backups');
      await until(async () => (await jobs()).every(({ state }) => state === 'completed' || state === 'failed'));
    };
    const listed = async (): Promise<string[]> => [...(await admin.get('/console/backups')).text.matchAll(/<code>(\d{4}-[^<]+)<\/code>/g)].map((match) => match[1]!);
    const tryDownload = (name: string) => admin.get(`/console/backups/${name}/file`);
    const sessions = (change: object) => kit.db.write((tx) => tx('accounts_sessions').update(change));

    it('asks for the first one, and makes one although it is asked for twice', async () => {
      expect(section(await admin.get('/console'), 'attention')).to.contain(['No backup was created yet', 'action="/console/backups"']);
      const answers = await Promise.all([admin.post('/console/backups'), admin.post('/console/backups')]);
      expect(answers.map(({ status }) => status)).to.equal([303, 303]);
      await until(async () => (await jobs())[0]?.state === 'completed');
      expect(await jobs()).to.equal([{ state: 'completed', error: null }]);
      expect(await listed()).to.have.length(1);
      expect(section(await admin.get('/console'), 'attention')).to.not.contain('backup');
      const about = (await admin.get('/console/backups')).text;
      expect(about).to.match(/0\.\d MB, \d+ rows, version 0\.1\.0/).and.contain('bin/civic restore');
    });

    it('sends it as a tar file of the stated size, and records that', async () => {
      const [name] = await listed();
      const begun = await admin.post(`/console/backups/${name}/download`);
      expect([begun.status, begun.headers.location]).to.equal([303, `/console/backups?download=${name}`]);
      const page = await admin.get(begun.headers.location as string);
      expect([page.headers.refresh, page.text.includes(`href="/console/backups/${name}/file"`)]).to.equal([`0; url=/console/backups/${name}/file`, true]);
      const file = await tryDownload(name!);
      expect([file.status, file.headers['content-type'], file.headers['content-disposition'], file.headers['cache-control']]).to.equal([200, 'application/x-tar', `attachment; filename="${name}.tar"`, 'private, no-store']);
      const { rawPayload } = await kit.server.inject({ method: 'GET', url: `/console/backups/${name}/file`, headers: { cookie: admin.cookie() } });
      expect([rawPayload.length, rawPayload.length % 512]).to.equal([Number(file.headers['content-length']), 0]);
      expect(rawPayload.toString('latin1')).to.contain([`${name}/manifest.json`, `${name}/config.yaml`, `${name}/tables/accounts_people.ndjson.gz`]);
      const recorded = await kit.db.read('accounts_audit').where({ kind: 'console_backup_downloaded' }).select('account_id', 'detail');
      expect([recorded[0].account_id, JSON.parse(recorded[0].detail)]).to.equal([admin.id, { name: `${name}.tar` }]);
    });

    it('sends nothing to an administrator who has not authenticated lately', async () => {
      const [name] = await listed();
      await sessions({ confirmed_at: new Date(Date.now() - 11 * 60_000).toISOString() });
      const asked = await admin.post(`/console/backups/${name}/download`);
      expect([asked.status, asked.text.includes('confirm_secret')]).to.equal([403, true]);
      const file = await tryDownload(name!);
      expect([file.status, file.headers.location]).to.equal([303, '/console/backups?done=confirm_again']);
      await sessions({ confirmed_at: new Date().toISOString() });
    });

    it('sends no other file', async () => {
      const [name] = await listed();
      const before = await kit.db.read('accounts_audit').where({ kind: 'console_backup_downloaded' });
      mkdirSync(join(folder, 'notes'));
      writeFileSync(join(folder, 'notes', 'manifest.json'), '{}');
      writeFileSync(join(folder, '..', 'manifest.json'), readFileSync(join(folder, name!, 'manifest.json')));
      renameSync(join(folder, name!), join(folder, `${name}.partial`));
      for (const one of ['..', '%2e%2e', '..%2f..%2fetc%2fpasswd', '%2fetc%2fpasswd', `x%2f..%2f${name}`, `${name}.partial`, 'notes', 'civic.db', '%00', 'a'.repeat(300), `${name}%2fmanifest.json`]) {
        const { status, text } = await tryDownload(one);
        expect([one, [400, 404].includes(status), /tables|root:|SQLite format/.test(text)]).to.equal([one, true, false]);
        expect((await admin.post(`/console/backups/${one}/download`)).status, one).to.be.above(399);
      }
      expect(await listed()).to.equal([]);
      renameSync(join(folder, `${name}.partial`), join(folder, name!));
      rmSync(join(folder, '..', 'manifest.json'));
      expect(await kit.db.read('accounts_audit').where({ kind: 'console_backup_downloaded' })).to.have.length(before.length);
    });

    it('keeps as many as configured, and every backup of the command line', async () => {
      const [first] = await listed();
      const other = first!.replace('-console', '');
      mkdirSync(join(folder, other));
      for (const file of ['manifest.json', 'config.yaml']) writeFileSync(join(folder, other, file), readFileSync(join(folder, first!, file)));
      await backUp();
      await backUp();
      const names = await listed();
      expect([names.length, names.includes(other), names.includes(first!)]).to.equal([3, true, false]);
      rmSync(join(folder, other), { recursive: true });
    });

    it('asks for another one after a week', async () => {
      for (const name of await listed()) {
        const file = join(folder, name, 'manifest.json');
        writeFileSync(file, readFileSync(file, 'utf8').replace(/"created_at": "[^"]+"/, `"created_at": "${new Date(Date.now() - 9.5 * 86_400_000).toISOString()}"`));
      }
      expect(section(await admin.get('/console'), 'attention')).to.contain('The last backup is 9 days old');
      expect(section(await admin.get('/es/console'), 'attention')).to.contain('La última copia de seguridad tiene 9 días');
    });

    it('shows why one failed, leaves nothing behind and can be tried again', async () => {
      const aside = `${folder}-aside`;
      renameSync(folder, aside);
      writeFileSync(folder, 'a file where a folder is expected');
      await backUp();
      const page = await admin.get('/console/backups');
      expect(page.text).to.contain(['The last backup failed.', 'nothing was left behind']);
      expect(section(await admin.get('/console'), 'attention')).to.contain(['The backup failed', 'nothing was left behind']);
      rmSync(folder);
      renameSync(aside, folder);
      mkdirSync(join(folder, '2026-01-01T00-00-00-000-console.partial', 'tables'), { recursive: true });
      const retry = /\/console\/jobs\/[\w-]+\/retry/.exec((await admin.get('/console')).text)![0];
      await admin.post(retry, { from: 'home' });
      await until(async () => (await jobs()).every(({ state }) => state === 'completed'));
      expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).to.equal([]);
      expect(section(await admin.get('/console'), 'attention')).to.not.contain('backup');
    });

    it('shows how far a backup is while it runs', async () => {
      await kit.db.write((tx) => tx('core_jobs').where({ key: tx('core_jobs').where({ name: 'console.backup' }).max('key') }).update({ state: 'pending', run_at: '2099-01-01T00:00:00.000Z', done: 30, total: 60 }));
      const page = await admin.get('/console/backups');
      expect(page.text).to.contain(['data-backups="running"', 'A backup is being created.', 'value="50"']).and.not.contain('Back up now');
      expect((await admin.post('/console/backups')).headers.location).to.equal('/console/backups?done=backup_running');
      expect(existsSync(folder)).to.be.true();
    });
  });
}
