import type { JobKind, Tx } from 'civic';
import type { AccountsService } from 'civic/accounts';
import { homeIn, SOURCES } from '../console/area.ts';
import type { Ingest } from '../context.ts';
import { failingOf, ownersToRemind, setReminded, type FailingOwner, type FailingSource, type ReminderTimes } from './store.ts';

const DAY_MS = 24 * 3600_000;
const AGAIN_MS = 7 * DAY_MS;
const AT_ONCE = 100;
const SHOWN = 50;

interface Recipient {
  email: string;
  account_id: string;
}

/** Returns the job that mails owners of failing sources: when one turns failing, and every week until all are fixed, but once a day at most. One mail lists all of them. */
export function reminderJob(ingest: Ingest, accounts: AccountsService): JobKind {
  const { civic } = ingest;
  const ago = (ms: number) => new Date(civic.clock.now() - ms).toISOString();
  const times = (): ReminderTimes => ({ again: ago(AGAIN_MS), rest: ago(DAY_MS) });
  return {
    name: 'ingest.remind',
    every_seconds: 300,
    async run({ write, signal }) {
      if (!accounts.mail.isConfigured) return;
      for (let owners; !signal.aborted && (owners = await ownersToRemind(civic.db.read, times(), { limit: AT_ONCE })).length > 0;) {
        for (const owner of owners) await write((tx) => remind(ingest, accounts, tx, owner, times()));
      }
    },
  };
}

/** Marks the sources as reminded and queues the mails in one transaction, so that each is sent once. */
async function remind(ingest: Ingest, accounts: AccountsService, tx: Tx, owner: FailingOwner, times: ReminderTimes): Promise<void> {
  const { civic } = ingest;
  const failing = await failingOf(tx, owner);
  // Another node was faster, or the sources were fixed.
  if ((await ownersToRemind(tx, times, { owner, limit: 1 })).length === 0) return;
  await setReminded(tx, failing.map(({ key }) => key), civic.clock.iso());
  const t = await civic.texts('en');
  const isOperator = owner.workspace_id === null;
  const { subject, lines } = {
    subject: t('reminder.subject', { count: failing.length, site: civic.instance.name }),
    lines: [
      t(isOperator ? 'reminder.lead' : 'reminder.lead_workspace'), '',
      ...failing.slice(0, SHOWN).flatMap((source) => [...linesOf(source), t('reminder.since', { at: source.failing_since ?? '' }), '']),
      ...(failing.length > SHOWN ? [t('reminder.more', { count: failing.length - SHOWN }), ''] : []),
      t('reminder.what'), ...pageOf(ingest, owner),
    ],
  };
  for (const { email, account_id } of await recipientsOf(accounts, tx, owner)) {
    await accounts.mail.queue(tx, { to: email, subject, lines, language: 'en', ...(owner.workspace_id !== null && { member: { account_id, workspace_id: owner.workspace_id } }) });
  }
}

/** Returns the address of the page of the sources. A workspace has one with the plugin `workspaces`. */
function pageOf({ civic }: Ingest, { workspace_id }: FailingOwner): string[] {
  if (workspace_id === null) return [civic.url(SOURCES)];
  return civic.serviceIfOn('workspaces') ? [civic.url(homeIn(workspace_id))] : [];
}

function linesOf({ name, url, fault_detail }: FailingSource): string[] {
  return [name, url, ...(fault_detail === null ? [] : [fault_detail])];
}

/** Returns who gets the mail: administrators for sources of the operator, else the member who added the sources. */
async function recipientsOf(accounts: AccountsService, tx: Tx, { workspace_id, created_by }: FailingOwner): Promise<Recipient[]> {
  const people = workspace_id === null ? await accounts.administrators(tx) : created_by === null ? [] : [await accounts.account(tx, created_by)];
  return people.flatMap((person) => (person?.email && person.disabled_at === null ? [{ email: person.email, account_id: person.id }] : []));
}
