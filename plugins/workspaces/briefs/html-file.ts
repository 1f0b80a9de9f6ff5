import { escapeMarkup as text, type Texts } from 'civic';
import type { BriefDocument, DocumentEntity, DocumentPart, DocumentSource } from './document.ts';

const STYLE = [
  'body{font:16px/1.5 Georgia,serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#111}',
  'h1,h2,h3{line-height:1.2;font-family:sans-serif}',
  '.private{border-left:4px solid #999;padding-left:1rem}',
  'footer,.quiet{color:#555;font-size:.9em}',
  'a{color:inherit;overflow-wrap:anywhere}',
  '@media print{body{margin:0;max-width:none}}',
].join('');

/** Returns a document of its own, which prints without this instance. */
export function htmlFile({ brief, workspaceName, exported_at, places, issues, summary, publicPart, privatePart, gaps }: BriefDocument, t: Texts): string {
  const confidence = text(t('briefs.confidence', { share: brief.confidence }));
  return `<!DOCTYPE html>
<html lang="${t.language}">${headOf(brief.title)}<body>
<h1>${text(brief.title)}</h1><p class="quiet">${text([...places, ...issues].join(' · '))}</p>
<section class="private"><h2>${text(t('briefs.note'))}</h2>${summary}</section>
${partOf(t('briefs.public_records'), 'public', publicPart, t)}${partOf(t('briefs.private_records'), 'private', privatePart, t)}
<section class="private"><h2>${text(t('briefs.assessment'))}</h2><p>${confidence}</p><ul>${gaps.map((gap) => `<li>${text(gap)}</li>`).join('')}</ul></section>
<footer><p>${text(t('briefs.file_head', { workspace: workspaceName, at: exported_at }))}</p></footer></body></html>
`;
}

function headOf(title: string): string {
  const metas = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">';
  return `<head>${metas}<title>${text(title)}</title><style>${STYLE}</style></head>`;
}

function partOf(heading: string, className: string, { entities, sources, isEmpty }: DocumentPart, t: Texts): string {
  if (isEmpty) return '';
  const entityList = entities.length > 0 ? `<h3>${text(t('briefs.entities'))}</h3><ul>${entities.map(entityItem).join('')}</ul>` : '';
  const sourceList = sources.length > 0 ? `<h3>${text(t('briefs.sources'))}</h3><ol>${sources.map((source) => sourceItem(source, t)).join('')}</ol>` : '';
  return `<section class="${className}"><h2>${text(heading)}</h2>${entityList}${sourceList}</section>`;
}

const linkTo = (url: string | null, name: string): string => (url === null ? text(name) : `<a href="${text(url)}">${text(name)}</a>`);
const quietLine = (words: string): string => `<br><span class="quiet">${text(words)}</span>`;

function entityItem({ name, url, places, description, cites }: DocumentEntity): string {
  const numbers = cites.map((number) => `<sup><a href="#source-${number}">[${number}]</a></sup>`).join('');
  return `<li>${linkTo(url, name)}${places ? `, ${text(places)}` : ''} ${numbers}${description ? quietLine(description) : ''}</li>`;
}

function sourceItem({ number, name, url, publication, published_at, retrieved_at }: DocumentSource, t: Texts): string {
  const details = [publication, published_at?.slice(0, 10)].filter(Boolean).map((part) => `, ${text(part!)}`).join('');
  const address = url === null ? '' : quietLine(url);
  return `<li id="source-${number}" value="${number}">${linkTo(url, name)}${details}${address}${quietLine(t('briefs.read_on', { at: retrieved_at }))}</li>`;
}
