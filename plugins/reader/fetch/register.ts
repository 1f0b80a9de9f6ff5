import type { Civic } from 'civic';
import type { ReaderConfig } from '../config.ts';
import { keepContents, pruneContents, prunePages } from './archive-store.ts';
import { pruneFetches } from './fetches-store.ts';
import { browserCheck } from '../browser/check.ts';
import { createBrowser, type Browser } from '../browser/browser.ts';
import { createShellCheck } from '../browser/shell.ts';
import type { ReaderService } from '../types.ts';
import { pruneAbove, pruneUnarchived } from '../search/store.ts';
import { createHosts } from './hosts.ts';
import { pruneHosts } from './hosts-store.ts';
import { archivedContent, createRead } from './read.ts';
import type { ReadService } from './types.ts';

const DAY_MS = 24 * 3600_000;
const HOST_DAYS = 30;

/** Declares the reads of the network, and the job that prunes their records. */
export function registerReads(civic: Civic<ReaderConfig>, document: ReaderService['document']): { service: ReadService; browser: Browser } {
  const product = civic.instance.user_agent.split(/[/\s]/)[0]!;
  const hosts = createHosts(civic, product);
  const browser = createBrowser(civic, hosts);
  civic.check(browserCheck(civic.config));

  civic.jobs.define({
    name: 'reader.prune',
    every_seconds: 3600,
    async run({ write, signal }) {
      const before = (days: number) => new Date(civic.clock.now() - days * DAY_MS).toISOString();
      while (!signal.aborted && await write((tx) => pruneFetches(tx, before(civic.config.fetch_days))) > 0);
      while (!signal.aborted && await write((tx) => prunePages(tx, before(civic.config.archive_days))) > 0);
      while (!signal.aborted && await write((tx) => pruneHosts(tx, before(HOST_DAYS))) > 0);
      while (!signal.aborted && await write((tx) => pruneContents(tx, before(civic.config.archive_days))) > 0);
      while (!signal.aborted && await write(pruneUnarchived) > 0);
      while (!signal.aborted && await write((tx) => pruneAbove(tx, civic.config.index_pages)) > 0);
    },
  });
  return { service: { read: createRead(civic, hosts, { browser, isShell: createShellCheck(document) }), content: archivedContent, keep: keepContents, ignoreRobots: hosts.ignoreRobots }, browser };
}
