import type { Language, Reader, Tx } from 'civic';
import type { FirehoseService } from 'civic/firehose';
import { createHash, randomBytes } from 'node:crypto';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import { nextHour } from './schedule.ts';
import { ensureSubscriber, insertUnsubscribe, subscriberByFeed, subscriberByUnsubscribe, subscriberOf, updateSubscriber, type SubscriberRow } from './subscribers-store.ts';

/** How a member of a workspace wants to get what watches find. */
export interface SubscriberSettings {
  has_mail: boolean;
  language: Language;
  time_zone: string;
  digest_hour: number;
}

export interface Subscribers {
  /** Returns the caller as a subscriber of the workspace, and creates it when there is none. */
  ensure(tx: Tx, context: WorkspaceContext, settings?: Partial<SubscriberSettings>): Promise<SubscriberRow>;
  of(reader: Reader, context: WorkspaceContext): Promise<SubscriberRow | null>;
  /** Returns what a subscriber may see, and where mails go; null when the account is disabled or no longer belongs to the workspace. */
  contextOfSubscriber(reader: Reader, subscriber: SubscriberRow): Promise<(WorkspaceContext & { email: string | null }) | null>;
  change(tx: Tx, context: WorkspaceContext, settings: SubscriberSettings): Promise<void>;
  /** Creates the address of a private feed, and ends an earlier one. The secret is returned this once. */
  createFeed(tx: Tx, context: WorkspaceContext): Promise<string>;
  revokeFeed(tx: Tx, context: WorkspaceContext): Promise<void>;
  /** Returns the subscriber whose feed has this secret; null when the account is disabled or no longer belongs to the workspace. */
  byFeed(reader: Reader, workspaceId: string, secret: string): Promise<SubscriberRow | null>;
  /** Creates the secret of a link that ends mails. */
  createUnsubscribe(tx: Tx, subscriber: SubscriberRow): Promise<string>;
  byUnsubscribe(reader: Reader, secret: string): Promise<SubscriberRow | null>;
  setMail(tx: Tx, subscriber: SubscriberRow, hasMail: boolean): Promise<void>;
}

const SECRET = /^[A-Za-z0-9_-]{43}$/;

export function createSubscribers({ civic, accounts }: Workspaces, firehose: FirehoseService): Subscribers {
  const digestDue = ({ digest_hour, time_zone }: Pick<SubscriberSettings, 'digest_hour' | 'time_zone'>) => new Date(nextHour(civic.clock.now(), digest_hour, time_zone)).toISOString();

  async function ensure(tx: Tx, { workspace, caller }: WorkspaceContext, settings: Partial<SubscriberSettings> = {}): Promise<SubscriberRow> {
    const position = firehose.follow.position();
    const chosen: SubscriberSettings = { has_mail: true, language: 'en', time_zone: 'UTC', digest_hour: civic.config.digest_hour, ...settings };
    return ensureSubscriber(tx, {
      ...chosen, workspace_id: workspace.id, account_id: caller.account_id, feed_hash: null, feed_created_at: null, digest_due_at: digestDue(chosen),
      digest_seq: position, alert_due_at: null, alert_seq: position, alerted_at: null, created_at: civic.clock.iso(),
    });
  }

  async function contextOfSubscriber(reader: Reader, { account_id, workspace_id }: SubscriberRow): Promise<(WorkspaceContext & { email: string | null }) | null> {
    const account = await accounts.account(reader, account_id);
    const workspace = account && account.disabled_at === null ? await accounts.membership(reader, account_id, workspace_id) : null;
    if (!account || !workspace) return null;
    const { role, plan, email } = account;
    return { workspace, email, caller: { account_id, via: 'session', scope: [], role, plan, capabilities: [], workspace_id, workspace_role: workspace.role } };
  }

  return {
    ensure, contextOfSubscriber,
    of: (reader, { workspace, caller }) => subscriberOf(reader, workspace.id, caller.account_id),
    async change(tx, context, settings) {
      const { key } = await ensure(tx, context);
      await updateSubscriber(tx, key, { ...settings, digest_due_at: digestDue(settings) });
    },
    async createFeed(tx, context) {
      const secret = newSecret();
      const { key } = await ensure(tx, context);
      await updateSubscriber(tx, key, { feed_hash: hashOf(secret), feed_created_at: civic.clock.iso() });
      return secret;
    },
    async revokeFeed(tx, context) {
      const { key } = await ensure(tx, context);
      await updateSubscriber(tx, key, { feed_hash: null, feed_created_at: null });
    },
    async byFeed(reader, workspaceId, secret) {
      const found = SECRET.test(secret) ? await subscriberByFeed(reader, workspaceId, hashOf(secret)) : null;
      return found && await contextOfSubscriber(reader, found) ? found : null;
    },
    async createUnsubscribe(tx, { key }) {
      const secret = newSecret();
      await insertUnsubscribe(tx, { hash: hashOf(secret), subscriber_key: key, created_at: civic.clock.iso() });
      return secret;
    },
    byUnsubscribe: async (reader, secret) => (SECRET.test(secret) ? subscriberByUnsubscribe(reader, hashOf(secret)) : null),
    setMail: (tx, { key }, hasMail) => updateSubscriber(tx, key, { has_mail: hasMail }),
  };
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
