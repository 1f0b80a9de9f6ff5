import type { Language, Reader, Tx } from 'civic';

/** A member of a workspace who has watches there. */
export interface SubscriberRow {
  key: number;
  workspace_id: string;
  account_id: string;
  language: Language;
  time_zone: string;
  digest_hour: number;
  has_mail: boolean | 0 | 1;
  feed_hash: string | null;
  feed_created_at: string | null;
  digest_due_at: string | null;
  digest_seq: number;
  alert_due_at: string | null;
  alert_seq: number;
  alerted_at: string | null;
  created_at: string;
}

const SUBSCRIBERS = 'workspaces_subscribers';

/** Returns the subscriber of a workspace and account, and creates it from `row` when there is none. */
export async function ensureSubscriber(tx: Tx, row: Omit<SubscriberRow, 'key'>): Promise<SubscriberRow> {
  const [stored] = (await tx(SUBSCRIBERS).insert(row).onConflict(['workspace_id', 'account_id']).merge(['account_id']).returning('*')) as SubscriberRow[];
  return stored!;
}

export async function subscriberOf(reader: Reader, workspaceId: string, accountId: string): Promise<SubscriberRow | null> {
  return (await reader(SUBSCRIBERS).where({ workspace_id: workspaceId, account_id: accountId }).first() as SubscriberRow | undefined) ?? null;
}

export async function subscriberByFeed(reader: Reader, workspaceId: string, feedHash: string): Promise<SubscriberRow | null> {
  return (await reader(SUBSCRIBERS).where({ workspace_id: workspaceId, feed_hash: feedHash }).first() as SubscriberRow | undefined) ?? null;
}

/** Ends the address of a member's feed. */
export async function forgetFeed(tx: Tx, workspaceId: string, accountId: string): Promise<void> {
  await tx(SUBSCRIBERS).where({ workspace_id: workspaceId, account_id: accountId }).update({ feed_hash: null, feed_created_at: null });
}

export async function updateSubscriber(tx: Tx, key: number, values: Partial<SubscriberRow>): Promise<void> {
  await tx(SUBSCRIBERS).where({ key }).update(values);
}

/** Locks a subscriber until the transaction ends, so that of several nodes one sends a mail. */
export async function lockedSubscriber(tx: Tx, key: number): Promise<SubscriberRow | undefined> {
  return tx(SUBSCRIBERS).where({ key }).forUpdate().first() as Promise<SubscriberRow | undefined>;
}

/** Sets when the alert of subscribers is due, unless one is due already. Locks also those rows: a mail that is composed at the same time waits for the deliveries of this transaction. */
export async function setAlertDue(tx: Tx, keys: number[], at: string): Promise<void> {
  if (keys.length > 0) await tx(SUBSCRIBERS).whereIn('key', keys).update({ alert_due_at: tx.raw('coalesce(alert_due_at, ?)', [at]) });
}

/** A mail is due at `now`. Mails are planned at most until `tooLate`; a later time was set while the clock was wrong, and such a mail is due too. */
export interface MailTimes {
  now: string;
  tooLate: string;
}

export function isDue(at: string | null, { now, tooLate }: MailTimes): boolean {
  return at !== null && (at <= now || at > tooLate);
}

/** Returns the keys of subscribers whose alert is due and who got none since `alertedBefore`. */
export async function dueAlerts(reader: Reader, { now, tooLate }: MailTimes, alertedBefore: string, limit: number): Promise<number[]> {
  const rows = await reader(SUBSCRIBERS).where((query) => query.where('alert_due_at', '<=', now).orWhere('alert_due_at', '>', tooLate))
    .where((query) => query.whereNull('alerted_at').orWhere('alerted_at', '<=', alertedBefore).orWhere('alerted_at', '>', tooLate))
    .orderBy('alert_due_at').limit(limit).select('key') as { key: number }[];
  return rows.map(({ key }) => Number(key));
}

export async function dueDigests(reader: Reader, { now, tooLate }: MailTimes, limit: number): Promise<number[]> {
  const rows = await reader(SUBSCRIBERS).where('digest_due_at', '<=', now).orWhere('digest_due_at', '>', tooLate).orderBy('digest_due_at').limit(limit).select('key') as { key: number }[];
  return rows.map(({ key }) => Number(key));
}

export async function insertUnsubscribe(tx: Tx, row: { hash: string; subscriber_key: number; created_at: string }): Promise<void> {
  await tx('workspaces_unsubscribes').insert(row);
}

export async function subscriberByUnsubscribe(reader: Reader, hash: string): Promise<SubscriberRow | null> {
  const row = await reader('workspaces_unsubscribes').join(SUBSCRIBERS, `${SUBSCRIBERS}.key`, 'workspaces_unsubscribes.subscriber_key').where({ hash }).first(`${SUBSCRIBERS}.*`) as SubscriberRow | undefined;
  return row ?? null;
}

export async function deleteUnsubscribesBefore(tx: Tx, at: string): Promise<void> {
  await tx('workspaces_unsubscribes').where('created_at', '<', at).delete();
}
