import type { Reader, Tx } from 'civic';

export interface ContentRow {
  hash: string;
  content_type: string;
  bytes: number;
  packed: Uint8Array;
  stored_at: string;
  is_kept: 0 | 1;
}

export interface PageRow {
  url: string;
  final_url: string;
  etag: string | null;
  last_modified: string | null;
  content_hash: string;
  content_type: string;
  read_at: string;
}

export async function hasContent(reader: Reader, hash: string): Promise<boolean> {
  return await reader('reader_contents').where({ hash }).first('hash') !== undefined;
}

export async function contentByHash(reader: Reader, hash: string): Promise<ContentRow | undefined> {
  return reader('reader_contents').where({ hash }).first('*');
}

/** Stores a content once. */
export async function insertContent(tx: Tx, row: Omit<ContentRow, 'is_kept'>): Promise<void> {
  await tx('reader_contents').insert({ ...row, is_kept: false }).onConflict('hash').ignore();
}

export async function keepContents(tx: Tx, hashes: string[]): Promise<void> {
  await tx('reader_contents').whereIn('hash', hashes).where({ is_kept: false }).update({ is_kept: true });
}

export async function pageByUrl(reader: Reader, url: string): Promise<PageRow | undefined> {
  return reader('reader_pages').where({ url }).first('*');
}

export async function savePage(tx: Tx, row: PageRow): Promise<void> {
  await tx('reader_pages').insert(row).onConflict('url').merge();
}

/** Deletes up to 500 pages that were not read since. Returns how many. */
export async function prunePages(tx: Tx, before: string): Promise<number> {
  return tx('reader_pages').whereIn('url', tx('reader_pages').where('read_at', '<', before).limit(500).select('url')).delete();
}

/** Deletes up to 100 contents that no evidence refers to and that no page has now. Returns how many. */
export async function pruneContents(tx: Tx, before: string): Promise<number> {
  const current = tx('reader_pages').whereRaw('reader_pages.content_hash = reader_contents.hash');
  const old = tx('reader_contents').where({ is_kept: false }).where('stored_at', '<', before).whereNotExists(current).limit(100).select('hash');
  return tx('reader_contents').whereIn('hash', old).delete();
}
