import type { Command } from 'civic';
import type { HalfLives } from '../actors/freshness.ts';
import type { WriteContext } from '../ledger/routes.ts';
import { rebuildQueue } from '../rechecks/queue.ts';
import type { DemoStand } from './load.ts';
import type { DemoParts } from './parts.ts';
import { regionOf } from './region-of.ts';

/** The region is read when a command runs. */
export function demoCommands({ civic, ledger, places, taxonomy, halfLives }: WriteContext & { halfLives: HalfLives }, parts: DemoParts): Command[] {
  const stand = (): DemoStand => ({ db: civic.db, ledger, places, hasIssueArea: (slug) => taxonomy().issueAreaBySlug(slug) !== null, now: civic.clock.now() });

  /** What was made for an earlier region goes with it. */
  async function loadParts(isNew: boolean): Promise<Record<string, number>> {
    const added: Record<string, number> = {};
    const region = await regionOf(civic.db.read);
    for (const part of parts.all()) {
      if (isNew) await part.remove();
      added[part.name] = await part.load(region);
    }
    return added;
  }

  return [
    {
      name: 'demo load',
      summary: 'Fill the directory with an invented region to look at',
      examples: ['bin/civic demo load', 'bin/civic serve --demo'],
      needs: 'database',
      writes: true,
      async run({ terminal }) {
        const { loadDemo } = await import('./load.ts');
        const loaded = await loadDemo({ ...stand(), progress: (done, total) => { terminal.progress('Creating the demo data', done, total); } });
        const added = await loadParts(loaded !== null);
        // Its outdated sources are to be checked again at once, not when the job runs next.
        if (loaded) await rebuildQueue({ civic, halfLives }, { write: civic.db.write });
        terminal.print({ loaded: loaded !== null, ...loaded, ...added }, () => (loaded
          ? `The demo is loaded: ${count(loaded.actors)} actors in ${loaded.places} places, ${count(loaded.claims)} claims from ${count(loaded.sources)} sources${inWords(added)}, all invented.\nOpen ${civic.url('/')} and search for Harlow Ferry; bin/civic demo remove deletes the demo.`
          : 'The demo is already loaded. To give it today’s dates, run bin/civic demo remove and load it again.'));
      },
    },
    {
      name: 'demo remove',
      summary: 'Delete the invented region, and nothing else',
      examples: ['bin/civic demo remove'],
      needs: 'database',
      writes: true,
      existing: true,
      async run({ terminal }) {
        const { removeDemo } = await import('./load.ts');
        for (const part of parts.all()) await part.remove();
        const removed = await removeDemo(stand());
        if (removed > 0) await rebuildQueue({ civic, halfLives }, { write: civic.db.write });
        terminal.print({ removed }, () => (removed > 0 ? `The demo is deleted: ${count(removed)} records.` : 'There is no demo to delete.'));
      },
    },
  ];
}

function inWords(added: Record<string, number>): string {
  return Object.entries(added).map(([name, number]) => `, ${count(number)} ${name}`).join('');
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
