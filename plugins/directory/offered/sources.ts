import type { Request } from '@hapi/hapi';
import { cursorAfter, isId, pageOf, problem, singleLine, type Reader } from 'civic';
import { tellingOf } from '../actors/context.ts';
import { actorsByKey, type CitedSource } from '../actors/read-store.ts';
import { sourceRecords } from '../actors/sources.ts';
import { sourceOf } from '../actors/wire.ts';
import { groupBy } from '../ledger/group.ts';
import type { SourceRow } from '../ledger/rows.ts';
import { recordsByKey, sourceById } from '../ledger/store.ts';
import type { Directory } from '../service.ts';
import type { Actor, Source } from '../types.ts';
import { claimsFromSource, countPublicRecordsCiting, publicRecordsCiting } from './source-store.ts';
import { statedValues, type StatedValue } from './statements.ts';

/** Reads for the pages of sources. All of them return public data only. */
export interface SourceReads {
  /** Returns a public source with the page of actors that `cursor` and `limit` of a request ask for. Throws `unknown_source` when no public actor cites it. */
  sourcePage(request: Request, id: string): Promise<SourcePage>;
  /** Returns a public source with the ids of some of the actors that cite it; null when no public actor does. */
  source(reader: Reader, id: string): Promise<Source | null>;
}

export interface SourcePage {
  /** Without the ids of actors. */
  source: Source;
  /** In the order in which they were added. */
  data: { actor: Pick<Actor, 'id' | 'name' | 'type'>; values: StatedValue[] }[];
  total: number;
  /** Whether there are more than `total`, which were not counted. */
  isMore: boolean;
  next_cursor: string | null;
}

/** More records are not counted: it would take longer than all else on the page. */
const MOST_COUNTED = 1000;

export function offeredSources(directory: Directory): SourceReads {
  const { civic, halfLives, policy } = directory;
  const cited = (row: SourceRow): CitedSource => ({ key: row.key, hidden: policy.hiddenFrom(row) });
  return {
    async source(reader, id) {
      const row = isId(id) ? await sourceById(reader, id.toLowerCase()) : undefined;
      const [source] = row && row.workspace_id === null ? await sourceRecords(reader, [row], tellingOf(directory)) : [];
      return source && source.entity_ids.length > 0 ? source : null;
    },
    sourcePage: (request, id) => civic.db.snapshot(async (tx) => {
      const page = pageOf(request, ['integer']);
      const now = civic.clock.now();
      const row = isId(id) ? await sourceById(tx, id.toLowerCase()) : undefined;
      const total = row && row.workspace_id === null ? await countPublicRecordsCiting(tx, cited(row), MOST_COUNTED + 1) : 0;
      if (!row || total === 0) throw problem('unknown_source', { detail: `No source has the id ${singleLine(id, 100)}.` });
      const keys = await publicRecordsCiting(tx, cited(row), page.after ? Number(page.after[0]) : 0, page.limit + 1);
      const shown = keys.slice(0, page.limit);
      const claims = groupBy(await claimsFromSource(tx, cited(row), shown), ({ actor_key }) => actor_key);
      // All claims that a record takes from the source may be hidden for a time.
      const actorKeys = [...new Set((await recordsByKey(tx, shown)).map(({ actor_key }) => actor_key))];
      const actors = (await actorsByKey(tx, actorKeys)).filter(({ visibility }) => visibility === 'public');
      return {
        source: sourceOf(row, [], now),
        data: actors.map((actor) => {
          const { id: actorId, name, type } = JSON.parse(actor.body) as Actor;
          return { actor: { id: actorId, name, type }, values: statedValues(claims.get(actor.key) ?? [], [row], { halfLives, now }) };
        }),
        total: Math.min(total, MOST_COUNTED),
        isMore: total > MOST_COUNTED,
        next_cursor: keys.length > page.limit ? cursorAfter(request, page, [shown.at(-1)!]) : null,
      };
    }),
  };
}
