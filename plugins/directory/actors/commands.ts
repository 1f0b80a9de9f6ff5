import type { Command, Database } from 'civic';
import type { Ledger } from '../ledger/service.ts';
import { countLiveActors } from './read-store.ts';

export function rebuildCommand(db: () => Database, ledger: Ledger): Command {
  return {
    name: 'directory rebuild',
    summary: 'Works out again, from the claims, everything that is read',
    examples: ['bin/civic directory rebuild'],
    needs: 'database',
    writes: true,
    async run({ terminal }) {
      const total = await countLiveActors(db().read);
      await ledger.rebuild((done) => terminal.progress('Actors', done, total));
      terminal.print({ actors: total }, () => `Worked out ${total.toLocaleString('en-US')} actors again.`);
    },
  };
}
