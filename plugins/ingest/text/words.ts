import { oneOf } from './pattern.ts';

/** Words of meetings and of the bodies that meet. */
export const MEETING = new RegExp(`\\b${oneOf(`
  meetings?, metings?, mtgs?, hearings?, agendas?, minutes, sessions?, workshops?, forums?, town hall, retreat, conference, schedule, calendar, events?, reuni[oó]n(?:es)?, audiencia
  committees?, subcommittees?, commissions?, commissioners, councils?, boards?, trustees, task force, caucus, junta
`)}\\b`, 'i');

const FILES = `agendas?, minutes, mintues, packets?, notices?, presentations?, videos?, audio, recordings?, decisions?, summary, addendum, transcripts?, attachments?, documents?, materials?, results, reports?, files?
  livestream, webcast, map, details?, click here, here, view, read more, register(?: now)?, ical(?:endar)?, add to calendar, rsvp`;
const BEFORE_FILE = 'view, read, download, open, meeting, bench, final, draft, approved, amended, revised, board, public, click here for, special, regular, closed, session, \\d+';
const AFTER_FILE = 'agendas?, minutes, packets?, notices?, and, &, \\(pdf\\), pdf, click, here, only, materials?, \\d+';

/** Titles of documents that are no titles of meetings. */
const DOCUMENT = new RegExp(`^\\W{0,4}(?:${oneOf(BEFORE_FILE)} ){0,4}${oneOf(FILES)}(?: ${oneOf(AFTER_FILE)})*\\W{0,4}$`, 'i');

export function isDocumentTitle(text: string): boolean {
  return text.length < 80 && DOCUMENT.test(text);
}

/** Words of headings that say nothing about which body meets. */
const GENERIC = new Set(`meeting meetings meting metings mtg mtgs schedule schedules scheduled agenda agendas minutes date dates calendar calendars upcoming past next previous archive archives archived
  notice notices and or of the for in on at a an all view list listing events event video videos audio documents document materials information info available current regular time times location place
  january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday
  home welcome year month planning public records posted to be held monthly annual quarterly news our your here click icon page details online more other please note`.split(/\s+/));

/** Returns the words of a heading that name something, without years and words such as `schedule`. */
export function namingWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? []).filter((word) => !GENERIC.has(word) && !/^\d+(?:st|nd|rd|th)?$/.test(word));
}

/** Returns the folded words of a text, to compare titles. */
export function foldWords(text: string): string[] {
  return text.normalize('NFKD').toLowerCase().replaceAll(/\p{M}/gu, '').replaceAll(/['’]s?\b/g, '').match(/[\p{L}\p{N}]+/gu) ?? [];
}
