import { fieldOf, isObject, objectsOf, textField, type JsonObject } from '../text/json.ts';
import { joinRows, meetingRow, MOST_ROWS } from '../text/meeting.ts';
import { organizationOf } from '../text/organizer.ts';
import { labelledPlace } from '../text/places.ts';
import { statusOf, statusOfValue, type MeetingStatus } from '../text/status.ts';
import { cleanTitle, plainText, titleWithoutDates } from '../text/titles.ts';
import { startOfValue, withTimeOf } from '../text/values.ts';
import { knownZone } from '../text/zone.ts';
import type { Adapter, LinkedDocument, MeetingRow } from './types.ts';

const TITLE = ['title', 'eventTitle', 'event_title', 'meetingName', 'name', 'summary', 'subject', 'body', 'CalendarTypeDesc', 'calendarType'];
const START = ['start', 'utc_start_date', 'start_date', 'start_time', 'StartDateTime', 'startsAt', 'event_start_unix', 'EventDate', 'Meeting Date', 'date', 'begin'];
const END = ['end', 'utc_end_date', 'end_date', 'end_time', 'EndDateTime', 'endsAt'];
const ID = ['id', 'event_id', 'meetingId', 'uid', 'iCalUID', 'CalendarId', 'guid'];

/**
 * Reads lists of events in JSON by the names of their fields: The Events Calendar of WordPress, Google Calendar, FullCalendar, EventON,
 * the interfaces behind calendars of cities, and rows of Legistar's calendar.
 */
export const jsonEvents: Adapter = {
  name: 'json_events',
  label: 'Events in JSON',
  source_class: 'government_agenda',
  recognises: (document) => objectsOf(document, isEvent).length > 0 ? 0.7 : 0,
  rows: (document, { time_zone: zone }) => joinRows(objectsOf(document, isEvent).slice(0, MOST_ROWS).flatMap((event) => rowOf(event, zone) ?? [])),
};

function isEvent(object: JsonObject): boolean {
  return textField(object, TITLE) !== null && startOf(object, 'UTC') !== null;
}

function rowOf(event: JsonObject, given: string): MeetingRow | null {
  const zone = knownZone(textField(event, ['timezone', 'time_zone'])) ?? given;
  const title = plainText(textField(event, TITLE)!);
  const start = withTimeOf(title, startOf(event, zone), zone);
  const description = plainText(textField(event, ['description', 'summary', 'comment', 'time_notes']) ?? '');
  const location = locationOf(event) ?? description.split('\n').slice(0, 30).map((line, index, lines) => labelledPlace(line) || (labelledPlace(line) === '' ? lines[index + 1] ?? null : null)).find(Boolean) ?? null;
  const end = END.map((name) => startOfValue(dateValue(event, name), zone)).find(Boolean) ?? null;
  return meetingRow({
    id: textField(event, ID) ?? legistarId(event), title: titleWithoutDates(title), body: bodyOf(event), start, end: end && start && end > start && end.length === start.length ? end : null,
    location: location && withoutMarks(location), status: statusIn(event, title, location), url: urlOf(event), documents: documentsOf(event),
  });
}

function startOf(event: JsonObject, zone: string): string | null {
  for (const name of START) {
    const value = dateValue(event, name);
    const clock = textField(event, name === 'Meeting Date' ? ['Meeting Time'] : name === 'EventDate' ? ['EventTime'] : []);
    // EventON counts seconds of the local clock.
    const start = name === 'event_start_unix' ? localUnix(value, zone) : startOfValue(clock && typeof value === 'string' ? `${value.replace(/T00:00:00$/, '')} ${clock}` : value, zone);
    if (start) return isAllDay(event) ? start.length === 10 ? start : dayIn(value, start) : start;
  }
  return null;
}

function dateValue(event: JsonObject, name: string): unknown {
  const value = fieldOf(event, name);
  if (isObject(value)) return value.dateTime ?? value.date;
  // `utc_start_date` of The Events Calendar has no offset.
  return name.startsWith('utc_') && typeof value === 'string' ? `${value.replace(' ', 'T')}Z` : value;
}

function localUnix(value: unknown, zone: string): string | null {
  const start = startOfValue(value, zone);
  return start && startOfValue(start.slice(0, 16), zone);
}

function isAllDay(event: JsonObject): boolean {
  return [fieldOf(event, 'allDay'), fieldOf(event, 'is_full_day')].some((value) => value === true || value === 'true');
}

function dayIn(value: unknown, start: string): string {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value) ? value.slice(0, 10) : start.slice(0, 10);
}

function bodyOf(event: JsonObject): string | null {
  const body = textField(event, ['bodyName', 'body', 'committee', 'EventBodyName']) ?? organizationOf(textField(event, ['organizer']));
  return body && body.length <= 150 && !body.includes('\n') && !body.includes('@') ? cleanTitle(plainText(body)) : null;
}

function locationOf(event: JsonObject): string | null {
  const [physical] = (Array.isArray(event.physicalList) ? event.physicalList : []).filter(isObject);
  for (const value of [fieldOf(event, 'location'), fieldOf(event, 'venue'), fieldOf(event, 'Meeting Location'), fieldOf(event, 'EventLocation'), fieldOf(event, 'place'), physical]) {
    if (typeof value === 'string' && value.trim()) return plainText(value);
    const [place] = Array.isArray(value) ? value.filter(isObject) : [value];
    if (isObject(place)) {
      const parts = ['name', 'venue', 'locationName', 'address', 'streetLineOne', 'streetLineTwo', 'city'].map((name) => place[name]).filter((part): part is string => typeof part === 'string' && part.trim() !== '');
      if (parts.length > 0) return plainText([...new Set(parts)].join(', '));
    }
  }
  // Event Organiser of WordPress gives only the slug.
  const slug = textField(event, ['venue_slug']);
  return slug && slug.replaceAll('-', ' ').replaceAll(/\b\p{Ll}/gu, (letter) => letter.toUpperCase());
}

/** Rows that were copied from Legistar's calendar mark what is in italics. */
function withoutMarks(location: string): string {
  return location.replaceAll('--em--', ' ').replace(/^\s*cancell?ed\b\W*/i, '');
}

function legistarId(event: JsonObject): string | null {
  const link = fieldOf(event, 'iCalendar');
  return (isObject(link) && typeof link.url === 'string' ? /\bID=(\d+)/.exec(link.url)?.[1] : undefined) ?? null;
}

function statusIn(event: JsonObject, title: string, location: string | null): MeetingStatus {
  for (const name of ['cancelled', 'canceled', 'isCancelled', 'isCanceled', 'canceledEvent']) {
    const value = fieldOf(event, name);
    if (value === true || (typeof value === 'string' && /^(?:true|yes|y|1|cancell?ed)$/i.test(value))) return 'cancelled';
  }
  const stated = statusOfValue(textField(event, ['status', 'event_status', 'eventStatus']));
  return stated === null || stated === 'confirmed' ? statusOf(title, location?.slice(0, 500)) : stated;
}

function urlOf(event: JsonObject): string | null {
  const url = textField(event, ['url', 'htmlLink', 'link', 'href', 'eventPath', 'source']);
  return url && /^https?:\/\//.test(url) ? url : null;
}

function documentsOf(event: JsonObject): LinkedDocument[] {
  const lists = ['links', 'files', 'attachments', 'documents', 'media'].map((name) => fieldOf(event, name)).filter((list): list is unknown[] => Array.isArray(list));
  const listed = lists.flat().slice(0, 50).filter(isObject).flatMap((file) => {
    const url = textField(file, ['href', 'url', 'path', 'link']);
    return url && /^https?:\/\//.test(url) ? [{ url, title: cleanTitle(textField(file, ['title', 'attachmentType', 'note', 'name', 'fileName']) ?? '') || 'Document' }] : [];
  });
  const named = ['Agenda', 'Minutes', 'Video', 'Agenda Packet'].flatMap((name) => {
    const link = event[name];
    return isObject(link) && typeof link.url === 'string' && /^https?:\/\//.test(link.url) ? [{ url: link.url, title: name }] : [];
  });
  return [...listed, ...named];
}
