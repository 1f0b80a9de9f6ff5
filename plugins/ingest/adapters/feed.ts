import type { Document, FeedEntry } from 'civic/reader';
import { findDates } from '../text/dates.ts';
import { meetingRow, MOST_ROWS } from '../text/meeting.ts';
import { labelledPlace } from '../text/places.ts';
import { statusOf } from '../text/status.ts';
import { cleanTitle, titleWithoutDates } from '../text/titles.ts';
import { startOfText } from '../text/values.ts';
import { MEETING } from '../text/words.ts';
import type { Adapter, MeetingRow, PostRow } from './types.ts';

/** Reads RSS, Atom and JSON Feed. Entries of calendars are meetings, as in the feeds of Granicus and CivicPlus; others are posts. */
export const feed: Adapter = {
  name: 'feed',
  label: 'RSS, Atom or JSON Feed',
  source_class: 'organization_update',
  recognises: ({ feed: given, feeds, url }) => given ? 0.9 : NEWS.test(url) && feeds.some(({ type }) => type !== 'text/calendar') ? 0.2 : 0,
  address: (document) => document.feed ? document.url : document.feeds.find(({ type }) => type !== 'text/calendar')?.url ?? document.url,
  rows(document, { time_zone: zone }) {
    const isCalendar = isCalendarFeed(document);
    return (document.feed?.entries ?? []).slice(0, MOST_ROWS).map((entry, index) => (isCalendar || EVENT_DATE.test(entry.text.slice(0, 2000)) ? meetingOf(entry, zone) : null) ?? postOf(entry, index));
  },
};

/** The feed that a page names is that of the site: it stands for its first page and its news, not for any other page. */
const NEWS = /^https?:\/\/[^/?#]+\/?$|\b(?:news|blog|press|posts|updates)\b/i;
const LOCATION = /\bLocation:\s{0,5}(.{3,150}?)(?=\s(?:Description|Details|Event|Time)\b|$)/;
const EVENT_DATE = /\b(?:event|meeting) dates?\s*:/i;

/** Most entries of a calendar name a meeting and its day in the title. */
function isCalendarFeed({ url, feed: given }: Document): boolean {
  const entries = given?.entries.slice(0, 50) ?? [];
  if (/ViewPublisherRSS\.php|rss\.aspx[^#]*(?:calendar|ModID=58)/i.test(url)) return true;
  return entries.length > 0 && entries.filter(({ title }) => title && MEETING.test(title) && findDates(title).some(({ year }) => year !== null)).length * 2 > entries.length;
}

function meetingOf(entry: FeedEntry, zone: string): MeetingRow | null {
  const lines = entry.text.slice(0, 5000).split('\n');
  const dated = lines.findIndex((line) => /\bdates?\s*:/i.test(line) && findDates(line).length > 0);
  const stated = dated < 0 ? null : lines.slice(dated, dated + 3).join(' ');
  const start = (stated && startOfText(stated, zone)) ?? startOfText(entry.title ?? '', zone) ?? startOfText(lines.slice(0, 5).join(' '), zone);
  if (!start) return null;
  return meetingRow({
    id: entry.id ?? entry.url, title: titleWithoutDates(entry.title ?? 'Meeting'), start, status: statusOf(entry.title, lines[0]), url: entry.url,
    location: lines.map((line) => labelledPlace(line) || LOCATION.exec(line.slice(0, 1000))?.[1]).find(Boolean) ?? null,
    documents: entry.enclosures.map(({ url }) => ({ url, title: cleanTitle(entry.title ?? '') || 'Document' })), passage: { start: entry.start, end: entry.end },
  });
}

function postOf(entry: FeedEntry, index: number): PostRow {
  const title = cleanTitle(entry.title ?? entry.text.slice(0, 100)) || 'Untitled';
  return {
    kind: 'post', key: (entry.id ?? entry.url ?? `${title}:${entry.published ?? index}`).slice(0, 300), title, summary: cleanTitle(entry.text.slice(0, 1000)) || null, url: entry.url,
    published: entry.published ?? entry.updated, passage: { start: entry.start, end: entry.end },
  };
}
