import type { DirectoryService } from 'civic/directory';
import type { Referred } from './values.ts';
import { translatedIssue } from './words.ts';

type Related = Awaited<ReturnType<DirectoryService['related']>>[number];

const MOST_REASONS = 3;

/** Returns a related actor, and what the two have in common. */
export function shownRelated({ entity, evidence }: Related, { t, issueName }: Referred) {
  const reasons = evidence.map(({ kind, detail, issue_area: slug }) => {
    if (kind === 'affiliation') return /^affiliated\b/.test(detail) ? t('related.affiliated') : detail;
    if (kind === 'issue_area') return t('related.issue_area', { name: translatedIssue(t, slug!, issueName(slug!) ?? slug!) });
    return t(`related.${kind}`, { name: detail });
  });
  return { name: entity.name, type: t(`types.${entity.type}`), href: `/actors/${entity.id}`, reasons: [...new Set(reasons)].slice(0, MOST_REASONS) };
}
