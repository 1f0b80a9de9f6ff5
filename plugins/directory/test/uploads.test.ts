import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness, stoppedClock, testDatabases } from 'civic/testing';
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { directoryKit, type DirectoryKit } from './kit.ts';
import { upload } from './transfer.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const CSV = 'actor_id,actor_type,property,value,source_url\n';
const row = (id: number) => `0f0e0d0c-0000-4000-8000-${String(id).padStart(12, '0')},organization,name,Number ${id},https://a.example/${id}\n`;

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 60_000 * slowness; !(await condition());) {
    if (performance.now() > end) throw new Error(`Waited in vain: ${what}`);
    await sleep(20);
  }
}

for (const database of testDatabases()) {
  describe(`An upload on ${database}`, { timeout: 120_000 }, () => {
    const clock = stoppedClock('2026-02-01T12:00:00.000Z');
    let kit: DirectoryKit;
    let folder: string;
    before(async () => {
      kit = await directoryKit({ database, clock, listen: true, config: { jobs: { poll_seconds: 0.1 }, plugins: { directory: { uploads: { active: 2, kept: 3 } } } } });
      folder = join(kit.composition.config.data_dir, 'imports');
    });
    after(() => kit.close());

    const files = (ending: string) => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(ending)) : []);
    const send = (body: string, who = 'editor', headers: Record<string, string> = {}) => kit.send('POST', '/api/imports?format=csv', body, who, { 'content-type': 'text/csv', ...headers });
    const recordOf = async (id: string) => (await kit.get(`/api/imports/${id}`, 'editor')).body;
    const rename = (from: string, to: string) => kit.db.write((tx) => tx.schema.renameTable(from, to));

    /** Runs with a table missing: every attempt of an import fails, as by a fault of the server. */
    async function whileBroken(work: () => Promise<void>): Promise<void> {
      await rename('directory_origins', 'directory_origins_away');
      try {
        await work();
      } finally {
        await rename('directory_origins_away', 'directory_origins');
      }
    }

    it('that fails for good ends as failed, says what is stored, and its file is deleted', async () => {
      await whileBroken(async () => {
        const { body: { id } } = await send(CSV + row(1));
        await until('the end', async () => {
          clock.advance(3600_000);
          return (await recordOf(id)).state === 'failed';
        });
        const { error, finished_at } = await recordOf(id);
        expect(error).to.equal({ code: 'import_failed', detail: 'The server could not finish this import. The first 0 rows of the file are imported; send the file again to import the rest.' });
        expect(finished_at).to.be.a.string();
        await until('the file is gone', async () => files('.upload').length === 0);
      });
      expect((await upload(kit, 'format=csv', CSV + row(1), 'editor', 'text/csv')).body).to.include({ state: 'completed', error: null });
    });

    it('whose job ended without it is ended by the sweep, as are files that belong to none', async () => {
      // As a process leaves it that died with its job: nothing of the job is left, and the row says that it runs.
      const { key: _key, ...done } = await kit.db.read('directory_imports').where({ state: 'completed' }).first('*');
      const id = '01990000-0000-7000-8000-000000000003';
      await kit.db.write((tx) => tx('directory_imports').insert({ ...done, may_change_public: true, joins: true, id, state: 'running', finished_at: null, job_id: '01990000-0000-7000-8000-0000000000ff', path: join(folder, `${id}.upload`) }));
      writeFileSync(join(folder, `${id}.upload`), CSV + row(2));
      const orphan = join(folder, '01990000-0000-7000-8000-000000000001.upload');
      const arriving = join(folder, '01990000-0000-7000-8000-000000000002.upload');
      for (const path of [orphan, arriving]) writeFileSync(path, 'x');
      utimesSync(orphan, 1, 1);
      clock.advance(600_000);
      await until('the sweep', async () => (await recordOf(id)).state === 'failed' && !existsSync(orphan) && files('.upload').length === 1);
      expect((await recordOf(id)).error.code).to.equal('import_failed');
      expect(existsSync(arriving)).to.be.true();
      utimesSync(arriving, 1, 1);
      clock.advance(600_000);
      await until('the second sweep', async () => files('.upload').length === 0);
    });

    it('is one of few at the same time for each account, and the 429 says what to do', async () => {
      await whileBroken(async () => {
        const ids = [];
        for (const number of [3, 4]) {
          const { status, body } = await send(CSV + row(number));
          expect(status).to.equal(202);
          ids.push(body.id);
        }
        const refused = await send(CSV + row(5), 'member');
        expect([refused.status, refused.body.code]).to.equal([429, 'too_many_imports']);
        expect(refused.body.detail).to.equal('2 of your imports wait or run, and an account may have 2 at the same time.');
        expect(refused.headers).to.include({ 'retry-after': '10', 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(clock.now() / 1000 + 10) });
        expect((await send(CSV + row(6), 'stranger')).status).to.equal(202);
        expect(files('.upload').length).to.equal(3);
      });
      await until('the end of all', async () => {
        clock.advance(60_000);
        return (await kit.db.read('directory_imports').whereIn('state', ['pending', 'running'])).length === 0;
      });
      expect((await send(CSV + row(5))).status).to.equal(202);
    });

    it('keeps the reports of the last few imports of an account', async () => {
      for (const number of [7, 8, 9, 10]) await upload(kit, 'format=csv', `${CSV}${row(number)}x,y\n`, 'editor', 'text/csv');
      const kept = await kit.db.read('directory_imports').where({ account_id: '01890000-0000-7000-8000-000000000001' }).orderBy('key').pluck('id');
      expect(kept.length).to.equal(3);
      await until('the files of others are gone', async () => files('.rejects.ndjson').every((name) => kept.some((id) => name.startsWith(String(id)))));
    });

    it('is replayed with the same Idempotency-Key and body, and refused with another body', async () => {
      const key = { 'idempotency-key': 'once' };
      const first = await send(CSV + row(11), 'editor', key);
      expect(first.status).to.equal(202);
      const again = await send(CSV + row(11), 'editor', key);
      expect([again.status, again.body, again.headers['idempotency-replayed'], again.headers.location]).to.equal([202, first.body, 'true', first.headers.location]);
      expect(first.headers['idempotency-replayed']).to.be.undefined();
      const other = await send(CSV + row(12), 'editor', key);
      expect([other.status, other.body.code]).to.equal([409, 'idempotency_key_reused']);
      const query = await kit.send('POST', '/api/imports?format=csv&join=true', CSV + row(11), 'editor', { 'content-type': 'text/csv', ...key });
      expect(query.body.code).to.equal('idempotency_key_reused');
      expect((await send(CSV + row(12), 'stranger', key)).status).to.equal(202);
      await until('the end of all', async () => (await kit.db.read('directory_imports').whereIn('state', ['pending', 'running'])).length === 0);
      expect(await kit.db.read('directory_records').where({ id: '0f0e0d0c-0000-4000-8000-000000000011' })).to.have.length(1);
      await until('no file is left', async () => files('.upload').length === 0);
    });

    it('needs a Content-Type that it knows', async () => {
      for (const type of [undefined, 'application/x-www-form-urlencoded', 'image/png']) {
        const { status, body, accept } = await post(type, CSV + row(13));
        expect([status, body.code], type).to.equal([415, 'unsupported_media_type']);
        expect(accept).to.contain('text/csv, application/json');
      }
      for (const type of ['text/csv', 'text/csv; charset=utf-8', 'application/octet-stream']) expect((await post(type, '')).body.detail).to.equal('The body is empty: send the file itself.');
      expect((await post(undefined, '')).status).to.equal(400);
    });

    it('that is too large gets its response, also without a length', async () => {
      const { status, body } = await post('text/csv', Buffer.alloc(34 * 1024 * 1024, 'a'), { 'transfer-encoding': 'chunked' });
      expect([status, body.code]).to.equal([413, 'body_too_large']);
      const zipped = await post('text/csv', 'no gzip', { 'content-encoding': 'gzip' });
      expect([zipped.status, zipped.body.code]).to.equal([400, 'malformed_body']);
      const refused = await post('text/csv', 'no gzip', { 'content-encoding': 'gzip', 'x-api-key': 'reader' });
      expect(refused.status).to.equal(403);
      expect((await post('text/csv', Buffer.alloc(100_000, 'no gzip'), { 'content-encoding': 'gzip' }, 'format=none')).status).to.equal(400);
      await until('no file is left', async () => files('.upload').length === 0);
      expect((await kit.get('/health')).status).to.equal(200);
    });

    /** Over a socket: a client may leave Content-Type out, and sees whether the connection is cut. */
    function post(type: string | undefined, body: string | Buffer, headers: Record<string, string> = {}, query = 'format=csv'): Promise<{ status: number; body: any; accept: string | undefined }> {
      return new Promise((done, failed) => {
        const all = { 'x-api-key': 'editor', ...(type && { 'content-type': type }), ...(headers['transfer-encoding'] ? {} : { 'content-length': String(body.length) }), ...headers };
        const sent = httpRequest(`${kit.url}/api/imports?${query}`, { method: 'POST', headers: all, agent: false }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (piece: string) => { text += piece; });
          response.on('end', () => done({ status: response.statusCode!, body: JSON.parse(text), accept: response.headers['accept-post'] as string | undefined }));
        });
        sent.on('error', failed);
        sent.end(body);
      });
    }
  });
}
