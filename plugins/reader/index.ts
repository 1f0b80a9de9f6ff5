import { charsetOf, createThreads, definePlugin } from 'civic';
import { readerOptions, type ReaderConfig } from './config.ts';
import { evalStructured } from './eval/command.ts';
import { registerReads } from './fetch/register.ts';
import { createSearch, declareIndex, indexJob } from './search/search.ts';
import type { Document, ReaderService } from './types.ts';

export type * from './fetch/types.ts';
export type * from './search/types.ts';
export type * from './types.ts';

/** The largest body that is sent to a thread; more than this is left out, and `truncated` says so. */
const MOST_BYTES = 10_000_001;

export default definePlugin<ReaderConfig>({
  name: 'reader',
  summary: 'Reads documents of the web politely: pages, feeds, calendars and PDF, with their structured data',
  config: readerOptions,
  migrations: `${import.meta.dirname}/migrations`,

  register(_server, civic) {
    const threads = createThreads(new URL('./parse/document.js', import.meta.url), { count: 2, seconds: 10, memory_mb: 256 });
    const document: ReaderService['document'] = ({ body, ...input }) => {
      const part = body.subarray(0, MOST_BYTES);
      return threads.run<Document>('parseDocument', { ...input, charset: charsetOf(part, input.content_type) }, part);
    };
    const { service, browser } = registerReads(civic, document);
    civic.provide({ document, ...service, ...createSearch(civic) } satisfies ReaderService);
    declareIndex(civic);
    civic.jobs.define(indexJob(civic, document));
    civic.command(evalStructured(document));
    return {
      async stop() {
        await browser.stop();
        await threads.close();
      },
    };
  },
});
