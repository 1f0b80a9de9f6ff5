import { actorsByKey } from '../actors/read-store.ts';
import { listActors } from '../search/list.ts';
import type { Directory } from '../service.ts';
import type { Actor } from '../types.ts';

/** Values of one public actor, for examples of requests. */
export interface ExampleEntry {
  id: string;
  slug: string;
  name: string;
  /** Null when the actor names none. */
  place_key: string | null;
  issue_area: string | null;
}

export interface ExampleReads {
  /** Returns values of the public actor that has most sources, for examples of requests; null when there is no actor. */
  exampleEntry(): Promise<ExampleEntry | null>;
}

export function offeredExample({ civic, columns }: Directory): ExampleReads {
  return {
    async exampleEntry() {
      const { keys } = await listActors(civic.db.read, { query: null, filters: [], workspace: null, sort: 'source_count', limit: 1, after: null }, columns);
      const [row] = await actorsByKey(civic.db.read, keys.slice(0, 1));
      if (!row) return null;
      const { id, slug, name, places, issue_areas } = JSON.parse(row.body) as Actor;
      return { id, slug, name, place_key: places[0]?.place_key ?? null, issue_area: issue_areas[0] ?? null };
    },
  };
}
