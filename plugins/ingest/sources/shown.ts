import type { Row } from '../adapters/types.ts';
import type { ReadRow } from '../reads/store.ts';
import { noticesOf } from './notices.ts';
import type { SourceRow } from './store.ts';

/** How many rows of a source are shown. */
export const SAMPLE = 10;

/** Returns a source as responses show it. */
export function shownSource(row: SourceRow, nextReadAt: string | null) {
  const { id, url, name, platform, place_key, cadence_seconds, source_class, workspace_id, state, row_count, last_read_at, last_success_at, last_change_at, created_at, updated_at } = row;
  return {
    id, url, name, platform, place: place_key, issues: parsed(row.issues), tags: parsed(row.tags), cadence_seconds, source_class, visibility: workspace_id === null ? 'public' : 'workspace', state,
    health: { status: row.health, reason: row.fault, detail: row.fault_detail, failing_since: row.failing_since, failures: Number(row.failures), via: row.via },
    notices: noticesOf(row), row_count: Number(row_count), ignored: parsed(row.ignored), last_read_at, last_success_at, last_change_at, next_read_at: nextReadAt, created_at, updated_at,
  };
}

export type ShownSource = ReturnType<typeof shownSource>;

function parsed(json: string | string[]): string[] {
  return typeof json === 'string' ? JSON.parse(json) as string[] : json;
}

export function shownRows(rows: Row[]) {
  return rows.slice(0, SAMPLE).map((row) => ({
    kind: row.kind,
    key: row.key,
    title: row.title,
    date: row.kind === 'meeting' ? row.start : row.kind === 'filing' ? row.introduced : row.kind === 'post' ? row.published : null,
    location: row.kind === 'meeting' ? row.location : null,
    status: 'status' in row ? row.status : null,
    url: 'url' in row ? row.url : null,
  }));
}

export function shownRead({ at, outcome, detail, rows, added, changed, gone, signals, milliseconds, content_hash, via }: ReadRow) {
  return { at, outcome, detail, rows, added, changed, gone, signals, milliseconds, content_hash, via };
}
