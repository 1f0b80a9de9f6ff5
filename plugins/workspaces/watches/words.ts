import { singleLine, type Texts } from 'civic';
import type { Watch } from './types.ts';

/** Returns the name of a target in the language of `t`; null when the target is no longer there. */
export function targetName(target: Watch['target'], t: Texts): string | null {
  if (target.name === null) return null;
  return singleLine(target.type === 'issue_area' ? t.declared('directory', `issue_areas.${target.id}.name`, target.name) : target.name, 300);
}

/** Returns a target as a phrase: "the place Gladstone, Missouri". */
export function targetWords(target: Watch['target'], t: Texts): string {
  const name = targetName(target, t);
  return name === null ? t('watches.gone') : t(`watch_targets.${target.type}`, { name });
}
