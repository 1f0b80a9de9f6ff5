import { Joi } from 'civic';
import type { EntityQuery } from '../actors/reads.ts';
import { searchFilters } from '../actors/routes.ts';
import { FORMATS } from './formats.ts';
import { countsOf, reportOf, type Counts, type Finding, type Joined } from './import.ts';
import type { ImportRow } from './store.ts';

export interface ImportRecord {
  id: string;
  format: string;
  state: ImportRow['state'];
  source_url: string | null;
  visibility: ImportRow['visibility'];
  progress: { phase: string; done: number; total: number };
  counts: Counts;
  faults: Finding[];
  notes: Finding[];
  joined: Joined[];
  unlisted: number;
  error: { code: string; detail: string } | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  links: { self: string; rejects: string };
}

const count = Joi.number().integer().min(0).required();
const time = Joi.string().isoDate().allow(null).required();
const where = { row: count.description('The line of line formats, else the item, from 1'), file: Joi.string().description('Of an import of a folder') };
const finding = Joi.object<Finding, true>({ ...where, detail: Joi.string().required() });
const joined = Joi.object<Joined, true>({ ...where, id: Joi.string().guid().required(), name: Joi.string().required(), into: Joi.string().guid().required().description('The actor that it joined') });

export const importRecord = Joi.object<ImportRecord, true>({
  id: Joi.string().guid().required(),
  format: Joi.string().required(),
  state: Joi.string().valid('pending', 'running', 'completed', 'failed').required(),
  source_url: Joi.string().allow(null).required().description('Behind claims of rows that name no source'),
  visibility: Joi.string().valid('public', 'workspace').required(),
  progress: Joi.object({ phase: Joi.string().valid('waiting', 'reading', 'done').required(), done: count, total: count }).required().description('In bytes of the file'),
  counts: Joi.object<Counts, true>({ read: count, created: count, updated: count, unchanged: count, rejected: count, joined: count.description('Of the created ones, those that turned out to be an actor that was there') }).required(),
  faults: Joi.array().items(finding).required().description('Why rows were rejected, the first ones'),
  notes: Joi.array().items(finding).required().description('What was left out of rows that are in, the first ones'),
  joined: Joi.array().items(joined).required().description('New actors that turned out to be actors that were there, the first 200'),
  unlisted: count.description('Of the rejected rows, those about people who asked not to be listed'),
  error: Joi.object({ code: Joi.string().valid('unreadable_file', 'storage_full', 'storage_failed', 'authority_lost', 'import_failed').required(), detail: Joi.string().required() }).allow(null).required(),
  created_at: Joi.string().isoDate().required(),
  started_at: time,
  finished_at: time,
  links: Joi.object({ self: Joi.string().uri().required(), rejects: Joi.string().uri().required() }).required(),
}).meta({ name: 'Import' });

const READABLE = FORMATS.filter((format) => format.reads).map(({ name }) => name);
const WRITABLE = FORMATS.filter((format) => format.writes).map(({ name }) => name);

export interface ImportQuery {
  format: string;
  source_url?: string;
  timezone?: string;
  join?: boolean;
  visibility: ImportRow['visibility'];
}

export const importQuery = Joi.object<ImportQuery, true>({
  format: Joi.string().valid(...READABLE).required().description('What the body is'),
  source_url: Joi.string().uri({ scheme: ['http', 'https'] }).max(2000).description('Where the file is published; the source of rows without one'),
  timezone: Joi.string().max(60).description('Of times without a zone, as America/Chicago'),
  join: Joi.boolean().description('Whether new actors join those that are surely the same; by default yes, but for the kit’s own formats'),
  visibility: Joi.string().valid('workspace', 'public').default('workspace').description('Public needs a reviewer'),
});

export interface ExportQuery extends Pick<EntityQuery, 'query' | 'state' | 'place' | 'entity_type' | 'issue_area' | 'freshness'> {
  format: string;
  visibility: ImportRow['visibility'];
  sort?: EntityQuery['sort'];
}

export const exportQuery = Joi.object<ExportQuery>({
  format: Joi.string().valid(...WRITABLE).default('ndjson'),
  ...searchFilters,
  visibility: Joi.string().valid('public', 'workspace').default('public').description('With workspace also the caller’s own'),
});

export function importRecordOf(row: ImportRow, url: (path: string) => string): ImportRecord {
  const report = reportOf(row.report);
  const phase = row.state === 'pending' ? 'waiting' : row.state === 'running' ? 'reading' : 'done';
  return {
    id: row.id,
    format: row.format,
    state: row.state,
    source_url: row.source_url,
    visibility: row.visibility,
    progress: { phase, done: row.bytes_done, total: row.bytes_total },
    counts: countsOf(row),
    faults: report.faults,
    notes: report.notes,
    joined: report.joined,
    unlisted: report.unlisted,
    error: row.error === null ? null : { code: row.error_code ?? 'unreadable_file', detail: row.error },
    created_at: row.created_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
    links: { self: url(`/api/imports/${row.id}`), rejects: url(`/api/imports/${row.id}/rejects`) },
  };
}
