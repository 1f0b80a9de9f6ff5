import type { JobKind } from 'civic';
import type { Discovery } from '../context.ts';
import { unindexedPages, updatePage } from '../runs/pages-store.ts';
import { pageAt } from './frontier.ts';

const AT_ONCE = 200;

/** Adds pages to the index of the archive that runs read before there was one. Pages that runs read now are added as they are stored. */
export function backfillJob({ civic, reader }: Discovery): JobKind {
  return {
    name: 'discovery.index',
    every_seconds: 86_400,
    async run({ write, signal }) {
      for (;;) {
        const pages = await unindexedPages(civic.db.read, AT_ONCE);
        if (pages.length === 0) return;
        signal.throwIfAborted();
        await write(async (tx) => {
          for (const { key, url, content_hash, retrieved_at, workspace_id } of pages) {
            if (pageAt(url)) await reader.index(tx, { workspace_id, url, content_hash: content_hash!, read_at: retrieved_at! });
            await updatePage(tx, key, { issue_areas: '[]' });
          }
        });
      }
    },
  };
}
