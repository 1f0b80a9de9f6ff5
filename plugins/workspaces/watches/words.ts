import { singleLine, type Texts } from 'civic';
import { NAME_SEPARATOR } from './names.ts';
import type { Watch, WatchQuery } from './types.ts';

/** Returns the name of a target in the language of `t`; null when the target is no longer there. */
export function targetName(target: Watch['target'], t: Texts): string | null {
  if (target.name === null) return null;
  if (target.type === 'query') return singleLine(queryName(target.name, target.query, t), 300);
  return singleLine(target.type === 'issue_area' ? issueName(target.id, target.name, t) : target.name, 300);
}

/** Returns the name of an issue area or of a domain. */
function issueName(slug: string, english: string, t: Texts): string {
  return t.declared('directory', `issue_areas.${slug}.name`, t.declared('directory', `domains.${slug}.name`, english));
}

/** Names the issues in the language of `t`: they are the part after the places. */
function queryName(name: string, { places, issues }: WatchQuery, t: Texts): string {
  if (t.language === 'en' || issues.length === 0) return name;
  const parts = name.split(NAME_SEPARATOR);
  parts[places.length > 0 ? 1 : 0] = issues.map((slug) => issueName(slug, slug, t)).join(', ');
  return parts.join(NAME_SEPARATOR);
}

/** Returns a target as a phrase: "the place Gladstone, Missouri". */
export function targetWords(target: Watch['target'], t: Texts): string {
  const name = targetName(target, t);
  return name === null ? t('watches.gone') : t(`watch_targets.${target.type}`, { name });
}
