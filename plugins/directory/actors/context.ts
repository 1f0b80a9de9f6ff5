import type { Civic, ReadyAnswers } from 'civic';
import type { Places } from '../places/service.ts';
import type { Columns } from '../search/columns.ts';
import type { Taxonomy } from '../taxonomy/service.ts';
import type { Telling } from './wire.ts';

/** What the routes of the directory stand on. */
export interface DirectoryContext {
  civic: Pick<Civic, 'clock' | 'url'> & { readonly db: Civic['db'] };
  places: Places;
  taxonomy(): Taxonomy;
  /** Answers kept as bytes; tags are `actor:<id>`, `place:<number>`, `source:<key>` and `all`. */
  ready: ReadyAnswers;
  columns: Columns;
}

export function tellingOf({ civic }: DirectoryContext): Telling {
  return { now: civic.clock.now(), url: civic.url };
}
