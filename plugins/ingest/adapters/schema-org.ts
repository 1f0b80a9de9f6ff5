import type { Document, ItemValue, NestedItem } from 'civic/reader';
import { joinRows, meetingRow, MOST_ROWS } from '../text/meeting.ts';
import { organizationOf } from '../text/organizer.ts';
import { placeInSentence } from '../text/places.ts';
import { statusOf, statusOfValue } from '../text/status.ts';
import { plainText, titleWithoutDates } from '../text/titles.ts';
import { startOfValue } from '../text/values.ts';
import type { Adapter, MeetingRow } from './types.ts';

/** Reads events of JSON-LD, microdata and RDFa with schema.org's words, and of microformats. */
export const schemaOrg: Adapter = {
  name: 'schema_org',
  label: 'Events in structured data',
  source_class: 'organization_update',
  recognises: (document) => eventsOf(document).length > 0 ? 0.8 : 0,
  rows: (document, { time_zone: zone }) => onePerKey(eventsOf(document).slice(0, MOST_ROWS).flatMap((event) => rowOf(event, document, zone) ?? [])),
};

/** Returns events with a start, also those inside of others, such as items of a list. */
function eventsOf({ items }: Document): NestedItem[] {
  const found: NestedItem[] = [];
  const waiting: { item: NestedItem; depth: number }[] = items.map((item) => ({ item, depth: 0 }));
  for (let at = 0; at < waiting.length && at < 4 * MOST_ROWS; at++) {
    const { item, depth } = waiting[at]!;
    if (item.types.some((type) => type === 'h-event' || /Event$|^Hackathon$/.test(type)) && first(item, 'startDate', 'start')) found.push(item);
    if (depth < 5) for (const inner of [...Object.values(item.properties).flat().filter(isItem), ...item.children ?? []]) waiting.push({ item: inner, depth: depth + 1 });
  }
  return found;
}

/** Pages state an event once as JSON-LD and once as microdata. The one with a place is kept. */
function onePerKey(rows: MeetingRow[]): MeetingRow[] {
  const byKey = new Map<string, MeetingRow>();
  for (const row of rows) {
    const key = `${row.key}:${row.start}`;
    if (!byKey.get(key)?.location) byKey.set(key, row);
  }
  return joinRows([...byKey.values()]);
}

function rowOf(event: NestedItem, { url: page, text }: Document, zone: string): MeetingRow | null {
  const start = startOfValue(first(event, 'startDate', 'start'), zone);
  const title = plainText(textOf(first(event, 'name')) ?? '');
  if (!start || !title) return null;
  const stated = statusOfValue(textOf(first(event, 'eventStatus', 'status')));
  const at = text.indexOf(title);
  return meetingRow({
    title: titleWithoutDates(title), body: bodyOf(first(event, 'organizer')), start, end: startOfValue(first(event, 'endDate', 'end'), zone),
    location: placeOf(first(event, 'location')) ?? placeInSentence(plainText(textOf(first(event, 'description')) ?? '').slice(0, 1000)), status: stated === null || stated === 'confirmed' ? statusOf(title) : stated, url: addressOf(first(event, 'url')) ?? page,
    passage: at >= 0 ? { start: at, end: at + title.length } : null,
  });
}

/** Returns the organizer, unless the page states that it is a person. */
function bodyOf(organizer: ItemValue | undefined): string | null {
  const isPerson = organizer !== undefined && isItem(organizer) && organizer.types.some((type) => type === 'Person');
  return isPerson ? null : organizationOf(textOf(organizer));
}

function first(item: NestedItem, ...names: string[]): ItemValue | undefined {
  return names.flatMap((name) => item.properties[name] ?? [])[0];
}

function isItem(value: ItemValue): value is NestedItem {
  return typeof value === 'object';
}

function textOf(value: ItemValue | undefined): string | null {
  if (value === undefined) return null;
  return isItem(value) ? textOf(first(value, 'name')) ?? value.value ?? null : String(value);
}

const ADDRESS = ['streetAddress', 'street-address', 'addressLocality', 'locality', 'addressRegion', 'region'];

function placeOf(value: ItemValue | undefined): string | null {
  if (value === undefined) return null;
  if (!isItem(value)) return plainText(String(value)) || null;
  const address = first(value, 'address', 'adr');
  const street = address !== undefined && isItem(address) ? ADDRESS.map((name) => textOf(first(address, name))).filter(Boolean).join(', ') || address.value : textOf(address);
  const parts = [textOf(first(value, 'name')), street].filter((part): part is string => Boolean(part?.trim())).map(plainText);
  return [...new Set(parts)].join(', ') || (value.value ? plainText(value.value) : null);
}

function addressOf(value: ItemValue | undefined): string | null {
  return typeof value === 'string' && /^https?:\/\//.test(value) ? value : null;
}
