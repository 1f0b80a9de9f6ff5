import type { KnownActor } from 'civic/directory';
import { about, dayInWords, DAY, HOUR, isoOf, sourcesOf, type Desk } from './desk.ts';

/** Bodies that meet in public, by what they are called. */
const BODY = /^(City|Town) Council of|^Village Board of|School District$|Planning (Commission|and Zoning Board)$|Board of Commissioners$|Transit Authority$/;

/** What is on agendas, with its issue area, by what the body is called. */
const AGENDAS: [body: RegExp, topics: [topic: string, issue: string][]][] = [
  [/School District$/, [['the school levy', 'education_funding_and_policy'], ['smaller classes in first grade', 'k12_education_inequality'], ['phones in class', 'social_media_and_mental_health'], ['bus routes to the villages', 'k12_education_inequality']]],
  [/Planning/, [['the zoning map', 'zoning_and_land_use'], ['duplexes on corner lots', 'housing_affordability'], ['the warehouse on the pike', 'zoning_and_land_use'], ['parking at the old mill', 'suburban_sprawl_and_car_dependency']]],
  [/Transit/, [['the Sunday buses of line 7', 'public_transit'], ['the ride service for villages', 'public_transit'], ['fares for students', 'public_transit']]],
  [/./, [
    ['the budget', 'local_government_and_civic_engagement'], ['the bridge repairs', 'physical_infrastructure_decay'], ['the water rates', 'water_infrastructure'], ['the rent registry', 'housing_affordability'],
    ['cameras that read license plates', 'digital_privacy_and_surveillance'], ['the sale of the old mill', 'zoning_and_land_use'], ['naloxone in public buildings', 'addiction_and_harm_reduction'], ['the flood buyouts', 'climate_adaptation_and_resilience'],
  ]],
];

interface Meeting {
  key: string;
  body: KnownActor;
  title: string;
  start: number;
  topic?: Topic;
}

interface Topic {
  words: string;
  issues: string[];
}

/** Meetings of a year, some called off, some announced late, and what was decided in them. */
export function writeMeetings(desk: Desk): void {
  for (const event of desk.actors.filter(({ type }) => type === 'event')) writeAnnounced(desk, event);
  const bodies = desk.actors.filter(({ type, name }) => type === 'organization' && BODY.test(name));
  for (const body of bodies) {
    const offset = desk.random.between(0, 27);
    for (let month = 2; month <= 12; month++) {
      if (desk.random.chance(0.5)) writeMeeting(desk, { key: `${body.id} ${month}`, body, ...meetingOf(body, eveningBefore(desk.now - (month * 30 + offset) * DAY)) });
    }
    if (desk.random.chance(0.7)) writeComment(desk, body);
  }
}

function meetingOf(body: KnownActor, start: number): Pick<Meeting, 'title' | 'start'> {
  return { start, title: `${body.name} meets on ${dayInWords(start)}` };
}

/** Half past six on the Tuesday before. */
function eveningBefore(time: number): number {
  const day = Math.floor(time / DAY);
  // Day 0 of the epoch was a Thursday.
  return (day - (day + 2) % 7) * DAY + 23.5 * HOUR;
}

/** One that the directory knows as an event. */
function writeAnnounced(desk: Desk, event: KnownActor): void {
  if (!event.event?.start) return;
  const start = Date.parse(event.event.start);
  const detected = start - desk.random.between(4, 16) * DAY - desk.random.between(1, 9) * HOUR;
  const where = event.event.location ? ` ${event.event.location}.` : '';
  const organizer = event.affiliations.find(({ role }) => role === 'organizer');
  const told = about(event);
  const id = desk.add(`event ${event.id}`, {
    type: 'public_meeting', title: event.name, summary: `${event.description ?? 'Open to everybody.'}${where}`, occurred_at: event.event.start, ...told,
    actors: [...told.actors!, ...(organizer ? [{ id: desk.present(organizer.entity_id), name: organizer.name, type: 'organization' as const, role: 'organizer' }] : [])],
    source_class: 'government_agenda', confidence: 0.95, relevance: 0.9, detected, sources: event.sources,
  });
  if (id && event.status === 'inactive') writeCancelled(desk, { key: event.id, body: event, title: event.name, start }, { id, at: detected });
}

function writeMeeting(desk: Desk, meeting: Meeting): void {
  const { body, key, title, start } = meeting;
  const { random } = desk;
  const isLate = random.chance(0.07);
  const detected = isLate ? start - random.between(18, 40) * HOUR : start - random.between(5, 12) * DAY - random.between(1, 8) * HOUR;
  const topic = topicOf(desk, body);
  const id = desk.add(`meeting ${key}`, {
    type: isLate ? 'short_notice' : 'public_meeting',
    title: isLate ? `Called at short notice: ${title}` : title,
    summary: `On the agenda: ${topic.words}. Residents may speak.`,
    occurred_at: isoOf(start), ...about(body), issues: topic.issues, source_class: 'government_agenda', confidence: 0.9, relevance: isLate ? 0.95 : 0.8,
    detected, sources: pagesOf(body),
  });
  if (id && !isLate && random.chance(0.08)) writeCancelled(desk, { ...meeting, topic }, { id, at: detected });
  else if (id && random.chance(0.4)) writeVote(desk, { ...meeting, topic });
}

function writeCancelled(desk: Desk, { body, key, title, start, topic }: Meeting, announced: { id: string; at: number }): void {
  desk.add(`cancelled ${key}`, {
    type: 'meeting_cancelled', title: `Cancelled: ${title}`, summary: 'It will not take place; no new date is known.', occurred_at: isoOf(start), ...about(body), ...(topic && { issues: topic.issues }),
    source_class: 'government_agenda', confidence: 0.95, relevance: 0.9, changes: [{ field: 'status', before: 'scheduled', after: 'cancelled' }], supersedes: announced.id,
    detected: Math.max(announced.at + HOUR, Math.min(start - desk.random.between(10, 60) * HOUR, desk.now - 2 * HOUR)), sources: pagesOf(body),
  });
}

const VOTES = ['to put off {topic} until the next meeting', 'for a second reading of the ordinance on {topic}', 'to fund {topic} from the reserve', 'to open the files on {topic} to the public', 'against the motion on {topic}'];

function writeVote(desk: Desk, { body, key, start, topic }: Meeting & Required<Pick<Meeting, 'topic'>>): void {
  const { random } = desk;
  const [yes, no] = [random.between(4, 7), random.between(0, 3)];
  const member = desk.actors.find(({ type, affiliations }) => type === 'person' && affiliations.some(({ entity_id }) => entity_id === body.id) && random.chance(0.4));
  const told = about(body);
  desk.add(`vote ${key}`, {
    type: 'vote', title: `${body.name} voted ${yes} to ${no} ${random.pick(VOTES).replace('{topic}', topic.words)}`,
    summary: member ? `${member.name} spoke last.` : 'The minutes follow.', occurred_at: isoOf(start + 90 * 60_000), ...told, issues: topic.issues,
    actors: [...told.actors!, ...(member ? [{ id: member.id, name: member.name, type: member.type, role: 'member' }] : [])],
    source_class: 'government_record', confidence: 0.85, relevance: 0.85, detected: start + random.between(12, 70) * HOUR, sources: pagesOf(body),
  });
}

function writeComment(desk: Desk, body: KnownActor): void {
  const detected = desk.now - desk.random.between(3, 350) * DAY;
  const end = detected + desk.random.between(14, 45) * DAY;
  const { words: topic, issues } = topicOf(desk, body);
  desk.add(`comment ${body.id}`, {
    type: 'public_comment', title: `${body.name} takes comments on ${topic} until ${dayInWords(end)}`, summary: 'In writing or at the next meeting.', occurred_at: isoOf(detected), ...about(body), issues,
    source_class: 'government_agenda', confidence: 0.9, relevance: 0.75, detected, sources: pagesOf(body),
  });
}

function topicOf({ random, hasIssue }: Desk, { name }: KnownActor): Topic {
  const [words, issue] = random.pick(AGENDAS.find(([body]) => body.test(name))![1]);
  return { words, issues: hasIssue(issue) ? [issue] : [] };
}

function pagesOf(body: KnownActor) {
  return [...sourcesOf(body, 'government_record'), ...sourcesOf(body, 'org_website')];
}
