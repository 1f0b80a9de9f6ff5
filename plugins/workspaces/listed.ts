import { quoteText } from 'civic';
import type { Brief } from './briefs/schemas.ts';
import type { List } from './lists/schemas.ts';
import type { Note } from './notes/notes.ts';
import type { Review } from './reviews/reviews.ts';
import type { CoverageTarget } from './targets/targets.ts';
import type { ListedKind } from './tools.ts';
import type { Watch } from './watches/types.ts';
import type { Everything } from './whole/export.ts';

/** Returns the kinds of records that the tool `list_workspace_items` offers. */
export function listedKinds({ lists, notes, targets, reviews, briefs, watches }: Everything): Record<string, ListedKind> {
  return {
    lists: { records: lists, line: ({ id, name, item_count }: List) => `- ${quoteText(name)}, entries: ${item_count} [list ${id}]` },
    notes: { records: notes, line: ({ target, text }: Note) => `- ${target ? `${quoteText(target.name ?? target.id)}: ` : ''}${quoteText(text)}` },
    coverage_targets: { records: targets, line: ({ place, state, wanted, progress }: CoverageTarget) => `- ${quoteText(place.name ?? place.place_key)}: ${state}, ${wanted} wanted, found ${progress.map(({ issue_area, found }) => `${issue_area} ${found}`).join(', ')}` },
    reviews: { records: reviews, line: ({ target, entity, status, note }: Review) => `- ${quoteText(entity.name ?? target.id)}: ${status}${note === null ? '' : `, ${quoteText(note)}`}` },
    briefs: { records: briefs, line: ({ id, title, confidence, gaps }: Brief) => `- ${quoteText(title)}, confidence ${confidence}, ${gaps.length} gaps [brief ${id}]` },
    ...(watches && { watches: { records: watches, line: ({ id, target, delivery }: Watch) => `- ${target.type}${target.name === null ? '' : ` ${quoteText(target.name)}`}, ${delivery} [watch ${id}]` } }),
  };
}
