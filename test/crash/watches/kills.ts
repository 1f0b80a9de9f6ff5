import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../core/test/wait.ts';
import { startMailbox } from '../../../plugins/accounts/test/mailbox.ts';
import { createInstance } from '../../support/civic.ts';
import { createNodes } from '../firehose/nodes.ts';
import { createRandom, type Random } from '../firehose/random.ts';
import { compareDigest, compareMails, type Desk, type QueuedMail, type Version } from './compare.ts';
import { beside, createDesks, createKey, mailsDue, PLACES, request, settings, type Stand } from './stand.ts';

export interface WatchKillOptions {
  /** Of an empty Postgres database, served by two nodes; null is SQLite, served by one. */
  url: string | null;
  kills: number;
  seed: number;
  onProgress?: (words: string) => void;
}

export interface WatchKillReport {
  kills: number;
  signals: number;
  mails: number;
  faults: string[];
}

const SETTLE_MS = 60_000;
/** A mail lists 50 signals, so between two mails there are fewer. */
const SIGNALS_A_KILL = 8;

const acknowledged = (sent: Version[]): number => sent.filter(({ id }) => id !== null).length;

/** Kills servers while they compare signals with watches and queue mails, and checks that every signal reached each watch once. */
export async function killWhileWatching({ url, kills, seed, onProgress = () => undefined }: WatchKillOptions): Promise<WatchKillReport> {
  const mailbox = await startMailbox();
  const instance = createInstance(settings(url, mailbox.url), { ready: url === null });
  const count = url === null ? 1 : 2;
  // A server that is not killed any more needs no process of its own.
  const nodes = createNodes(instance, count, (start) => (start < kills ? 'process' : 'here'));
  const random = createRandom(seed);
  const report: WatchKillReport = { kills: 0, signals: 0, mails: 0, faults: [] };
  try {
    await nodes.start();
    const stand = { instance, nodes, url, key: await createKey(instance) };
    const desks = await createDesks(stand);
    const sent: Version[] = [];
    for (; report.kills < kills; report.kills++) {
      const enough = acknowledged(sent) + 3 + random.int(3);
      const publishing = publishSome(stand, random, sent);
      const mailing = random.chance(0.5) ? mailsDue(stand) : Promise.resolve();
      await until(() => acknowledged(sent) >= enough);
      await sleep(random.int(30));
      await nodes.restart(report.kills % count, 'SIGKILL', 0);
      await Promise.all([publishing, mailing]);
      await mailsDue(stand);
      onProgress(`${report.kills + 1} of ${kills} kills, ${sent.length} versions of signals sent`);
    }
    Object.assign(report, await compareAll(stand, desks));
    await nodes.stop();
    report.faults.push(...nodes.faults);
  } finally {
    await nodes.kill();
    mailbox.close();
    instance.remove();
  }
  return report;
}

/** Publishes signals and new versions of earlier ones. A node that is killed may have stored what it did not acknowledge. */
async function publishSome(stand: Stand, random: Random, sent: Version[]): Promise<void> {
  for (let count = 0; count < SIGNALS_A_KILL; count++) {
    const title = `Vote number ${sent.length} ends`;
    const earlier = sent.length > 0 && random.chance(0.3) ? random.pick(sent).id : null;
    const place = random.pick(PLACES);
    const draft = { ...(earlier !== null && { id: earlier }), title, type: 'vote', source_class: 'news', places: [place], issues: ['housing_affordability'], evidence: [{ source_url: 'https://example.org/' }] };
    sent.push({ id: null, title });
    const { ids } = await request(stand, 'POST', '/api/wire', { signals: [draft], ...(earlier === null && sent.length > 5 && random.chance(0.1) && { withdraw: [sent[2]!.id].filter(Boolean) }) }).catch(() => ({ ids: [null] }));
    sent.at(-1)!.id = ids[0];
    await sleep(random.int(30));
  }
}

async function currentSignals(stand: Stand): Promise<Version[]> {
  const signals: Version[] = [];
  for (let cursor = ''; ;) {
    const page = await request(stand, 'GET', `/api/firehose?visibility=public&limit=200${cursor}`);
    signals.push(...page.signals.filter(({ type }: { type: string }) => type === 'vote'));
    if (page.next_cursor === null) return signals;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

async function compareAll(stand: Stand, desks: Desk[]): Promise<Omit<WatchKillReport, 'kills'>> {
  const digestOf = async ({ id }: Desk): Promise<Version[]> => {
    const shown: Version[] = [];
    for (let cursor = ''; ;) {
      const page = await request(stand, 'GET', `/api/workspaces/${id}/digest?limit=100${cursor}`);
      shown.push(...page.data.map((item: { signal: Version }) => item.signal));
      if (page.next_cursor === null) return shown;
      cursor = `&cursor=${page.next_cursor}`;
    }
  };
  const mails = async (): Promise<QueuedMail[]> => (await beside(stand, (db) => db.read('core_jobs').where({ name: 'accounts.mail' }).select('payload'))).map(({ payload }: { payload: string }) => JSON.parse(payload));
  let faults: string[] = [];
  let signals: Version[] = [];
  const isSettled = async (): Promise<boolean> => {
    await mailsDue(stand);
    signals = await currentSignals(stand);
    const queued = await mails();
    faults = [];
    for (const desk of desks) faults.push(...compareDigest(desk, signals, await digestOf(desk)), ...compareMails(desk, signals, queued));
    return faults.length === 0;
  };
  await until(isSettled, SETTLE_MS).catch(() => undefined);
  const stored = await beside(stand, (db) => db.read('workspaces_deliveries').select('subscriber_key', 'signal_id'));
  const pairs = stored.map(({ subscriber_key, signal_id }: { subscriber_key: number; signal_id: string }) => `${subscriber_key} ${signal_id}`);
  if (new Set(pairs).size !== pairs.length) faults.push('a signal is stored more than once for a subscriber');
  return { signals: signals.length, mails: (await mails()).length, faults };
}
