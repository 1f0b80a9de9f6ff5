import type { Civic } from 'civic';
import type { Entry, Log, Version } from '../log/log.ts';

/** What open pages are told of a signal: enough to know whether it is for them; they read the rest where it is stored. */
interface News {
  id: string;
  type: string;
  source_class: string;
  places: string[];
  issues: string[];
  isGone: boolean;
}

const TOGETHER_MS = 300;
/** A page that hears of so many at once need not know which. */
const MOST_NEWS = 20;

/** Tells the pages that are open on this node what is new in public, a little at a time. */
export function tellPages(civic: Civic, log: Log): void {
  const topic = civic.live('/signals');
  let news: News[] = [];
  let timer: NodeJS.Timeout | null = null;

  function tell(): void {
    topic.publish({ signals: news.slice(0, MOST_NEWS), more: Math.max(0, news.length - MOST_NEWS) });
    news = [];
    timer = null;
  }

  log.onEntries((entries) => {
    news.push(...entries.flatMap(newsOf));
    if (news.length > 0) timer ??= setTimeout(tell, TOGETHER_MS).unref();
  });
}

/** Whether anonymous callers can see a version that the entry adds or replaces. */
export function isPublicEntry(entry: Entry): boolean {
  return publicVersion(entry) !== undefined;
}

function publicVersion({ now, before }: Entry): Version | undefined {
  return [now, before].find((one): one is Version => one?.fields.audience === 'public');
}

function newsOf(entry: Entry): News[] {
  const version = publicVersion(entry);
  if (!version) return [];
  const { now } = entry;
  const { type, source_class, places, issues } = version.fields;
  return [{ id: idOf(version), type, source_class, places, issues, isGone: version !== now }];
}

/** It stands first in every signal. */
function idOf({ json }: Version): string {
  return json.slice(7, 43);
}
