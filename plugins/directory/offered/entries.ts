import type { Request } from '@hapi/hapi';
import { cursorAfter, isId, pageOf, problem, singleLine, type Reader } from 'civic';
import { isShown } from '../actors/choose.ts';
import { backingOf, policedActor } from '../actors/detail.ts';
import { hiddenChanges, historyPage, type HistoryItem } from '../actors/history.ts';
import { actorById, actorsByIds, type ShownActor } from '../actors/read-store.ts';
import { tellingOf } from '../actors/context.ts';
import { actorText, claimOf, sourceOf } from '../actors/wire.ts';
import { calendarOf } from '../feeds/calendar.ts';
import { judgementsAmong } from '../ledger/judgements-store.ts';
import type { ChangeDetail, RecordRow } from '../ledger/rows.ts';
import { mergesOfRecords, recordsById, recordsByKey, recordsOfActors } from '../ledger/store.ts';
import type { Directory } from '../service.ts';
import { linkedActor } from '../transfer/schemaorg.ts';
import type { Actor, ActorDetail } from '../types.ts';
import { ownNames } from './actors.ts';
import { changeTotals, type ChangeTotals } from './change-store.ts';
import { statedValues, type StatedValue } from './statements.ts';

/** Reads for the pages of one actor. All of them return public data only. */
export interface EntryReads {
  /** Returns a public actor, or what has become of it; null when the id is unknown or private. */
  entry(id: string): Promise<Entry | MovedEntry | DeletedEntry | null>;
  /** Returns the name of a public record that is now part of an actor, and when it was merged; null when it is none. */
  mergedEntry(id: string, from: string): Promise<{ name: string; at: string } | null>;
  /** Returns the page of the changes of a public actor that `cursor` and `limit` of a request ask for, the latest first. Throws `unknown_actor`. */
  entryHistory(request: Request, id: string): Promise<EntryHistory>;
  /** Returns an actor in the words of schema.org, as an export does. */
  linkedActor(actor: ActorDetail): object;
  /** Returns the calendar of one event, with the path at which it is served. */
  eventCalendar(event: ActorDetail, path: string): string;
}

export interface Entry {
  state: 'current';
  actor: ActorDetail;
  values: StatedValue[];
  /** Its own id, and those of the public records that are part of it: signals may have any of them. */
  ids: string[];
  /** Ids of the public actors that its affiliations name. */
  affiliated: ReadonlySet<string>;
  changes: ChangeTotals;
}

export interface MovedEntry {
  state: 'merged';
  into: string;
}

export interface DeletedEntry {
  state: 'deleted';
  at: string;
}

export interface EntryHistory {
  name: string;
  data: HistoryItem[];
  total: number;
  next_cursor: string | null;
  /** The names of the other actors in the changes by id, without those that were deleted. */
  names: ReadonlyMap<string, string>;
}

const isPublic = ({ visibility }: Pick<RecordRow, 'visibility'>): boolean => visibility === 'public';

export function offeredEntries(directory: Directory): EntryReads {
  const { civic, halfLives, links, policy } = directory;
  return {
    entry: (id) => civic.db.snapshot(async (tx) => {
      const row = await publicActor(tx, id);
      return row ? currentEntry(directory, tx, row) : formerEntry(tx, id);
    }),
    mergedEntry: (id, from) => civic.db.snapshot(async (tx) => {
      const [record] = isId(from) ? await recordsById(tx, [from.toLowerCase()]) : [];
      const [actor] = record ? await recordsByKey(tx, [record.actor_key]) : [];
      if (!record || record.key === record.actor_key || !isPublic(record) || actor?.id !== id.toLowerCase()) return null;
      const merge = (await judgementsAmong(tx, [record.key])).find(({ left_key, verdict, deleted_at }) => left_key === record.key && verdict === 'same' && deleted_at === null);
      const name = (await ownNames(tx, [record.id])).get(record.id);
      return merge && name !== undefined ? { name, at: merge.at } : null;
    }),
    entryHistory: (request, id) => civic.db.snapshot(async (tx) => {
      const row = await publicActor(tx, id);
      if (!row) throw problem('unknown_actor', { detail: `No actor has the id ${singleLine(id, 100)}.` });
      const page = pageOf(request, ['integer']);
      const before = page.after ? Number(page.after[0]) : null;
      const records = await recordsOfActors(tx, [row.key]);
      const { items, total, next } = await historyPage(tx, records, { before, limit: page.limit, without: await mergesWithin(tx, records) }, {
        sees: isPublic,
        hides: (claim, source) => policy.hides(policedActor(row), claim.property, source),
      });
      return {
        name: (JSON.parse(row.body) as Actor).name, data: items, total, next_cursor: next && cursorAfter(request, page, next),
        names: await shownNames(tx, items),
      };
    }),
    linkedActor: (actor) => linkedActor(actor),
    eventCalendar(event, path) {
      const { name } = civic.instance;
      return calendarOf({
        title: event.name, description: `${event.name}, from ${name}. Every statement has its source.`, id: '', self: civic.url(path), home: links.actor(event.id),
        author: { name, url: civic.url('/') }, meetings: [], actors: [event], pageOf: links.actor,
      });
    },
  };

  async function currentEntry({ civic: { clock } }: Directory, tx: Reader, row: ShownActor): Promise<Entry> {
    const now = clock.now();
    const { claims, sources } = (await backingOf(tx, [row], policy, isShown)).get(row.key)!;
    const records = await recordsOfActors(tx, [row.key]);
    const keys = records.map(({ key }) => key);
    const sourceIds = new Map(sources.map(({ key, id }) => [key, id]));
    const actor = JSON.parse(actorText(row, tellingOf(directory))) as Actor;
    const named = await actorsByIds(tx, actor.affiliations.flatMap(({ entity_id: id }) => id ?? []));
    return {
      state: 'current',
      actor: { ...actor, claims: claims.map((claim) => claimOf(claim, sourceIds.get(claim.source_key)!)), sources: sources.map((source) => sourceOf(source, [], now)) },
      values: statedValues(claims, sources, { halfLives, now }),
      ids: records.filter(isPublic).map(({ id }) => id),
      affiliated: new Set(named.filter(isPublic).map(({ id }) => id)),
      changes: await changeTotals(tx, keys, [...await hiddenChanges(tx, keys, isPublic), ...await mergesWithin(tx, records)]),
    };
  }
}

async function publicActor(reader: Reader, id: string): Promise<ShownActor | null> {
  const row = isId(id) ? await actorById(reader, id.toLowerCase()) : undefined;
  return row && isPublic(row) ? row : null;
}

async function formerEntry(reader: Reader, id: string): Promise<MovedEntry | DeletedEntry | null> {
  const [record] = isId(id) ? await recordsById(reader, [id.toLowerCase()]) : [];
  if (!record || !isPublic(record)) return null;
  if (record.deleted_at !== null) return { state: 'deleted', at: record.deleted_at };
  const [successor] = await recordsByKey(reader, [record.actor_key]);
  // A successor that was merged itself would redirect again, and in damaged data without end.
  if (!successor || successor.key === record.key || successor.actor_key !== successor.key || successor.deleted_at !== null || !isPublic(successor)) return null;
  return { state: 'merged', into: successor.id };
}

/** A merge is a change of both records. Returns those of the records that are part of the other now, which would say the same again. */
async function mergesWithin(reader: Reader, records: RecordRow[]): Promise<number[]> {
  const ids = new Set(records.map(({ id }) => id));
  const merges = await mergesOfRecords(reader, records.map(({ key }) => key));
  return merges.filter(({ detail }) => ids.has((JSON.parse(detail) as ChangeDetail).into ?? '')).map(({ key }) => key);
}

async function shownNames(reader: Reader, items: HistoryItem[]): Promise<Map<string, string>> {
  const ids = [...new Set(items.flatMap((item) => [...item.with ?? [], ...item.merged_into ? [item.merged_into] : []]))];
  const shown = (await recordsById(reader, ids)).filter((record) => isPublic(record) && record.deleted_at === null);
  return ownNames(reader, shown.map(({ id }) => id));
}
