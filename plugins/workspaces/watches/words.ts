import { singleLine, type Texts } from 'civic';
import type { Watch } from './types.ts';

/** Returns a target as a phrase: "the place Gladstone, Missouri". */
export function targetWords({ type, name }: Watch['target'], t: Texts): string {
  return name === null ? t('watches.gone') : t(`watch_targets.${type}`, { name: singleLine(name, 300) });
}
