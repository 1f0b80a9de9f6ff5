import type { Cell, Document, Table } from 'civic/reader';
import { joinRows, meetingRow, MOST_ROWS } from '../text/meeting.ts';
import { statusOf } from '../text/status.ts';
import { cleanTitle, titleWithoutDates } from '../text/titles.ts';
import { startOfText } from '../text/values.ts';
import type { Adapter, MeetingRow } from './types.ts';

/**
 * Reads `Calendar.aspx` and `DepartmentDetail.aspx` of Legistar. A calendar has a table of upcoming meetings and one of all; cities hide columns, so
 * that no column but the date is needed.
 */
export const legistarPages: Adapter = {
  name: 'legistar_pages',
  label: 'Legistar calendar',
  source_class: 'government_agenda',
  isComplete: true,
  recognises: (document) => tablesOf(document).length === 0 ? 0 : isLegistar(document) ? 0.9 : 0.6,
  rows: (document, { time_zone: zone }) => joinRows(tablesOf(document).flatMap((table) => table.rows.flatMap(({ cells }) => rowOf(document, table, cells, zone) ?? [])).slice(0, MOST_ROWS)),
};

function isLegistar({ url, links }: Document): boolean {
  return /^https?:\/\/[\w.-]{1,100}\.legistar\.com\//i.test(url) || links.some((link) => /MeetingDetail\.aspx\?/i.test(link.url));
}

/** The table of meetings of a calendar has the column `Meeting Date`; the one of a department too. */
function tablesOf({ tables }: Document): Table[] {
  return tables.filter(({ header }) => header.some((text) => /^meeting date$/i.test(text.trim())));
}

function rowOf(document: Document, { header }: Table, cells: Cell[], zone: string): MeetingRow | null {
  const cell = (name: RegExp): Cell | undefined => cells[header.findIndex((text) => name.test(text.trim()))];
  const day = cell(/^meeting date$/i);
  const start = day && startOfText(`${day.text} ${cell(/^meeting time$/i)?.text ?? ''}`, zone);
  if (!start) return null;
  const links = cells.flatMap((one) => one.links);
  const id = links.map(({ url }) => /(?:MeetingDetail\.aspx|View\.ashx\?M=IC)[^#]{0,50}?\bID=(\d{1,12})/i.exec(url)?.[1]).find(Boolean);
  const place = cell(/^meeting location$/i)?.text ?? '';
  const name = cleanTitle(cell(/^(?:name|meeting name|body)$/i)?.text ?? '') || departmentOf(document);
  return meetingRow({
    id: id ?? null, title: titleWithoutDates(name), body: name, start, location: place.replace(/^\s*cancell?ed\b\W*/i, ''), status: statusOf(name, place, cell(/^meeting time$/i)?.text),
    url: links.find(({ url }) => /MeetingDetail\.aspx/i.test(url))?.url ?? document.url,
    documents: links.filter(({ url }) => /View\.ashx\?M=(?!IC\b)|Video\.aspx|\.pdf(?:$|[?#])/i.test(url)).map(({ url, text }) => ({ url, title: cleanTitle(text) || 'Document' })),
    passage: { start: Math.min(...cells.map((one) => one.start)), end: Math.max(...cells.map((one) => one.end)) },
  });
}

/** The page of a department names it in its title: `The City of Example - City Council`. */
function departmentOf({ title, blocks }: Document): string {
  return cleanTitle((title ?? '').split(/\s-\s/).at(-1) ?? '') || blocks.find(({ tag }) => tag === 'h1')?.text || 'Meeting';
}
