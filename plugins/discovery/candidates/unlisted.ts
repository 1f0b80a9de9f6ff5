import type { JobKind } from 'civic';
import type { Discovery } from '../context.ts';
import { atPlace } from './place.ts';
import { deleteCandidates, peopleAfter, type CandidateRow } from './store.ts';

const AT_ONCE = 200;

/** Deletes candidates who asked not to be listed after they were found. New findings about them are never stored. */
export function unlistedJob({ civic, directory }: Discovery): JobKind {
  return {
    name: 'discovery.unlisted',
    every_seconds: 3600,
    async run({ write, signal }) {
      for (let after = 0; !signal.aborted;) {
        const people = await peopleAfter(civic.db.read, after, AT_ONCE);
        if (people.length === 0) return;
        const areUnlisted = await directory.areUnlisted(civic.db.read, people.map(draftOf));
        const keys = people.filter((_, at) => areUnlisted[at]).map(({ key }) => key);
        if (keys.length > 0) await write((tx) => deleteCandidates(tx, keys));
        after = Number(people.at(-1)!.key);
      }
    },
  };
}

function draftOf({ claims, sources, place_key }: Pick<CandidateRow, 'claims' | 'sources'> & { place_key: string | null }) {
  return atPlace({ type: 'person' as const, claims: JSON.parse(claims), sources: JSON.parse(sources) }, place_key);
}
