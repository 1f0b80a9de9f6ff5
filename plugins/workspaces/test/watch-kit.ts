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
  /** Moves the clock, and waits until what is due then is mailed. */
  pass(seconds: number): Promise<void>;
}

const MAIL_JOBS = ['workspaces.watch_mails', 'accounts.mail'];

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
  const kit = await workspacesKit(database, { plugins: ['firehose', publisher, ...plugins], pollSeconds: 0.1, ...options });
  const { follow, publish, withdraw } = civic!.service('firehose');

  /** Waits until the entries of so many signals are compared; the directory publishes signals as well. */
  async function compared(from: number, count: number, isAwaited: (entry: FollowedEntry) => boolean): Promise<void> {
    for (const end = performance.now() + 10_000 * slowness; performance.now() < end; await sleep(15)) {
      const entries = (await follow.entries(from, 500)).filter(isAwaited);
      const position = Number((await civic.db.read('workspaces_position').first('seq') as { seq: number }).seq);
      if (new Set(entries.map(({ signal_id }) => signal_id)).size === count && entries.every(({ seq }) => seq <= position)) return;
    }
    throw new Error('The signals are not compared with the watches');
  }

  const { schedules, underway } = kit.composition.jobs.operations;
  const isMailing = async (): Promise<boolean> => (await underway(100)).some(({ name, state, run_at }) => MAIL_JOBS.includes(name) && (state === 'running' || run_at <= kit.clock.iso()));

  /** Waits until the job of mails has run at this time, and its mails are sent. */
  async function mailed(): Promise<void> {
    for (const end = performance.now() + 20_000 * slowness; performance.now() < end; await sleep(50)) {
      const { next_at } = (await schedules()).find(({ name }) => name === MAIL_JOBS[0])!;
      // The schedule was set before the clock was moved back.
      const isAhead = Date.parse(next_at) > kit.clock.now() + 3_600_000;
      // Twice: a job that begins while those that run, and then those that wait, are read is among neither.
      if (next_at > kit.clock.iso() && !isAhead && !await isMailing() && !await isMailing()) return;
    }
    throw new Error('Mails that are due are not sent');
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
    async pass(seconds: number) {
      // A run that is due while the one before ends waits for its next time, which a stopped clock does not reach.
      await mailed();
      kit.clock.advance(seconds * 1000);
      await mailed();
    },
  });
}
