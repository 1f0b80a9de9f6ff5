import { dialectOf, newId, reserveKeys, type Tx } from 'civic';
import { moveSources } from '../actors/store.ts';
import type { SourceDraft } from '../types.ts';
import type { SourceRow } from './rows.ts';
import { insertSources, replaceSources, sourcesById, sourcesByUrl } from './store.ts';

export interface EnteredSource {
  draft: SourceDraft;
  /** For an actor of a workspace's own: it changes nothing that others may cite, and its excerpt stays with its claims. */
  isPrivate: boolean;
}

/** Enters sources, one for each address; what is known of one already is completed, and it moves when it was looked at again. */
export async function enterSources(tx: Tx, given: EnteredSource[], now: string): Promise<Map<string, SourceRow>> {
  const byUrl = new Map<string, SourceDraft[]>();
  const open = new Set<string>();
  for (const { draft: whole, isPrivate } of given) {
    const draft = isPrivate ? { ...whole, excerpt: null } : whole;
    if (!isPrivate) open.add(draft.url);
    const same = byUrl.get(draft.url);
    if (same) same.push(draft);
    else byUrl.set(draft.url, [draft]);
  }
  const urls = [...byUrl.keys()].sort();
  const entered = new Map((await sourcesByUrl(tx, urls)).map((row) => [row.url, row]));
  await completeSources(tx, entered, new Map([...byUrl].filter(([url]) => open.has(url))));
  const missing = urls.filter((url) => !entered.has(url));
  if (missing.length === 0) return entered;
  const keys = await reserveKeys(tx, 'directory_sources', missing.length);
  const wanted = missing.flatMap((url) => byUrl.get(url)![0]!.id ?? []);
  const taken = new Set((await sourcesById(tx, wanted)).map(({ id }) => id));
  const rows = missing.map((url, index) => byUrl.get(url)!.reduce((row, draft) => completed(row, draft), freshRow(keys[index]!, byUrl.get(url)![0]!, now)));
  // Two addresses are two sources, whatever id they came with.
  for (const row of rows) {
    if (taken.has(row.id)) row.id = newId();
    taken.add(row.id);
  }
  await insertSources(tx, rows);
  // Another node may have entered one of them meanwhile: its key is the one to use. On SQLite there is no other.
  for (const row of dialectOf(tx) === 'sqlite' ? rows : await sourcesByUrl(tx, missing)) entered.set(row.url, row);
  return entered;
}

async function completeSources(tx: Tx, entered: Map<string, SourceRow>, drafts: Map<string, SourceDraft[]>): Promise<void> {
  const changed: SourceRow[] = [];
  const moved: SourceRow[] = [];
  for (const [url, row] of entered) {
    const after = (drafts.get(url) ?? []).reduce((known, draft) => completed(known, draft), row);
    if (after === row) continue;
    changed.push(after);
    if (after.retrieved_at !== row.retrieved_at) moved.push(after);
    entered.set(url, after);
  }
  await replaceSources(tx, changed);
  await moveSources(tx, moved);
}

function freshRow(key: number, draft: SourceDraft, now: string): SourceRow {
  return {
    key, id: draft.id ?? newId(), url: draft.url, title: null, publication: null, kind: draft.kind ?? 'other', published_at: null,
    retrieved_at: draft.retrieved_at ?? now, excerpt: null, content_hash: null, archived: false, url_status: 'unknown', last_checked_at: null,
  };
}

/** The same row when the draft says nothing new. A later look wins; an earlier one fills gaps. */
function completed(row: SourceRow, draft: SourceDraft): SourceRow {
  const seen = draft.retrieved_at ?? row.retrieved_at;
  const isLater = seen > row.retrieved_at;
  const better = <Name extends 'title' | 'publication' | 'published_at' | 'excerpt' | 'content_hash'>(name: Name) => (isLater ? draft[name] ?? row[name] : row[name] ?? draft[name] ?? null);
  const after: SourceRow = {
    ...row,
    title: better('title'), publication: better('publication'), published_at: better('published_at'), excerpt: better('excerpt'), content_hash: better('content_hash'),
    kind: row.kind === 'other' ? draft.kind ?? 'other' : row.kind,
    retrieved_at: isLater ? seen : row.retrieved_at,
  };
  return (Object.keys(after) as (keyof SourceRow)[]).some((name) => after[name] !== row[name]) ? after : row;
}
