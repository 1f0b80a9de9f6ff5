import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness } from '../../core/test/wait.ts';
import { testDatabases } from '../../core/testing/database.ts';
import type { Asker } from './firehose/askers.ts';
import { endsWithin } from './firehose/bars.ts';
import { withStand } from './firehose/stand.ts';
import { worldDatabase } from './firehose/world.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const MOST_MS = 5000 * slowness;

// Where there are several nodes, if there can be; on one box the plugin's own tests look at each path.
for (const dialect of testDatabases().slice(-1)) {
  describe(`Streams, sockets and waits on every node on ${dialect}`, { timeout: 120_000 }, () => {
    it('end within 5 s of a revoked key, a plan taken or run out, and a lost membership', async () => {
      const { url, drop } = await worldDatabase(dialect);
      await withStand({ url, nodes: url === null ? 1 : 2 }, async (stand) => {
        const { world, session } = stand;
        await stand.publish(1);
        const ends = async (reader: Asker, act: () => Promise<unknown>, status: number): Promise<void> => {
          const { milliseconds, after } = await endsWithin(stand, reader, await session(reader), act);
          expect(milliseconds).to.be.below(MOST_MS);
          expect(new Set(after)).to.equal(new Set([status]));
        };
        const [revoked, lapsed, late] = world.guests as [Asker, Asker, Asker];
        await ends(revoked, () => world.command('key', 'revoke', revoked.keyId!), 401);
        await ends(lapsed, () => world.command('account', 'set-plan', '--account', lapsed.accountId!, '--plan', 'free'), 403);

        // A command may take longer than this, on a busy machine.
        const runsOut = Date.now() + 5000;
        await world.look((db) => db.write(async (tx) => { await tx('accounts_people').where({ id: late.accountId! }).update({ plan_until: new Date(runsOut).toISOString() }); }));
        await ends(late, () => new Promise((done) => { setTimeout(done, runsOut - Date.now()); }), 403);

        const { key, workspaceId } = world.asker('owner');
        const member = world.asker('member');
        await ends(member, async () => {
          const answer = await fetch(`${stand.url()}/api/workspaces/${workspaceId}/members/${member.accountId}`, { method: 'DELETE', headers: { 'x-api-key': key! } });
          expect(answer.status).to.equal(204);
        }, 403);
      });
      await drop();
    });
  });
}
