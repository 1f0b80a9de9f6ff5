import { isWebUrl, type Texts } from 'civic';
import type { AccountsService } from 'civic/accounts';
import { adapterOf } from '../adapters/adapters.ts';
import type { Row } from '../adapters/types.ts';
import type { Ingest } from '../context.ts';
import type { ShownChange } from '../reads/last.ts';
import type { ReadRow } from '../reads/store.ts';
import { shownRows, type ShownSource } from '../sources/shown.ts';
import type { SourceRow } from '../sources/store.ts';
import type { SourcePage } from './area.ts';

/** A time as it is stored. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UNITS = [['days', 86_400], ['hours', 3600], ['minutes', 60]] as const;

/** Returns what pages show of a source, in the language of the page. */
export function sourceOnPage({ cadence }: Ingest, { when }: AccountsService['pages'], { t, owner }: SourcePage, source: ShownSource, place: string | undefined): object {
  const { id, name, url, platform, health, state, notices, row_count, last_read_at, next_read_at } = source;
  const standing = state === 'paused' ? 'paused' : health.status;
  return {
    id, name, url, place, platform: platform && adapterOf(platform).label, isPaused: state === 'paused', health: standing, healthText: t(`health.${standing}`), detail: health.detail, isRendered: health.via === 'browser',
    notices: notices.map((notice) => (notice === 'no_audience' && owner.workspace_id !== null ? t('notices.no_watch') : t(`notices.${notice}`))), rows: row_count,
    every: cadenceText(cadence({ cadence_seconds: source.cadence_seconds, tags: JSON.stringify(source.tags) }), t), since: when(health.failing_since, t), last: when(last_read_at, t), next: when(next_read_at, t),
  };
}

/** Returns "every 6 hours", in the largest unit that has a whole number. */
export function cadenceText(seconds: number, t: Texts): string {
  const [unit, size] = UNITS.find(([, one]) => seconds % one === 0) ?? UNITS[2];
  return t(`every.${unit}`, { count: Math.round(seconds / size) });
}

/** How often a source can be read, besides what the instance sets. */
const CADENCES = [900, 3600, 6 * 3600, 86_400, 7 * 86_400];

/** Returns the times between reads that a form offers. */
export function cadenceChoices({ cadence }: Ingest, { cadence_seconds, tags }: Pick<SourceRow, 'cadence_seconds' | 'tags'>, t: Texts, given: unknown): object[] {
  const chosen = String(given ?? cadence_seconds ?? '');
  const usual = t('sources.cadence_usual', { every: cadenceText(cadence({ cadence_seconds: null, tags }), t) });
  const offered = [...new Set([...CADENCES, ...(cadence_seconds === null ? [] : [cadence_seconds])])].toSorted((a, b) => a - b);
  return [{ value: '', label: usual }, ...offered.map((seconds) => ({ value: String(seconds), label: cadenceText(seconds, t) }))].map((one) => ({ ...one, isChosen: one.value === chosen }));
}

export function readOnPage({ when }: AccountsService['pages'], { at, outcome, detail, added, changed, gone, signals }: ReadRow, t: Texts): object {
  return { at: when(at, t), outcomeText: t(`outcomes.${outcome}`), detail, added, changed, gone, signals, hasChanges: added + changed + gone > 0 };
}

/** Returns the first rows, with their times in the zone of the source. */
export function rowsOnPage(rows: Row[], zone: string, t: Texts): object[] {
  return shownRows(rows).map(({ kind, title, date, location, status, url }) => ({
    title: title || t(`kinds.${kind}`), url: url !== null && isWebUrl(url) ? url : null, isCancelled: status === 'cancelled', more: [t(`kinds.${kind}`), ...(date ? [t.formatTime(date, zone)] : []), ...(location ? [location] : [])].join(' · '),
  }));
}

/** Returns what changed last, with the lines of pages that can be ignored. */
export function changesOnPage({ last_changes, ignored }: SourceRow, zone: string, t: Texts): object[] {
  const shown = (value: string | null) => (value !== null && TIME.test(value) ? t.formatTime(value, zone) : value);
  const known = new Set(JSON.parse(ignored) as string[]);
  return (JSON.parse(last_changes ?? '[]') as ShownChange[]).map(({ title, field, before, after }) => {
    const passage = field === 'text' ? after ?? before : null;
    return { title, field: field === 'text' || field === 'row' ? null : t(`fields.${field}`), before: shown(before), after: shown(after), passage, isIgnored: passage !== null && known.has(passage) };
  });
}
