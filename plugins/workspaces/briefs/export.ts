import type { Texts } from 'civic';
import { csvRow } from '../records/csv.ts';
import type { BriefDocument, DocumentEntity, DocumentPart, DocumentSource } from './document.ts';
import { htmlFile } from './html-file.ts';
import { markdownFile } from './markdown-file.ts';
import type { Brief } from './schemas.ts';

export const BRIEF_FORMATS = { json: 'application/json', csv: 'text/csv', md: 'text/markdown', html: 'text/html' } as const;
export type BriefFormat = keyof typeof BRIEF_FORMATS;

/** Returns a brief as a file. */
export function briefFile(document: BriefDocument, format: BriefFormat, t: Texts): string {
  return { json: jsonFile, csv: csvFile, md: markdownFile, html: htmlFile }[format](document, t);
}

const IMPORT_HINT = 'POST the member `brief` to /api/workspaces/{id}/briefs. Its id, times, author, confidence and gaps are assigned again. '
  + 'What `not_imported` lists was no longer there and is left out. Records of another instance have other ids.';

/** Creates the brief again when its member `brief` is sent to the route that creates briefs. */
function jsonFile({ brief, workspaceName, exported_at, publicPart, privatePart }: BriefDocument): string {
  const { brief: kept, entities, sources } = importable(brief);
  return `${JSON.stringify({
    format: 'civic brief export', version: 1, exported_at, workspace: workspaceName,
    import: IMPORT_HINT,
    not_imported: { entity_ids: entities, source_ids: sources },
    brief: kept,
    public_records: recordsOf(publicPart), private_records: recordsOf(privatePart),
  }, null, 2)}\n`;
}

/** Returns a brief without the ids that are no longer there, which an import would refuse, and these ids. */
export function importable(brief: Brief): { brief: Brief; entities: string[]; sources: string[] } {
  const unavailable = (type: string) => brief.gaps.filter((gap) => gap.type === type).map(({ entity_id, source_id }) => entity_id ?? source_id!);
  const [entities, sources] = [unavailable('unavailable_entity'), unavailable('unavailable_source')];
  const entity_ids = brief.entity_ids.filter((id) => !entities.includes(id));
  const source_ids = brief.source_ids.filter((id) => !sources.includes(id));
  return { brief: { ...brief, entity_ids, source_ids }, entities, sources };
}

function recordsOf({ entities, sources }: DocumentPart): Omit<DocumentPart, 'isEmpty'> {
  return { entities, sources };
}

const COLUMNS = ['visibility', 'record', 'number', 'id', 'name', 'type', 'places', 'publication', 'published_at', 'url', 'cites', 'text'] as const;
type Cells = Partial<Record<(typeof COLUMNS)[number], unknown>>;

function csvFile({ brief, workspaceName, exported_at, publicPart, privatePart, gaps }: BriefDocument, t: Texts): string {
  const rows: Cells[] = [
    { record: 'notice', text: t('briefs.file_head', { workspace: workspaceName, at: exported_at }) },
    { visibility: 'private', record: 'brief', id: brief.id, name: brief.title, text: brief.summary_md },
    { visibility: 'private', record: 'confidence', text: String(brief.confidence) },
    ...gaps.map((gap) => ({ visibility: 'private', record: 'gap', text: gap })),
    ...cellsOf('public', publicPart),
    ...cellsOf('private', privatePart),
  ];
  return csvRow([...COLUMNS]) + rows.map((row) => csvRow(COLUMNS.map((column) => row[column] ?? null))).join('');
}

function cellsOf(visibility: string, { entities, sources }: DocumentPart): Cells[] {
  const entity = ({ id, name, type, places, url, cites, description }: DocumentEntity): Cells =>
    ({ visibility, record: 'entity', id, name, type, places, url, cites: cites.join(' '), text: description });
  const source = ({ number, id, name, publication, published_at, url }: DocumentSource): Cells =>
    ({ visibility, record: 'source', number, id, name, publication, published_at, url });
  return [...entities.map(entity), ...sources.map(source)];
}
