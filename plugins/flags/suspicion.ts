import { tokens } from 'civic';
import { createHash } from 'node:crypto';

export const SUSPICIONS = ['hidden_field', 'links', 'markup', 'repeated'] as const;
export type Suspicion = (typeof SUSPICIONS)[number];

const LINK = /\b(?:https?:\/\/|www\.)\S/gi;
const MARKUP = /<\s*a\s|\[url[=\]]|\]\(https?:/i;

/** Returns the hash of a reason without regard to case, accents and punctuation; of a reason without letters and digits all of it counts. */
export function hashOfReason(reason: string): string {
  return createHash('sha256').update(tokens(reason).join(' ') || reason).digest('hex');
}

/** Returns why a report may be spam; null when nothing indicates it. `repeats` is the number of other targets with the same text within a day. */
export function suspicionOf(reason: string, repeats: number, { max_links, max_repeats }: { max_links: number; max_repeats: number }): Suspicion | null {
  if (MARKUP.test(reason)) return 'markup';
  if ((reason.match(LINK)?.length ?? 0) > max_links) return 'links';
  return repeats >= max_repeats ? 'repeated' : null;
}
