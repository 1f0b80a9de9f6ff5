import type { Command } from 'civic';
import type { Directory } from '../service.ts';
import { countActors } from './read-store.ts';

export function rebuildCommand({ civic, rebuild }: Pick<Directory, 'civic' | 'rebuild'>): Command {
  return {
    name: 'directory rebuild',
    summary: 'Rebuild the read model from the claims and the added places',
    examples: ['bin/civic directory rebuild'],
    needs: 'database',
    writes: true,
    existing: true,
    async run({ terminal }) {
      await rebuild(terminal.progress);
      const actors = await countActors(civic.db.read);
      terminal.print({ actors }, () => `Rebuilt ${actors.toLocaleString('en-US')} actors.`);
    },
  };
}
