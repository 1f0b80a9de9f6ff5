import { Joi, type Civic, type JobKind, type Tx } from 'civic';
import type { DirectoryService } from 'civic/directory';
import type { FlagsConfig } from '../config.ts';
import type { FlagEvent } from '../events.ts';
import { flagById, type FlagRow } from '../store.ts';
import { targetName } from '../targets.ts';
import { composeMail } from './compose.ts';
import { admitMail, deleteMails, deleteReporters, reporterOf, type ReporterRow } from './store.ts';

export const MAIL_KINDS = ['receipt', 'decision', 'question'] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

interface ReporterMail {
  flag_id: string;
  kind: MailKind;
  /** Of the decision or question; a mail about a decision that was undone since is not sent. */
  at: string;
}

const MAIL = 'flags.mail_reporter';
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Time in which a reviewer can undo a decision before its mail is sent. */
const DECISION_DELAY_MS = 5 * MINUTE_MS;
/** The limit of a day is this many times the limit of an hour. */
const DAILY_FACTOR = 4;
/** After this time an address is deleted even when its report is still open. */
const MOST_EMAIL_DAYS = 365;

export interface ReporterMails {
  /** Whether the instance can send mails. */
  isConfigured: boolean;
  /** Queues the mail of an event: the receipt, or a decision. Suspected spam gets none. */
  follow(tx: Tx, name: 'flags.created' | 'flags.cleared' | 'flags.decided', event: FlagEvent): Promise<void>;
  /** Queues the mail about a question of a reviewer, if the reporter left an address. */
  ask(tx: Tx, flag: FlagRow, at: string): Promise<void>;
  jobs: JobKind[];
}

export function createReporterMails(civic: Civic<FlagsConfig>, directory: DirectoryService): ReporterMails {
  const mail = civic.serviceIfOn('accounts')?.mail ?? null;
  const isConfigured = mail?.isConfigured ?? false;
  const ago = (ms: number) => new Date(civic.clock.now() - ms).toISOString();
  const later = (ms: number) => ({ run_at: new Date(civic.clock.now() + ms).toISOString() });
  const limits = () => [{ since: ago(HOUR_MS), most: civic.config.max_mails_per_hour }, { since: ago(DAY_MS), most: civic.config.max_mails_per_hour * DAILY_FACTOR }];

  async function enqueue(tx: Tx, flag: FlagRow | undefined, kind: MailKind, at: string, delayMs = 0): Promise<void> {
    if (isConfigured && flag && await reporterOf(tx, flag.key)) await civic.jobs.enqueue(tx, MAIL, { flag_id: flag.id, kind, at }, later(delayMs));
  }

  async function queueMail(tx: Tx, flag: FlagRow, reporter: ReporterRow, kind: MailKind): Promise<void> {
    const t = await civic.texts(reporter.language);
    const name = await targetName(directory, tx, flag) ?? t('mail.no_name');
    await mail!.queue(tx, {
      to: reporter.email, language: reporter.language,
      ...composeMail(kind, flag, t, { name, site: civic.instance.name, url: civic.url(`${reporter.language === 'en' ? '' : `/${reporter.language}`}/report/receipts/${flag.receipt}`), days: civic.config.email_days }),
    });
  }

  return {
    isConfigured,
    async follow(tx, name, { id, is_suspected }) {
      if (!isConfigured || is_suspected) return;
      const flag = await flagById(tx, id);
      if (name !== 'flags.decided') return enqueue(tx, flag, 'receipt', '');
      if (flag?.decided_at) await enqueue(tx, flag, 'decision', flag.decided_at, DECISION_DELAY_MS);
    },
    ask: (tx, flag, at) => enqueue(tx, flag, 'question', at),
    jobs: [
      {
        name: MAIL,
        payload: Joi.object<ReporterMail>({ flag_id: Joi.string().required(), kind: Joi.string().valid(...MAIL_KINDS).required(), at: Joi.string().allow('').required() }),
        async run({ payload: { flag_id, kind, at }, write }) {
          await write(async (tx) => {
            const flag = await flagById(tx, flag_id);
            const reporter = flag && await reporterOf(tx, flag.key);
            if (!reporter || isOutdated(flag, kind, at)) return;
            if (await admitMail(tx, reporter.email, civic.clock.iso(), limits())) await queueMail(tx, flag, reporter, kind);
            // The page showed the receipt. A decision and a question wait, because the reporter does not know them.
            else if (kind !== 'receipt') await civic.jobs.enqueue(tx, MAIL, { flag_id, kind, at }, later(HOUR_MS));
          });
        },
      },
      {
        name: 'flags.forget_reporters',
        every_seconds: 3600,
        async run({ write }) {
          await write(async (tx) => {
            await deleteReporters(tx, { closedBefore: ago(civic.config.email_days * DAY_MS), sentBefore: ago(MOST_EMAIL_DAYS * DAY_MS) });
            await deleteMails(tx, ago(DAY_MS));
          });
        },
      },
    ],
  };
}

/** Returns whether a decision was undone or followed by another one, or the report became suspected spam since. */
function isOutdated({ suspicion, decided_at }: FlagRow, kind: MailKind, at: string): boolean {
  return suspicion !== null || (kind === 'decision' && decided_at !== at);
}
