import type { Document, Range } from 'civic/reader';
import { findDates, type FoundDate } from './dates.ts';
import type { Line } from './lines.ts';
import type { FoundActor, FoundClaim } from './types.ts';

const EVENT = /\b(?:meetings?|hearings?|sessions?|workshops?|forums?|town ?halls?|rall(?:y|ies)|festivals?|clean-?ups?|open houses?|vigils?|marches|march for|parades?|fundraisers?|conferences?|summits?|trainings?|webinars?|candidate nights?|debates?|info(?:rmation)? sessions?|listening sessions?|potlucks?|block part(?:y|ies)|reuni[oó]n(?:es)?|audiencias?|asambleas?|talleres|taller|foros?|marchas?|jornadas?|vigilias?|junta)\b/i;
/** A line of an archive names a document and no event. */
const DOCUMENT = /\b(?:minutes|agendas?|packets?|notices?|archives?|archived|videos?|audio|recordings?|summary|results|transcripts?|past|previous|calendars?|schedules?|actas?|[oó]rdenes|orden del d[ií]a)\b/i;
const TIME = /\b\d{1,2}(?::\d{2})?\s?(?:[ap]\.?\s?m\.?)(?:\s?(?:-|–|to|a)\s?\d{1,2}(?::\d{2})?\s?(?:[ap]\.?\s?m\.?))?|\b(?:noon|mediod[ií]a)\b|\b\d{1,2}:\d{2}\b/gi;
const WEEKDAY = /\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b,?|\b(?:lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo)\b,?/gi;
const LOCATION = /(?:\b(?:at|in|en|@)\s+(?:the |el |la )?|[,|–—-]\s*|^\W*)((?:\p{Lu}|\d{1,5}\s)[\p{L}\d.'’& -]{2,80}?\b(?:Hall|Library|Center|Centre|Room|Church|School|Park|Building|Auditorium|Chambers?|Plaza|Street|Avenue|Ave|St|Rd|Road|Blvd|Courthouse|Museum|Theater|Theatre|Gym|Ayuntamiento)\b(?:[ \w.-]{0,20}\d\w{0,3})?|(?:Biblioteca|Escuela|Iglesia|Centro|Sal[oó]n|Parque|Plaza|Calle)(?: (?:de |del |la |los |las )*[\p{Lu}\d][\p{L}\d-]*){1,5})/u;
const LONGEST_NAME = 120;
/** Longer ones are headlines. */
const MOST_WORDS = 10;
const MOST_EVENTS = 200;

/** Finds events: lines with a date and a word for a meeting, and the events of calendars. */
export function eventsIn(document: Document, lines: Line[]): FoundActor[] {
  const found: FoundActor[] = (document.calendar ?? []).slice(0, MOST_EVENTS).flatMap((event) => calendarEvent(event, document.text) ?? []);
  let heading: Line | null = null;
  for (const line of lines) {
    if (found.length >= MOST_EVENTS) break;
    if (line.level !== null) heading = line;
    if (line.isProse && line.text.length > 200) continue;
    const [date] = findDates(line.text);
    const event = date ? eventOn(line, date, heading) : null;
    if (event) found.push(event);
  }
  return found;
}

function eventOn(line: Line, date: FoundDate, heading: Line | null): FoundActor | null {
  const name = nameOn(line, date) ?? (heading && heading.number !== line.number && line.number - heading.number <= 4 && isOnlyDate(line, date) ? nameOn(heading, null) : null);
  if (!name) return null;
  const start = line.start + date.start;
  const claims: FoundClaim[] = [
    { property: 'name', value: name.text, start: name.start, end: name.end },
    { property: 'event_start', value: date.day, start, end: line.start + date.end },
  ];
  const place = locationOn(line, date, name);
  if (place) claims.push({ property: 'event_location', value: place.text, start: place.start, end: place.end });
  const hasTime = line.text.search(TIME) >= 0;
  return { type: 'event', name: name.text, score: 0.5 + (hasTime ? 0.12 : 0) + (place ? 0.1 : 0) - (line.isProse ? 0.15 : 0), method: 'rules', claims };
}

/** Returns the part of a line that names an event: what is before or after the date, without times. */
function nameOn(line: Line, date: FoundDate | null): (Range & { text: string }) | null {
  const blanked = blank(blank(date ? line.text.slice(0, date.start) + '\n'.repeat(date.end - date.start) + line.text.slice(date.end) : line.text, TIME), WEEKDAY);
  for (const { 0: part, index } of blanked.matchAll(/[^\n]+/g)) {
    const [piece = ''] = part.split(/\s(?:at|from|en|a las)\s|\s[-–—|]\s|[,;|(](?=\s)/).filter((one) => EVENT.test(one));
    const text = piece.replace(/^[\s,:;.|()–—-]+|[\s,:;|()–—-]+$/g, '').replace(/\s+(?:on|at|el|en|will be|is|will be held|se llevará)$/i, '');
    if (text.length >= 6 && text.length <= LONGEST_NAME && /\s/.test(text) && /^[\p{Lu}\d¡"“]/u.test(text) && !/[.!?]\s/.test(text) && !DOCUMENT.test(text) && !/[<>]/.test(text) && text.split(/\s+/).length <= MOST_WORDS) {
      const start = line.start + index + part.indexOf(text);
      return { text, start, end: start + text.length };
    }
  }
  return null;
}

/** Whether a line has nothing but a date and a time; the heading above names the event then. */
function isOnlyDate({ text }: Line, { start, end }: FoundDate): boolean {
  const rest = `${text.slice(0, start)} ${text.slice(end)}`.replaceAll(TIME, ' ').replaceAll(WEEKDAY, ' ');
  return !/\p{L}{3}/u.test(rest.replaceAll(/\b(?:from|until|las|date|fecha|when|time|hora)\b/gi, ' '));
}

function blank(text: string, pattern: RegExp): string {
  return text.replaceAll(pattern, (found) => '\n'.repeat(found.length));
}

function locationOn(line: Line, date: FoundDate, name: Range): (Range & { text: string }) | null {
  const from = Math.max(date.end, name.end > line.start ? Math.min(name.end - line.start, line.text.length) : 0);
  const after = blank(line.text.slice(from), TIME).replaceAll('\n', ' ');
  const match = LOCATION.exec(after.slice(0, 300));
  if (!match) return null;
  const text = match[1]!.trim();
  const start = line.start + from + match.index + match[0].indexOf(match[1]!);
  return line.text.startsWith(text, start - line.start) ? { text, start, end: start + text.length } : null;
}

function calendarEvent({ summary, starts, ends, location, start, end, status }: NonNullable<Document['calendar']>[number], text: string): FoundActor | null {
  const lines = text.slice(start, end);
  const at = summary ? lines.indexOf(summary) : -1;
  if (!summary || at < 0 || summary.length > 300 || status === 'cancelled') return null;
  const whole = { start, end };
  const claims: FoundClaim[] = [{ property: 'name', value: summary, start: start + at, end: start + at + summary.length }];
  // A time without a zone names no moment; its day is certain.
  const moment = (value: string) => (/T.*(?:Z|[+-]\d{2}:\d{2})$/.test(value) ? value : value.slice(0, 10));
  claims.push({ property: 'event_start', value: moment(starts), ...whole });
  if (ends && ends.includes('T') && moment(ends) !== moment(starts)) claims.push({ property: 'event_end', value: moment(ends), ...whole });
  const placeAt = location ? lines.indexOf(location) : -1;
  if (location && placeAt >= 0 && location.length <= 500) claims.push({ property: 'event_location', value: location, start: start + placeAt, end: start + placeAt + location.length });
  return { type: 'event', name: summary, score: 0.9, method: 'structured', claims };
}
