import type { Request, ResponseObject } from '@hapi/hapi';
import { pagePath, type Texts } from 'civic';
import { STATES, typesFilter, type State } from '../review/queue.ts';
import type { QueueFilter, QueuePosition } from '../review/queue-store.ts';
import { SEVERITIES, type Severity } from '../review/severity.ts';
import { FLAG_TYPES, TARGET_TYPES, type FlagType, type TargetType } from '../types.ts';
import { REPORTS, textField, type Done, type Review } from './page.ts';

/** The filters of the list as its address has them. */
export interface Filters {
  state: State;
  /** As the reviewer typed it. */
  place: string;
  type: FlagType | null;
  target: TargetType | null;
  severity: Severity | null;
  /** The oldest report is at least so many days old. */
  age: number | null;
}

const AGES = [1, 7, 30, 90];
const DAY_MS = 86_400_000;
const LONGEST_PLACE = 200;

const among = <Value>(values: readonly Value[], given: unknown): Value | null => values.find((value) => String(value) === given) ?? null;

/** Reads the filters of an address. A value that does not exist is ignored. */
export function filtersOf({ query }: Pick<Request, 'query'>): Filters {
  return {
    state: among(STATES, query.state) ?? 'open', place: typeof query.place === 'string' ? query.place.replaceAll('\0', '').trim().slice(0, LONGEST_PLACE) : '', type: among(FLAG_TYPES, query.type),
    target: among(TARGET_TYPES, query.target), severity: among(SEVERITIES, query.severity), age: among(AGES, query.age),
  };
}

/** Reads the filters of the list to which a form returns, from its field with the path of that list. */
export function filtersOfForm({ payload }: Pick<Request, 'payload'>): Filters {
  const [, search = ''] = textField(payload, 'list').split('?', 2);
  return filtersOf({ query: Object.fromEntries(new URLSearchParams(search)) });
}

/** Returns the filter of the store. `place` is the canonical key of the place. */
export function queueFilter({ state, type, target, severity, age }: Filters, place: string | null, now: number): QueueFilter {
  return {
    state, place, target, types: typesFilter(type), severity: severity === null ? null : SEVERITIES.indexOf(severity), before: age === null ? null : new Date(now - age * DAY_MS).toISOString(),
  };
}

/** What a list shows at its top: what was done with how many reports, or that none was selected. */
type Notice = { done: Done; count: number } | { none: 1 };

/** Returns the path of the list with other filters, with the position after which its page begins, or with a notice. */
export function listPath(filters: Filters, more: Partial<Filters> & { after?: string } | Notice = {}): string {
  return pathWith(REPORTS, { ...filters, ...more });
}

/** Returns the path of a report, whose page leads back to the list with these filters. */
export function reportPath(id: string, filters: Filters, more: { asked?: 1 } = {}): string {
  return pathWith(`${REPORTS}/${id}`, { ...filters, ...more });
}

function pathWith(path: string, { state, ...others }: Filters): string {
  const entries = Object.entries({ state: state === 'open' ? null : state, ...others }).filter(([, value]) => value !== null && value !== '' && value !== undefined);
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(Object.fromEntries(entries.map(([name, value]) => [name, String(value)])))}`;
}

/** Redirects to the list from which the form was opened. */
export function returnToList({ request, h }: Review, notice: Notice): ResponseObject {
  return h.redirect(pagePath(request, listPath(filtersOfForm(request), notice))).code(303).header('cache-control', 'no-store');
}

/** Reads the position of a cursor; null for the first page. */
export function positionOf({ query }: Request): QueuePosition | null {
  const [, rank, target_id] = /^(\d{1,16})\.([\w,.-]{1,200})$/.exec(String(query.after)) ?? [];
  return rank === undefined ? null : { rank: Number(rank), target_id: target_id! };
}

export const cursorOf = ({ rank, target_id }: QueuePosition): string => `${rank}.${target_id}`;

/** Returns the fields of the form with the filters. */
export function filterChoices({ type, target, severity, age }: Filters, t: Texts): object {
  const choices = (values: readonly (string | number)[], chosen: string | number | null, label: (value: never) => string) => values.map((value) => ({ value, label: label(value as never), isChosen: value === chosen }));
  return {
    types: choices(FLAG_TYPES, type, (value) => t(`kinds.${value}`)),
    targets: choices(TARGET_TYPES, target, (value) => t(`queue.targets.${value}`)),
    severities: choices(SEVERITIES.toReversed(), severity, (value) => t(`queue.severities.${value}`)),
    ages: choices(AGES, age, (value) => t('queue.older', { count: value })),
  };
}
