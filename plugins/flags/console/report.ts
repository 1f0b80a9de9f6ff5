import type { ResponseObject } from '@hapi/hapi';
import { cutText, isId, problem, problemOf } from 'civic';
import { stateOf, type State } from '../review/queue.ts';
import { lastStep, stepsOfFlag, type StepRow } from '../review/steps-store.ts';
import { flagById, flagsInState, flagsOfTarget, type FlagRow } from '../store.ts';
import { MOST_DECIDED, type NewDecision } from '../review/decisions.ts';
import { SEVERITIES, severityOf } from '../review/severity.ts';
import { shownConversation } from './conversation.ts';
import { EDIT_KINDS, editOf, fault } from './edits.ts';
import { accountNames } from './names.ts';
import { go, keysOf, REPORTS, reviewerOf, textField, type ConsoleContext, type Review } from './page.ts';
import { subjectOf, type ShownSubject } from './subject.ts';

const OTHERS_SHOWN = 20;
const LONGEST_REASON = 300;
const LONGEST_NOTE = 2000;

/** The buttons of a report by its state. Accepting and resolving offer a correction. */
const DECISIONS: Record<State, readonly ('accept' | 'resolve' | 'dismiss' | 'clear')[]> = {
  open: ['accept', 'dismiss'], suspected: ['clear', 'accept', 'dismiss'], accepted: ['resolve'], resolved: [], dismissed: [],
};

/** Returns the flag of the path. Throws `not_found`. */
export async function reportOf({ flags: { civic } }: ConsoleContext, { request }: Review): Promise<FlagRow> {
  const id = String(request.params.id);
  const flag = isId(id) ? await flagById(civic.db.read, id.toLowerCase()) : undefined;
  if (!flag) throw problem('not_found', { detail: 'There is no report of that id.' });
  return flag;
}

/** Shows one report: its target, the statement and its source, the proposal, other reports of the target and the history. */
export async function showReport(context: ConsoleContext, review: Review, flag: FlagRow, failed: { detail: string; isOurs: boolean; status: number } | null = null): Promise<ResponseObject> {
  const { flags, accounts } = context;
  const { request, h, t } = review;
  const { read } = flags.civic.db;
  const state = stateOf(flag.status, flag.suspicion);
  const target = { type: flag.target_type, id: flag.target_id };
  const [subject, steps, last, around, waiting] = await Promise.all([
    subjectOf(flags, read, flag, t), stepsOfFlag(read, flag.key), lastStep(read, flag.key), flagsOfTarget(read, target, OTHERS_SHOWN + 1), flagsInState(read, target, { state, flagType: null }, MOST_DECIDED),
  ]);
  const names = await accountNames(accounts, read, [flag.account_id, ...steps.map(({ account_id }) => account_id)]);
  const when = (at: string | null) => accounts.pages.when(at, t);
  const given = (request.payload ?? {}) as Record<string, unknown>;
  return accounts.pages.showConsole(request, h, { path: REPORTS, template: 'flags/review', title: t('queue.report_title', { name: subject.name }), status: failed?.status }, {
    notice: request.query.asked === undefined ? undefined : t('queue.asked'), conversation: await shownConversation(context, review, flag), failed, given, keys: keysOf(t), list: REPORTS, id: flag.id, state, stateLabel: t(`queue.states.${state}`), kind: t(`kinds.${flag.flag_type}`), severity: SEVERITIES[severityOf(flag.flag_type)], reason: flag.reason,
    severityLabel: t(`queue.severities.${SEVERITIES[severityOf(flag.flag_type)]}`),
    suspicion: flag.suspicion && t(`queue.suspicions.${flag.suspicion}`), reporter: flag.account_id === null ? null : names.get(flag.account_id) ?? flag.account_id, created: when(flag.created_at),
    subject, claimGone: flag.claim_id !== null, proposal: flag.proposed_value === null && flag.proposed_source === null ? null : { value: flag.proposed_value, source: flag.proposed_source },
    decisions: DECISIONS[state].map((decision, index) => ({ decision, label: t(`queue.decisions.${decision}`), isPlain: index > 0, isDanger: decision === 'dismiss' })),
    ...formOf(subject, flag, given, review, DECISIONS[state].some((one) => one === 'accept' || one === 'resolve')),
    others: around.filter(({ id }) => id !== flag.id).slice(0, OTHERS_SHOWN).map((other) => ({ id: other.id, kind: t(`kinds.${other.flag_type}`), state: t(`queue.states.${stateOf(other.status, other.suspicion)}`), at: when(other.created_at), reason: cutText(other.reason, LONGEST_REASON) })),
    waiting: waiting.filter(({ id }) => id !== flag.id).length,
    steps: steps.map((step) => shownStep(step, names, review, when)), undo: last && { batch: last.batch },
  });
}

function kindOf({ actor, isPlace }: ShownSubject): keyof typeof EDIT_KINDS {
  if (isPlace) return 'place';
  return actor ? 'entity' : 'source';
}

function formOf(subject: ShownSubject, flag: FlagRow, given: Record<string, unknown>, { t }: Review, canCorrect: boolean): object {
  const kinds = canCorrect && !subject.gone ? EDIT_KINDS[kindOf(subject)] : [];
  const proposed = flag.proposed_value !== null && subject.actor !== null ? 'value' : 'none';
  const chosen = kinds.find((kind) => kind === given.edit) ?? kinds.find((kind) => kind === proposed) ?? 'none';
  const statement = String(given.statement ?? flag.claim_id ?? '');
  const isChosen = <Choice extends { id: string }>(some: Choice[], id: string) => some.map((one) => ({ ...one, isChosen: one.id === id }));
  return {
    edits: kinds.map((kind) => ({ kind, label: t(`queue.edits.${kind}`), isChosen: kind === chosen })),
    hasActor: subject.actor !== null, choices: isChosen(subject.choices, statement), news: isChosen(subject.news, statement),
    sources: isChosen(subject.sources, String(given.source ?? subject.statement?.source?.id ?? '')),
    value: String(given.value ?? flag.proposed_value ?? ''), address: String(given.address ?? flag.proposed_source ?? ''), keep: given.keep !== undefined, into: String(given.into ?? ''), note: String(given.note ?? ''),
  };
}

function shownStep({ action, note, edit, account_id, at, undone_at }: StepRow, names: Map<string, string>, { t }: Review, when: (at: string | null) => unknown): object {
  const kind = edit === null ? null : (JSON.parse(edit) as { kind: string }).kind;
  return { label: t(`audit.${action}`), note, edit: kind && t(`queue.done_edits.${kind}`), by: account_id === null ? null : names.get(account_id) ?? account_id, at: when(at), isUndone: undone_at !== null && action !== 'undone' };
}

function actionOf(decision: string, isCorrected: boolean): NewDecision['action'] {
  if (decision === 'accept') return isCorrected ? 'resolved' : 'accepted';
  if (decision === 'resolve') return 'resolved';
  if (decision === 'dismiss') return 'dismissed';
  if (decision === 'clear') return 'cleared';
  throw fault('queue.faults.decision');
}

/** Decides on the report of the path, with the correction of the form. When that is not possible, nothing changes and the page shows why. */
export async function decideReport(context: ConsoleContext, review: Review): Promise<ResponseObject> {
  const { flags, decisions } = context;
  const { request: { payload }, t } = review;
  const flag = await reportOf(context, review);
  const decision = textField(payload, 'decision');
  const note = textField(payload, 'note').slice(0, LONGEST_NOTE) || undefined;
  try {
    const isAccepted = decision === 'accept' || decision === 'resolve';
    const edit = isAccepted ? await editOf(flags, await subjectOf(flags, flags.civic.db.read, flag, t), payload) : null;
    const action = actionOf(decision, edit !== null);
    const others = textField(payload, 'others') === '' ? [] : await flagsInState(flags.civic.db.read, { type: flag.target_type, id: flag.target_id }, { state: stateOf(flag.status, flag.suspicion), flagType: null }, MOST_DECIDED);
    const ids = [flag.id, ...others.map(({ id }) => id).filter((id) => id !== flag.id)].slice(0, MOST_DECIDED);
    const done = await decisions.decide(ids, { action, note, edit }, reviewerOf(review));
    return go(review, action, done.flags.length);
  } catch (error) {
    const found = problemOf(error);
    if (!found || found.status >= 500) throw error;
    const isOurs = found.detail?.startsWith('queue.') ?? false;
    const detail = isOurs ? t(found.detail!, found.extra?.values as Record<string, string> | undefined) : found.detail ?? found.title;
    return showReport(context, review, (await flagById(flags.civic.db.read, flag.id))!, { detail, isOurs, status: found.status });
  }
}
