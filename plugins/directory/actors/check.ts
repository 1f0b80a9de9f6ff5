import type { Check, Clock, Database, Reader } from 'civic';
import { tagged } from './derive.ts';
import { cellsOf, placesOf } from './project.ts';
import { allCounts, countActors, countLiveActors, countSearchable, misplacedActors, standingsAfter } from './read-store.ts';

const BATCH = 5000;

/** Compares the read model with the ledger. */
export function countsCheck(db: () => Database, clock: Clock): Check {
  return {
    name: 'directory',
    run: () => db().snapshot(async (reader) => {
      const recounted = new Map<string, number>();
      for (let after = 0, rows; (rows = await standingsAfter(reader, after, BATCH)).length > 0; after = rows.at(-1)!.key) {
        for (const row of rows) {
          if (row.visibility !== 'public') continue;
          for (const place of placesOf(row)) for (const cell of cellsOf(row, place)) count(recounted, `${place} ${cell.issue_area} ${cell.type}`);
        }
      }
      const kept = new Map((await allCounts(reader)).map(({ place, issue_area, type, actors }) => [`${place} ${issue_area} ${type}`, actors]));
      const wrong = [...new Set([...recounted.keys(), ...kept.keys()])].filter((cell) => (recounted.get(cell) ?? 0) !== (kept.get(cell) ?? 0)).length;
      const [live, stored, searchable] = [await countLiveActors(reader), await countActors(reader), await countSearchable(reader)];
      const misplaced = (await misplacedActors(reader, clock.iso())).length;
      const faults = [
        ...(misplaced > 0 ? [`${misplaced} actors are not listed in the places of their claims`] : []),
        ...(wrong > 0 ? [`${wrong} counters are wrong`] : []),
        ...(stored !== live ? [`${live} actors are in the ledger, ${stored} can be read`] : []),
        ...(searchable !== stored ? [`${searchable} of ${stored} actors can be searched`] : []),
      ];
      if (faults.length > 0) return { status: 'failed', detail: faults.join('; '), fix: 'bin/civic directory rebuild' };
      return { status: 'ok', detail: `${stored.toLocaleString('en-US')} actors, ${kept.size.toLocaleString('en-US')} counters recounted` };
    }),
  };
}

/** How many actors have an issue area, private ones too, by its slug. */
export async function issueAreasInUse(reader: Reader): Promise<Map<string, number>> {
  const used = new Map<string, number>();
  for (let after = 0, rows; (rows = await standingsAfter(reader, after, BATCH)).length > 0; after = rows.at(-1)!.key) {
    for (const { tags } of rows) for (const slug of tagged(tags, 'i')) count(used, slug);
  }
  return used;
}

function count(counts: Map<string, number>, cell: string): void {
  counts.set(cell, (counts.get(cell) ?? 0) + 1);
}
