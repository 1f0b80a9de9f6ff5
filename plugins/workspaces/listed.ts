import { quoteText } from 'civic';
import type { Lists } from './lists/lists.ts';
import type { List } from './lists/schemas.ts';
import type { Note, Notes } from './notes/notes.ts';
import type { Review, Reviews } from './reviews/reviews.ts';
import type { CoverageTarget, Targets } from './targets/targets.ts';
import type { ListedKind } from './tools.ts';

/** Returns the kinds of records that the tool `list_workspace_items` offers. */
export function listedKinds(lists: Lists, { notes, targets, reviews }: { notes: Notes; targets: Targets; reviews: Reviews }): Record<string, ListedKind> {
  return {
    lists: { records: lists, line: ({ id, name, item_count }: List) => `- ${quoteText(name)}, ${item_count} entries [list ${id}]` },
    notes: { records: notes, line: ({ target, text }: Note) => `- ${target ? `${quoteText(target.name ?? target.id)}: ` : ''}${quoteText(text)}` },
    coverage_targets: { records: targets, line: ({ place, state, wanted, progress }: CoverageTarget) => `- ${quoteText(place.name ?? place.place_key)}: ${state}, ${wanted} wanted, found ${progress.map(({ issue_area, found }) => `${issue_area} ${found}`).join(', ')}` },
    reviews: { records: reviews, line: ({ target, entity, status, note }: Review) => `- ${quoteText(entity.name ?? target.id)}: ${status}${note === null ? '' : `, ${quoteText(note)}`}` },
  };
}
