import type { Civic } from 'civic';
import type { DemoPart, DirectoryService } from 'civic/directory';
import type { SignalKinds } from '../signals/kinds.ts';
import type { Publisher } from '../signals/publish.ts';
import { withinSentence } from '../signals/words.ts';
import { countDemoSignals, forgetDemoSignals, noteDemoSignals, someDemoSignals } from '../signals/published-store.ts';

export interface DemoContext {
  civic: Pick<Civic, 'clock'> & { readonly db: Civic['db'] };
  directory: DirectoryService;
  publisher: Publisher;
  kinds: SignalKinds;
}

// Small enough that others can write in between.
const CHUNK = 50;

/** The last twelve months of the invented region. Only types that are announced here are told. */
export function demoPart({ civic, directory, publisher, kinds }: DemoContext): DemoPart {
  return {
    name: 'signals',
    async load({ actors, merged }) {
      if (await countDemoSignals(civic.db.read) > 0) return 0;
      const { demoYear } = await import('./year.ts');
      const known = await directory.actors(civic.db.read, actors);
      const names = await directory.ownNames(civic.db.read, merged.map(({ id }) => id));
      const drafts = demoYear({
        now: civic.clock.now(),
        actors: known,
        merged: merged.flatMap(({ id, into }) => (names.has(id) ? [{ id, into, name: names.get(id)! }] : [])),
        hasIssue: (slug) => directory.issueName(slug) !== null,
        issueName: (slug) => withinSentence(directory.issueName(slug) ?? slug.replaceAll('_', ' ')),
      }).filter(({ type }) => kinds.isAnnounced(type));
      for (let from = 0; from < drafts.length; from += CHUNK) {
        await civic.db.write(async (tx) => noteDemoSignals(tx, await publisher.publish(tx, drafts.slice(from, from + CHUNK))));
      }
      return drafts.length;
    },
    async remove() {
      let removed = 0;
      for (let ids: string[]; (ids = await someDemoSignals(civic.db.read, CHUNK)).length > 0; removed += ids.length) {
        await civic.db.write(async (tx) => {
          await publisher.withdraw(tx, ids);
          await forgetDemoSignals(tx, ids);
        });
      }
      return removed;
    },
  };
}
