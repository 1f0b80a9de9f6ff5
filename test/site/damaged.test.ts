import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from '../../core/testing.ts';
import { entryKit, type EntryKit } from '../../plugins/site/test/entry-kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) {
  describe(`Pages of damaged records on ${database}`, () => {
    let kit: EntryKit;
    before(async () => { kit = await entryKit({ database }); });
    after(() => kit.close());

    it('redirect at most once where two merged records name each other', async () => {
      const ids = await Promise.all(['One Loop', 'Other Loop'].map(async (name) => (await kit.create([{ property: 'name', value: name, source: 'https://union.example/contact' }])).body.id as string));
      await kit.db.write(async (tx) => {
        const [one, other] = await tx('directory_records').whereIn('id', ids).pluck('key') as [number, number];
        await tx('directory_actors').whereIn('id', ids).delete();
        await tx('directory_records').where({ key: one }).update({ actor_key: other });
        await tx('directory_records').where({ key: other }).update({ actor_key: one });
      });
      for (const loop of ids) expect((await kit.open(`/actors/${loop}`)).status).to.equal(404);
    });
  });
}
