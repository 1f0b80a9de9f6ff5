import type { Schema } from 'civic';

type Tx = Schema['tx'];
type Query = ReturnType<Tx>;

/** A workspace cites a source in a row of its own; the row without a workspace is the public one. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('directory_sources', { workspace_id: 'uuid?' });
  await schema.dropIndex('directory_sources', ['url'], { unique: true });
  const publicUrl = 'create unique index directory_sources_public_url on directory_sources (url) where workspace_id is null';
  const workspaceUrl = 'create unique index directory_sources_workspace_url on directory_sources (url, workspace_id) where workspace_id is not null';
  for (const sql of [publicUrl, workspaceUrl]) await schema.raw({ sqlite: sql, postgres: sql });
  await splitSources(schema.tx);
  await clampTimes(schema.tx, new Date().toISOString());
}

interface Citation {
  source_key: number;
  workspace_id: string | null;
  /** The first claim that cites the source. */
  first: number;
  /** When its claims were last seen. */
  seen: string;
}

/** Metadata that cannot come from the citations that keep the row. */
const UNKNOWN = { title: null, publication: null, kind: 'other', published_at: null, excerpt: null, content_hash: null };

/**
 * Moves what private records cite to rows of their workspaces. The first citation created the row: when it is private,
 * the metadata is its workspace's, and the public row and those of other workspaces start without.
 */
export async function splitSources(tx: Tx): Promise<void> {
  const owner = "case when directory_records.visibility = 'public' then null else directory_records.workspace_id end";
  const privateSources = tx('directory_claims').join('directory_records', 'directory_records.key', 'directory_claims.record_key').whereNot('visibility', 'public').select('source_key');
  const citations: Citation[] = await tx('directory_claims').join('directory_records', 'directory_records.key', 'directory_claims.record_key')
    .whereIn('source_key', privateSources).groupByRaw(`source_key, ${owner}`).orderBy(['source_key', 'first'])
    .select('source_key', tx.raw(`${owner} as workspace_id`), tx.raw('min(directory_claims.key) as first'), tx.raw('max(last_seen_at) as seen'));
  const bySource = new Map<number, Citation[]>();
  for (const citation of citations) bySource.set(citation.source_key, [...bySource.get(citation.source_key) ?? [], citation]);
  for (const [key, cited] of bySource) await splitSource(tx, key, cited);
}

async function splitSource(tx: Tx, key: number, cited: Citation[]): Promise<void> {
  const { key: _key, id: _id, ...row } = await tx('directory_sources').where({ key }).first('*');
  const [first] = cited;
  // The public row keeps its id, which others may know; without one the first workspace keeps it.
  const keeper = cited.find(({ workspace_id }) => workspace_id === null) ?? first!;
  await tx('directory_sources').where({ key }).update({ workspace_id: keeper.workspace_id, ...(keeper !== first && { ...UNKNOWN, retrieved_at: keeper.seen }) });
  for (const citation of cited) {
    if (citation === keeper) continue;
    const { workspace_id, seen } = citation;
    const isKnown = first!.workspace_id === null || citation === first;
    const copy = { ...row, archived: Boolean(row.archived), ...(isKnown ? {} : { ...UNKNOWN, retrieved_at: seen }), id: crypto.randomUUID(), workspace_id };
    const [{ key: copyKey }] = await tx('directory_sources').insert(copy).returning('key');
    const records = tx('directory_records').where({ visibility: 'workspace', workspace_id }).select('key');
    await tx('directory_claims').where({ source_key: key }).whereIn('record_key', records).update({ source_key: copyKey });
    await moveInActors(tx, workspace_id!, key, Number(copyKey));
  }
  if (keeper === first) return;
  await tx('directory_place_sources').where({ source_key: key }).update({ retrieved_at: keeper.seen });
  await refreshActors(tx, tx('directory_claims').where({ source_key: key }).select('record_key'));
}

/** Replaces the key in the read model, where keys stand between spaces. */
async function moveInActors(tx: Tx, workspaceId: string, from: number, to: number): Promise<void> {
  const citing = tx('directory_records').whereIn('key', tx('directory_claims').where({ source_key: to }).select('record_key')).select('actor_key');
  const actors: { key: number; sources: string }[] = await tx('directory_actors').where({ workspace_id: workspaceId }).whereIn('key', citing).select('key', 'sources');
  for (const { key, sources } of actors) {
    await tx('directory_actors').where({ key }).update({ sources: sources.split(' ').map((source) => (source === String(from) ? String(to) : source)).join(' ') });
  }
}

/** Makes the job that looks for ended claims derive the actors of these records again. */
async function refreshActors(tx: Tx, recordKeys: Query): Promise<void> {
  await tx('directory_actors').whereIn('key', tx('directory_records').whereIn('key', recordKeys).select('actor_key')).update({ expires_at: '1970-01-01T00:00:00.000Z' });
}

/** Replaces times in the future, which would stay the latest for ever, by now. */
export async function clampTimes(tx: Tx, now: string): Promise<void> {
  const tomorrow = new Date(Date.parse(now) + 86_400_000).toISOString();
  const late = (column: string) => tx('directory_sources').where(column, '>', column === 'published_at' ? tomorrow : now).select('key');
  for (const column of ['retrieved_at', 'published_at']) {
    await refreshActors(tx, tx('directory_claims').whereIn('source_key', late(column)).select('record_key'));
    await late(column).update({ [column]: column === 'published_at' ? null : now });
  }
  await tx('directory_place_sources').where('retrieved_at', '>', now).update({ retrieved_at: now });
  for (const [table, key, columns] of [['directory_claims', 'record_key', ['first_seen_at', 'last_seen_at']], ['directory_records', 'key', ['created_at', 'updated_at']]] as const) {
    for (const column of columns) {
      await refreshActors(tx, tx(table).where(column, '>', now).select(key));
      await tx(table).where(column, '>', now).update({ [column]: now });
    }
  }
}
