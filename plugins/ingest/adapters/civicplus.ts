import type { Block, Document, Link } from 'civic/reader';
import { findDates } from '../text/dates.ts';
import { joinRows, meetingRow, MOST_ROWS, uniqueDocuments } from '../text/meeting.ts';
import { isPlace } from '../text/places.ts';
import { statusOf } from '../text/status.ts';
import { cleanTitle, titleWithoutDates } from '../text/titles.ts';
import { startOfText } from '../text/values.ts';
import { isDocumentTitle } from '../text/words.ts';
import { isDay, startOf } from '../text/zone.ts';
import type { Adapter, MeetingRow } from './types.ts';

const FILE = /\/AgendaCenter\/ViewFile\/(?:Item|Agenda|Minutes|ArchivedAgenda|ArchivedMinutes)\/_?(\d{2})(\d{2})(\d{4})-(\d{1,9})/i;
const EVENT = /\/calendar\.aspx\?[^#]{0,200}\bEID=(\d{1,9})/i;

/** Reads the agenda center and the calendar of CivicPlus. The addresses of files name the day and a number of the meeting. */
export const civicPlus: Adapter = {
  name: 'civicplus',
  label: 'CivicPlus',
  source_class: 'government_agenda',
  recognises: ({ links }) => links.some(({ url }) => FILE.test(url)) ? 0.9 : links.filter(({ url }) => EVENT.test(url)).length >= 2 ? 0.85 : 0,
  rows(document, { time_zone: zone }) {
    const agendas = agendaRows(document);
    return joinRows((agendas.length > 0 ? agendas : calendarRows(document, zone)).slice(0, MOST_ROWS));
  },
};

function agendaRows({ blocks, url }: Document): MeetingRow[] {
  const rows = new Map<string, MeetingRow>();
  let category: string | null = null;
  for (const block of blocks) {
    if (/^h[12]$/.test(block.tag)) category = cleanTitle(block.text.replace(/^[▼▲►\s]+/, '')) || null;
    for (const link of block.links) {
      const [, month, day, year, number] = FILE.exec(link.url) ?? [];
      const local = { year: Number(year), month: Number(month), day: Number(day) };
      if (number === undefined || !isDay(local)) continue;
      const known = rows.get(number);
      const named = cleanTitle(link.text);
      const isNamed = named !== '' && !isDocumentTitle(named) && !/^(?:html|pdf|agenda|minutes|packet|previous versions)/i.test(named);
      const document = { url: link.url, title: /\/(?:Archived)?Minutes\//i.test(link.url) ? 'Minutes' : 'Agenda' };
      rows.set(number, meetingRow({
        ...known, id: number, title: known && known.title !== known.body ? known.title : isNamed ? titleWithoutDates(named) : category ?? 'Meeting', body: known?.body ?? category, start: startOf(local, 'UTC'),
        status: known?.status === 'cancelled' ? 'cancelled' : statusOf(named), url, documents: uniqueDocuments([...known?.documents ?? [], document]), passage: known?.passage ?? { start: block.start, end: block.end },
      }));
    }
  }
  return [...rows.values()];
}

/** An event of the list begins with its title, which links to it; its date, place and summary follow. */
function calendarRows({ blocks, url }: Document, zone: string): MeetingRow[] {
  const rows: MeetingRow[] = [];
  for (let at = 0; at < blocks.length;) {
    const link = eventLink(blocks[at]!);
    let to = at + 1;
    while (to < blocks.length && to < at + 8 && !eventLink(blocks[to]!)) to++;
    const id = link && EVENT.exec(link.url)![1]!;
    const row = id ? eventOf(id, link, blocks.slice(at, to), url, zone) : null;
    if (row) rows.push(row);
    at = link ? to : at + 1;
  }
  return rows;
}

function eventLink({ links }: Block): Link | null {
  return links.find(({ url, text }) => EVENT.test(url) && text.trim() !== '' && !/^more\b/i.test(text)) ?? null;
}

function eventOf(id: string, link: Link, blocks: Block[], url: string, zone: string): MeetingRow | null {
  const lines = blocks.flatMap(({ text }) => text.split('\n')).slice(0, 30);
  const dated = lines.findIndex((line) => line.length <= 200 && findDates(line).some(({ year }) => year !== null));
  const start = dated < 0 ? null : startOfText(lines.slice(dated, dated + 2).join(' '), zone);
  if (!start) return null;
  const place = lines.slice(dated).map((line) => /^\s*@\s*(.{2,150})$/.exec(line)?.[1]).find(Boolean) ?? lines.slice(dated + 1).find((line) => isPlace(line));
  return meetingRow({ id, title: titleWithoutDates(link.text), start, location: place ?? null, status: statusOf(link.text, lines[dated]), url: link.url || url, passage: { start: blocks[0]!.start, end: blocks.at(-1)!.end } });
}
