import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock, testDatabases } from 'civic/testing';
import { clampTimes } from '../migrations/009_workspace_sources.ts';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';
import { runCommand, upload } from './transfer.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const NOW = '2026-05-01T12:00:00.000Z';
const SOON = '2026-05-01T12:04:00.000Z';
const LATER = '2026-05-01T12:06:00.000Z';
const TOMORROW = '2026-05-02T11:00:00.000Z';
const AFTER_TOMORROW = '2026-05-02T13:00:00.000Z';
const NEVER = '9999-01-01T00:00:00.000Z';

for (const database of testDatabases()) {
  describe(`Times in the future on ${database}`, { timeout: 60_000 }, () => {
    const clock = stoppedClock(NOW);
    let kit: DirectoryKit;
    before(async () => { kit = await directoryKit({ database, clock }); });
    after(() => kit.close());

    const cited = (url: string, source: object, name = 'Cites') => ({ ...actorPayload({ name, url }), sources: [{ local_id: 's', url, ...source }] });

    it('are refused of sources, but for a clock that is a little ahead', async () => {
      for (const source of [{ retrieved_at: NEVER }, { retrieved_at: LATER }, { published_at: AFTER_TOMORROW }]) {
        const [member] = Object.keys(source);
        const created = await kit.send('POST', '/api/entities', cited('https://example.org/future', source), 'reviewer');
        expect([created.status, created.body.code, created.body.errors[0].pointer]).to.equal([400, 'invalid_request', `/sources/0/${member}`]);
        expect(created.body.detail).to.include('in the future');
        const own = await kit.send('POST', '/api/entities', { ...cited('https://example.org/future', source), visibility: 'workspace' }, 'member');
        expect(own.status).to.equal(400);
      }
      for (const source of [{ retrieved_at: SOON }, { published_at: TOMORROW }]) expect((await kit.send('POST', '/api/entities', cited('https://example.org/soon', source), 'reviewer')).status).to.equal(201);
    });

    it('are refused of sources that a patch adds', async () => {
      const { body } = await kit.send('POST', '/api/entities', actorPayload({ name: 'Patched' }), 'reviewer');
      const patch = { sources: [{ local_id: 's', url: 'https://example.org/p', retrieved_at: NEVER }], add: [{ property: 'phone', value: '816-555-0100', source_local_id: 's' }] };
      const { status, body: refused } = await kit.send('PATCH', `/api/entities/${body.id}`, patch, 'reviewer');
      expect([status, refused.errors[0].pointer]).to.equal([400, '/sources/0/retrieved_at']);
    });

    it('are right for what is yet to happen', async () => {
      const meeting = actorPayload({ type: 'event', name: 'Meeting to come', event_start: '2027-01-01T00:00:00Z', event_end: '2027-01-01T02:00:00Z' });
      meeting.claims.push({ property: 'phone', value: '816-555-0100', source_local_id: 's', excerpt: 'x', locator: { start: 0, end: 1 }, expires_at: NEVER } as never);
      const { status, text } = await kit.send('POST', '/api/entities', meeting, 'reviewer');
      expect(status, text).to.equal(201);
    });

    it('spoil their own row of an import', async () => {
      const line = ({ claim = {}, source = {}, ...draft }: { claim?: object; source?: object; [member: string]: unknown }) => JSON.stringify({
        type: 'organization', sources: [{ id: 'a', url: 'https://example.org/rows', ...source }], claims: [{ property: 'name', value: 'Row', source_id: 'a', ...claim }], ...draft,
      });
      const id = '01890000-0000-7000-8000-0000000000cc';
      const lines = [
        line({ source: { retrieved_at: NEVER } }), line({ source: { published_at: NEVER } }), line({ claim: { last_seen_at: NEVER } }), line({ claim: { first_seen_at: NEVER } }),
        line({ id, created_at: NOW, updated_at: NEVER }), line({ id, created_at: NEVER, updated_at: NOW }), line({ claim: { expires_at: NEVER } }),
      ];
      const { body } = await upload(kit, 'format=ndjson&visibility=public', lines.join('\n'), 'reviewer');
      expect(body.counts).to.include({ created: 1, rejected: 6 });
      expect(body.faults.map(({ detail }: { detail: string }) => detail)).to.equal([
        '/sources/0/retrieved_at', '/sources/0/published_at', '/claims/0/last_seen_at', '/claims/0/first_seen_at', '/updated_at', '/created_at',
      ].map((pointer) => `${pointer}: ${NEVER} is in the future`));
    });

    it('are refused of judgements that an import brings', async () => {
      const ids: string[] = [];
      for (const name of ['Judged left', 'Judged right']) ids.push((await kit.send('POST', '/api/entities', actorPayload({ name }), 'reviewer')).body.id);
      const [left_id, right_id] = ids;
      const judgement = { id: '01890000-0000-7000-8000-0000000000ee', left_id, right_id, verdict: 'same', at: NEVER };
      const { body } = await upload(kit, 'format=ndjson&visibility=public', JSON.stringify({ judgement }), 'reviewer');
      expect(body.counts, JSON.stringify(body)).to.include({ created: 0, rejected: 1 });
      expect((await kit.get(`/api/entities/${left_id}`)).status).to.equal(200);
    });

    it('of an earlier version become the time of the update', async () => {
      const url = 'https://example.org/clamped';
      const { body } = await kit.send('POST', '/api/entities', { ...cited(url, {}, 'Clamped'), claims: [...actorPayload({ name: 'Clamped', place: 'kansas-city,missouri' }).claims] }, 'reviewer');
      const record = kit.db.read('directory_records').where({ id: body.id });
      await kit.db.write(async (tx) => {
        const [{ key }] = await tx('directory_records').where({ id: body.id }).select('key');
        await tx('directory_records').where({ key }).update({ created_at: NEVER, updated_at: NEVER });
        await tx('directory_claims').where({ record_key: key }).update({ first_seen_at: NEVER, last_seen_at: NEVER });
        await tx('directory_sources').where({ url }).update({ retrieved_at: NEVER, published_at: NEVER });
        await tx('directory_place_sources').update({ retrieved_at: NEVER });
        await clampTimes(tx, NOW);
      });
      expect(await record.clone().first('created_at', 'updated_at')).to.equal({ created_at: NOW, updated_at: NOW });
      expect(await kit.db.read('directory_sources').where({ url }).first('retrieved_at', 'published_at')).to.equal({ retrieved_at: NOW, published_at: null });
      for (const [table, column] of [['directory_claims', 'last_seen_at'], ['directory_claims', 'first_seen_at'], ['directory_place_sources', 'retrieved_at']] as const) {
        expect(await kit.db.read(table).where(column, NEVER).select(column), table).to.equal([]);
      }
      // The job that derives actors again begins with it.
      expect((await kit.db.read('directory_actors').where({ id: body.id }).first('expires_at')).expires_at < NOW).to.be.true();
    });

    it('that were stored by a clock ahead keep nothing fresh', async () => {
      const url = 'https://example.org/ahead';
      const { body } = await kit.send('POST', '/api/entities', { ...cited(url, { title: 'Old' }, 'Ahead'), type: 'organization' }, 'reviewer');
      await kit.db.write(async (tx) => {
        await tx('directory_sources').where({ url }).update({ retrieved_at: NEVER });
        const [{ key }] = await tx('directory_records').where({ id: body.id }).select('key');
        await tx('directory_claims').where({ record_key: key }).update({ last_seen_at: NEVER });
      });
      await runCommand(kit, 'directory rebuild', []);
      const again = await kit.send('POST', '/api/entities', cited(url, { title: 'New', retrieved_at: '2026-05-01T12:02:00.000Z' }, 'Again'), 'reviewer');
      expect(again.body.sources[0]).to.include({ title: 'New', retrieved_at: '2026-05-01T12:02:00.000Z' });
      const daysOf = (id: string) => kit.db.read('directory_actors').where({ id }).first('fresh_until', 'aging_until');
      expect(await daysOf(body.id)).to.equal(await daysOf(again.body.id));
    });
  });
}
