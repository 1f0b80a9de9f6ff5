import { singleLine, tokens, writableText, type Civic, type JobKind } from 'civic';
import type { ReaderConfig } from '../config.ts';
import { archivedContent } from '../fetch/read.ts';
import type { Document, ReaderService } from '../types.ts';
import { deleteOwner, emptyIndex, indexedPage, pagesWith, putWords, saveIndexed, updateIndexed, waitingPages, type IndexedRow } from './store.ts';
import type { FoundPage, SearchService } from './types.ts';

/** The owner of pages that everybody's searches find. */
const PUBLIC = 'public';
const KINDS = ['html', 'pdf', 'text'];
const MOST_TEXT = 100_000;
/** Different words of one page. */
const MOST_WORDS = 3000;
const LONGEST_TITLE = 500;
const OF_ONE_QUERY = 50;
const AT_ONCE = 50;

export function createSearch(civic: Civic<ReaderConfig>): SearchService {
  return {
    async index(tx, { workspace_id, url, content_hash, read_at, document }) {
      if (document && !KINDS.includes(document.kind)) return;
      const owner = workspace_id ?? PUBLIC;
      const known = await indexedPage(tx, owner, url);
      if (known?.content_hash === content_hash && (known.indexed_at !== null || !document)) return updateIndexed(tx, known.key, { read_at });
      const title = document ? titleOf(document) : known?.title ?? null;
      const key = await saveIndexed(tx, { owner, url, content_hash, read_at, title, indexed_at: document ? civic.clock.iso() : null });
      await putWords(tx, key, document ? wordsOf(document) : []);
    },
    async find(reader, { workspace_id, queries, limit }) {
      const owners = workspace_id === null ? [PUBLIC] : [PUBLIC, workspace_id];
      const found = new Map<string, FoundPage & { queries: Set<string> }>();
      for (const query of queries) {
        for (const { url, title, read_at } of await pagesWith(reader, owners, query, OF_ONE_QUERY)) {
          const known = found.get(url);
          found.set(url, { url, title: known?.title ?? title, read_at: known && known.read_at > read_at ? known.read_at : read_at, queries: (known?.queries ?? new Set()).add(query) });
        }
      }
      const best = [...found.values()].toSorted((one, other) => other.queries.size - one.queries.size || other.read_at.localeCompare(one.read_at) || one.url.localeCompare(other.url));
      return best.slice(0, limit).map(({ url, title, read_at }) => ({ url, title, read_at }));
    },
    async deleteIndex(tx, workspaceId) {
      while (await deleteOwner(tx, workspaceId) > 0);
    },
  };
}

/** Adds the words of pages that wait: pages whose caller did not parse them, and all pages after a restore. */
export function indexJob(civic: Civic<ReaderConfig>, document: ReaderService['document']): JobKind {
  return {
    name: 'reader.index',
    every_seconds: 300,
    async run({ write, signal }) {
      for (;;) {
        const waiting = await waitingPages(civic.db.read, AT_ONCE);
        if (waiting.length === 0) return;
        for (const page of waiting) {
          signal.throwIfAborted();
          const parsed = await parsedPage(page);
          await write(async (tx) => {
            const current = await indexedPage(tx, page.owner, page.url);
            // A later read replaced it meanwhile.
            if (current?.content_hash !== page.content_hash) return;
            await putWords(tx, page.key, parsed ? wordsOf(parsed) : []);
            await updateIndexed(tx, page.key, { title: parsed ? titleOf(parsed) : page.title, indexed_at: civic.clock.iso() });
          });
        }
      }
    },
  };

  /** Returns null for what is pruned, has no words, or cannot be parsed. */
  async function parsedPage({ url, content_hash }: IndexedRow): Promise<Document | null> {
    const content = await archivedContent(civic.db.read, content_hash);
    if (!content) return null;
    try {
      const parsed = await document({ url, content_type: content.content_type, body: content.body });
      return KINDS.includes(parsed.kind) ? parsed : null;
    } catch {
      return null;
    }
  }
}

/** Declares the index: after a restore its pages wait for the job. */
export function declareIndex(civic: Civic<ReaderConfig>): void {
  civic.readModel({ name: 'search', version: 1, tables: ['reader_search'], rebuild: ({ write }) => write(emptyIndex) });
}

function titleOf({ title }: Document): string | null {
  return singleLine(writableText(title ?? ''), LONGEST_TITLE) || null;
}

function wordsOf({ title, text, main }: Document): string[] {
  const body = main ? text.slice(main.start, main.end) : text;
  return tokens(`${title ?? ''} ${body.slice(0, MOST_TEXT)}`).slice(0, MOST_WORDS);
}
