import type { Document } from 'civic/reader';
import { isObject, jsonOf, passagesOf } from '../text/json.ts';
import { statusOf, statusOfValue } from '../text/status.ts';
import { localTime } from './times.ts';
import type { Adapter, AdapterContext, AgendaItem, FilingAction, FilingRow, LinkedDocument, MeetingRow, Passage, Row, Vote } from './types.ts';

const HOST = 'webapi.legistar.com';
const API = /\/v1\/([\w-]+)\/?(events|matters)?/i;
const MOST_ROWS = 1000;
const MOST_RECORDS = 5000;
/** How far back meetings are read again: minutes and votes are recorded weeks later. */
const DAYS_BACK = 60;
const NEAR_DAYS = 10;
const FAR_AT_ONCE = 20;
const DAY_MS = 24 * 3600_000;

interface Event {
  EventId: number;
  EventBodyName: string;
  EventDate: string;
  EventTime?: string | null;
  EventLocation?: string | null;
  EventAgendaStatusName?: string | null;
  EventAgendaFile?: string | null;
  EventMinutesFile?: string | null;
  EventVideoPath?: string | null;
  EventComment?: string | null;
  EventInSiteURL?: string | null;
  EventItems?: EventItem[] | null;
}

interface EventItem {
  EventItemId: number;
  EventItemAgendaNumber?: string | null;
  EventItemTitle?: string | null;
  EventItemMatterFile?: string | null;
  EventItemActionName?: string | null;
  EventItemPassedFlagName?: string | null;
  Votes?: LegistarVote[] | null;
}

interface LegistarVote {
  VotePersonName: string;
  VoteValueName?: string | null;
  VoteSort?: number;
}

interface Matter {
  MatterId: number;
  MatterFile?: string | null;
  MatterName?: string | null;
  MatterTitle?: string | null;
  MatterTypeName?: string | null;
  MatterStatusName?: string | null;
  MatterBodyName?: string | null;
  MatterIntroDate?: string | null;
  MatterRestrictViewViaWeb?: boolean;
  MatterSponsors?: { MatterSponsorName: string; MatterSponsorSequence?: number }[] | null;
  MatterHistories?: MatterHistory[] | null;
}

interface MatterHistory {
  MatterHistoryId: number;
  MatterHistoryActionDate?: string | null;
  MatterHistoryActionName?: string | null;
  MatterHistoryActionBodyName?: string | null;
  MatterHistoryPassedFlagName?: string | null;
  Votes?: LegistarVote[] | null;
}

/** The Legistar Web API of a city: meetings with their agendas and votes, or matters with their sponsors and histories. */
export const legistarApi: Adapter = {
  name: 'legistar_api',
  label: 'Legistar Web API',
  source_class: 'government_record',
  isComplete: true,
  hasNoEnd: true,
  opensMore: true,
  recognises(document) {
    const url = new URL(document.url);
    if (url.hostname === HOST || recordsOf(document).some((record) => 'EventGuid' in record || 'MatterGuid' in record)) return API.test(url.pathname) ? 1 : 0.5;
    return 0;
  },
  request(url, now) {
    const since = new Date(now - DAYS_BACK * DAY_MS).toISOString().slice(0, 10);
    const kind = API.exec(new URL(url).pathname)?.[2]?.toLowerCase();
    if (new URL(url).searchParams.has('$filter') || kind === undefined) return url;
    const filter = kind === 'events' ? `EventDate ge datetime'${since}'` : `MatterIntroDate ge datetime'${since}'`;
    return withParameters(url, { $filter: filter, $top: String(pageSize(url)) });
  },
  async rows(document, context) {
    const [first] = recordsOf(document);
    return first !== undefined && 'MatterId' in first ? readMatters(document, context) : readEvents(document, context);
  },
};

/** Returns the first 1,000 records of a list, as many as the API returns; null for anything else, such as an error. */
function listOf(document: Document): object[] | null {
  const value = document.kind === 'json' ? jsonOf(document) : undefined;
  return Array.isArray(value) ? value.slice(0, MOST_ROWS).filter(isObject) : null;
}

function recordsOf(document: Document): object[] {
  return listOf(document) ?? [];
}

/** A record with its range in the first document; those of further pages have none. */
interface Found {
  record: object;
  url: string;
  passage: Passage | null;
}

/** The API returns at most 1,000 rows. A `$top` in the address of a source is the size of a page and no limit, because what is left out would look deleted. */
function pageSize(url: string): number {
  const top = Number(new URL(url).searchParams.get('$top'));
  return top >= 1 && top < MOST_ROWS ? Math.floor(top) : MOST_ROWS;
}

/** Reads further pages: a response has at most 1,000 rows. Throws when one of them cannot be read, because the rest would look deleted. */
async function allRecords(document: Document, context: AdapterContext, idName: string): Promise<Found[]> {
  const passageOf = passagesOf(document.body ?? '', [idName]);
  const size = pageSize(document.url);
  let some = listOf(document);
  if (some === null) throw new Error('it did not return a list');
  const records: Found[] = some.map((record) => ({ record, url: document.url, passage: passageOf(String((record as Record<string, number>)[idName])) }));
  for (let skip = size; some.length === size; skip += size) {
    const page = await context.open(withParameters(document.url, { $top: String(size), $skip: String(skip) }));
    some = page && listOf(page);
    if (some === null) throw new Error('a further page of its list could not be read');
    records.push(...some.map((record) => ({ record, url: document.url, passage: null })));
    if (records.length > MOST_RECORDS) throw new Error(`it lists more than ${MOST_RECORDS} records: watch a narrower list`);
  }
  return records;
}

async function readEvents(document: Document, context: AdapterContext): Promise<Row[]> {
  const rows: MeetingRow[] = [];
  const records = (await allRecords(document, context, 'EventId')).filter(({ record }) => Number.isInteger((record as Event).EventId) && typeof (record as Event).EventDate === 'string');
  for (const found of inTurn(records, context.now)) rows.push(await meetingOf(found, context));
  return rows;
}

/** Orders meetings so that the agendas of those near now are read first. The others begin at another one each hour, because there may be too many for one read. */
function inTurn<T extends { record: object }>(records: T[], now: number): T[] {
  const isNear = ({ record }: T) => Math.abs(Date.parse((record as Event).EventDate) - now) < NEAR_DAYS * DAY_MS;
  const far = records.filter((one) => !isNear(one));
  const first = far.length > 0 ? Math.floor(now / 3600_000) * FAR_AT_ONCE % far.length : 0;
  return [...records.filter(isNear), ...far.slice(first), ...far.slice(0, first)];
}

async function meetingOf({ record, url, passage }: Found, context: AdapterContext): Promise<MeetingRow> {
  const event = record as Event;
  const body = event.EventBodyName?.trim() || null;
  return {
    kind: 'meeting',
    key: `event-${event.EventId}`,
    title: body ?? 'Meeting',
    body,
    start: localTime(event.EventDate.slice(0, 10), event.EventTime ?? null, context.time_zone),
    end: null,
    location: event.EventLocation?.trim() || null,
    status: statusOfValue(event.EventAgendaStatusName) === 'cancelled' || statusOf(event.EventComment) === 'cancelled' ? 'cancelled' : 'confirmed',
    url: event.EventInSiteURL || null,
    documents: documentsOf(event),
    items: await itemsOf(event, url, context),
    passage,
  };
}

/** Lists of events have an empty `EventItems` whatever is on the agenda, so only one with items counts as read. */
async function itemsOf({ EventId, EventItems }: Event, url: string, { open }: AdapterContext): Promise<AgendaItem[] | null> {
  const isListed = Array.isArray(EventItems) && EventItems.length > 0;
  const document = isListed ? null : await open(besides(url, `events/${EventId}/eventitems?agendanote=1&minutesnote=1`));
  const items = isListed ? EventItems : (document && listOf(document) as EventItem[] | null);
  if (!items) return null;
  const read: AgendaItem[] = [];
  for (const item of items) {
    if (!item.EventItemTitle?.trim() || !Number.isInteger(item.EventItemId)) continue;
    read.push(agendaItem(item, await itemVotes(item, () => open(besides(url, `eventitems/${item.EventItemId}/votes`)))));
  }
  return read;
}

/** Reads votes where a result was recorded. For a matter that passed without a roll call the API fails, so nothing is known then. */
async function itemVotes({ Votes, EventItemPassedFlagName }: EventItem, open: () => Promise<Document | null>): Promise<LegistarVote[] | null> {
  if (Votes || !EventItemPassedFlagName) return Votes ?? [];
  const document = await open();
  return document && listOf(document) as LegistarVote[] | null;
}

function agendaItem(item: EventItem, votes: LegistarVote[] | null): AgendaItem {
  return {
    key: String(item.EventItemId),
    number: item.EventItemAgendaNumber?.trim() || null,
    title: item.EventItemTitle!.trim(),
    matter: item.EventItemMatterFile?.trim() || null,
    action: item.EventItemActionName?.trim() || null,
    passed: passedOf(item.EventItemPassedFlagName),
    votes: votes && votesOf(votes),
  };
}

function documentsOf({ EventAgendaFile, EventMinutesFile, EventVideoPath }: Event): LinkedDocument[] {
  const files = [['Agenda', EventAgendaFile], ['Minutes', EventMinutesFile], ['Video', EventVideoPath]] as const;
  return files.flatMap(([title, url]) => (url ? [{ title, url }] : []));
}

async function readMatters(document: Document, context: AdapterContext): Promise<Row[]> {
  const rows: FilingRow[] = [];
  for (const found of await allRecords(document, context, 'MatterId')) {
    const matter = found.record as Matter;
    if (!Number.isInteger(matter.MatterId) || matter.MatterRestrictViewViaWeb) continue;
    rows.push(await filingOf(found, context));
  }
  return rows;
}

async function filingOf({ record, url, passage }: Found, context: AdapterContext): Promise<FilingRow> {
  const matter = record as Matter;
  const { MatterId: id } = matter;
  const beside = async <T>(path: string): Promise<T[] | null> => {
    const document = await context.open(besides(url, `matters/${id}/${path}`));
    return document && listOf(document) as T[] | null;
  };
  const sponsors = matter.MatterSponsors ?? await beside<{ MatterSponsorName: string }>('sponsors');
  const histories = matter.MatterHistories ?? await beside<MatterHistory>('histories');
  return {
    kind: 'filing',
    key: `matter-${id}`,
    number: matter.MatterFile?.trim() || null,
    title: (matter.MatterTitle || matter.MatterName || matter.MatterFile || `Matter ${id}`).trim(),
    type: matter.MatterTypeName?.trim() || null,
    status: matter.MatterStatusName?.trim() || null,
    body: matter.MatterBodyName?.trim() || null,
    introduced: matter.MatterIntroDate?.slice(0, 10) ?? null,
    sponsors: sponsors && [...new Set(sponsors.map(({ MatterSponsorName }) => MatterSponsorName?.trim()).filter(Boolean))],
    actions: histories && actionsOf(histories),
    url: null,
    passage,
  };
}

/** Histories come twice in some cities. */
function actionsOf(histories: MatterHistory[]): FilingAction[] {
  const byKey = new Map<string, FilingAction>();
  for (const history of histories) {
    if (!history.MatterHistoryActionName) continue;
    byKey.set(String(history.MatterHistoryId), {
      key: String(history.MatterHistoryId),
      date: history.MatterHistoryActionDate?.slice(0, 10) ?? null,
      body: history.MatterHistoryActionBodyName?.trim() || null,
      action: history.MatterHistoryActionName.trim(),
      passed: passedOf(history.MatterHistoryPassedFlagName),
      votes: votesOf(history.Votes ?? []),
    });
  }
  return [...byKey.values()];
}

function votesOf(votes: LegistarVote[]): Vote[] {
  return votes.filter(({ VotePersonName }) => VotePersonName?.trim())
    .toSorted((a, b) => (a.VoteSort ?? 0) - (b.VoteSort ?? 0))
    .map(({ VotePersonName, VoteValueName }) => ({ person: VotePersonName.trim(), value: VoteValueName?.trim() || 'Unknown' }));
}

function passedOf(flag: string | null | undefined): boolean | null {
  if (!flag) return null;
  if (/^(pass|adopt|approv)/i.test(flag)) return true;
  return /^(fail|reject|den)/i.test(flag) ? false : null;
}

/** Returns an address of the same client: beside `/v1/{client}/events`. */
function besides(url: string, path: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  const base = /^.*\/v1\/[^/]+/i.exec(pathname)?.[0] ?? pathname.replace(/\/[^/]*$/, '');
  const next = new URL(`${origin}${base}/${path}`);
  const token = searchParams.get('token');
  if (token !== null) next.searchParams.set('token', token);
  return next.href;
}

function withParameters(url: string, parameters: Record<string, string>): string {
  const next = new URL(url);
  for (const [name, value] of Object.entries(parameters)) next.searchParams.set(name, value);
  return next.href;
}
