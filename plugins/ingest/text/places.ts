import { findDates } from './dates.ts';
import { oneOf } from './pattern.ts';
import { findTimes } from './times.ts';
import { blank, cleanTitle } from './titles.ts';

const DIRECTION = '(?:[NSEW]\\.?|North|South|East|West)';
const KINDS = 'St, Street, Ave, Avenue, Rd, Road, Blvd, Boulevard, Dr, Drive, Ln, Lane, Ct, Court, Pl, Place, Way, Pkwy, Parkway, Plaza, Sq, Square, Hwy, Highway, Ter, Terrace';
const STREET = new RegExp(`\\b\\d{1,5}(?:[-–]\\d{1,5})?\\s+${DIRECTION}?\\s?(?:[A-Z0-9][\\w.'’]*\\s+){1,4}${oneOf(KINDS)}\\b`);
const SHORT_STREET = new RegExp(`\\b\\d{1,5}\\s+${DIRECTION}\\s+[A-Z][a-z]+`);
const VENUE = new RegExp(`\\b${oneOf(`
  rooms?, rm\\.?, hall, cent(?:er|re), library, building, bldg, chambers?, auditorium, headquarters, school, college, church, fieldhouse, office, ofc\\.?, suite, floor
  boardroom, society, university, hotel, theat(?:er|re), pavill?ion, zoo, park, courthouse
`)}\\b`, 'i');
const ONLINE = /\b(?:virtual(?:ly)?(?: meeting)?|zoom|webex|microsoft teams|teams|teleconference|video ?conference|online|webinar|livestream)\b/i;
const LABEL_BEFORE = '[Mm]eetings?, MEETINGS?, [Hh]earing, [Ee]vent, [Pp]rincipal, [Rr]egular [Mm]eeting';
const LABEL_WORD = '[Ll]ocations?(?:\\/[Aa]ddress)?(?! detail), LOCATIONS?, [Ww]here, WHERE, [Pp]lace, PLACE, [Vv]enue, VENUE, [Ll]ugar';
const LABEL = new RegExp(`^\\W{0,3}(?:${oneOf(LABEL_BEFORE)}\\s)?${oneOf(LABEL_WORD)}(?:\\s*[:\\-–]\\s*|\\s*$|\\s+(?=[A-Z0-9]))`);
const HELD_AT = /\b(?:held|meets?|meet|take place|taking place|located|convene|occur(?: \w+)?|location)\b[^.;]{0,80}?\b(?:at|in|via|of)\s+(?=(?:the\s)?[A-Z0-9])/g;
const AT = /(?:^|[\s,])(?:at|in|@)\s+(?=(?:the\s)?(?:[A-Z0-9]))/;

export function isPlace(text: string): boolean {
  return text.length <= 160 && (STREET.test(text) || SHORT_STREET.test(text) || VENUE.test(text) || ONLINE.test(text));
}

/** A place such as `Board Room` has a word of meetings. */
export function isPlaceOnly(text: string): boolean {
  return isPlace(text) && !/\b(?:meeting|mtg|hearing|committee|session|workshop)\b/i.test(text);
}

export function isAddress(text: string): boolean {
  return text.length <= 200 && (STREET.test(text) || SHORT_STREET.test(text) || /,\s*[A-Z]{2}\.?(?:\s+\d{5})?\b|\b\d{5}$/.test(text));
}

/** Returns the text after a label such as `Location:`; '' when the label stands alone, null without a label. */
export function labelledPlace(text: string): string | null {
  const label = text.length <= 400 ? LABEL.exec(text) : null;
  return label ? cleanPlace(text.slice(label[0].length)) : null;
}

/** Returns the place that a sentence names: `will be held at City Hall, 121 N. LaSalle St. at 9 am`. */
export function placeInSentence(sentence: string): string | null {
  const dates = findDates(sentence);
  const undated = blank(sentence, dates);
  const text = blank(undated, findTimes(undated)).slice(0, 600);
  const via = /\bheld (?:(?:via|on|by)\s+(Zoom|Webex|Teams|Microsoft Teams)|virtually|online)\b/i.exec(text);
  for (const held of text.matchAll(HELD_AT)) {
    const place = cleanPlace(untilPlaceEnds(text.slice(held.index + held[0].length)));
    if (via && via.index <= held.index) break;
    if (isPlace(place)) return place;
  }
  if (via) return via[1] ?? 'Online';
  let rest = text;
  for (let tries = 0; tries < 6; tries++) {
    const at = AT.exec(rest);
    if (!at) return null;
    rest = rest.slice(at.index + at[0].length);
    const place = cleanPlace(untilPlaceEnds(rest));
    if (isPlace(place)) return place;
  }
  return null;
}

/** Returns the address in a text, up to the end of its sentence. */
export function addressIn(text: string): string | null {
  const found = STREET.exec(text.slice(0, 1000)) ?? SHORT_STREET.exec(text.slice(0, 1000));
  return found ? cleanPlace(untilPlaceEnds(text.slice(found.index, found.index + 200))) : null;
}

const WEEKDAY = '(?:mon|tue|wed|thu|fri|sat|sun)';
const PLACE_END = new RegExp([
  '(?<!\\b(?:St|Ave|Rd|Blvd|Dr|Ste|Rm|Fl|Bldg|No|Ln|Ct|[NSEW]))\\.(?:\\s|$)', ';', '\\s{4,}', '\\s-\\s', ':\\s*$',
  // A street may follow "at"; else a time does, which is blank here.
  '\\s+(?:at|@)(?!\\s\\d{1,5}\\s+[A-Z]|\\s(?:the\\s)?[A-Z])(?=\\W|$)',
  `\\s+on(?=\\s{2}|\\s(?:${WEEKDAY}|every|the (?:first|second|third|fourth|last|[1-4](?:st|nd|rd|th) ${WEEKDAY}))|\\s?$)`,
  '\\s+(?:from|starting|beginning|to consider|to discuss|and will|and typically|to(?=\\s*$)|unless|until|every|in person)(?=\\W|$)',
].join('|'), 'i');

/** A place ends with the sentence, or where a time, a day or another clause begins. */
function untilPlaceEnds(text: string): string {
  const end = PLACE_END.exec(text);
  return end ? text.slice(0, end.index) : text;
}

export function cleanPlace(text: string): string {
  return cleanTitle(text.replaceAll(/\bclick\s+here\b.*$/gi, '').replaceAll(/\s*\n\s*/g, ', ').replaceAll(/(?:\s*,){2,}/g, ',')).replace(/^the\s+/i, '').replace(/[.,\s]+$/, '').slice(0, 300);
}
