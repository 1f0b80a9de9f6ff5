import { Failure } from 'civic';
import type { Claim } from '../types.ts';
import type { ExportedActor, Format, ReadContext, Row, WriteContext } from './format.ts';
import type { TextFile } from './file.ts';
import { parseField } from './json.ts';
import { draftsOf, judgementOf, ownActor, placeOf, type OwnActor, type OwnClaim, type OwnSource } from './own.ts';
import { csvCell, csvRows } from './table.ts';

/** One row a claim. Rows of an actor stand together; each repeats who the actor is and where. */
export const COLUMNS = [
  'actor_id', 'actor_type', 'actor_name', 'actor_places', 'actor_visibility', 'actor_created_at', 'actor_updated_at',
  'record_id', 'record_created_at', 'record_updated_at', 'record_origin',
  'claim_id', 'property', 'value', 'rank', 'confidence', 'method', 'status', 'excerpt', 'locator_start', 'locator_end', 'first_seen_at', 'last_seen_at', 'expires_at',
  'source_id', 'source_url', 'source_title', 'source_publication', 'source_kind', 'source_published_at', 'source_retrieved_at', 'source_excerpt', 'source_content_hash',
] as const;
type Column = (typeof COLUMNS)[number];
type Cells = Record<Column, string>;

const NEEDED: Column[] = ['actor_id', 'actor_type', 'property', 'value', 'source_url'];
/** Their values are objects, so the cell holds JSON; so does that of a judgement, and of a place that no gazetteer has. */
const JSON_VALUES = ['social', 'identifier', 'affiliation', 'judgement', 'own_place'];

export const csv: Format = {
  name: 'csv',
  isOwn: true,
  summary: 'The kit’s own for spreadsheets: a claim a row with its actor and source, nothing left out',
  type: 'text/csv',
  extension: '.csv',
  reads,
  writes,
};

async function* reads(file: TextFile, _context: ReadContext): AsyncIterable<Row> {
  let group: Group | null = null;
  for await (const { number, cells, fault, raw } of csvRows(file, checkHeader)) {
    if (fault) {
      yield { number, raw, fault };
      continue;
    }
    const row = cells as Cells;
    if (row.property === 'judgement') {
      yield judgementRow(number, row);
      continue;
    }
    if (group && !isNext(group, row)) {
      yield* actorRows(group);
      group = null;
    }
    if (row.property === 'own_place') yield placeRow(number, row);
    else (group ??= { number, rows: [] }).rows.push(row);
    if (group && group.rows.length > MOST_CLAIMS) throw new Failure(`Row ${group.number} begins an actor of more than ${MOST_CLAIMS} claims: actor_id seems not to be set`);
  }
  if (group) yield* actorRows(group);
}

/** The rows of one actor, one for each claim. */
interface Group {
  number: number;
  rows: Cells[];
}

function isNext({ rows }: Group, row: Cells): boolean {
  return rows[0]!.actor_id === row.actor_id && row.property !== 'own_place';
}

const MOST_CLAIMS = 10_000;

function checkHeader(header: string[]): void {
  const missing = NEEDED.filter((column) => !header.includes(column));
  if (missing.length > 0) throw new Failure(`This is not the kit’s own CSV: its first row has no column ${missing.join(', ')}. docs/importing.md shows how to bring a spreadsheet of your own into that form`);
}

function* actorRows({ number, rows }: Group): Iterable<Row> {
  let actor: Partial<OwnActor>;
  try {
    actor = actorOf(rows);
  } catch (error) {
    yield { number, raw: rows, fault: (error as Error).message };
    return;
  }
  const drafts = draftsOf(actor);
  if (typeof drafts === 'string') yield { number, raw: rows, fault: drafts };
  else for (const draft of drafts) yield { number, raw: rows, draft, notes: [] };
}

function actorOf(rows: Cells[]): Partial<OwnActor> {
  const first = rows[0]!;
  const records = new Map(rows.map((row) => [row.record_id || first.actor_id, row]));
  const sources = new Map(rows.map((row) => [row.source_id || row.source_url, row]));
  return {
    ...(first.actor_id ? { id: first.actor_id } : {}),
    type: first.actor_type as OwnActor['type'],
    visibility: (first.actor_visibility || 'public') as OwnActor['visibility'],
    created_at: first.actor_created_at || undefined,
    updated_at: first.actor_updated_at || undefined,
    claims: rows.map((row) => claimOf(row, first.actor_id)),
    sources: [...sources].map(([id, row]) => sourceOf(id, row)),
    merged: [...records].filter(([id]) => id !== first.actor_id).map(([id, row]) => ({ id, created_at: row.record_created_at, updated_at: row.record_updated_at })),
    origins: [...records].filter(([, row]) => row.record_origin).map(([record_id, row]) => ({ record_id, origin: row.record_origin })),
  };
}

/** Cells that are empty are left out: the ledger has its own defaults. */
function claimOf(row: Cells, actorId: string): OwnClaim {
  const given = {
    id: row.claim_id, rank: row.rank, method: row.method, status: row.status, excerpt: row.excerpt,
    first_seen_at: row.first_seen_at, last_seen_at: row.last_seen_at, expires_at: row.expires_at,
  };
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value)),
    property: row.property as Claim['property'],
    value: valueOf(row),
    source_id: row.source_id || row.source_url,
    ...(row.confidence ? { confidence: numberOf(row, 'confidence') } : {}),
    ...(row.locator_start ? { locator: { start: numberOf(row, 'locator_start'), end: numberOf(row, 'locator_end') } } : {}),
    ...(row.record_id && row.record_id !== actorId ? { record_id: row.record_id } : {}),
  } as OwnClaim;
}

function valueOf({ property, value }: Cells): Claim['value'] {
  if (!JSON_VALUES.includes(property)) return value;
  try {
    return parseField(value) as Claim['value'];
  } catch (error) {
    throw new Error(`the value of a claim of ${property} ${error instanceof SyntaxError ? `must be JSON, but is ${JSON.stringify(value.slice(0, 60))}` : (error as Error).message}`, { cause: error });
  }
}

function numberOf(row: Cells, column: Column): number {
  const value = Number(row[column]);
  if (row[column] === '' || Number.isNaN(value)) throw new Error(`${column} must be a number, but is ${JSON.stringify(row[column].slice(0, 40))}`);
  return value;
}

function sourceOf(id: string, row: Cells): OwnSource {
  const given = {
    title: row.source_title, publication: row.source_publication, kind: row.source_kind, published_at: row.source_published_at,
    retrieved_at: row.source_retrieved_at, excerpt: row.source_excerpt, content_hash: row.source_content_hash,
  };
  return { id, url: row.source_url, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value)) } as OwnSource;
}

function judgementRow(number: number, cells: Cells): Row {
  try {
    const judgement = judgementOf(valueOf(cells));
    return typeof judgement === 'string' ? { number, raw: cells, fault: judgement } : { number, raw: cells, judgement };
  } catch (error) {
    return { number, raw: cells, fault: (error as Error).message };
  }
}

function placeRow(number: number, cells: Cells): Row {
  try {
    const place = placeOf(valueOf(cells));
    return typeof place === 'string' ? { number, raw: cells, fault: place } : { number, raw: cells, place };
  } catch (error) {
    return { number, raw: cells, fault: (error as Error).message };
  }
}

async function* writes({ actors, judgements, places }: WriteContext): AsyncIterable<string> {
  yield COLUMNS.join(',');
  for (const place of await places()) yield csvLine({ property: 'own_place', value: JSON.stringify(place) });
  for await (const exported of actors()) yield* claimRows(exported).map(csvLine);
  for await (const judgement of judgements()) yield csvLine({ actor_id: judgement.left_id, property: 'judgement', value: JSON.stringify(judgement) });
}

function claimRows(exported: ExportedActor): Partial<Record<Column, unknown>>[] {
  const actor = ownActor(exported);
  const records = new Map([{ id: actor.id, created_at: actor.created_at, updated_at: actor.updated_at }, ...actor.merged].map((record) => [record.id, record]));
  const sources = new Map(actor.sources.map((source) => [source.id, source]));
  return actor.claims.map((claim) => {
    const record = records.get(claim.record_id ?? actor.id)!;
    const source = sources.get(claim.source_id)!;
    return {
      actor_id: actor.id, actor_type: actor.type, actor_name: actor.name, actor_places: actor.places.map((place) => place.place_key).join('; '),
      actor_visibility: actor.visibility, actor_created_at: actor.created_at, actor_updated_at: actor.updated_at,
      record_id: record.id, record_created_at: record.created_at, record_updated_at: record.updated_at,
      record_origin: actor.origins.find((each) => each.record_id === record.id)?.origin,
      claim_id: claim.id, property: claim.property, value: typeof claim.value === 'string' ? claim.value : JSON.stringify(claim.value),
      rank: claim.rank, confidence: claim.confidence, method: claim.method, status: claim.status, excerpt: claim.excerpt,
      locator_start: claim.locator?.start, locator_end: claim.locator?.end,
      first_seen_at: claim.first_seen_at, last_seen_at: claim.last_seen_at, expires_at: claim.expires_at,
      source_id: source.id, source_url: source.url, source_title: source.title, source_publication: source.publication, source_kind: source.kind,
      source_published_at: source.published_at, source_retrieved_at: source.retrieved_at, source_excerpt: source.excerpt, source_content_hash: source.content_hash,
    };
  });
}

function csvLine(row: Partial<Record<Column, unknown>>): string {
  return COLUMNS.map((column) => csvCell(row[column])).join(',');
}
