import { meetingRow, MOST_ROWS } from '../text/meeting.ts';
import { statusOf } from '../text/status.ts';
import { plainText, titleWithoutDates } from '../text/titles.ts';
import { startOfValue, withTimeOf } from '../text/values.ts';
import type { Adapter, AgendaItem, MeetingRow } from './types.ts';

const MOST_ITEMS = 500;

/** Reads the XML of BoardDocs (`/Board.nsf/XML-ActiveMeetings`). */
export const boardDocs: Adapter = {
  name: 'boarddocs',
  label: 'BoardDocs',
  source_class: 'government_agenda',
  isComplete: true,
  recognises: ({ kind, body }) => kind === 'xml' && /<meetings\b[^<>]{0,200}>\s{0,100}<meeting\b/.test(body?.slice(0, 2000) ?? '') ? 0.95 : 0,
  rows: ({ body }, { time_zone: zone }) => (body ?? '').split('<meeting ').slice(1, MOST_ROWS + 1).map((part) => rowOf(part, zone)),
};

/** The shape is fixed, so that searching for tags is enough; each part is read once. */
function rowOf(part: string, zone: string): MeetingRow {
  const opening = part.slice(0, Math.max(0, part.indexOf('>')));
  const title = plainText(inside(part, 'name')) || 'Meeting';
  const day = startOfValue(inside(inside(part, 'start'), 'date'), zone);
  return meetingRow({
    id: attribute(opening, 'id'), title: titleWithoutDates(title), body: plainText(attribute(opening, 'bodyname') ?? '') || null, start: withTimeOf(title, day, zone),
    status: statusOf(title, plainText(inside(part, 'description').slice(0, 500))), url: plainText(inside(part, 'link')) || null,
    items: part.split('<item ').slice(1, MOST_ITEMS + 1).map(itemOf),
  });
}

function itemOf(part: string, index: number): AgendaItem {
  const name = plainText(inside(part, 'name'));
  const [, number, title] = /^([A-Z0-9]{1,4}(?:\.\d{1,3}){0,3})\.\s{1,3}(\S.*)$/s.exec(name) ?? [];
  return { key: attribute(part.slice(0, Math.max(0, part.indexOf('>'))), 'id') ?? String(index), number: number ?? null, title: (title ?? name) || 'Item', matter: null, action: plainText(inside(part, 'actiontype')) || null, passed: null, votes: null };
}

/** Returns the text of the first element with a name; '' without one. */
function inside(xml: string, name: string): string {
  const opening = xml.indexOf(`<${name}`);
  if (opening < 0) return '';
  const from = xml.indexOf('>', opening) + 1;
  const to = xml.indexOf(`</${name}>`, from);
  return from > 0 && to >= from ? xml.slice(from, to) : '';
}

function attribute(opening: string, name: string): string | null {
  return new RegExp(`(?:^|\\s)${name}="([^"]{0,300})"`).exec(opening.slice(0, 2000))?.[1] ?? null;
}
