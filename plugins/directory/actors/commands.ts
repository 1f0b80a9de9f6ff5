import type { Command } from 'civic';
import type { Ledger } from '../ledger/service.ts';

export function rebuildCommand(ledger: Ledger, count: () => Promise<number>): Command {
  return {
    name: 'directory rebuild',
    summary: 'Works out again, from the claims, everything that is read',
    examples: ['bin/civic directory rebuild'],
    needs: 'database',
    writes: true,
    async run({ terminal }) {
      const total = await count();
      await ledger.rebuild((done) => terminal.progress('Actors', done, total));
      terminal.print({ actors: total }, () => `Worked out ${total.toLocaleString('en-US')} actors again.`);
    },
  };
}
