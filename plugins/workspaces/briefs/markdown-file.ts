import type { Texts } from 'civic';
import { plainMarkdown } from '../records/markdown.ts';
import type { BriefDocument, DocumentEntity, DocumentPart, DocumentSource } from './document.ts';

/** Returns a brief as Markdown. */
export function markdownFile({ brief, workspaceName, exported_at, places, issues, publicPart, privatePart, gaps }: BriefDocument, t: Texts): string {
  const blocks = [
    `# ${plainMarkdown(brief.title)}`,
    plainMarkdown(t('briefs.file_head', { workspace: workspaceName, at: exported_at })),
    listOf([...places, ...issues]),
    `## ${t('briefs.note')}`,
    brief.summary_md,
    ...partOf(t('briefs.public_records'), publicPart, t),
    ...partOf(t('briefs.private_records'), privatePart, t),
    `## ${t('briefs.assessment')}`,
    t('briefs.confidence', { share: brief.confidence }),
    listOf(gaps),
  ];
  return `${blocks.filter(Boolean).join('\n\n')}\n`;
}

const listOf = (texts: string[]): string => texts.map((text) => `- ${plainMarkdown(text)}`).join('\n');

function partOf(heading: string, { entities, sources, isEmpty }: DocumentPart, t: Texts): string[] {
  if (isEmpty) return [];
  return [
    `## ${heading}`,
    ...(entities.length > 0 ? [`### ${t('briefs.entities')}`, entities.map(entityLine).join('\n')] : []),
    ...(sources.length > 0 ? [`### ${t('briefs.sources')}`, sources.map(sourceLine).join('\n')] : []),
  ];
}

function entityLine({ name, places, url, cites }: DocumentEntity): string {
  return `- [${plainMarkdown(name)}](<${url}>)${places ? `, ${plainMarkdown(places)}` : ''}${cites.length > 0 ? ` (${cites.join(', ')})` : ''}`;
}

function sourceLine({ number, name, url, publication, published_at }: DocumentSource): string {
  const link = url === null ? plainMarkdown(name) : `[${plainMarkdown(name)}](<${url.replaceAll(/[<>]/g, encodeURIComponent)}>)`;
  const details = [publication, published_at?.slice(0, 10)].filter(Boolean).map((text) => `, ${plainMarkdown(text!)}`);
  return `${number}. ${link}${details.join('')}`;
}
