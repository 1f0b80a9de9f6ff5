import type { ResponseObject } from '@hapi/hapi';
import { problem, problemOf } from 'civic';
import { foundCandidate, type Decided, type Decisions, type NewDecision } from '../candidates/decide.ts';
import { newDecision } from '../candidates/schemas.ts';
import { checkMayDecide, type Discovery } from '../context.ts';
import type { RunRow } from '../runs/store.ts';
import { go, type RunPage } from './area.ts';
import { nextPending, showCandidate } from './candidate.ts';
import { changeOf } from './edit.ts';
import { textField } from './fields.ts';
import { runOf } from './run.ts';

const LONGEST_NOTE = 2000;
/** Problems that the page explains in its language. */
const EXPLAINED = ['candidate_decided', 'candidate_pending', 'actor_changed', 'unknown_actor', 'unlisted_person', 'field_policy'];

/** Does what a button of the page of a candidate states, and leads to the candidate that is decided next. */
export async function actOnCandidate(discovery: Discovery, decisions: Decisions, page: RunPage): Promise<ResponseObject> {
  const { request, t } = page;
  const run = await runOf(discovery, page);
  checkMayDecide(page.caller, run);
  const act = textField(request, 'act');
  try {
    if (act === 'edit') return await edit(discovery, decisions, page, run);
    if (act === 'undo') return await undo(decisions, page, run);
    return await decide(discovery, decisions, page, run, decisionOf(page, act));
  } catch (error) {
    const found = problemOf(error);
    if (!found || found.status >= 500 || found.status === 403 || found.code === 'unknown_candidate') throw error;
    const fault = EXPLAINED.includes(found.code) ? t(`faults.${found.code}`) : found.detail?.startsWith('edit.') ? t(found.detail) : t('faults.other');
    return showCandidate(discovery, page, { fault, note: textField(request, 'note'), status: found.status, ...(act === 'edit' && { edited: { ...(request.payload as object) } }) });
  }
}

/** Returns the decision of a button, by the rules of the API. */
function decisionOf({ request }: RunPage, act: string): NewDecision {
  const { value, error } = newDecision.validate({ decision: act, note: textField(request, 'note').slice(0, LONGEST_NOTE) || null, ...(act === 'merge' && { into: textField(request, 'into') }) });
  if (error) throw problem('invalid_request', { detail: 'The form names nothing to do.' });
  return value as NewDecision;
}

async function decide(discovery: Discovery, decisions: Decisions, page: RunPage, run: RunRow, given: NewDecision): Promise<ResponseObject> {
  const { candidate, warnings }: Decided = await page.change((tx, caller) => decisions.decide(tx, run, String(page.request.params.candidate), given, caller));
  if (warnings.length > 0) return showCandidate(discovery, page, { warnings });
  const next = await nextPending(discovery, run, candidate);
  return go(page, next === null ? `/${run.id}?last=${candidate.id}` : `/${run.id}/candidates/${next}?last=${candidate.id}`);
}

async function undo(decisions: Decisions, page: RunPage, run: RunRow): Promise<ResponseObject> {
  const { id } = await page.change((tx, caller) => decisions.undo(tx, run, String(page.request.params.candidate), caller));
  return go(page, `/${run.id}/candidates/${id}?done=undone`);
}

async function edit(discovery: Discovery, decisions: Decisions, page: RunPage, run: RunRow): Promise<ResponseObject> {
  const { id } = await page.change(async (tx, caller) => {
    const row = await foundCandidate(tx, run, String(page.request.params.candidate));
    return decisions.change(tx, run, row.id, await changeOf(discovery, page, tx, row), caller);
  });
  return go(page, `/${run.id}/candidates/${id}?done=saved`);
}
