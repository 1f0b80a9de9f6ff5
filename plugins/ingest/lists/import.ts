import { problem, problemOf } from 'civic';
import type { Ingest } from '../context.ts';
import { listedOfOperator, listedSource } from '../sources/schemas.ts';
import type { Owner, SourceInput, Sources, Write } from '../sources/sources.ts';

/** What became of one source of a list. */
export interface ImportResult {
  /** From 1 on. */
  row: number;
  url: string | null;
  outcome: 'created' | 'watched' | 'rejected';
  /** Of the source that watches the address; null when it was rejected. */
  id: string | null;
  code: string | null;
  detail: string | null;
}

export interface ImportReport {
  created: number;
  watched: number;
  rejected: number;
  results: ImportResult[];
}

/** So many seconds are between the first reads of two new sources, or less when a source is read more often than the list is long. */
const STEP_SECONDS = 2;

/** Adds the sources of a list, each in a transaction of its own, without reading them first. One that is rejected does not stop the others. */
export async function importSources({ civic, cadence }: Ingest, sources: Sources, owner: Owner, given: object[], { onProgress, signal, write = civic.db.write }: { onProgress?(done: number): void; signal?: AbortSignal; write?: Write } = {}): Promise<ImportReport> {
  const startedAt = civic.clock.now();
  const results: ImportResult[] = [];
  let created = 0;
  for (const [index, one] of given.entries()) {
    signal?.throwIfAborted();
    const result = await add(one);
    if (result.outcome === 'created') created++;
    results.push({ row: index + 1, ...result });
    onProgress?.(index + 1);
  }
  return { created, watched: results.filter(({ outcome }) => outcome === 'watched').length, rejected: results.filter(({ outcome }) => outcome === 'rejected').length, results };

  /** Each first read has a time of its own: all at once would keep the reads of other sources waiting. */
  function firstRead(input: SourceInput): string {
    const seconds = cadence({ cadence_seconds: input.cadence_seconds ?? null, tags: JSON.stringify(input.tags ?? []) });
    return new Date(startedAt + created * Math.min(STEP_SECONDS, seconds / given.length) * 1000).toISOString();
  }

  async function add(one: object): Promise<Omit<ImportResult, 'row'>> {
    const { value, error } = (owner.workspace_id === null ? listedOfOperator : listedSource).validate(one, { convert: true, errors: { wrap: { label: '“”' } } });
    const url = typeof (one as SourceInput).url === 'string' ? (one as SourceInput).url.slice(0, 2000) : null;
    try {
      if (error) throw problem('invalid_request', { detail: `${error.message}.` });
      const { id, isNew } = await write((tx) => sources.addListed(tx, owner, value, firstRead(value)));
      return { url, outcome: isNew ? 'created' : 'watched', id, code: null, detail: null };
    } catch (thrown) {
      const found = problemOf(thrown);
      if (!found || found.status >= 500) throw thrown;
      return { url, outcome: 'rejected', id: null, code: found.code, detail: found.errors?.[0]?.detail ?? found.detail ?? found.title };
    }
  }
}
