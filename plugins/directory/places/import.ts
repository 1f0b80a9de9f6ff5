import { Failure, type Database } from 'civic';
import { openTextFile } from '../transfer/file.ts';
import { csvRows } from '../transfer/table.ts';
import { readDivision, type DivisionPlace, type DivisionRow } from './divisions.ts';
import { placesByKeys, placesByOcdIds, putOwnPlace, markChanged, ownPlacesByOcdIds, type OwnPlace } from './store.ts';

/** Who added the places of `places import`. */
export const OPERATOR = 'operator';

export interface ImportReport {
  rows: number;
  added: number;
  updated: number;
  /** In the gazetteer already. */
  unchanged: number;
  /** Rows that are no places, by their type. */
  skipped: Record<string, number>;
  errors: { line: number; detail: string }[];
  /** Keys of the added places, the first so many. */
  keys: string[];
}

export interface ImportOptions {
  isDry: boolean;
  today: string;
  signal: AbortSignal;
  onProgress(doneBytes: number, totalBytes: number): void;
}

const BATCH = 200;
const SHOWN_KEYS = 20;

interface Line {
  line: number;
  row: DivisionRow;
  fault?: string;
}

/** Adds the divisions of a CSV file that are places and not in the gazetteer. The same file again changes nothing. */
export async function importDivisions(db: Database, path: string, options: ImportOptions): Promise<ImportReport> {
  const report: ImportReport = { rows: 0, added: 0, updated: 0, unchanged: 0, skipped: {}, errors: [], keys: [] };
  const file = await openTextFile(path);
  const names = new Map<string, string>();
  // Keys that this file takes, for a dry run and within a batch.
  const taken = new Set<string>();
  let batch: Line[] = [];
  function checkHeader(header: string[]): void {
    if (!header.includes('id') || !header.includes('name')) throw new Failure(`${path} has no columns id and name: it is no list of Open Civic Data divisions`);
  }
  for await (const { number: line, cells: row, fault } of csvRows(file, checkHeader)) {
    options.signal.throwIfAborted();
    report.rows++;
    if (!fault && /\/(?:state|province|territory|region|land):[^/]+$/.test(row.id!)) names.set(row.id!, row.name!);
    batch.push({ line, row, fault });
    if (batch.length < BATCH) continue;
    await importBatch(db, batch, names, taken, report, options);
    options.onProgress(Math.min(file.bytesRead(), file.bytes - 1), file.bytes);
    batch = [];
  }
  await importBatch(db, batch, names, taken, report, options);
  options.onProgress(file.bytes, file.bytes);
  return report;
}

async function importBatch(db: Database, lines: Line[], names: Map<string, string>, taken: Set<string>, report: ImportReport, { isDry, today }: ImportOptions): Promise<void> {
  const read: { line: number; division: DivisionPlace }[] = [];
  for (const { line, row, fault } of lines) {
    const division = fault ? { fault } : readDivision(row, (id) => names.get(id), today);
    if ('fault' in division) report.errors.push({ line, detail: division.fault });
    else if ('skipped' in division) report.skipped[division.skipped] = (report.skipped[division.skipped] ?? 0) + 1;
    else read.push({ line, division });
  }
  const ids = read.map(({ division }) => division.place.ocd_id);
  const known = new Set((await placesByOcdIds(db.read, ids)).map(({ ocd_id }) => ocd_id));
  const own = new Map((await ownPlacesByOcdIds(db.read, ids, OPERATOR)).map((place) => [place.ocd_id, place]));
  const occupied = new Map((await placesByKeys(db.read, read.flatMap(({ division }) => division.keys))).map((place) => [place.place_key, place]));
  const changed: OwnPlace[] = [];
  for (const { line, division: { place, keys } } of read) {
    const earlier = own.get(place.ocd_id);
    // Abroad, where places of the gazetteer have no OCD id, the name tells that it is there.
    const isThere = place.country !== 'US' && occupied.get(keys[0]!)?.country === place.country && !earlier;
    const key = earlier?.place_key ?? keys.find((one) => !occupied.has(one) && !taken.has(one));
    if (earlier ? isSame(earlier, place) : isThere || known.has(place.ocd_id)) report.unchanged++;
    else if (key === undefined) report.errors.push({ line, detail: `every key that it could have is taken: ${keys.join(', ')}` });
    else {
      taken.add(key);
      known.add(place.ocd_id);
      changed.push({ ...place, place_key: key });
      if (earlier) report.updated++;
      else if (report.added++ < SHOWN_KEYS) report.keys.push(key);
    }
  }
  if (isDry || changed.length === 0) return;
  await db.write(async (tx) => {
    for (const place of changed) await putOwnPlace(tx, place, OPERATOR);
    await markChanged(tx);
  });
}

function isSame(earlier: OwnPlace, place: Omit<OwnPlace, 'place_key'>): boolean {
  return (Object.keys(place) as (keyof typeof place)[]).every((name) => earlier[name] === place[name]);
}
