import type { ResponseObject } from '@hapi/hapi';
import { cutText, type Reader } from 'civic';
import { STATES, type State } from '../review/queue.ts';
import { queuePage, queueTotals, stateCounts, type QueueRow } from '../review/queue-store.ts';
import { SEVERITIES, typesOf } from '../review/severity.ts';
import { lastStepOf, stepsOfBatch } from '../review/steps-store.ts';
import { messagesOf } from '../reporter/messages-store.ts';
import { flagsByKey, type FlagRow } from '../store.ts';
import { cursorOf, filterChoices, filtersOf, listPath, positionOf, queueFilter, reportPath, type Filters } from './filters.ts';
import { targetNames, type TargetNames } from './names.ts';
import { keysOf, noticeOf, REPORTS, type ConsoleContext, type Review } from './page.ts';

const PAGE_SIZE = 25;
const LONGEST_REASON = 240;

/** What can be decided about several reports at once, by state. */
export const BULK: Record<State, readonly ('accepted' | 'dismissed' | 'resolved' | 'cleared')[]> = {
  open: ['accepted', 'dismissed'], suspected: ['cleared', 'dismissed'], accepted: ['resolved'], resolved: [], dismissed: [],
};

/** Shows the queue: the targets with reports in one state, the most severe first. */
export async function showList({ flags, accounts }: ConsoleContext, review: Review): Promise<ResponseObject> {
  const { civic, directory } = flags;
  const { request, h, t, visitor } = review;
  const filters = filtersOf(request);
  const place = filters.place === '' ? null : await directory.placeKey(civic.db.read, filters.place) ?? (await directory.resolvePlace(civic.db.read, filters.place)).place?.place_key ?? null;
  const isUnknownPlace = filters.place !== '' && place === null;
  const filter = queueFilter(filters, place, civic.clock.now());
  const read = await civic.db.snapshot(async (tx) => {
    const totals = isUnknownPlace ? { targets: 0, reports: 0 } : await queueTotals(tx, filter);
    const rows = isUnknownPlace ? [] : await queuePage(tx, filter, { after: positionOf(request), limit: PAGE_SIZE + 1 });
    const shown = rows.slice(0, PAGE_SIZE);
    return {
      shown, next: rows.length > PAGE_SIZE ? shown.at(-1)! : null,
      leads: await flagsByKey(tx, shown.map(({ lead_key }) => lead_key)),
      messages: await messagesOf(tx, shown.map(({ lead_key }) => Number(lead_key))),
      names: await targetNames(flags, tx, shown.map(({ target_type: type, target_id: id }) => ({ type, id }))),
      totals,
      counts: isUnknownPlace ? {} : await stateCounts(tx, place),
      undo: await undoOf(tx, visitor.account.id),
    };
  });
  const when = (at: string) => accounts.pages.when(at, t);
  return accounts.pages.showConsole(request, h, { path: REPORTS, template: 'flags/queue', title: t('queue.title') }, {
    notice: noticeOf(review), keys: keysOf(t), filters, isUnknownPlace, ...filterChoices(filters, t), hasFilters: isFiltered(filters), list: listPath(filters), unfiltered: listPath({ ...filters, place: '', type: null, target: null, severity: null, age: null }),
    total: t(filters.type === null ? 'queue.total' : 'queue.total_of_type', { ...read.totals }),
    states: STATES.map((state) => ({ label: t(`queue.states.${state}`), count: read.counts[state] ?? 0, path: listPath(filters, { state }), isHere: state === filters.state })),
    isSuspected: filters.state === 'suspected',
    rows: shownRows(read.shown, read.leads, read.names).map((row) => ({ ...row, path: reportPath(row.id, filters), message: read.messages.get(row.lead_key)?.at(-1)?.kind, first: when(row.first_at), label: row.types.map((type) => t(`kinds.${type}`)).join(', '), severityLabel: t(`queue.severities.${row.severity}`) })),
    next: read.next && listPath(filters, { after: cursorOf(read.next) }), isLaterPage: positionOf(request) !== null, firstPage: listPath(filters),
    bulk: BULK[filters.state].map((decision, index) => ({ decision, label: t(`queue.bulk.${decision}`), isPlain: index > 0 })),
    undo: read.undo && { ...read.undo, when: when(read.undo.at) },
  });
}

function isFiltered({ place, type, target, severity, age }: Filters): boolean {
  return place !== '' || [type, target, severity, age].some((value) => value !== null);
}

function shownRows(rows: QueueRow[], leads: FlagRow[], names: TargetNames) {
  const byKey = new Map(leads.map((flag) => [Number(flag.key), flag]));
  return rows.map(({ target_type, target_id, lead_key, severity, types, reports, first_at }, index) => {
    const lead = byKey.get(Number(lead_key))!;
    return {
      number: index + 1, id: lead.id, lead_key: Number(lead_key), target: `${target_type}:${target_id}`, target_type, ...names({ type: target_type, id: target_id }), severity: SEVERITIES[severity]!, types: typesOf(types), reports, first_at,
      reason: cutText(lead.reason, LONGEST_REASON), suspicion: lead.suspicion,
    };
  });
}

/** Returns the last decision of a reviewer that can be undone. */
export async function undoOf(reader: Reader, accountId: string): Promise<{ batch: string; action: string; at: string; count: number } | null> {
  const step = await lastStepOf(reader, accountId);
  return step ? { batch: step.batch, action: step.action, at: step.at, count: (await stepsOfBatch(reader, step.batch)).length } : null;
}
