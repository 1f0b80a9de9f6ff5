import type { Civic, ReadyAnswers } from 'civic';
import type { MeetingsSlot } from '../feeds/meetings.ts';
import type { Places } from '../places/service.ts';
import type { FieldPolicy } from '../policy/fields.ts';
import type { Columns } from '../search/columns.ts';
import type { Taxonomy } from '../taxonomy/service.ts';
import type { RunSlot } from './runs.ts';
import type { WatchedSlot } from './watched.ts';
import type { Telling } from './wire.ts';

/** What the routes of the directory stand on. */
export interface DirectoryContext {
  civic: Pick<Civic, 'clock' | 'url'> & { readonly db: Civic['db'] };
  places: Places;
  taxonomy(): Taxonomy;
  /** Answers kept as bytes; tags are `actor:<id>`, `place:<number>`, `source:<key>`, `meetings` and `all`. */
  ready: ReadyAnswers;
  columns: Columns;
  policy: FieldPolicy;
  watched: WatchedSlot;
  runs: RunSlot;
  meetings: MeetingsSlot;
  /** What rows of the read model that were derived now have as `model`. */
  rowModel: number;
}

export function tellingOf({ civic, policy, rowModel: model }: DirectoryContext): Telling {
  return { now: civic.clock.now(), url: civic.url, policy, model };
}
