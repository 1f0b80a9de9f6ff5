import { isObject, objectsOf, textField, type JsonObject } from '../text/json.ts';
import { joinRows, meetingRow, MOST_ROWS } from '../text/meeting.ts';
import { statusOfValue } from '../text/status.ts';
import { cleanTitle } from '../text/titles.ts';
import { startOfValue } from '../text/values.ts';
import { knownZone } from '../text/zone.ts';
import type { Adapter, AgendaItem, MeetingRow } from './types.ts';

/** Reads meetings of City Scrapers, as an array or as lines, and events of Open Civic Data. */
export const cityScrapers: Adapter = {
  name: 'city_scrapers',
  label: 'City Scrapers or Open Civic Data',
  source_class: 'government_agenda',
  isComplete: true,
  recognises: (document) => objectsOf(document, isMeeting).length > 0 ? 0.95 : 0,
  rows: (document, { time_zone: zone }) => joinRows(objectsOf(document, isMeeting).slice(0, MOST_ROWS).map((meeting) => rowOf(meeting, zone))),
};

function isMeeting(object: JsonObject): boolean {
  const isCityScrapers = typeof object.title === 'string' && typeof object.start === 'string' && 'classification' in object && Array.isArray(object.links);
  const isOpenCivicData = typeof object.name === 'string' && (typeof object.start_time === 'string' || typeof object.start_date === 'string') && ('participants' in object || 'agenda' in object || object._type === 'event');
  return isCityScrapers || isOpenCivicData;
}

function rowOf(meeting: JsonObject, given: string): MeetingRow {
  const zone = knownZone(meeting.timezone) ?? given;
  const isDay = meeting.all_day === true;
  const start = startOfValue(meeting.start ?? meeting.start_time ?? meeting.start_date, zone);
  const end = startOfValue(meeting.end ?? meeting.end_time ?? meeting.end_date, zone);
  return meetingRow({
    id: textField(meeting, ['id', '_id']), title: textField(meeting, ['title', 'name'])!, body: bodyOf(meeting), start: isDay ? start?.slice(0, 10) ?? null : start, end: isDay ? end?.slice(0, 10) ?? null : end,
    location: locationOf(meeting.location), status: statusOfValue(meeting.status) ?? 'confirmed', url: addressOf(meeting.source) ?? objects(meeting.sources).map(({ url }) => addressOf(url)).find(Boolean) ?? null,
    documents: [...objects(meeting.links), ...objects(meeting.media)].flatMap((link) => {
      const url = addressOf(link.href ?? link.url);
      return url ? [{ url, title: cleanTitle(textField(link, ['title', 'note', 'name']) ?? '') || 'Document' }] : [];
    }),
    items: Array.isArray(meeting.agenda) ? objects(meeting.agenda).map(agendaItem) : null,
  });
}

function bodyOf(meeting: JsonObject): string | null {
  const [participant] = objects(meeting.participants).filter(({ entity_type: type }) => type === 'organization');
  return participant ? textField(participant, ['name']) : null;
}

function locationOf(location: unknown): string | null {
  if (!isObject(location)) return typeof location === 'string' ? location : null;
  return [location.name, location.address].filter((part): part is string => typeof part === 'string' && part.trim() !== '' && part !== 'TBD').join(', ') || null;
}

function agendaItem(item: JsonObject, index: number): AgendaItem {
  const [bill] = objects(item.related_entities).filter(({ entity_type: type }) => type === 'bill');
  return { key: textField(item, ['order']) ?? String(index), number: textField(item, ['order']), title: cleanTitle(textField(item, ['description', 'name']) ?? '') || 'Item', matter: bill ? textField(bill, ['name']) : null, action: null, passed: null, votes: null };
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.slice(0, 1000).filter(isObject) : [];
}

function addressOf(value: unknown): string | null {
  return typeof value === 'string' && /^https?:\/\//.test(value) ? value : null;
}
