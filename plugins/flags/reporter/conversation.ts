import { newId, problem, singleLine, type Reader, type Tx } from 'civic';
import type { Flags } from '../flags.ts';
import { beforeOf, type Reviewer } from '../review/decisions.ts';
import { insertStep } from '../review/steps-store.ts';
import { updateCounts } from '../counts-store.ts';
import { eventOf, flagsToDecide, updateFlag, type FlagRow } from '../store.ts';
import { suspicionOf } from '../suspicion.ts';
import type { ReporterMails } from './mails.ts';
import { insertMessage, messagesOf, type MessageKind, type MessageRow } from './messages-store.ts';

/** What a reporter sends with a receipt. */
export interface Written {
  text: string;
  isHiddenFieldFilled?: boolean;
  /** Of the client, for the audit record. */
  address: string | null;
}

/** What reviewers and the reporter write to each other after the report. */
export interface Conversation {
  /** Stores a question of a reviewer, and mails it when the reporter left an address. Throws `unknown_flag` and `flag_not_open`. */
  ask(flagId: string, question: string, reviewer: Reviewer): Promise<FlagRow>;
  /** Stores a reply of the reporter to a question. Throws `unknown_receipt` and `flag_not_open`. */
  reply(receipt: string, written: Written): Promise<FlagRow>;
  /** Opens a dismissed or resolved flag again, once. Throws `unknown_receipt` and `flag_not_closed`. */
  reopen(receipt: string, written: Written): Promise<FlagRow>;
  /** Returns the messages of a flag, and what the reporter can do now. */
  of(reader: Reader, flag: FlagRow): Promise<{ messages: MessageRow[]; canReply: boolean; canReopen: boolean }>;
}

const MOST_QUESTIONS = 10;
const MOST_REPLIES = 10;
const MOST_REOPENINGS = 1;

export function createConversation({ civic, byReceipt, refreshTargets, signals, audit }: Pick<Flags, 'civic' | 'byReceipt' | 'refreshTargets' | 'signals' | 'audit'>, mails: Pick<ReporterMails, 'ask'>): Conversation {
  const count = (messages: MessageRow[], kind: MessageKind) => messages.filter((message) => message.kind === kind).length;
  const suspicionIn = ({ text, isHiddenFieldFilled }: Written) => (isHiddenFieldFilled ? 'hidden_field' : suspicionOf(text, 0, civic.config));

  async function add(tx: Tx, flag: FlagRow, kind: MessageKind, text: string, more: Partial<MessageRow> = {}): Promise<string> {
    const at = civic.clock.iso();
    await insertMessage(tx, { id: newId(civic.clock.now()), flag_key: flag.key, kind, text, suspicion: null, account_id: null, at, ...more });
    return at;
  }

  async function conversationOf(reader: Reader, flag: FlagRow) {
    const messages = (await messagesOf(reader, [Number(flag.key)])).get(Number(flag.key))!;
    const isOpen = flag.status === 'open' || flag.status === 'accepted';
    return {
      messages, isOpen,
      canReply: isOpen && count(messages, 'question') > 0 && count(messages, 'reply') < MOST_REPLIES,
      canReopen: !isOpen && count(messages, 'reopening') < MOST_REOPENINGS,
    };
  }

  /** Returns the flag of a receipt, locked until the transaction ends. */
  async function lockedByReceipt(tx: Tx, receipt: string): Promise<FlagRow> {
    const { id } = await byReceipt(tx, receipt);
    return (await flagsToDecide(tx, [id]))[0]!;
  }

  return {
    of: conversationOf,
    ask: (flagId, question, reviewer) => civic.db.write(async (tx) => {
      const [flag] = await flagsToDecide(tx, [flagId]);
      if (!flag) throw problem('unknown_flag', { detail: `No flag has the id ${singleLine(flagId, 100)}.` });
      const { isOpen, messages } = await conversationOf(tx, flag);
      if (!isOpen) throw problem('flag_not_open', { detail: `The flag is ${flag.status}: its reporter can reopen it, but not reply.` });
      if (flag.suspicion !== null) throw problem('flag_not_open', { detail: 'The flag is suspected spam, whose reporter gets no mail: clear it first.' });
      if (count(messages, 'question') >= MOST_QUESTIONS) throw problem('flag_not_open', { detail: `The flag has ${MOST_QUESTIONS} questions already.` });
      const at = await add(tx, flag, 'question', question, { account_id: reviewer.caller.account_id });
      await audit(tx, 'flags_asked', reviewer, flag.id, {});
      await mails.ask(tx, flag, at);
      return flag;
    }),
    reply: (receipt, written) => civic.db.write(async (tx) => {
      const flag = await lockedByReceipt(tx, receipt);
      if (!(await conversationOf(tx, flag)).canReply) throw problem('flag_not_open', { detail: 'The report has no question that takes a reply now.' });
      await add(tx, flag, 'reply', written.text, { suspicion: suspicionIn(written) });
      await civic.emit(tx, 'flags.replied', eventOf(flag));
      return flag;
    }),
    reopen: (receipt, written) => civic.db.write(async (tx) => {
      const flag = await lockedByReceipt(tx, receipt);
      const { isOpen, canReopen } = await conversationOf(tx, flag);
      if (!canReopen) throw problem('flag_not_closed', { detail: `The report is ${flag.status}${isOpen ? '' : ' and was reopened before'}.` });
      const suspicion = suspicionIn(written);
      const at = await add(tx, flag, 'reopening', written.text, { suspicion });
      if (flag.signal_id !== null) await signals.withdraw(tx, flag.signal_id);
      const reopened = await updateFlag(tx, flag.key, { status: 'open', suspicion: flag.suspicion ?? suspicion, decided_by: null, decided_at: null, signal_id: null, updated_at: at });
      const id = newId(civic.clock.now());
      await insertStep(tx, { id, batch: id, flag_key: flag.key, action: 'reopened', from_status: flag.status, to_status: 'open', note: null, edit: null, before: JSON.stringify(beforeOf(flag)), account_id: null, at, undone_at: at });
      await audit(tx, 'flags_reopened', { by: { account_id: null, address: written.address } }, flag.id, { from: flag.status });
      await refreshTargets(tx, [flag], [reopened]);
      await civic.emit(tx, 'flags.reopened', eventOf(reopened));
      await updateCounts(tx, [flag], [reopened]);
      return reopened;
    }),
  };
}
