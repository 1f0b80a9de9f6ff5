import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWitness } from '../usage/witness.ts';
import { workspacesKit, type Person, type WorkspacesKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

for (const database of testDatabases()) {
  describe(`The usage of a workspace on ${database}`, () => {
    let kit: WorkspacesKit;
    let ada: Person;
    let home: string;

    before(async () => {
      kit = await workspacesKit(database);
      ada = await kit.person();
      home = `/api/workspaces/${ada.workspace_id}`;
    });
    after(() => kit.close());

    const ask = (method: string, path: string, payload?: unknown) => kit.as(ada.key, method, `${home}${path}`, payload);
    const heads = () => join(kit.composition.config.data_dir, 'usage.heads');
    const verify = async (): Promise<string> => kit.run('usage verify').then(() => 'intact', (error: Error) => error.message);
    const lines = () => kit.db.read('workspaces_usage').where({ workspace_id: ada.workspace_id }).orderBy('seq') as Promise<any[]>;
    const last = async () => (await lines()).at(-1);
    const write = (work: (tx: any) => Promise<unknown>) => kit.db.write(async (tx) => { await work(tx); });
    const head = () => kit.db.read('workspaces_usage_heads').where({ workspace_id: ada.workspace_id }).first() as Promise<any>;

    it('has a line for each write and export, in the transaction of the use', async () => {
      const { id } = (await ask('POST', '/notes', { text: 'One' })).body;
      await ask('PATCH', `/notes/${id}`, { text: 'Two' });
      await ask('POST', '/notes', { target: { type: 'entity', id: 'none' }, text: 'Refused' });
      await ask('GET', '/notes');
      await ask('GET', '/notes/export?format=csv');
      const { data, total, head: sealed } = (await ask('GET', '/usage')).body;
      expect(total).to.equal(3);
      expect(data.map(({ seq, meter, amount, actor, via }: any) => [seq, meter, amount, actor, via])).to.equal([[3, 'exports', 1, ada.id, 'key'], [2, 'record_writes', 1, ada.id, 'key'], [1, 'record_writes', 1, ada.id, 'key']]);
      expect(data[0].prev_hash).to.equal(data[1].hash);
      expect(sealed).to.include({ seq: 3, hash: data[0].hash });
      expect((await ask('GET', '/usage?limit=2')).body.next_cursor).to.be.a.string();
      expect(await verify()).to.equal('intact');
      expect(await kit.run('usage verify', { workspace: ada.workspace_id })).to.include({ workspaces: 1, lines: 3 });
      await expect(kit.run('usage verify', { workspace: id })).to.reject(Error, /no use of the workspace .* is recorded: check the id/);
    });

    it('numbers lines without gaps when uses arrive at the same time', async () => {
      await Promise.all(Array.from({ length: 12 }, (_, at) => ask('POST', '/notes', { text: `Note ${at}` })));
      expect((await lines()).map(({ seq }) => Number(seq))).to.equal(Array.from({ length: 15 }, (_, at) => at + 1));
      expect(await verify()).to.equal('intact');
    });

    it('is exported with its sealed head', async () => {
      const json = (await ask('GET', '/usage/export')).body;
      expect(json.lines.map(({ seq }: any) => seq)).to.equal(Array.from({ length: 15 }, (_, at) => at + 1));
      expect(json.head).to.include({ seq: 15, hash: json.lines.at(-1).hash });
      expect((await ask('GET', '/usage/export?format=csv')).text.split('\r\n')).to.have.length(17);
    });

    it('finds a line that was changed, removed from the middle, or inserted', async () => {
      const [line] = (await lines()).slice(4, 5);
      await write((tx) => tx('workspaces_usage').where({ workspace_id: ada.workspace_id, seq: 5 }).update({ amount: 0 }));
      expect(await verify()).to.contain('line 5 (record_writes');
      await write((tx) => tx('workspaces_usage').where({ workspace_id: ada.workspace_id, seq: 5 }).delete());
      expect(await verify()).to.contain('line 5 was removed');
      await write((tx) => tx('workspaces_usage').insert(line));
      expect(await verify()).to.equal('intact');
      await write((tx) => tx('workspaces_usage').insert({ ...line, seq: 16 }));
      expect(await verify()).to.contain('line 16 (record_writes');
      await write((tx) => tx('workspaces_usage').where({ workspace_id: ada.workspace_id, seq: 16 }).delete());
    });

    it('finds that the sum of a month was changed', async () => {
      const sum = (tx: any) => tx('workspaces_usage_months').where({ workspace_id: ada.workspace_id, meter: 'record_writes' });
      const { amount } = await kit.db.read('workspaces_usage_months').where({ workspace_id: ada.workspace_id, meter: 'record_writes' }).first('amount');
      await write((tx) => sum(tx).update({ amount: 900 }));
      expect(await verify()).to.contain(`the sum of record_writes in 2026-03 was changed: it is 900, and its lines add up to ${amount}`);
      await write((tx) => sum(tx).update({ amount }));
      expect(await verify()).to.equal('intact');
    });

    it('finds that the last line was removed, also together with its head', async () => {
      const removed = await last();
      const before = await head();
      await write((tx) => tx('workspaces_usage').where({ workspace_id: ada.workspace_id, seq: 15 }).delete());
      expect(await verify()).to.contain('line 15, the last one, was removed');
      await write((tx) => tx('workspaces_usage_heads').where({ workspace_id: ada.workspace_id }).update({ seq: 14, hash: removed.prev_hash }));
      expect(await verify()).to.contain('its head (line 14) was changed: the seal does not fit');
      await write((tx) => tx('workspaces_usage_heads').where({ workspace_id: ada.workspace_id }).delete());
      expect(await verify()).to.contain('its head was removed');
      await write(async (tx) => {
        await tx('workspaces_usage').insert(removed);
        await tx('workspaces_usage_heads').insert(before);
      });
      expect(await verify()).to.equal('intact');
    });

    it('finds that the end was cut off and the older, genuine head was put back', async () => {
      const older = { head: await head(), count: (await lines()).length };
      await ask('POST', '/notes', { text: 'The last use' });
      const newest = { head: await head(), line: await last() };
      // The data folder remembers the newest line within seconds.
      const witness = createWitness(kit.composition.config.data_dir);
      witness.saw(ada.workspace_id);
      await witness.follow(kit.db.read, kit.clock.iso());
      await write(async (tx) => {
        await tx('workspaces_usage').where({ workspace_id: ada.workspace_id }).where('seq', '>', older.count).delete();
        await tx('workspaces_usage_heads').where({ workspace_id: ada.workspace_id }).update(older.head);
      });
      expect(await verify()).to.contain('lines 16 to 16 were removed');
      await write(async (tx) => {
        await tx('workspaces_usage').insert(newest.line);
        await tx('workspaces_usage_heads').where({ workspace_id: ada.workspace_id }).update(newest.head);
      });
      expect(await verify()).to.equal('intact');
      rmSync(heads());
      expect(await verify()).to.equal('intact');
    });

    it('names a file of last lines that is damaged, and still verifies the lines', async () => {
      for (const text of ['', 'not JSON', 'null', '[]', '{"x":1}']) {
        writeFileSync(heads(), text);
        const found = await verify();
        expect(found, text).to.contain(`${heads()} is damaged`).and.to.contain('delete it');
        expect(found.split('\n'), text).to.have.length(1);
      }
      rmSync(heads());
      expect(await verify()).to.equal('intact');
    });
  });
}
