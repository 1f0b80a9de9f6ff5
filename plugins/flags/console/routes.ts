import type { Lifecycle, ServerRoute } from '@hapi/hapi';
import { formOptions } from 'civic';
import { askReporter } from './ask.ts';
import { confirmBulk, decideBulk } from './bulk.ts';
import { decideReport } from './decide.ts';
import { returnToList } from './filters.ts';
import { showList } from './list.ts';
import { PAGE, REPORTS, reviewerOf, textField, type ConsoleContext, type Review } from './page.ts';
import { reportOf, showReport } from './report.ts';

/** Returns the routes of the review queue in the console, for reviewers and administrators. */
export function consoleRoutes(context: ConsoleContext): ServerRoute[] {
  const { flags: { civic }, decisions, accounts } = context;
  const reviewing = (work: (review: Review) => Lifecycle.ReturnValue): Lifecycle.Method => accounts.pages.reviewer(async (visitor, request, h) => work({ visitor, request, h, t: await civic.texts(request.civic.language) }));
  return [
    { method: 'GET', path: REPORTS, options: PAGE, handler: reviewing((review) => showList(context, review)) },
    { method: 'POST', path: `${REPORTS}/confirm`, options: formOptions(), handler: reviewing((review) => confirmBulk(context, review)) },
    { method: 'POST', path: `${REPORTS}/decide`, options: formOptions(), handler: reviewing((review) => decideBulk(context, review)) },
    {
      method: 'POST', path: `${REPORTS}/undo`, options: formOptions(),
      handler: reviewing(async (review) => returnToList(review, { done: 'undone', count: (await decisions.undo(textField(review.request.payload, 'batch'), reviewerOf(review))).length })),
    },
    { method: 'GET', path: `${REPORTS}/{id}`, options: PAGE, handler: reviewing(async (review) => showReport(context, review, await reportOf(context, review))) },
    { method: 'POST', path: `${REPORTS}/{id}`, options: formOptions(), handler: reviewing((review) => decideReport(context, review)) },
    { method: 'POST', path: `${REPORTS}/{id}/ask`, options: formOptions(), handler: reviewing((review) => askReporter(context, review)) },
  ];
}
