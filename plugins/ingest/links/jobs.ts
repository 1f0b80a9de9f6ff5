import { latestEnd, type JobKind } from 'civic';
import type { LinkedSource } from 'civic/directory';
import type { Ingest } from '../context.ts';
import { hostToCheck } from './finding.ts';
import type { Links } from './links.ts';
import { countLinks, dueLinks, insertLinks, knownLinks, type LinkRow } from './store.ts';

const DAY_MS = 24 * 3600_000;
const FIND_SECONDS = 6 * 3600;
const CHECK_SECONDS = 600;
/** No check begins later, so that a run ends before the next. */
const LONGEST_MS = 480_000;
const SOURCES_AT_ONCE = 1000;
/** A run checks at least so many links, also of a small directory. */
const LEAST = 30;
/** How much faster than necessary links are checked, to catch up after a pause. */
const HASTE = 2;

/** The jobs that check the links of the directory. One run at a time checks a few links, so that they need one place in the lane of network jobs and are spread over the days. */
export function linkJobs(ingest: Ingest, links: Links): JobKind[] {
  const { civic, directory } = ingest;
  const { every_days, retry_days } = civic.config.links;
  const ago = (milliseconds: number) => new Date(civic.clock.now() - milliseconds).toISOString();

  function linkOf({ id, url, retrieved_at, last_checked_at }: LinkedSource): Pick<LinkRow, 'source_id' | 'host' | 'added_at' | 'next_at'>[] {
    const host = hostToCheck(url);
    if (host === null) return [];
    const next = last_checked_at === null ? Date.parse(retrieved_at) + DAY_MS : Date.parse(last_checked_at) + every_days * DAY_MS;
    return [{ source_id: id, host, added_at: civic.clock.iso(), next_at: new Date(next).toISOString() }];
  }

  const find: JobKind = {
    name: 'ingest.find_links',
    every_seconds: FIND_SECONDS,
    async run({ write, signal }) {
      for (let position = 0; !signal.aborted;) {
        const sources = await directory.linksAfter(civic.db.read, position, SOURCES_AT_ONCE);
        if (sources.length === 0) return;
        const known = await knownLinks(civic.db.read, sources.map(({ id }) => id));
        const added = sources.filter(({ id }) => !known.has(id)).flatMap(linkOf);
        if (added.length > 0) await write((tx) => insertLinks(tx, added));
        position = sources.at(-1)!.position;
      }
    },
  };

  const check: JobKind = {
    name: 'ingest.check_links',
    every_seconds: CHECK_SECONDS,
    lane: 'network',
    async run({ write, signal }) {
      const share = Math.ceil((HASTE * await countLinks(civic.db.read) * CHECK_SECONDS) / (every_days * 86_400));
      const due = await dueLinks(civic.db.read, {
        // A new source waits for a day: it may be corrected or deleted.
        now: civic.clock.iso(), latest: new Date(latestEnd(civic.clock.now(), Math.max(every_days, retry_days) * DAY_MS)).toISOString(), added_before: ago(DAY_MS), limit: Math.max(LEAST, share),
      });
      const run = { write, signal, deadline: performance.now() + LONGEST_MS };
      if (due.length > 0) await links.check(due, run);
      await links.raiseFlags(run);
    },
  };
  return every_days === 0 ? [] : [find, check];
}
