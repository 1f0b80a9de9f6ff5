import { escapeMarkup, type Texts } from 'civic';
import { csvRow } from '../records/csv.ts';
import { plainMarkdown } from '../records/markdown.ts';
import type { BriefDocument, DocumentEntity, DocumentPart, DocumentSource } from './document.ts';
import type { Brief } from './schemas.ts';

export const BRIEF_FORMATS = { json: 'application/json', csv: 'text/csv', md: 'text/markdown', html: 'text/html' } as const;
export type BriefFormat = keyof typeof BRIEF_FORMATS;

/** Returns a brief as a file. */
export function briefFile(document: BriefDocument, format: BriefFormat, t: Texts): string {
  return { json: jsonFile, csv: csvFile, md: markdownFile, html: htmlFile }[format](document, t);
}

/** Creates the brief again when its member `brief` is sent to the route that creates briefs. */
function jsonFile({ brief, workspaceName, exported_at, publicPart, privatePart }: BriefDocument): string {
  const { brief: kept, entities, sources } = importable(brief);
  return `${JSON.stringify({
    format: 'civic brief export', version: 1, exported_at, workspace: workspaceName,
    import: 'POST the member `brief` to /api/workspaces/{id}/briefs. Its id, times, author, confidence and gaps are assigned again. What `not_imported` lists was no longer there and is left out. Records of another instance have other ids.',
    not_imported: { entity_ids: entities, source_ids: sources },
    brief: kept,
    public_records: recordsOf(publicPart), private_records: recordsOf(privatePart),
  }, null, 2)}\n`;
}

/** Returns a brief without the ids that are no longer there, which an import would refuse, and these ids. */
export function importable(brief: Brief): { brief: Brief; entities: string[]; sources: string[] } {
  const unavailable = (type: string) => brief.gaps.filter((gap) => gap.type === type).map(({ entity_id, source_id }) => entity_id ?? source_id!);
  const [entities, sources] = [unavailable('unavailable_entity'), unavailable('unavailable_source')];
  return { brief: { ...brief, entity_ids: brief.entity_ids.filter((id) => !entities.includes(id)), source_ids: brief.source_ids.filter((id) => !sources.includes(id)) }, entities, sources };
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
    ...([['public', publicPart], ['private', privatePart]] as const).flatMap(([visibility, { entities, sources }]) => [
      ...entities.map(({ id, name, type, places, url, cites, description }) => ({ visibility, record: 'entity', id, name, type, places, url, cites: cites.join(' '), text: description })),
      ...sources.map(({ number, id, name, publication, published_at, url }) => ({ visibility, record: 'source', number, id, name, publication, published_at, url })),
    ]),
  ];
  return csvRow([...COLUMNS]) + rows.map((row) => csvRow(COLUMNS.map((column) => row[column] ?? null))).join('');
}

function markdownFile({ brief, workspaceName, exported_at, places, issues, publicPart, privatePart, gaps }: BriefDocument, t: Texts): string {
  const citation = (numbers: number[]) => (numbers.length > 0 ? ` (${numbers.join(', ')})` : '');
  const entity = ({ name, places: where, url, cites }: DocumentEntity) => `- [${plainMarkdown(name)}](<${url}>)${where ? `, ${plainMarkdown(where)}` : ''}${citation(cites)}`;
  const source = ({ number, name, url, publication, published_at }: DocumentSource) =>
    `${number}. ${url === null ? plainMarkdown(name) : `[${plainMarkdown(name)}](<${url.replaceAll(/[<>]/g, encodeURIComponent)}>)`}${[publication, published_at?.slice(0, 10)].filter(Boolean).map((text) => `, ${plainMarkdown(text!)}`).join('')}`;
  const part = (heading: string, { entities, sources, isEmpty }: DocumentPart) => (isEmpty ? [] : [
    `## ${heading}`, ...(entities.length > 0 ? [`### ${t('briefs.entities')}`, entities.map(entity).join('\n')] : []), ...(sources.length > 0 ? [`### ${t('briefs.sources')}`, sources.map(source).join('\n')] : []),
  ]);
  return `${[
    `# ${plainMarkdown(brief.title)}`, plainMarkdown(t('briefs.file_head', { workspace: workspaceName, at: exported_at })), [...places, ...issues].map((name) => `- ${plainMarkdown(name)}`).join('\n'),
    `## ${t('briefs.note')}`, brief.summary_md, ...part(t('briefs.public_records'), publicPart), ...part(t('briefs.private_records'), privatePart),
    `## ${t('briefs.assessment')}`, t('briefs.confidence', { share: brief.confidence }), gaps.map((gap) => `- ${plainMarkdown(gap)}`).join('\n'),
  ].filter(Boolean).join('\n\n')}\n`;
}

const STYLE = 'body{font:16px/1.5 Georgia,serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#111}h1,h2,h3{line-height:1.2;font-family:sans-serif}.private{border-left:4px solid #999;padding-left:1rem}footer,.quiet{color:#555;font-size:.9em}a{color:inherit;overflow-wrap:anywhere}@media print{body{margin:0;max-width:none}}';

/** Returns a document of its own, which prints without this instance. */
function htmlFile(document: BriefDocument, t: Texts): string {
  const { brief, workspaceName, exported_at, places, issues, summary, publicPart, privatePart, gaps } = document;
  const text = escapeMarkup;
  const link = (url: string | null, name: string) => (url === null ? text(name) : `<a href="${text(url)}">${text(name)}</a>`);
  const cites = (numbers: number[]) => numbers.map((number) => `<sup><a href="#source-${number}">[${number}]</a></sup>`).join('');
  const entity = ({ name, url, places: where, description, cites: numbers }: DocumentEntity) => `<li>${link(url, name)}${where ? `, ${text(where)}` : ''} ${cites(numbers)}${description ? `<br><span class="quiet">${text(description)}</span>` : ''}</li>`;
  const source = ({ number, name, url, publication, published_at, retrieved_at }: DocumentSource) =>
    `<li id="source-${number}" value="${number}">${link(url, name)}${[publication, published_at?.slice(0, 10)].filter(Boolean).map((part) => `, ${text(part!)}`).join('')}${url === null ? '' : `<br><span class="quiet">${text(url)}</span>`}<br><span class="quiet">${text(t('briefs.read_on', { at: retrieved_at }))}</span></li>`;
  const part = (heading: string, name: string, { entities, sources, isEmpty }: DocumentPart) => (isEmpty ? '' : `<section class="${name}"><h2>${text(heading)}</h2>${
    entities.length > 0 ? `<h3>${text(t('briefs.entities'))}</h3><ul>${entities.map(entity).join('')}</ul>` : ''}${sources.length > 0 ? `<h3>${text(t('briefs.sources'))}</h3><ol>${sources.map(source).join('')}</ol>` : ''}</section>`);
  return `<!DOCTYPE html>\n<html lang="${t.language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${text(brief.title)}</title><style>${STYLE}</style></head><body>
<h1>${text(brief.title)}</h1><p class="quiet">${text([...places, ...issues].join(' · '))}</p>
<section class="private"><h2>${text(t('briefs.note'))}</h2>${summary}</section>
${part(t('briefs.public_records'), 'public', publicPart)}${part(t('briefs.private_records'), 'private', privatePart)}
<section class="private"><h2>${text(t('briefs.assessment'))}</h2><p>${text(t('briefs.confidence', { share: brief.confidence }))}</p><ul>${gaps.map((gap) => `<li>${text(gap)}</li>`).join('')}</ul></section>
<footer><p>${text(t('briefs.file_head', { workspace: workspaceName, at: exported_at }))}</p></footer></body></html>\n`;
}
