import { isId, type Reader, type Tx } from 'civic';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import { createRecords, type Records } from '../records/records.ts';
import type { RecordRow } from '../records/store.ts';
import { checkedActors, checkedSources } from '../references.ts';
import { confidenceOf, gapsOf, type AssessedScope } from './assess.ts';
import { readEvidence, type Evidence } from './evidence.ts';
import { checkedNew, checkedScope } from './references.ts';
import { briefChange, briefList, briefShown, newBrief, type Brief } from './schemas.ts';

export interface BriefRow extends RecordRow {
  title: string;
  summary_md: string;
  /** These are JSON. */
  places: string;
  issue_areas: string;
  entity_ids: string;
  source_ids: string;
  run_ids: string;
}

/** What routes, pages and tools do with briefs. */
export interface Briefs extends Records<BriefRow, Brief> {
  /** Returns a brief with the entities and sources that it refers to. */
  withEvidence(reader: Reader, context: WorkspaceContext, row: BriefRow): Promise<{ brief: Brief; evidence: Evidence }>;
}

interface Given {
  title?: string;
  scope?: { places: string[]; issue_areas: string[] };
  summary_md?: string;
  entity_ids?: string[];
  source_ids?: string[];
  run_ids?: string[];
}

const listOf = (text: string): string[] => JSON.parse(text) as string[];

export function createBriefs(workspaces: Workspaces): Briefs {
  const actorsIn = (reader: Reader, rows: BriefRow[]): Promise<AssessedScope['actors']> => workspaces.directory.issueCountsIn(reader, [...new Set(rows.flatMap((row) => listOf(row.places)))]);

  const records = createRecords<BriefRow, Brief>(workspaces, {
    name: 'briefs',
    noun: 'brief',
    param: 'brief_id',
    table: 'workspaces_briefs',
    unknown: 'unknown_brief',
    problems: ['invalid_request', 'unknown_actor', 'unknown_source'],
    schemas: { created: newBrief, changed: briefChange, shown: briefShown, list: briefList },
    columns: (tx, context, given: Given, row) => columnsOf(workspaces, tx, context, given, row),
    async show(reader, context, rows) {
      const actors = await actorsIn(reader, rows);
      const briefs: Brief[] = [];
      for (const row of rows) briefs.push((await assessedBrief(workspaces, reader, context, row, actors)).brief);
      return briefs;
    },
  });

  return { ...records, withEvidence: async (reader, context, row) => assessedBrief(workspaces, reader, context, row, await actorsIn(reader, [row])) };
}

/** Returns the columns of the members that are given. */
async function columnsOf(workspaces: Workspaces, tx: Tx, context: WorkspaceContext, given: Given, row?: BriefRow): Promise<Partial<BriefRow>> {
  const { title, summary_md, scope, entity_ids, source_ids, run_ids } = given;
  return {
    ...(title !== undefined && { title }),
    ...(summary_md !== undefined && { summary_md }),
    ...(scope !== undefined && await checkedScope(workspaces.directory, tx, scope)),
    ...(entity_ids !== undefined && { entity_ids: await checkedNew(entity_ids, row?.entity_ids, (ids) => checkedActors(workspaces, tx, context, ids)) }),
    ...(source_ids !== undefined && { source_ids: await checkedNew(source_ids, row?.source_ids, (ids) => checkedSources(workspaces, tx, context, ids)) }),
    ...(run_ids !== undefined && { run_ids: JSON.stringify(run_ids.filter(isId)) }),
  };
}

/** Returns a brief with its evidence, and with the confidence and gaps that follow from it. `actors` are those in its places. */
async function assessedBrief(workspaces: Workspaces, reader: Reader, context: WorkspaceContext, row: BriefRow, actors: AssessedScope['actors']): Promise<{ brief: Brief; evidence: Evidence }> {
  const { id, title, summary_md, created_at, updated_at, created_by } = row;
  const [places, issue_areas, entity_ids, source_ids] = [listOf(row.places), listOf(row.issue_areas), listOf(row.entity_ids), listOf(row.source_ids)];
  const evidence = await readEvidence(workspaces, reader, context, { entityIds: entity_ids, sourceIds: source_ids });
  const sources = evidence.sources.map((source) => ({ id: source.id, freshness: source.freshness.status, isBroken: source.url_status === 'broken' }));
  const scope = { places, issue_areas, actors };
  const brief: Brief = {
    id, title, scope: { places, issue_areas }, summary_md, entity_ids, source_ids, run_ids: listOf(row.run_ids),
    confidence: confidenceOf(scope, sources), gaps: gapsOf(scope, sources, evidence.unavailable), created_at, updated_at, created_by,
  };
  return { brief, evidence };
}
