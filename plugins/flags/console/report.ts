import type { ResponseObject } from '@hapi/hapi';
import { cutText, isId, problem } from 'civic';
import { stateOf, type State } from '../review/queue.ts';
import { FINAL_ACTIONS, lastStep, stepsOfFlag, type StepRow } from '../review/steps-store.ts';
import { flagById, flagsInState, flagsOfTarget, type FlagRow } from '../store.ts';
import { MOST_DECIDED } from '../review/decisions.ts';
import type { Choice } from '../pages/statements.ts';
import { shownConversation } from './conversation.ts';
import { EDIT_KINDS } from './edits.ts';
import { filtersOf, filtersOfForm, listPath, reportPath } from './filters.ts';
import { accountNames, shownSeverity } from './names.ts';
import { knownType } from '../types.ts';
import { keysOf, REPORTS, type ConsoleContext, type Review } from './page.ts';
import { subjectOf, type ShownSubject } from './subject.ts';

const OTHERS_SHOWN = 20;
const LONGEST_REASON = 300;

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

/** Why a decision or question failed. */
export interface Failed {
  detail: string;
  /** Whether the text is one of this plugin, in the language of the page; others are in English. */
  isOurs: boolean;
  status: number;
}

/** Shows one report: its target, the statement and its source, the proposal, other reports of the target and the history. */
export async function showReport(context: ConsoleContext, review: Review, flag: FlagRow, failed: Failed | null = null): Promise<ResponseObject> {
  const { flags, accounts } = context;
  const { request, h, t } = review;
  const { read } = flags.civic.db;
  const state = stateOf(flag.status, flag.suspicion);
  const target = { type: flag.target_type, id: flag.target_id };
  const [subject, steps, last, reports, waiting] = await Promise.all([
    subjectOf(flags, read, flag, t), stepsOfFlag(read, flag.key), lastStep(read, flag.key), flagsOfTarget(read, target, OTHERS_SHOWN + 1), flagsInState(read, target, { state, flagType: null }, MOST_DECIDED),
  ]);
  const names = await accountNames(accounts, read, [flag.account_id, ...steps.map(({ account_id }) => account_id)]);
  const when = (at: string | null) => accounts.pages.when(at, t);
  const given = (request.payload ?? {}) as Record<string, unknown>;
  const filters = request.method === 'post' ? filtersOfForm(request) : filtersOf(request);
  const others = reports.filter(({ id }) => id !== flag.id).slice(0, OTHERS_SHOWN);
  return accounts.pages.showConsole(request, h, { path: REPORTS, template: 'flags/review', title: t('queue.report_title', { name: subject.name }), status: failed?.status }, {
    ...shownReport(flag, names, review), created: when(flag.created_at), failed, given, keys: keysOf(t), list: listPath(filters),
    notice: request.query.asked === undefined ? undefined : t('queue.asked'),
    conversation: await shownConversation(context, review, flag),
    subject, claimGone: flag.claim_id !== null,
    decisions: DECISIONS[state].map((decision, index) => ({ decision, label: t(`queue.decisions.${decision}`), isPlain: index > 0, isDanger: decision === 'dismiss' })),
    ...correctionForm(subject, flag, given, review, DECISIONS[state].some((one) => one === 'accept' || one === 'resolve')),
    others: others.map((other) => ({ path: reportPath(other.id, filters), kind: t(`kinds.${knownType(other.flag_type)}`), state: t(`queue.state.${stateOf(other.status, other.suspicion)}`), at: when(other.created_at), reason: cutText(other.reason, LONGEST_REASON) })),
    waiting: waiting.filter(({ id }) => id !== flag.id).length,
    steps: steps.map((step) => shownStep(step, names, review, when)), undo: last && { batch: last.batch },
  });
}

function shownReport({ id, status, suspicion, flag_type, reason, account_id, proposed_value: value, proposed_source: source }: FlagRow, names: Map<string, string>, { t }: Review): object {
  const state = stateOf(status, suspicion);
  return {
    id, state, stateLabel: t(`queue.state.${state}`), kind: t(`kinds.${knownType(flag_type)}`), ...shownSeverity({ flag_type }, t), reason,
    suspicion: suspicion && t(`queue.suspicions.${suspicion}`),
    reporter: account_id === null ? null : names.get(account_id) ?? account_id,
    proposal: value === null && source === null ? null : { value, source },
  };
}

/** Returns the form of the correction: what the reviewer entered before an error, or else what the reporter proposed. */
function correctionForm(subject: ShownSubject, flag: FlagRow, given: Record<string, unknown>, { t }: Review, canCorrect: boolean): object {
  const kinds = canCorrect && !subject.isGone ? EDIT_KINDS[flag.target_type] : [];
  // The value that a report of a duplicate proposes is the other entry.
  const isDuplicate = flag.flag_type === 'duplicate';
  const proposed = flag.proposed_value === null || subject.actor === null ? 'none' : isDuplicate ? 'merge' : 'value';
  const chosen = kinds.find((kind) => kind === given.edit) ?? kinds.find((kind) => kind === proposed) ?? 'none';
  const statement = String(given.statement ?? flag.claim_id ?? '');
  const choose = (choices: Choice[], id: string) => choices.map((choice) => ({ ...choice, isChosen: choice.id === id }));
  return {
    edits: kinds.map((kind) => ({ kind, label: t(`queue.edits.${kind}`), isChosen: kind === chosen })),
    hasActor: subject.actor !== null, statements: choose(subject.statements, statement), additions: choose(subject.additions, statement),
    sources: choose(subject.sources, String(given.source ?? subject.statement?.source?.id ?? '')),
    value: String(given.value ?? (isDuplicate ? null : flag.proposed_value) ?? ''),
    address: String(given.address ?? flag.proposed_source ?? ''),
    keep: given.keep !== undefined, into: String(given.into ?? (isDuplicate ? flag.proposed_value : null) ?? ''), note: String(given.note ?? ''),
  };
}

function shownStep({ action, note, edit, account_id, at, undone_at }: StepRow, names: Map<string, string>, { t }: Review, when: (at: string | null) => unknown): object {
  const kind = edit === null ? null : (JSON.parse(edit) as { kind: string }).kind;
  return { label: t(`audit.${action}`), note, edit: kind && t(`queue.done_edits.${kind}`), by: account_id === null ? null : names.get(account_id) ?? account_id, at: when(at), isUndone: undone_at !== null && !FINAL_ACTIONS.includes(action) };
}
