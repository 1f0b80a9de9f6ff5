import { definePlugin, type Civic } from 'civic';
import type { SignalDraft } from 'civic/firehose';
import { slowness } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { workspacesKit, type KitOptions, type WorkspacesKit } from './kit.ts';

export interface WatchKit extends WorkspacesKit {
  /** Publishes signals, and waits until they are compared with the watches. */
  publish(...drafts: Partial<SignalDraft>[]): Promise<string[]>;
  withdraw(...ids: string[]): Promise<void>;
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

  /** Waits until an entry with each of the ids is compared; the directory publishes signals as well. */
  async function compared(from: number, ids: string[]): Promise<void> {
    for (const end = performance.now() + 10_000 * slowness; performance.now() < end; await sleep(5)) {
      const entries = (await follow.entries(from, 500)).filter(({ signal_id }) => signal_id !== null && ids.includes(signal_id));
      const position = Number((await civic.db.read('workspaces_position').first('seq') as { seq: number }).seq);
      if (new Set(entries.map(({ signal_id }) => signal_id)).size === new Set(ids).size && entries.every(({ seq }) => seq <= position)) return;
    }
    throw new Error('The signals are not compared with the watches');
  }

  return Object.assign(kit, {
    async publish(...drafts: Partial<SignalDraft>[]) {
      const from = follow.position();
      const ids = await civic.db.write((tx) => publish(tx, drafts.map((draft) => ({ ...BLANK, ...draft }))));
      await compared(from, ids);
      return ids;
    },
    async withdraw(...ids: string[]) {
      const from = follow.position();
      await civic.db.write((tx) => withdraw(tx, ids));
      await compared(from, ids);
    },
  });
}
