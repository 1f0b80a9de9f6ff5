import { isId, problem, type Reader, type Tx } from 'civic';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import { createRecords, type Records } from '../records/records.ts';
import type { RecordRow } from '../records/store.ts';
import { checkedActors, checkedSources } from '../references.ts';
import { confidenceOf, gapsOf, type AssessedScope } from './assess.ts';
import { readEvidence, type Evidence } from './evidence.ts';
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

export function createBriefs(workspaces: Workspaces): Briefs {
  const { directory } = workspaces;
  const listOf = (text: string) => JSON.parse(text) as string[];

  async function checkedScope(tx: Tx, { places, issue_areas }: NonNullable<Given['scope']>): Promise<{ places: string; issue_areas: string }> {
    const keys = await Promise.all(places.map((text) => directory.placeKey(tx, text)));
    const errors = [
      ...keys.flatMap((key, index) => (key === null ? [{ pointer: `/scope/places/${index}`, detail: 'is not the key of a place' }] : [])),
      ...issue_areas.flatMap((slug, index) => (directory.issueName(slug) === null ? [{ pointer: `/scope/issue_areas/${index}`, detail: 'is not the slug of an issue area' }] : [])),
    ];
    if (errors.length > 0) throw problem('invalid_request', { detail: `${errors[0]!.pointer} ${errors[0]!.detail}.`, errors });
    return { places: JSON.stringify([...new Set(keys)]), issue_areas: JSON.stringify(issue_areas) };
  }

  /** Checks ids that are new: those that the brief had may have been deleted or merged since. */
  async function checkedNew(given: string[], before: string | undefined, check: (ids: string[]) => Promise<string[]>): Promise<string> {
    const known = before === undefined ? [] : listOf(before);
    await check(given.filter((id) => !known.includes(id.toLowerCase())));
    return JSON.stringify([...new Set(given.map((id) => id.toLowerCase()))]);
  }

  function assess(row: BriefRow, evidence: Evidence, actors: AssessedScope['actors']): Pick<Brief, 'confidence' | 'gaps'> {
    const scope = { places: listOf(row.places), issue_areas: listOf(row.issue_areas), actors };
    const sources = evidence.sources.map((source) => ({ id: source.id, freshness: source.freshness.status, isBroken: source.url_status === 'broken' }));
    return { confidence: confidenceOf(scope, sources), gaps: gapsOf(scope, sources, evidence.unavailable) };
  }

  const actorsIn = (reader: Reader, rows: BriefRow[]): Promise<AssessedScope['actors']> => directory.issueCountsIn(reader, [...new Set(rows.flatMap((row) => listOf(row.places)))]);

  const references = (row: BriefRow) => ({ entityIds: listOf(row.entity_ids), sourceIds: listOf(row.source_ids) });

  async function shown(context: WorkspaceContext, reader: Reader, row: BriefRow, actors: AssessedScope['actors']): Promise<{ brief: Brief; evidence: Evidence }> {
    const evidence = await readEvidence(workspaces, reader, context, references(row));
    const { id, title, summary_md, created_at, updated_at, created_by } = row;
    const brief: Brief = {
      id, title, scope: { places: listOf(row.places), issue_areas: listOf(row.issue_areas) }, summary_md,
      entity_ids: listOf(row.entity_ids), source_ids: listOf(row.source_ids), run_ids: listOf(row.run_ids),
      ...assess(row, evidence, actors), created_at, updated_at, created_by,
    };
    return { brief, evidence };
  }

  const records = createRecords<BriefRow, Brief>(workspaces, {
    name: 'briefs',
    noun: 'brief',
    param: 'brief_id',
    table: 'workspaces_briefs',
    unknown: 'unknown_brief',
    problems: ['invalid_request', 'unknown_actor', 'unknown_source'],
    schemas: { created: newBrief, changed: briefChange, shown: briefShown, list: briefList },
    async columns(tx, context, given: Given, row) {
      return {
        ...(given.title !== undefined && { title: given.title }),
        ...(given.summary_md !== undefined && { summary_md: given.summary_md }),
        ...(given.scope !== undefined && await checkedScope(tx, given.scope)),
        ...(given.entity_ids !== undefined && { entity_ids: await checkedNew(given.entity_ids, row?.entity_ids, (ids) => checkedActors(workspaces, tx, context, ids)) }),
        ...(given.source_ids !== undefined && { source_ids: await checkedNew(given.source_ids, row?.source_ids, (ids) => checkedSources(workspaces, tx, context, ids)) }),
        ...(given.run_ids !== undefined && { run_ids: JSON.stringify(given.run_ids.filter(isId)) }),
      };
    },
    async show(reader, context, rows) {
      const actors = await actorsIn(reader, rows);
      const briefs: Brief[] = [];
      for (const row of rows) briefs.push((await shown(context, reader, row, actors)).brief);
      return briefs;
    },
  });

  return { ...records, withEvidence: async (reader, context, row) => shown(context, reader, row, await actorsIn(reader, [row])) };
}
