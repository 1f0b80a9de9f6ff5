import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, newId, type Civic } from 'civic';
import { testDatabases } from 'civic/testing';
import { firehoseKit, type FirehoseKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) describe(`Plugins that follow the log, on ${database}`, () => {
  let kit: FirehoseKit;
  let civic: Civic;
  let calls = 0;

  const follower = definePlugin({
    name: 'follower',
    summary: 'Follows the log',
    needs: ['firehose'],
    register(_server, given) {
      given.service('firehose').follow.onEntries(() => { calls++; });
      return { async start() { civic = given; } };
    },
  });

  before(async () => { kit = await firehoseKit({ database, plugins: [follower] }); });
  after(() => kit.close());

  it('read each version once, with whom it is for, and no signal where it is for reviewers or withdrawn', async () => {
    const { follow } = civic.service('firehose');
    const workspace = kit.reader.workspace_id;
    const [open, own, held] = await kit.publish({ title: 'Open' }, { title: 'Own', visibility: 'workspace', workspace_id: workspace }, { title: 'Held', review_state: 'held' }) as [string, string, string];
    await kit.publish({ id: open, title: 'Open again' });
    await kit.withdraw(own, newId());

    const entries = await follow.entries(0, 100);
    expect(entries.map(({ signal_id, signal, workspace_id, isUpdate }) => [signal_id, signal?.title ?? null, workspace_id, isUpdate])).to.equal([
      [open, 'Open', null, false], [own, 'Own', workspace, false], [held, null, null, false], [open, 'Open again', null, true], [own, null, null, true], [null, null, null, false],
    ]);
    expect(entries.map(({ seq }) => seq)).to.equal([1, 2, 3, 4, 5, 6]);
    expect((await follow.entries(4, 1)).map(({ seq }) => seq)).to.equal([5]);
    expect(follow.position()).to.equal(6);
    expect(calls).to.be.above(0);
  });

  it('read current versions by id that a workspace may see', async () => {
    const { signalsById } = civic.service('firehose');
    const workspace = kit.reader.workspace_id;
    const ids = await kit.publish({ title: 'For all' }, { title: 'For us', visibility: 'workspace', workspace_id: workspace }, { title: 'For others', visibility: 'workspace', workspace_id: newId() }, { title: 'Not yet', review_state: 'pending' });
    const titles = async (workspaceId: string) => [...(await signalsById(civic.db.read, ids, workspaceId)).values()].map(({ signal }) => signal.title).sort();
    expect(await titles(workspace)).to.equal(['For all', 'For us']);
    expect(await titles(newId())).to.equal(['For all']);
  });
});
