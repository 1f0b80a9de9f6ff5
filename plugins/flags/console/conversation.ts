import { messagesOf } from '../reporter/messages-store.ts';
import { reporterOf } from '../reporter/store.ts';
import type { FlagRow } from '../store.ts';
import type { ConsoleContext, Review } from './page.ts';

/** Returns what reviewers and the reporter wrote to each other, for the page of a report. */
export async function shownConversation({ flags, accounts }: ConsoleContext, { t }: Review, flag: FlagRow): Promise<object> {
  const { read } = flags.civic.db;
  const messages = (await messagesOf(read, [Number(flag.key)])).get(Number(flag.key))!;
  return {
    email: (await reporterOf(read, flag.key))?.email ?? null,
    canAsk: (flag.status === 'open' || flag.status === 'accepted') && flag.suspicion === null,
    messages: messages.map(({ kind, text, suspicion, at }) => ({ label: t(`queue.messages.${kind}`), text, suspicion: suspicion && t(`queue.suspicions.${suspicion}`), at: accounts.pages.when(at, t) })),
  };
}
