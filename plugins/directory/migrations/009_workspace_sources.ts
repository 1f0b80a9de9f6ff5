import type { Schema } from 'civic';
import { randomUUID } from 'node:crypto';

type Tx = Schema['tx'];

/** A workspace cites a source in a row of its own; the row without a workspace is the public one. */
export async function up(schema: Schema): Promise<void> {
  await schema.addColumns('directory_sources', { workspace_id: 'uuid?' });
  await schema.dropIndex('directory_sources', ['url'], { unique: true });
  const publicUrl = 'create unique index directory_sources_public_url on directory_sources (url) where workspace_id is null';
  const workspaceUrl = 'create unique index directory_sources_workspace_url on directory_sources (url, workspace_id) where workspace_id is not null';
  for (const sql of [publicUrl, workspaceUrl]) await schema.raw({ sqlite: sql, postgres: sql });
  const now = new Date().toISOString();
  await splitSources(schema.tx, now);
  await clampTimes(schema.tx, now);
}

interface Citation {
  source_key: number;
  workspace_id: string | null;
  /** The first claim that cites the source. */
  first: number;
}

/** Metadata that cannot come from the workspace or the public citation that keeps the row. */
const UNKNOWN = { title: null, publication: null, kind: 'other', published_at: null, excerpt: null, content_hash: null };

/**
 * Moves what private records cite to rows of their workspaces. The first citation created the row: when it is private,
 * the metadata is its workspace's, and the public row and those of other workspaces start without.
 */
export async function splitSources(tx: Tx, now: string): Promise<void> {
  const owner = "case when directory_records.visibility = 'public' then null else directory_records.workspace_id end";
  const privateSources = tx('directory_claims').join('directory_records', 'directory_records.key', 'directory_claims.record_key').whereNot('visibility', 'public').select('source_key');
  const citations: Citation[] = await tx('directory_claims').join('directory_records', 'directory_records.key', 'directory_claims.record_key')
    .whereIn('source_key', privateSources).groupByRaw(`source_key, ${owner}`).orderBy(['source_key', 'first'])
    .select('source_key', tx.raw(`${owner} as workspace_id`), tx.raw('min(directory_claims.key) as first'));
  const bySource = new Map<number, Citation[]>();
  for (const citation of citations) bySource.set(citation.source_key, [...bySource.get(citation.source_key) ?? [], citation]);
  for (const [key, cited] of bySource) await splitSource(tx, key, cited.map(({ workspace_id }) => workspace_id), now);
}

async function splitSource(tx: Tx, key: number, owners: (string | null)[], now: string): Promise<void> {
  const { key: _key, id: _id, ...row } = await tx('directory_sources').where({ key }).first('*');
  const [first] = owners;
  // The public row keeps its id, which others may know; without one the first workspace keeps it.
  const keeper = owners.includes(null) ? null : first!;
  await tx('directory_sources').where({ key }).update({ workspace_id: keeper, ...(keeper !== first && { ...UNKNOWN, retrieved_at: now }) });
  for (const workspaceId of owners) {
    if (workspaceId === keeper) continue;
    const isKnown = first === null || workspaceId === first;
    const [{ key: copy }] = await tx('directory_sources').insert({ ...row, archived: Boolean(row.archived), ...(isKnown ? {} : { ...UNKNOWN, retrieved_at: now }), id: randomUUID(), workspace_id: workspaceId }).returning('key');
    const records = tx('directory_records').where({ visibility: 'workspace', workspace_id: workspaceId }).select('key');
    await tx('directory_claims').where({ source_key: key }).whereIn('record_key', records).update({ source_key: copy });
    await moveInActors(tx, workspaceId!, key, Number(copy));
  }
  if (keeper === null && first !== null) await refreshActors(tx, key);
}

/** Replaces the key in the read model, where keys stand between spaces. */
async function moveInActors(tx: Tx, workspaceId: string, from: number, to: number): Promise<void> {
  const actors: { key: number; sources: string }[] = await tx('directory_actors').where({ workspace_id: workspaceId }).whereIn('key', citingActors(tx, to)).select('key', 'sources');
  for (const { key, sources } of actors) {
    await tx('directory_actors').where({ key }).update({ sources: sources.split(' ').map((source) => (source === String(from) ? String(to) : source)).join(' ') });
  }
}

/** Makes the job that looks for ended claims derive the actors again: their times came from the metadata. */
async function refreshActors(tx: Tx, sourceKey: number): Promise<void> {
  await tx('directory_actors').whereIn('key', citingActors(tx, sourceKey)).update({ expires_at: '1970-01-01T00:00:00.000Z' });
}

function citingActors(tx: Tx, sourceKey: number) {
  return tx('directory_claims').join('directory_records', 'directory_records.key', 'directory_claims.record_key').where({ source_key: sourceKey }).select('actor_key');
}

/** Times in the future would stay the latest for ever. */
async function clampTimes(tx: Tx, now: string): Promise<void> {
  await tx('directory_sources').where('published_at', '>', new Date(Date.parse(now) + 86_400_000).toISOString()).update({ published_at: null });
  for (const [table, column] of [['directory_sources', 'retrieved_at'], ['directory_claims', 'first_seen_at'], ['directory_claims', 'last_seen_at'], ['directory_records', 'created_at'], ['directory_records', 'updated_at']] as const) {
    const late = tx(table).where(column, '>', now);
    if (table === 'directory_claims') await tx('directory_actors').whereIn('key', tx('directory_records').whereIn('key', late.clone().select('record_key')).select('actor_key')).update({ expires_at: '1970-01-01T00:00:00.000Z' });
    await late.update({ [column]: now });
  }
}
