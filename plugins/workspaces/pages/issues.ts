import type { Texts } from 'civic';
import type { DirectoryService } from 'civic/directory';

/** A domain with its issue areas, as forms offer them. */
export interface IssueGroup {
  name: string;
  hasChosen: boolean;
  issues: { slug: string; name: string; isChosen: boolean }[];
}

/** Returns the name of an issue area in the language of `t`. */
export function issueText(directory: DirectoryService, slug: string, t: Texts): string {
  return t.declared('directory', `issue_areas.${slug}.name`, directory.issueName(slug) ?? slug);
}

/** Returns all issue areas by domain, named in the language of `t`. */
export async function issueGroups(directory: DirectoryService, t: Texts, chosen: readonly unknown[]): Promise<IssueGroup[]> {
  return (await directory.taxonomy()).map(({ slug: domain, name, issue_areas }) => ({
    name: t.declared('directory', `domains.${domain}.name`, name),
    hasChosen: issue_areas.some(({ slug }) => chosen.includes(slug)),
    issues: issue_areas.map(({ slug }) => ({ slug, name: issueText(directory, slug, t), isChosen: chosen.includes(slug) })),
  }));
}
