import { dialectOf, newId, reserveKeys, type Tx } from 'civic';
import { moveSources } from '../actors/store.ts';
import type { SourceDraft } from '../types.ts';
import { groupBy } from './group.ts';
import type { SourceRow } from './rows.ts';
import { claimsOfRecords, eraseUnusedSources, insertSources, moveClaims, promoteSources, replaceSources, sourcesById, sourcesByKey, sourcesByUrl } from './store.ts';
import { notAfter } from './times.ts';

/** A source with the workspace of the record that cites it; null when the record is public. */
export interface Citation {
  draft: SourceDraft;
  owner: string | null;
}

/** Rows by owner and URL. */
export type CitedSources = Map<string, SourceRow>;

export const citationKey = (owner: string | null, url: string): string => `${owner ?? ''} ${url}`;

/**
 * Upserts sources, one for each URL and owner: private citations have rows of their workspace, and only public
 * citations change the public row. An existing row gets missing metadata, and all metadata of a later retrieval.
 */
export async function enterSources(tx: Tx, citations: Citation[], now: string): Promise<CitedSources> {
  const cited: CitedSources = new Map();
  for (const [owner, some] of groupBy(citations, (citation) => citation.owner)) {
    for (const [url, row] of await enterOwned(tx, owner, some.map(({ draft }) => draft), now)) cited.set(citationKey(owner, url), row);
  }
  return cited;
}

async function enterOwned(tx: Tx, owner: string | null, drafts: SourceDraft[], now: string): Promise<Map<string, SourceRow>> {
  const byUrl = groupBy(drafts, ({ url }) => url);
  const urls = [...byUrl.keys()].sort();
  const entered = new Map((await sourcesByUrl(tx, urls, owner)).map((row) => [row.url, row]));
  await completeSources(tx, entered, byUrl, now);
  const missing = urls.filter((url) => !entered.has(url));
  if (missing.length === 0) return entered;
  const keys = await reserveKeys(tx, 'directory_sources', missing.length);
  const rows = missing.map((url, index) => byUrl.get(url)!.reduce((row, draft) => completed(row, draft, now), freshRow(keys[index]!, owner, byUrl.get(url)![0]!, now)));
  if (owner === null) await giveIds(tx, rows, byUrl);
  else await fillFromPublic(tx, rows, now);
  await insertSources(tx, rows);
  // Another node may have entered one of them meanwhile: its key is the one to use. On SQLite there is no other.
  for (const row of dialectOf(tx) === 'sqlite' ? rows : await sourcesByUrl(tx, missing, owner)) entered.set(row.url, row);
  return entered;
}

/** Keeps the ids of an import, except those that are taken: two URLs are two sources. */
async function giveIds(tx: Tx, rows: SourceRow[], byUrl: Map<string, SourceDraft[]>): Promise<void> {
  const wanted = new Map(rows.flatMap(({ url }): [string, string][] => { const { id } = byUrl.get(url)![0]!; return id ? [[url, id]] : []; }));
  const taken = new Set((await sourcesById(tx, [...wanted.values()])).map(({ id }) => id));
  for (const row of rows) {
    const id = wanted.get(row.url);
    if (id === undefined || taken.has(id)) continue;
    row.id = id;
    taken.add(id);
  }
}

/** Fills gaps in new rows of a workspace from the public rows of the same URLs. */
async function fillFromPublic(tx: Tx, rows: SourceRow[], now: string): Promise<void> {
  const known = new Map((await sourcesByUrl(tx, rows.map(({ url }) => url), null)).map((row) => [row.url, row]));
  rows.forEach((row, index) => {
    const open = known.get(row.url);
    if (open) rows[index] = completed(row, { ...draftOf(open), retrieved_at: null }, now);
  });
}

async function completeSources(tx: Tx, entered: Map<string, SourceRow>, drafts: Map<string, SourceDraft[]>, now: string): Promise<void> {
  const changed: SourceRow[] = [];
  const moved: SourceRow[] = [];
  for (const [url, row] of entered) {
    const after = drafts.get(url)!.reduce((known, draft) => completed(known, draft, now), row);
    if (after === row) continue;
    changed.push(after);
    if (after.retrieved_at !== row.retrieved_at) moved.push(after);
    entered.set(url, after);
  }
  await replaceSources(tx, changed);
  await moveSources(tx, moved.filter(({ workspace_id }) => workspace_id === null));
}

/** Makes the citations of records public: their claims then cite the public sources of the same URLs, and the private metadata fills gaps there. */
export async function publishSources(tx: Tx, recordKeys: number[], now: string): Promise<void> {
  const keys = [...new Set((await claimsOfRecords(tx, recordKeys)).map(({ source_key }) => source_key))];
  await promoteSources(tx, keys, recordKeys);
  const own = (await sourcesByKey(tx, keys)).filter(({ workspace_id }) => workspace_id !== null);
  const entered = await enterSources(tx, own.map((row) => ({ draft: draftOf(row), owner: null })), now);
  for (const { key, url } of own) await moveClaims(tx, recordKeys, key, entered.get(citationKey(null, url))!.key);
  await eraseUnusedSources(tx, own.map(({ key }) => key));
}

function draftOf({ id, url, title, publication, kind, published_at, retrieved_at, excerpt, content_hash }: SourceRow): SourceDraft {
  return { local_id: id, id, url, title, publication, kind, published_at, retrieved_at, excerpt, content_hash };
}

function freshRow(key: number, owner: string | null, draft: SourceDraft, now: string): SourceRow {
  return {
    key, id: newId(), workspace_id: owner, url: draft.url, title: null, publication: null, kind: draft.kind ?? 'other', published_at: null,
    retrieved_at: draft.retrieved_at ?? now, excerpt: null, content_hash: null, archived: false, url_status: 'unknown', last_checked_at: null,
  };
}

/** The same row when the draft has nothing new. A later retrieval wins; an earlier one fills gaps. */
function completed(row: SourceRow, draft: SourceDraft, now: string): SourceRow {
  const known = notAfter(row.retrieved_at, now);
  const seen = draft.retrieved_at ?? known;
  const isLater = seen > known;
  const better = <Name extends 'title' | 'publication' | 'published_at' | 'excerpt' | 'content_hash'>(name: Name) => (isLater ? draft[name] ?? row[name] : row[name] ?? draft[name] ?? null);
  const after: SourceRow = {
    ...row,
    title: better('title'), publication: better('publication'), published_at: better('published_at'), excerpt: better('excerpt'), content_hash: better('content_hash'),
    kind: row.kind === 'other' ? draft.kind ?? 'other' : row.kind,
    retrieved_at: isLater ? seen : row.retrieved_at,
  };
  return (Object.keys(after) as (keyof SourceRow)[]).some((name) => after[name] !== row[name]) ? after : row;
}
