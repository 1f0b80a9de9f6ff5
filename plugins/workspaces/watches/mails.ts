import { singleLine, type Clock, type JobKind, type RunningJob, type Texts } from 'civic';
import type { Workspaces } from '../context.ts';
import { digestItems, type DigestItem } from './digest.ts';
import { nextHour } from './schedule.ts';
import { deleteDeliveriesBefore, deliveriesAfter, newestDeliveriesAfter, type DeliveryRow } from './store.ts';
import { deleteUnsubscribesBefore, dueAlerts, dueDigests, isDue, lockedSubscriber, updateSubscriber, type MailTimes, type SubscriberRow } from './subscribers-store.ts';
import { targetWords } from './words.ts';
import type { Watches } from './watches.ts';

type MailKind = 'alert' | 'digest';

const AT_ONCE = 100;
/** A mail lists the first signals, and names the number of the others. */
const MOST_SIGNALS = 50;
const MOST_DELIVERIES = 500;
const DAY_MS = 86_400_000;
/** The next digest is at most a day and a change to summer time away. */
const LATEST_DAYS = 3;
/** Links of old mails end: by then newer mails have others. */
const UNSUBSCRIBE_DAYS = 180;

/** Returns the job that queues mails. A subscriber's row is locked while its mail is queued and its position moves, so each signal is mailed once. */
export function watchMailJob(workspaces: Workspaces, watches: Watches): JobKind {
  const { civic } = workspaces;
  const before = (ms: number) => new Date(civic.clock.now() - ms).toISOString();
  const times = () => ({ now: civic.clock.iso(), tooLate: before(-LATEST_DAYS * DAY_MS - civic.config.alert_wait_seconds * 1000) });
  return {
    name: 'workspaces.watch_mails',
    every_seconds: 15,
    async run(job) {
      for (const [kind, due] of [
        ['alert', () => dueAlerts(civic.db.read, times(), before(civic.config.alert_pause_seconds * 1000), AT_ONCE)],
        ['digest', () => dueDigests(civic.db.read, times(), AT_ONCE)],
      ] as const) for (let keys; (keys = await due()).length > 0;) for (const key of keys) await mailTo(workspaces, watches, job, key, kind, times());
      await job.write(async (tx) => {
        await deleteDeliveriesBefore(tx, before(civic.config.digest_days * DAY_MS));
        await deleteUnsubscribesBefore(tx, before(UNSUBSCRIBE_DAYS * DAY_MS));
      });
    },
  };
}

async function mailTo({ civic, accounts }: Workspaces, watches: Watches, job: RunningJob, key: number, kind: MailKind, times: MailTimes): Promise<void> {
  const languages = new Map([['en', await civic.texts('en')], ['es', await civic.texts('es')]]);
  await job.write(async (tx) => {
    const subscriber = await lockedSubscriber(tx, key);
    // Another node was faster, or the workspace was deleted.
    if (!subscriber || !isDue(kind === 'alert' ? subscriber.alert_due_at : subscriber.digest_due_at, times)) return;
    // The next alert continues after this one. A digest is sent once a day, so it lists the newest deliveries; the digest page lists all.
    const { rows, skipped } = kind === 'alert' ? { rows: await deliveriesAfter(tx, key, subscriber.alert_seq, MOST_DELIVERIES), skipped: 0 } : await newestDeliveriesAfter(tx, key, subscriber.digest_seq, MOST_DELIVERIES);
    await updateSubscriber(tx, key, advanced(subscriber, kind, rows, civic.clock));
    const context = await watches.subscribers.contextOfSubscriber(tx, subscriber);
    if (!context?.email || !subscriber.has_mail || !accounts.mail.isConfigured) return;
    const items = await digestItems(watches, tx, context, rows, kind === 'alert' ? 'immediate' : 'digest');
    if (items.length === 0) return;
    const { language } = subscriber;
    const root = civic.url(`${language === 'en' ? '' : `/${language}`}/workspaces`);
    const unsubscribe = `${root}/unsubscribe?token=${await watches.subscribers.createUnsubscribe(tx, subscriber)}`;
    const pages = `${root}/${subscriber.workspace_id}`;
    const { subject, lines } = composeMail(languages.get(language)!, { kind, items, skipped, workspace: context.workspace.name, site: civic.instance.name, pages, unsubscribe });
    await accounts.mail.queue(tx, { to: context.email, subject, lines, language, unsubscribe_url: unsubscribe, member: { account_id: subscriber.account_id, workspace_id: subscriber.workspace_id } });
  });
}

/** Returns the columns of a subscriber once the mail that is due is handled. */
function advanced(subscriber: SubscriberRow, kind: MailKind, rows: DeliveryRow[], clock: Clock): Partial<SubscriberRow> {
  const seq = rows.at(-1)?.seq;
  if (kind === 'alert') return { alert_due_at: rows.length < MOST_DELIVERIES ? null : clock.iso(), alerted_at: clock.iso(), alert_seq: seq ?? subscriber.alert_seq };
  return { digest_due_at: new Date(nextHour(clock.now(), subscriber.digest_hour, subscriber.time_zone)).toISOString(), digest_seq: seq ?? subscriber.digest_seq };
}

export interface MailContent {
  kind: MailKind;
  items: DigestItem[];
  /** How many further deliveries there are. */
  skipped: number;
  workspace: string;
  site: string;
  /** The address of the pages of the workspace. */
  pages: string;
  unsubscribe: string;
}

/** Returns a mail whose subject names what happened, and whose text states for each signal the watch that it matched. */
export function composeMail(t: Texts, { kind, items, skipped, workspace, site, pages, unsubscribe }: MailContent): { subject: string; lines: string[] } {
  const first = singleLine(items[0]!.signal.title, 120);
  const others = items.length + skipped - 1;
  const more = Math.max(0, items.length - MOST_SIGNALS) + skipped;
  return {
    subject: others === 0 ? first : t('watch_mail.subject', { title: first, others }),
    lines: [
      ...items.slice(0, MOST_SIGNALS).flatMap((item) => [...itemLines(item, t), '']),
      ...(more > 0 ? [t('watch_mail.more', { count: more }), ''] : []),
      t(`watch_mail.why_${kind}`, { workspace: singleLine(workspace, 200), site }),
      `${t('watch_mail.digest')} ${pages}/digest`,
      `${t('watch_mail.watches')} ${pages}/watches`,
      `${t('watch_mail.unsubscribe')} ${unsubscribe}`,
    ],
  };
}

function itemLines({ signal, watches, is_update }: DigestItem, t: Texts): string[] {
  const { title, occurred_at: occurred, summary, evidence } = signal;
  const heading = singleLine(title, 500);
  return [
    is_update ? t('watch_mail.updated', { title: heading }) : heading,
    ...(occurred === null ? [] : [t('watch_mail.when', { at: occurred })]),
    ...(summary === null ? [] : [singleLine(summary, 600)]),
    t('watch_mail.source', { url: singleLine(evidence[0]!.source_url, 2000) }),
    t('watch_mail.because', { target: targetWords(watches[0]!.target, t), others: watches.length - 1 }),
  ];
}
