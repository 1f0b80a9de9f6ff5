import type { ResponseObject } from '@hapi/hapi';
import { pagePath, problemOf } from 'civic';
import { filtersOfForm, reportPath } from './filters.ts';
import { reviewerOf, textField, type ConsoleContext, type Review } from './page.ts';
import { reportOf, showReport } from './report.ts';

const LONGEST_QUESTION = 2000;

/** Asks the reporter of the report in the path. */
export async function askReporter(context: ConsoleContext, review: Review): Promise<ResponseObject> {
  const { request, h, t } = review;
  const flag = await reportOf(context, review);
  const question = textField(request.payload, 'question').slice(0, LONGEST_QUESTION);
  if (question === '') return showReport(context, review, flag, { detail: t('queue.faults.question'), isOurs: true, status: 400 });
  try {
    await context.conversation.ask(flag.id, question, reviewerOf(review));
    return h.redirect(pagePath(request, reportPath(flag.id, filtersOfForm(request), { asked: 1 }))).code(303).header('cache-control', 'no-store');
  } catch (error) {
    const found = problemOf(error);
    if (!found || found.status >= 500) throw error;
    return showReport(context, review, flag, { detail: found.detail ?? found.title, isOurs: false, status: found.status });
  }
}
