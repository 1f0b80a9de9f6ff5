import type { Document } from 'civic/reader';
import { ADAPTERS } from '../adapters/adapters.ts';
import type { Adapter, Row } from '../adapters/types.ts';
import type { Ingest } from '../context.ts';
import { readRows } from '../reads/documents.ts';
import type { Fault } from '../reads/fault.ts';

/** What a test of an address found. */
export interface Probe {
  /** The address to watch, which may be a better one than was given. */
  url: string;
  adapter: Adapter | null;
  title: string | null;
  rows: Row[];
  fault: Fault | null;
}

/** Returns the adapter that is most certain to read a document; null when none is. */
export function recognisedBy(document: Document): Adapter | null {
  const scored = ADAPTERS.map((adapter) => ({ adapter, score: adapter.recognises(document) })).filter(({ score }) => score > 0);
  return scored.toSorted((a, b) => b.score - a.score)[0]?.adapter ?? null;
}

/** Reads an address as a source would be read, and recognises its platform unless that is given. Stores nothing but the record of the reads. */
export async function probe(ingest: Ingest, { url, adapter, time_zone }: { url: string; adapter: Adapter | null; time_zone: string }): Promise<Probe> {
  const found = await readRows(ingest, { url, adapter: adapter ?? NOT_RECOGNISED, time_zone });
  const recognised = adapter ?? (found.document && recognisedBy(found.document));
  const base = { url, adapter: recognised, title: found.document?.site_name ?? found.document?.title ?? null, rows: found.rows, fault: found.fault };
  if (found.fault || !found.document || adapter) return base;
  if (!recognised) return { ...base, fault: NOTHING_FOUND };
  const better = recognised.address?.(found.document) ?? url;
  return { ...base, ...await rowsWith(ingest, recognised, better, time_zone), url: better };
}

async function rowsWith(ingest: Ingest, adapter: Adapter, url: string, time_zone: string): Promise<Pick<Probe, 'rows' | 'fault'>> {
  const { rows, fault } = await readRows(ingest, { url, adapter, time_zone });
  return { rows, fault };
}

export const NOTHING_FOUND: Fault = { code: 'not_recognised', detail: 'Nothing on the page can be watched: it has no text, calendar or feed.' };

/** Reads the document and no rows, while the platform is not known. */
export const NOT_RECOGNISED: Adapter = { name: '', label: 'The page', source_class: 'government_record', recognises: () => 0, rows: () => [] };
