import type { MeetingRow } from '../adapters/types.ts';
import { findMonth } from '../text/dates.ts';
import { meetingRow } from '../text/meeting.ts';
import { placeInSentence } from '../text/places.ts';
import { isDay, startOf } from '../text/zone.ts';
import { statusOf } from '../text/status.ts';
import { titleWithoutDates } from '../text/titles.ts';
import { documentsOf } from './documents.ts';
import type { Line } from './lines.ts';
import type { Page } from './rows.ts';

const MOST_DAYS = 500;

/** Reads a calendar of a month that is a table with a cell for each day. */
export function gridRows({ lines, document }: Page, zone: string): MeetingRow[] {
  const rows: MeetingRow[] = [];
  let month: { year: number; month: number } | null = null;
  let weekdays = 0;
  for (const [at, line] of lines.entries()) {
    const found = findMonth(line.text);
    if (found) [month, weekdays] = [found, 0];
    if (/^(?:sun|mon|tue|wed|thu|fri|sat)[a-z]{0,6}$/i.test(line.text)) weekdays++;
    const day = /^\d{1,2}$/.test(line.text) ? Number(line.text) : null;
    if (!month || weekdays < 5 || day === null || line.tag !== 'td' || !isDay({ ...month, day }) || rows.length >= MOST_DAYS) continue;
    rows.push(...eventsOf(cellLines(lines, at), { ...month, day }, zone, document.url));
  }
  return rows;
}

function cellLines(lines: Line[], at: number): Line[] {
  let to = at + 1;
  while (to < lines.length && to < at + 20 && lines[to]!.block === lines[at]!.block) to++;
  return lines.slice(at + 1, to);
}

/** Each event of a day begins with a bullet or a link; its time stands beside or below. */
function eventsOf(lines: Line[], day: { year: number; month: number; day: number }, zone: string, url: string): MeetingRow[] {
  const events: Line[][] = [];
  for (const line of lines) {
    if (events.length === 0 || line.links.some((link) => link.start >= line.start) || /^[*•·-]\s/.test(line.text)) events.push([line]);
    else events.at(-1)!.push(line);
  }
  return events.map((event) => {
    const time = event.flatMap(({ times }) => times)[0];
    const text = event.map((line) => line.text).join('\n');
    return meetingRow({
      title: titleWithoutDates(withoutRepetition(event[0]!.text)), start: startOf({ ...day, ...(time ? { hour: time.hour, minute: time.minute } : {}) }, zone), status: statusOf(text),
      location: event.map((line) => /location:\s*(.{3,120}?)\.?$/i.exec(line.text)?.[1] ?? placeInSentence(line.text)).find(Boolean) ?? null,
      url, documents: event.flatMap(documentsOf), passage: { start: event[0]!.start, end: event.at(-1)!.end },
    });
  });
}

/** Some calendars write the title once for the cell and once for its tooltip. */
function withoutRepetition(text: string): string {
  const title = text.replace(/^[*•·-]\s+/, '');
  const half = title.slice(0, title.length / 2);
  return title.length % 2 === 0 && half === title.slice(title.length / 2) ? half : title;
}
