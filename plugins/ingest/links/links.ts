import type { Database, Tx } from 'civic';
import type { LinkedSource } from 'civic/directory';
import type { Ingest } from '../context.ts';
import { contentFound, type FoundContent } from './content.ts';
import { findingOf, type Finding } from './finding.ts';
import { passageSignal } from './signal.ts';
import { countFlaggedSince, deleteLink, linksToFlag, lockedLink, reachedLinks, updateLink, type LinkRow } from './store.ts';

type Write = Database['write'];

export interface CheckRun {
  write: Write;
  signal?: AbortSignal;
  /** After this time of `performance.now()` no further check begins. */
  deadline?: number;
}

/** What a check found. A failure counts only when other pages can be reached at the same time. */
export interface CheckResult {
  source: LinkedSource;
  finding: Finding;
  isCounted: boolean;
}

export interface Links {
  /** Checks links and stores what was found. Links of one host are checked one after the other. */
  check(links: LinkRow[], run: CheckRun): Promise<CheckResult[]>;
  /** Raises flags about broken links, as many as a day may have. Returns how many. */
  raiseFlags(run: CheckRun): Promise<number>;
}

interface Checked {
  link: LinkRow;
  source: LinkedSource;
  finding: Finding;
  content: FoundContent | null;
}

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
const HOSTS_AT_ONCE = 4;
const CONTROLS = 3;
/** Links from which the controls are chosen. */
const CONTROL_CHOICE = 50;

export function createLinks(ingest: Ingest): Links {
  const { civic, directory, reader, firehose, flags } = ingest;
  const { every_days, broken_after, retry_days, flags_per_day } = civic.config.links;
  const after = (milliseconds: number) => new Date(civic.clock.now() + milliseconds).toISOString();

  async function examine(link: LinkRow, source: LinkedSource, signal: AbortSignal | undefined): Promise<Checked> {
    const read = await reader.read({ url: source.url, purpose: 'links', ...(signal && { signal }) });
    const finding = findingOf(read);
    const content = finding.kind === 'reached' ? await contentFound(ingest, link, read) : null;
    if (content?.isLoginWall) return { link, source, finding: { kind: 'blocked', reason: 'login_wall', detail: `${link.host} asks for a sign-in instead of showing the page.` }, content: null };
    return { link, source, finding, content };
  }

  /** Stores something about a link, unless it was checked by another worker meanwhile. */
  async function store({ link, source }: Pick<Checked, 'link' | 'source'>, write: Write, work: (tx: Tx, current: LinkRow) => Promise<void>): Promise<boolean> {
    return write(async (tx) => {
      const current = await lockedLink(tx, source.id);
      if (!current || current.checked_at !== link.checked_at) return false;
      await work(tx, current);
      return true;
    });
  }

  async function storeReached(tx: Tx, current: LinkRow, { source, content }: Checked, moved_to: string | null): Promise<void> {
    const now = civic.clock.iso();
    if (content) await reader.keep(tx, [content.hash]);
    await directory.setLinkHealth(tx, source.id, { url_status: moved_to === null ? 'ok' : 'redirected', last_checked_at: now, ...(content && { content_hash: content.hash, archived: true }) });
    const draft = content && await passageSignal(ingest, tx, source, content);
    if (draft) await firehose.publish(tx, [draft]);
    if (current.flag_id !== null) await flags?.settle(tx, current.flag_id, `The link works again. It was checked at ${now}.`);
    await updateLink(tx, source.id, {
      ...RECOVERED, state: moved_to === null ? 'ok' : 'moved', moved_to, checked_at: now, reached_at: now, next_at: after(every_days * DAY_MS), ...(content && { content_hash: content.hash, text_hash: content.text_hash }),
    });
  }

  async function storeBlocked(tx: Tx, current: LinkRow, { source }: Checked, { reason, detail }: { reason: string; detail: string }): Promise<void> {
    const state = current.state === 'broken' ? {} : { ...RECOVERED, state: 'blocked' as const, reason, detail };
    await updateLink(tx, source.id, { ...state, checked_at: civic.clock.iso(), next_at: after(every_days * DAY_MS) });
  }

  async function storeFailed(tx: Tx, current: LinkRow, { source }: Checked, { reason, detail }: { reason: string; detail: string }): Promise<void> {
    const now = civic.clock.iso();
    // A reviewer stated since that the link works: the failures are counted from the beginning.
    const former = current.state === 'broken' && source.url_status !== 'broken' ? RECOVERED : current;
    const failures = Number(former.failures) + 1;
    const failing_since = former.failing_since ?? now;
    const isOver = failures >= broken_after && Date.parse(now) - Date.parse(failing_since) >= retry_days * (broken_after - 1) * DAY_MS;
    const isBroken = former.state === 'broken' || isOver;
    if (isBroken) await directory.setLinkHealth(tx, source.id, { url_status: 'broken', last_checked_at: now });
    await updateLink(tx, source.id, {
      state: isBroken ? 'broken' : 'failing', failures, failing_since, reason, detail, checked_at: now, next_at: after((isBroken ? every_days : retry_days) * DAY_MS),
      flag_id: former.flag_id, is_flag_due: Boolean(former.is_flag_due) || (isBroken && former.state !== 'broken' && source.workspace_id === null && flags !== null),
    });
  }

  /** Stores what was found, except failures, which the caller must confirm first. */
  async function storeFound(checked: Checked, write: Write): Promise<void> {
    const { finding } = checked;
    if (finding.kind === 'failed') return;
    await store(checked, write, async (tx, current) => {
      if (finding.kind === 'reached') await storeReached(tx, current, checked, finding.moved_to);
      else if (finding.kind === 'blocked') await storeBlocked(tx, current, checked, finding);
      else await updateLink(tx, current.source_id, { next_at: finding.until ?? after(HOUR_MS) });
    });
  }

  /** Returns links with their sources. A link whose source is gone is deleted; one that a person marked as broken is not checked. */
  async function withSources(links: LinkRow[], write: Write): Promise<Pick<Checked, 'link' | 'source'>[]> {
    const sources = new Map((await directory.linksById(civic.db.read, links.map(({ source_id }) => source_id))).map((source) => [source.id, source]));
    const found: Pick<Checked, 'link' | 'source'>[] = [];
    for (const link of links) {
      const source = sources.get(link.source_id);
      if (!source) await write((tx) => deleteLink(tx, link.source_id));
      else if (source.url_status === 'broken' && link.state !== 'broken') await write((tx) => updateLink(tx, link.source_id, { next_at: after(every_days * DAY_MS) }));
      else found.push({ link, source });
    }
    return found;
  }

  async function checkAll(links: Pick<Checked, 'link' | 'source'>[], { write, signal, deadline = Infinity }: CheckRun): Promise<Checked[]> {
    const names = [...new Set(links.map(({ link }) => link.host))];
    const hosts = names.map((name) => links.filter(({ link }) => link.host === name));
    const done: Checked[] = [];
    async function work(): Promise<void> {
      for (let host = hosts.shift(); host; host = hosts.shift()) {
        for (const { link, source } of host) {
          signal?.throwIfAborted();
          if (performance.now() > deadline) return;
          const checked = await examine(link, source, signal);
          await storeFound(checked, write);
          done.push(checked);
        }
      }
    }
    await Promise.all(Array.from({ length: HOSTS_AT_ONCE }, work));
    return done;
  }

  /** Returns whether the network of this server works: whether a page can be read that could be read before. Prefers hosts other than those that failed. */
  async function canReachOthers(failed: Checked[], run: CheckRun): Promise<boolean> {
    const failing = new Set(failed.map(({ link }) => link.host));
    const known = (await reachedLinks(civic.db.read, CONTROL_CHOICE)).filter(({ source_id }) => !failed.some(({ source }) => source.id === source_id));
    const byHost = [...new Map(known.toReversed().map((link) => [link.host, link])).values()];
    const controls = byHost.toSorted((a, b) => Number(failing.has(a.host)) - Number(failing.has(b.host))).slice(0, CONTROLS);
    const found = await checkAll(await withSources(controls, run.write), run);
    return found.some(({ finding }) => finding.kind === 'reached');
  }

  return {
    async check(links, run) {
      const done = await checkAll(await withSources(links, run.write), run);
      const failed = done.filter(({ finding }) => finding.kind === 'failed');
      const isCounted = failed.length === 0 || done.some(({ finding }) => finding.kind === 'reached') || await canReachOthers(failed, run);
      if (!isCounted) civic.log.warn({ links: failed.length }, 'No page could be reached, also none that could be reached before: the checks of links are repeated in an hour');
      for (const checked of failed) {
        await store(checked, run.write, async (tx, current) => {
          if (isCounted) await storeFailed(tx, current, checked, checked.finding as Finding & { kind: 'failed' });
          else await updateLink(tx, current.source_id, { next_at: after(HOUR_MS) });
        });
      }
      return done.map(({ source, finding }) => ({ source, finding, isCounted: finding.kind !== 'failed' || isCounted }));
    },
    async raiseFlags({ write }) {
      const since = new Date(civic.clock.now() - DAY_MS).toISOString();
      const left = flags ? flags_per_day - await countFlaggedSince(civic.db.read, since) : 0;
      const due = left > 0 ? await linksToFlag(civic.db.read, left) : [];
      for (const { source_id } of due) {
        await write(async (tx) => {
          const link = await lockedLink(tx, source_id);
          if (!link?.is_flag_due) return;
          const flag_id = await flags!.report(tx, { plugin: 'ingest', source_id, flag_type: 'broken_link', reason: reasonOf(link) });
          await updateLink(tx, source_id, { is_flag_due: false, flag_id, flagged_at: flag_id && civic.clock.iso() });
        });
      }
      return due.length;
    },
  };
}

const RECOVERED = { state: 'new' as const, failures: 0, failing_since: null, reason: null, detail: null, is_flag_due: false, flag_id: null };

function reasonOf({ failures, failing_since, detail }: LinkRow): string {
  return `The automatic check of links could not open the page ${failures} times since ${failing_since!.slice(0, 10)}. ${detail}`;
}
