import type { ResponseObject } from '@hapi/hapi';
import { pagePath, problemOf } from 'civic';
import { messagesOf } from '../reporter/messages-store.ts';
import { reporterOf } from '../reporter/store.ts';
import type { FlagRow } from '../store.ts';
import { REPORTS, reviewerOf, textField, type ConsoleContext, type Review } from './page.ts';
import { reportOf, showReport } from './report.ts';

const LONGEST_QUESTION = 2000;

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

/** Asks the reporter of the report in the path. */
export async function askReporter(context: ConsoleContext, review: Review): Promise<ResponseObject> {
  const { request, h, t } = review;
  const flag = await reportOf(context, review);
  const question = textField(request.payload, 'question').slice(0, LONGEST_QUESTION);
  if (question === '') return showReport(context, review, flag, { detail: t('queue.faults.question'), isOurs: true, status: 400 });
  try {
    await context.conversation.ask(flag.id, question, reviewerOf(review));
    return h.redirect(pagePath(request, `${REPORTS}/${flag.id}?asked=1`)).code(303).header('cache-control', 'no-store');
  } catch (error) {
    const found = problemOf(error);
    if (!found || found.status >= 500) throw error;
    return showReport(context, review, flag, { detail: found.detail ?? found.title, isOurs: false, status: found.status });
  }
}
