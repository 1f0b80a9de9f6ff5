import { Failure, type Command, type CommandCall, type Civic } from 'civic';
import { resolve } from 'node:path';
import type { Ledger } from '../ledger/service.ts';
import { importDivisions, OPERATOR, type ImportReport } from './import.ts';
import { addedPlaces, deleteOwnPlace, markChanged } from './store.ts';

export interface PlaceCommands {
  civic: Pick<Civic, 'clock'> & { readonly db: Civic['db'] };
  ledger: Ledger;
}

const SHOWN = 20;

/** How an operator adds places to the gazetteer. */
export function placeCommands(context: PlaceCommands): Command[] {
  return [
    {
      name: 'places import',
      summary: 'Add places from a CSV file of Open Civic Data divisions',
      arguments: '<file>',
      options: [{ name: 'dry-run', summary: 'Report what would happen to each row, and change nothing' }],
      examples: ['bin/civic places import country-ca.csv --dry-run', 'bin/civic places import country-ca.csv'],
      needs: 'database',
      writes: true,
      run: (call) => runImport(context, call),
    },
    {
      name: 'places list',
      summary: 'List the places that were added to the gazetteer',
      examples: ['bin/civic places list', 'bin/civic places list --json'],
      needs: 'database',
      async run({ terminal }) {
        const places = await addedPlaces(context.civic.db.read);
        terminal.print(places, () => places.map(({ place_key: key, name, kind, origin }) => `${key}  ${name}, ${kind}, added by ${origin}`).join('\n') || 'No places were added.');
      },
    },
    {
      name: 'places remove',
      summary: 'Remove a place that was added; actors lose it, their claims stay',
      arguments: '<place_key>',
      examples: ['bin/civic places remove alder-falls,missouri'],
      needs: 'database',
      writes: true,
      existing: true,
      run: (call) => runRemove(context, call),
    },
  ];
}

async function runImport({ civic, ledger }: PlaceCommands, { terminal, positionals, options, cwd }: CommandCall): Promise<void> {
  const path = resolve(cwd, positionals[0]!);
  const isDry = options['dry-run'] === true;
  const report = await importDivisions(civic.db, path, {
    isDry, today: civic.clock.iso().slice(0, 10), signal: terminal.signal,
    onProgress: (done, total) => { terminal.progress(`${isDry ? 'Reading' : 'Importing'} (kB)`, done < total ? Math.floor(done / 1024) : Math.ceil(total / 1024), Math.ceil(total / 1024)); },
  }).catch((error: unknown) => {
    if (terminal.signal.aborted) throw new Failure('Stopped. The places that were added stay; run the same command again to add the rest.');
    throw error;
  });
  const relisted = isDry ? 0 : await ledger.relist();
  terminal.print({ path, dry_run: isDry, ...report, relisted }, () => wordsOf(report, isDry));
}

function wordsOf({ rows, added, updated, unchanged, skipped, errors, keys }: ImportReport, isDry: boolean): string {
  const left = Object.entries(skipped).map(([type, count]) => `${count.toLocaleString('en-US')} ${type}`);
  return [
    `${rows.toLocaleString('en-US')} ${rows === 1 ? 'row' : 'rows'} read: ${added.toLocaleString('en-US')} added, ${updated.toLocaleString('en-US')} updated, ${unchanged.toLocaleString('en-US')} unchanged, ${errors.length.toLocaleString('en-US')} rejected.${isDry ? ' This was a dry run: nothing was changed.' : ''}`,
    ...(left.length > 0 ? [`Skipped, because they are not places: ${left.join(', ')}.`] : []),
    ...keys.map((key) => `  ${key}`), ...(added > keys.length ? [`  … and ${(added - keys.length).toLocaleString('en-US')} more; bin/civic places list shows all`] : []),
    ...errors.slice(0, SHOWN).map(({ line, detail }) => `Line ${line} was rejected: ${detail}`), ...(errors.length > SHOWN ? [`… and ${errors.length - SHOWN} more; --json has them all`] : []),
  ].join('\n');
}

async function runRemove({ civic, ledger }: PlaceCommands, { terminal, positionals }: CommandCall): Promise<void> {
  const [key] = positionals as [string];
  const own = (await addedPlaces(civic.db.read)).find(({ place_key }) => place_key === key);
  if (!own) throw new Failure(`No added place has the key ${key}: bin/civic places list shows them`);
  if (own.origin !== OPERATOR) throw new Failure(`${key} was added by ${own.origin}${own.origin === 'demo' ? ': bin/civic demo remove removes it' : ''}`);
  await civic.db.write(async (tx) => {
    await deleteOwnPlace(tx, key);
    await markChanged(tx);
  });
  const actors = await ledger.relist();
  terminal.print({ place_key: key, actors }, () => `Removed ${key}. ${actors === 0 ? 'No actor was listed in it.' : `${actors.toLocaleString('en-US')} actors are no longer listed in it.`}`);
}
