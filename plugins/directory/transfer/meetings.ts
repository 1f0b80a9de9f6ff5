import { Failure, startOfText } from 'civic';
import type { ActorDetail } from '../types.ts';
import { evidenceOf, readEvidence } from './evidence.ts';
import type { Format, ReadContext, Row, WriteContext } from './format.ts';
import type { TextFile } from './file.ts';
import { jsonItems, parseItem } from './json.ts';
import { actorIdOf, asList, cleanText, dayOf, originOf, rowOrFault, startRow, townOf, type FoundSource, type RowBuilder } from './row.ts';
import { eventTimeOf } from './time.ts';

/** A meeting as City Scrapers, Open Civic Data or the Legistar scraper write it; all of it may be missing or wrong. */
interface Meeting {
  id?: string;
  _id?: string;
  _type?: string;
  title?: string;
  name?: string;
  description?: string;
  classification?: string;
  status?: string;
  start?: string;
  end?: string;
  start_time?: string;
  end_time?: string;
  start_date?: string;
  end_date?: string;
  timezone?: string;
  all_day?: boolean;
  location?: string | { name?: string; address?: string; url?: string };
  links?: Link[];
  documents?: Link[];
  media?: Link[];
  participants?: { name?: string; note?: string; entity_id?: string; organization_id?: string }[];
  source?: string;
  url?: string;
  sources?: Link[];
  extras?: { civic?: { places?: string[]; issue_areas?: string[]; claims?: unknown } };
  Name?: string | { label?: string };
  'Meeting Date'?: string;
  'Meeting Time'?: string;
  'Meeting Location'?: string;
  iCalendar?: { url?: string };
}

interface Link {
  url?: string;
  href?: string;
  note?: string;
  title?: string;
}

export const meetings: Format = {
  name: 'meetings',
  summary: 'Public meetings: City Scrapers JSON or JSON lines, Open Civic Data events',
  type: 'application/x-ndjson',
  extension: '.jsonl',
  holds: ['event'],
  reads,
  writes,
};

async function* reads(file: TextFile, context: ReadContext): AsyncIterable<Row> {
  let number = 0;
  let isKnown = false;
  for (const each of file.files(['.json', '.jsonl', '.ndjson'])) {
    for await (const { text } of jsonItems(each.text())) {
      number++;
      const parsed = parseItem(text);
      if ('fault' in parsed) {
        yield { number, raw: text, fault: parsed.fault };
        continue;
      }
      const meeting = parsed.value as Meeting;
      isKnown ||= isMeeting(meeting);
      if (!isKnown && number === 1) throw new Failure(`This is no list of meetings: the first item has ${Object.keys(meeting).slice(0, 6).join(', ')}, but neither title nor name with a start`);
      yield await rowOrFault(number, meeting, () => meetingRow(number, meeting, context));
    }
  }
}

function isMeeting(meeting: Meeting): boolean {
  return Boolean((meeting.title ?? meeting.name ?? meeting.Name) && (startOf(meeting)));
}

function startOf({ start, start_time, start_date, 'Meeting Date': date, 'Meeting Time': time }: Meeting): string | undefined {
  return start ?? start_time ?? start_date ?? (date === undefined ? undefined : `${date} ${time ?? ''}`.trim());
}

async function meetingRow(number: number, meeting: Meeting, context: ReadContext): Promise<Row> {
  const extras = meeting.extras?.civic ?? {};
  const id = cleanText(meeting.id ?? meeting._id);
  const origin = id && (id.startsWith('ocd-event/') ? id : originOf('meeting', id, context.source));
  const row = startRow({
    number, raw: meeting, type: 'event', sources: sourcesOf(meeting), evidence: readEvidence(extras.claims),
    ...(origin ? { origin, id: actorIdOf(origin, id!) } : {}),
  }, context);
  const label = typeof meeting.Name === 'object' ? meeting.Name?.label : meeting.Name;
  row.say('name', meeting.title ?? meeting.name ?? label);
  row.say('description', meeting.description);
  const zone = cleanText(meeting.timezone) ?? context.timezone;
  const start = eventTimeOf(startOf(meeting), zone);
  if (start === null) return { number, raw: meeting, fault: `it has no start, or one that is no time: "${(startOf(meeting) ?? '').slice(0, 60)}"` };
  row.say('event_start', start);
  row.say('event_end', eventTimeOf(meeting.end ?? meeting.end_time ?? meeting.end_date, zone));
  if (/cancel/i.test(meeting.status ?? '') || /\bcancel/i.test(meeting.title ?? '')) row.say('status', 'inactive');
  await sayLocation(row, meeting, extras.places);
  for (const slug of asList(extras.issue_areas)) if (context.hasIssueArea(slug)) row.say('issue_area', slug);
  for (const { name, note, entity_id, organization_id } of asList(meeting.participants)) {
    const who = cleanText(entity_id ?? organization_id);
    if (name) row.say('affiliation', { entity_id: who ? actorIdOf(who, who) : null, name, role: cleanText(note), since: null, until: null });
  }
  return row.row();
}

async function sayLocation(row: RowBuilder, { location, 'Meeting Location': plain }: Meeting, places: string[] | undefined): Promise<void> {
  const { name, address } = typeof location === 'object' && location !== null ? location : { name: location ?? plain, address: undefined };
  const text = [cleanText(name), cleanText(address)].filter(Boolean).join(', ').replace(/\s+/g, ' ');
  row.say('event_location', startOfText(text, 500));
  if (places) for (const place of places) await row.sayPlace(place);
  else await row.sayPlace(townOf(address) ?? townOf(name));
}

function sourcesOf({ source, url: page, sources, links, documents, iCalendar }: Meeting): FoundSource[] {
  const own = [...(source ? [{ url: source }] : []), ...(page ? [{ url: page }] : []), ...asList(sources), ...(iCalendar?.url ? [{ url: iCalendar.url }] : [])];
  return [...own, ...asList(links), ...asList(documents)].flatMap((link: Link) => {
    const url = link.url ?? link.href;
    return url ? [{ url, title: cleanText(link.note ?? link.title), kind: 'government_record' as const }] : [];
  });
}

async function* writes({ actors }: WriteContext): AsyncIterable<string> {
  for await (const { actor } of actors()) yield JSON.stringify(eventOf(actor));
}

function eventOf(actor: ActorDetail): object {
  return {
    _type: 'event',
    id: `ocd-event/${actor.id}`,
    name: actor.name,
    description: actor.description ?? '',
    classification: 'event',
    start_date: actor.event?.start ?? null,
    end_date: actor.event?.end ?? null,
    timezone: 'UTC',
    all_day: Boolean(actor.event?.start && dayOf(actor.event.start) === actor.event.start),
    status: actor.status === 'inactive' ? 'cancelled' : 'confirmed',
    location: { name: actor.event?.location ?? '' },
    participants: actor.affiliations.map(({ entity_id, name, role }) => ({ name, note: role, entity_type: 'organization', entity_id })),
    links: actor.contact.website ? [{ note: '', url: actor.contact.website }] : [],
    sources: actor.sources.map(({ url, title }) => ({ url, note: title ?? '' })),
    extras: { civic: { places: actor.places.map((place) => place.place_key), issue_areas: actor.issue_areas, claims: evidenceOf(actor) } },
  };
}
