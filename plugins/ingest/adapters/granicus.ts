import type { Cell, Document } from 'civic/reader';
import { findDates } from '../text/dates.ts';
import { joinRows, meetingRow, MOST_ROWS } from '../text/meeting.ts';
import { statusOf } from '../text/status.ts';
import { cleanTitle, titleWithoutDates } from '../text/titles.ts';
import { startOfText } from '../text/values.ts';
import type { Adapter, MeetingRow } from './types.ts';

const LINK = /\/(?:AgendaViewer|MediaPlayer|MinutesViewer|GeneratedAgendaViewer|player\/(?:clip|event))\b/i;

/** Reads `ViewPublisher.php` of Granicus: tables of upcoming events and of the archive, with a name, a date and links to documents. */
export const granicus: Adapter = {
  name: 'granicus',
  label: 'Granicus',
  source_class: 'government_agenda',
  isComplete: true,
  recognises: (document) => isGranicus(document) && rowsOf(document, 'UTC').length > 0 ? 0.9 : 0,
  rows: (document, { time_zone: zone }) => rowsOf(document, zone),
};

function isGranicus({ url, links }: Document): boolean {
  return /ViewPublisher\.php/i.test(url) || links.filter((link) => LINK.test(link.url)).length >= 2;
}

function rowsOf(document: Document, zone: string): MeetingRow[] {
  return joinRows(document.tables.flatMap(({ rows }) => rows.flatMap(({ cells }) => rowOf(document, cells, zone) ?? [])).slice(0, MOST_ROWS));
}

/** The name is the first cell; views order the others as the city likes. */
function rowOf({ url, title }: Document, cells: Cell[], zone: string): MeetingRow | null {
  const dated = cells.find(({ text }) => text.length <= 100 && findDates(text).some(({ year }) => year !== null));
  const start = dated && startOfText(dated.text, zone);
  if (!start) return null;
  const name = cells.find((cell) => cell !== dated && /\p{L}{3}/u.test(cell.text) && !/^(?:agenda|minutes|video|\d{2}h)/i.test(cell.text)) ?? dated;
  const links = cells.flatMap((cell) => cell.links).filter((link) => /^https?:/.test(link.url));
  const id = links.map((link) => /\b(?:clip_id|event_id)=(\d{1,12})|\/player\/(?:clip|event)\/(\d{1,12})/i.exec(link.url)).find(Boolean);
  return meetingRow({
    id: id ? `${/event/i.test(id[0]) ? 'event' : 'clip'}-${id[1] ?? id[2]}` : null, title: name === dated ? titleWithoutDates(name.text) : cleanTitle(name.text), start, status: statusOf(name.text, dated.text), url,
    body: cleanTitle(title ?? '') || null, documents: links.map((link) => ({ url: link.url, title: cleanTitle(link.text) || 'Document' })),
    passage: { start: Math.min(...cells.map((cell) => cell.start)), end: Math.max(...cells.map((cell) => cell.end)) },
  });
}
