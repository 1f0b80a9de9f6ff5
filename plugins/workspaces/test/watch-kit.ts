import { definePlugin, type Civic } from 'civic';
import type { FollowedEntry, SignalDraft } from 'civic/firehose';
import { slowness } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { workspacesKit, type KitOptions, type WorkspacesKit } from './kit.ts';

export interface WatchKit extends WorkspacesKit {
  /** Publishes signals, and waits until they are compared with the watches. */
  publish(...drafts: Partial<SignalDraft>[]): Promise<string[]>;
  withdraw(...ids: string[]): Promise<void>;
  /** Creates an actor, and waits until the signal about it is compared with the watches: one that is created sooner finds it. */
  announcedActor(name: string): Promise<any>;
}

const BLANK: SignalDraft = { type: 'public_meeting', title: 'A meeting', source_class: 'government_agenda', evidence: [{ source_url: 'https://example.org/agenda' }] };

/** A server with the Firehose, and a way to publish. */
export async function watchKit(database: 'sqlite' | 'postgres', { plugins = [], ...options }: KitOptions = {}): Promise<WatchKit> {
  let civic: Civic;
  const publisher = definePlugin({
    name: 'publisher',
    summary: 'Publishes signals for tests',
    needs: ['firehose', 'workspaces'],
    register(_server, given) {
      given.service('firehose').produces(['public_meeting', 'vote', 'new_source']);
      return { async start() { civic = given; } };
    },
  });
  const kit = await workspacesKit(database, { plugins: ['firehose', publisher, ...plugins], ...options });
  const { follow, publish, withdraw } = civic!.service('firehose');

  /** Waits until the entries of so many signals are compared; the directory publishes signals as well. */
  async function compared(from: number, count: number, isAwaited: (entry: FollowedEntry) => boolean): Promise<void> {
    for (const end = performance.now() + 10_000 * slowness; performance.now() < end; await sleep(5)) {
      const entries = (await follow.entries(from, 500)).filter(isAwaited);
      const position = Number((await civic.db.read('workspaces_position').first('seq') as { seq: number }).seq);
      if (new Set(entries.map(({ signal_id }) => signal_id)).size === count && entries.every(({ seq }) => seq <= position)) return;
    }
    throw new Error('The signals are not compared with the watches');
  }

  const comparedIds = (from: number, ids: string[]) => compared(from, new Set(ids).size, ({ signal_id }) => signal_id !== null && ids.includes(signal_id));

  return Object.assign(kit, {
    async publish(...drafts: Partial<SignalDraft>[]) {
      const from = follow.position();
      const ids = await civic.db.write((tx) => publish(tx, drafts.map((draft) => ({ ...BLANK, ...draft }))));
      await comparedIds(from, ids);
      return ids;
    },
    async withdraw(...ids: string[]) {
      const from = follow.position();
      await civic.db.write((tx) => withdraw(tx, ids));
      await comparedIds(from, ids);
    },
    async announcedActor(name: string) {
      const from = follow.position();
      const actor = await kit.actor(name);
      await compared(from, 1, ({ signal }) => signal?.title === `${name} was added`);
      return actor;
    },
  });
}
