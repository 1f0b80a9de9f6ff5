import type { ResponseObject } from '@hapi/hapi';
import { problemOf } from 'civic';
import { MOST_DECIDED, type NewDecision } from '../review/decisions.ts';
import { stateOf } from '../review/queue.ts';
import { flagById, flagsInState, type FlagRow } from '../store.ts';
import { editOf, fault } from './edits.ts';
import { returnToList } from './filters.ts';
import { reviewerOf, textField, type ConsoleContext, type Review } from './page.ts';
import { reportOf, showReport } from './report.ts';
import { subjectOf } from './subject.ts';

const LONGEST_NOTE = 2000;

/** Decides on the report of the path, with the correction of the form. When that is not possible, nothing changes and the page shows why. */
export async function decideReport(context: ConsoleContext, review: Review): Promise<ResponseObject> {
  const { flags: { civic } } = context;
  const flag = await reportOf(context, review);
  try {
    const decision = await decisionIn(context, review, flag);
    const { flags } = await context.decisions.decide(await flagsToDecide(context, review, flag), decision, reviewerOf(review));
    return returnToList(review, { done: decision.action, count: flags.length });
  } catch (error) {
    const found = problemOf(error);
    if (!found || found.status >= 500) throw error;
    const isOurs = found.detail?.startsWith('queue.') ?? false;
    const detail = isOurs ? review.t(found.detail!, found.extra?.values as Record<string, string> | undefined) : found.detail ?? found.title;
    return showReport(context, review, (await flagById(civic.db.read, flag.id))!, { detail, isOurs, status: found.status });
  }
}

/** Reads the decision of the form. Accepting and resolving have a correction. */
async function decisionIn({ flags }: ConsoleContext, { request: { payload }, t }: Review, flag: FlagRow): Promise<NewDecision> {
  const button = textField(payload, 'decision');
  const hasCorrection = button === 'accept' || button === 'resolve';
  const edit = hasCorrection ? await editOf(flags, await subjectOf(flags, flags.civic.db.read, flag, t), payload) : null;
  return { action: actionOf(button, edit !== null), note: textField(payload, 'note').slice(0, LONGEST_NOTE) || undefined, edit };
}

/** Returns the report and, when the reviewer chose so, the others of its target that wait for the same decision. */
async function flagsToDecide({ flags: { civic } }: ConsoleContext, { request: { payload } }: Review, { id, target_type, target_id, status, suspicion }: FlagRow): Promise<string[]> {
  if (textField(payload, 'others') === '') return [id];
  const waiting = await flagsInState(civic.db.read, { type: target_type, id: target_id }, { state: stateOf(status, suspicion), flagType: null }, MOST_DECIDED);
  return [...new Set([id, ...waiting.map((flag) => flag.id)])].slice(0, MOST_DECIDED);
}

function actionOf(decision: string, isCorrected: boolean): NewDecision['action'] {
  if (decision === 'accept') return isCorrected ? 'resolved' : 'accepted';
  if (decision === 'resolve') return 'resolved';
  if (decision === 'dismiss') return 'dismissed';
  if (decision === 'clear') return 'cleared';
  throw fault('queue.faults.decision');
}
