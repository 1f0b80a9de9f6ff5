import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { blockNumber, MOST_IN_BLOCK } from '../matching/block.ts';
import { actorsInBlocks, insertBlocks } from '../matching/store.ts';
import type { ActorDraft, Applied } from '../types.ts';
import type { Ledger } from '../ledger/service.ts';
import { actorModel, modelUnder } from '../actors/model.ts';
import { createLedger } from '../ledger/ledger.ts';
import { HALF_LIVES } from '../config.ts';
import { createPlaces } from '../places/service.ts';
import { createFieldPolicy } from '../policy/fields.ts';
import { openTaxonomy } from '../taxonomy/service.ts';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KC = 'kansas-city,missouri';
const editor = { kind: 'import' as const, account_id: null, workspace_id: null };

for (const database of testDatabases()) {
  describe(`Duplicates on ${database}`, { timeout: 60_000 }, () => {
    let kit: DirectoryKit;
    before(async () => { kit = await directoryKit({ database }); });
    after(() => kit.close());

    const post = async (what: Parameters<typeof actorPayload>[0], who = 'reviewer') => {
      const answer = await kit.send('POST', '/api/entities', actorPayload(what), who);
      expect(answer.status, answer.text).to.equal(201);
      return { ...answer.body, link: String(answer.headers.link ?? '') };
    };
    const duplicates = async (id: string, who?: string) => (await kit.get(`/api/entities/${id}/duplicates`, who)).body;

    it('are named in the answer to who enters one, and nothing is merged', async () => {
      const first = await post({ name: 'Mill Creek Food Pantry', place: KC, website: 'https://millcreekpantry.org/' });
      expect(first.link).to.equal('');
      const second = await post({ name: 'The Mill Creek Food Pantry, Inc.', place: KC });
      expect(second.link).to.equal(`<${first.url}>; rel="duplicate"`);
      expect((await kit.get(`/api/entities/${second.id}`)).status).to.equal(200);
    });

    it('are found on demand, with what speaks for it field by field', async () => {
      const first = await post({ name: 'Osgood Tenants Union', place: KC, phone: '+1 816 555 0142' });
      const second = await post({ name: 'Osgood Tenants Unoin', place: KC, phone: '(816) 555-0142' });
      const { data, total } = await duplicates(first.id);
      expect([total, data[0].entity.id, data[0].zone, data[0].rule]).to.equal([1, second.id, 'match', null]);
      expect(data[0].explanation.map(({ field, level }: { field: string; level: string }) => `${field} ${level}`)).to.include(['name close', 'place exact', 'phone exact', 'email missing']);
      expect(data[0].score > 0.95).to.be.true();
    });

    it('are never proposed again once they were judged to be different', async () => {
      const first = await post({ type: 'person', name: 'Ada Quimby', place: KC });
      const second = await post({ type: 'person', name: 'Quimby, Ada', place: KC });
      expect((await duplicates(first.id)).data[0]).to.include({ zone: 'review', rule: 'Names and places alone never merge people' });
      const judged = await kit.send('POST', '/api/judgements', { left_id: first.id, right_id: second.id, verdict: 'different', reason: 'mother and daughter' }, 'reviewer');
      expect([judged.status, judged.body.verdict, judged.body.by]).to.equal([201, 'different', 'reviewer']);
      expect((await duplicates(first.id)).total).to.equal(0);
      const refused = await kit.send('POST', `/api/entities/${first.id}/merge`, { into: second.id }, 'reviewer');
      expect([refused.status, refused.body.code, refused.body.judgement_id]).to.equal([409, 'merge_conflict', judged.body.id]);
      expect((await kit.get(`/api/entities/${second.id}/judgements`, 'reviewer')).body.data).to.equal([judged.body]);
      for (const [who, status] of [[undefined, 401], ['member', 403]] as const) {
        expect((await kit.send('DELETE', `/api/judgements/${judged.body.id}`, undefined, who)).status).to.equal(status);
        expect((await kit.send('POST', '/api/judgements', { left_id: first.id, right_id: second.id, verdict: 'same' }, who)).status).to.equal(status);
      }
      expect((await kit.send('DELETE', `/api/judgements/${judged.body.id}`, undefined, 'reviewer')).status).to.equal(204);
      expect((await kit.send('DELETE', `/api/judgements/${judged.body.id}`, undefined, 'reviewer')).status).to.equal(404);
      expect((await duplicates(first.id)).total).to.equal(1);
    });

    it('are separated in any order in which judgements are undone, with nothing lost', async () => {
      const made = [];
      for (const name of ['One', 'Two', 'Three', 'Four']) made.push(await post({ name: `Splitter ${name}`, place: KC, phone: `+1 816 555 01${made.length}0` }));
      const [one, two, three, four] = made.map(({ id }) => id as string);
      for (const [from, into] of [[one, two], [three, four], [two, four]]) expect((await kit.send('POST', `/api/entities/${from}/merge`, { into }, 'reviewer')).status).to.equal(200);
      expect((await kit.get(`/api/entities/${four}`)).body.source_count).to.equal(4);
      expect((await kit.get(`/api/entities/${one}`)).body.merged_into).to.equal(four);
      const judgements = (await kit.get(`/api/entities/${four}/judgements`, 'reviewer')).body.data as { id: string; left_id: string }[];
      const takeBack = (left: string) => kit.send('DELETE', `/api/judgements/${judgements.find(({ left_id }) => left_id === left)!.id}`, undefined, 'reviewer');
      await takeBack(one!);
      expect((await kit.get(`/api/entities/${one}`)).body.claim_count).to.equal(4);
      expect((await kit.get(`/api/entities/${two}`)).body.merged_into).to.equal(four);
      await takeBack(two!);
      await takeBack(three!);
      for (const before of made) {
        const { body } = await kit.get(`/api/entities/${before.id}`);
        expect([body.name, body.claims, body.sources]).to.equal([before.name, before.claims, before.sources]);
      }
    });

    it('that are private are never listed with a public actor; a private actor lists public ones to its workspace', async () => {
      const hidden = await post({ name: 'Zimley Land Trust', place: KC, visibility: 'workspace' }, 'member');
      const shown = await post({ name: 'Zimley Land Trust', place: KC });
      expect(shown.link).to.equal('');
      for (const who of [undefined, 'stranger', 'member']) expect((await duplicates(shown.id, who)).total, who).to.equal(0);
      expect((await duplicates(hidden.id, 'member')).data.map(({ entity }: { entity: { id: string } }) => entity.id)).to.equal([shown.id]);
      expect((await kit.get(`/api/entities/${hidden.id}/duplicates`, 'stranger')).status).to.equal(404);
      expect(hidden.visibility).to.equal('workspace');
    });

    it('follow a changed name and are gone with a deleted actor', async () => {
      const first = await post({ name: 'Venlow Arts Council', place: KC });
      const second = await post({ name: 'Quinsen Garden Club', place: KC });
      expect((await duplicates(first.id)).total).to.equal(0);
      const patch = { sources: [{ local_id: 's', url: 'https://example.org/renamed' }], add: [{ property: 'name', value: 'Venlow Arts Council', source_local_id: 's' }] };
      expect((await kit.send('PATCH', `/api/entities/${second.id}`, patch, 'reviewer')).status).to.equal(200);
      expect((await duplicates(first.id)).total).to.equal(1);
      expect((await kit.send('DELETE', `/api/entities/${second.id}`, undefined, 'reviewer')).status).to.equal(204);
      expect((await duplicates(first.id)).total).to.equal(0);
    });

    it('are joined on import where that is sure, also within one set, and can be taken apart again', async () => {
      const draft = (name: string, ein: string, type: ActorDraft['type'] = 'organization'): ActorDraft => ({
        ...actorPayload({ type, name, place: KC, identifier: { scheme: 'ein', value: ein } }), type, visibility: 'public',
      } as unknown as ActorDraft);
      const there = await post({ name: 'Holdale Housing Coalition', place: KC, identifier: { scheme: 'ein', value: '12-3456780' } });
      const drafts = [draft('Holdale Coalition for Housing', '12-3456780'), draft('Pelby Land Trust', '12-0000001'), draft('Pelby Land Trust', '12-0000001'), draft('Pelby Land Trust', '12-0000002')];
      let applied: Applied[] = [];
      await ledgerOf(kit, async (ledger, tx) => {
        const checked = await ledger.check(tx, drafts);
        const clean = checked.flatMap((one) => ('draft' in one ? [one.draft] : []));
        expect(clean.length).to.equal(drafts.length);
        applied = await ledger.apply(tx, clean, editor, { joins: true });
      });
      expect(applied.map(({ joined_into }) => joined_into)).to.equal([there.id, undefined, applied[1]!.id, undefined]);
      const gone = await kit.get(`/api/entities/${applied[0]!.id}`);
      expect([gone.status, gone.body.merged_into]).to.equal([404, there.id]);
      expect((await kit.get(`/api/entities/${applied[3]!.id}`)).status).to.equal(200);
      expect((await kit.send('POST', `/api/entities/${there.id}/split`, {}, 'reviewer')).status).to.equal(200);
      expect((await kit.get(`/api/entities/${applied[0]!.id}`)).status).to.equal(200);
    });

    it('are not looked for in a block that too many share', async () => {
      const block = blockNumber('w:shared.example');
      const fill = (count: number, from: number) => kit.db.write((tx) => insertBlocks(tx, Array.from({ length: count }, (_, at) => ({ block, actor_key: from + at, workspace_id: null }))));
      const held = async () => (await actorsInBlocks(kit.db.read, [block, 5], MOST_IN_BLOCK, null)).length;
      await fill(MOST_IN_BLOCK, 1_000_000);
      expect(await held()).to.equal(MOST_IN_BLOCK);
      await fill(1, 2_000_000);
      expect(await held()).to.equal(0);
    });
  });
}

/** A ledger of the same database, as an import has it. */
async function ledgerOf(kit: DirectoryKit, work: (ledger: Ledger, tx: Parameters<Ledger['publish']>[0]) => Promise<unknown>): Promise<void> {
  const db = kit.db;
  const url = (path: string) => `${kit.server.app.civic.publicUrl}${path}`;
  const taxonomy = openTaxonomy(null);
  const policy = createFieldPolicy({});
  const civic = { db, url, clock: { now: () => Date.now(), iso: () => new Date().toISOString() }, emit: async () => {} };
  const ledger = createLedger({ civic: civic as never, places: createPlaces(url), taxonomy: () => taxonomy, halfLives: HALF_LIVES, policy, register: { isEmpty: async () => true, has: async (_reader, people) => people.map(() => false) }, model: modelUnder(actorModel, policy), onProjected() {} });
  await db.write((tx) => work(ledger, tx));
}
