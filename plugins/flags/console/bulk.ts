import type { ResponseObject } from '@hapi/hapi';
import { cutText, isId, problemOf } from 'civic';
import { MOST_DECIDED, type NewDecision } from '../review/decisions.ts';
import { STATES, type State } from '../review/queue.ts';
import type { Flags } from '../flags.ts';
import { reportersOf } from '../reporter/store.ts';
import { flagsInState, type FlagRow } from '../store.ts';
import { FLAG_TYPES, knownType, TARGET_TYPES, type Target } from '../types.ts';
import { filtersOfForm, listPath, returnToList } from './filters.ts';
import { BULK } from './list.ts';
import { shownSeverity, targetNames } from './names.ts';
import { REPORTS, repeatedField, reviewerOf, textField, type ConsoleContext, type Review } from './page.ts';

const LONGEST_REASON = 160;
const LONGEST_NOTE = 2000;
const MOST_TARGETS = 50;

/** Shows the reports of the selected targets to confirm a decision on them. */
export async function confirmBulk(context: ConsoleContext, review: Review): Promise<ResponseObject> {
  const { request } = review;
  const decision = bulkDecision(review);
  const state = STATES.find((one) => one === textField(request.payload, 'state')) ?? 'open';
  const targets = repeatedField(request.payload, 'target[]').flatMap(targetIn).slice(0, MOST_TARGETS);
  if (!decision || !BULK[state].includes(decision) || targets.length === 0) return returnToList(review, { none: 1 });
  return showConfirm(context, review, { decision, state, ...await waitingFlags(context, review, targets, state) });
}

/** Decides on the confirmed reports. When one of them cannot be decided, none is, and the page shows why. */
export async function decideBulk(context: ConsoleContext, review: Review): Promise<ResponseObject> {
  const { request } = review;
  const decision = bulkDecision(review);
  const ids = [...new Set(repeatedField(request.payload, 'report[]'))].slice(0, MOST_DECIDED);
  if (!decision || ids.length === 0) return returnToList(review, { none: 1 });
  try {
    const { flags } = await context.decisions.decide(ids, { action: decision, note: textField(request.payload, 'note').slice(0, LONGEST_NOTE) || undefined }, reviewerOf(review));
    return returnToList(review, { done: decision, count: flags.length });
  } catch (error) {
    const found = problemOf(error);
    if (!found || found.status >= 500) throw error;
    return showConfirm(context, review, { decision, state: 'open', flags: [], isCut: false, failed: found.detail, status: found.status });
  }
}

function bulkDecision({ request: { payload } }: Review): NewDecision['action'] | undefined {
  return (['accepted', 'dismissed', 'resolved', 'cleared'] as const).find((one) => one === textField(payload, 'decision'));
}

function targetIn(text: string): Target[] {
  const [given, id = ''] = text.split(':', 2);
  const type = TARGET_TYPES.find((one) => one === given);
  return type && (type === 'place' ? id !== '' : isId(id)) ? [{ type, id }] : [];
}

async function waitingFlags({ flags: { civic } }: ConsoleContext, { request: { payload } }: Review, targets: Target[], state: State): Promise<{ flags: FlagRow[]; isCut: boolean }> {
  const flagType = FLAG_TYPES.find((one) => one === textField(payload, 'type')) ?? null;
  const flags: FlagRow[] = [];
  for (const target of targets) flags.push(...await flagsInState(civic.db.read, target, { state, flagType }, MOST_DECIDED + 1));
  return { flags: flags.slice(0, MOST_DECIDED), isCut: flags.length > MOST_DECIDED };
}

interface Confirmation {
  decision: NewDecision['action'];
  state: State;
  flags: FlagRow[];
  /** Whether more reports were selected than can be decided at once. */
  isCut: boolean;
  failed?: string;
  status?: number;
}

async function showConfirm({ flags: plugin, accounts }: ConsoleContext, { request, h, t }: Review, { decision, state, flags, isCut, failed, status }: Confirmation): Promise<ResponseObject> {
  const names = await targetNames(plugin, plugin.civic.db.read, flags.map(({ target_type: type, target_id: id }) => ({ type, id })));
  return accounts.pages.showConsole(request, h, { path: REPORTS, template: 'flags/confirm', title: t(`queue.confirm.${decision}`, { count: flags.length }), status }, {
    decision, state, isCut, most: MOST_DECIDED, failed, list: listPath(filtersOfForm(request)), button: t(`queue.bulk.${decision}`),
    showsContacts: (decision === 'dismissed' || decision === 'resolved') && flags.some(({ flag_type, suspicion }) => flag_type === 'privacy' && suspicion === null),
    mailed: await countMailed(plugin, accounts, decision, flags),
    reports: flags.map((flag) => ({ id: flag.id, ...names({ type: flag.target_type, id: flag.target_id }), ...shownSeverity(flag, t), kind: t(`kinds.${knownType(flag.flag_type)}`), at: accounts.pages.when(flag.created_at, t), reason: cutText(flag.reason, LONGEST_REASON) })),
  });
}

/** Returns how many reporters get a mail about the decision. Those of dismissed spam get none. */
async function countMailed({ civic }: Flags, { mail }: ConsoleContext['accounts'], decision: NewDecision['action'], flags: FlagRow[]): Promise<number> {
  if (!mail.isConfigured || decision === 'cleared') return 0;
  const concerned = flags.filter(({ suspicion }) => suspicion === null || decision !== 'dismissed');
  return (await reportersOf(civic.db.read, concerned.map(({ key }) => Number(key)))).size;
}
