import { Failure, Misuse, type Command } from 'civic';
import { readFile, stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import type { Ingest } from '../context.ts';
import { failed, OPERATOR } from '../sources/commands.ts';
import type { Sources } from '../sources/sources.ts';
import { formatOfText, sourcesIn } from './files.ts';
import { importSources, type ImportReport } from './import.ts';

const MOST_BYTES = 1024 * 1024;
const SHOWN = 20;

/** `civic source import`: many sources of the operator from a file. */
export function importCommand(ingest: Ingest, sources: Sources): Command {
  return {
    name: 'source import',
    summary: 'Watch the addresses in a file: OPML, CSV with a column url, or one address on each line',
    arguments: '<file>',
    examples: ['bin/civic source import sources.opml'],
    needs: 'database',
    writes: true,
    async run({ terminal, positionals: [file], cwd }) {
      if (!file) throw new Misuse('Name the file');
      const path = resolve(cwd, file);
      const given = await sourcesIn(...await listIn(path)).catch(failed);
      const { signal } = terminal;
      const report = await importSources(ingest, sources, OPERATOR, given, { signal, onProgress: (done) => { terminal.progress('Importing', done, given.length); } }).catch((error: unknown) => {
        throw signal.aborted ? new Failure('Stopped. What was imported stays; the same command again imports the rest.') : error;
      });
      terminal.print(report, () => wordsOf(report));
      if (report.rejected === given.length) throw new Failure('No address was imported');
    },
  };
}

async function listIn(path: string): Promise<Parameters<typeof sourcesIn>> {
  const text = await textIn(path);
  return [text, extname(path).toLowerCase() === '.csv' ? 'csv' : formatOfText(text)];
}

async function textIn(path: string): Promise<string> {
  try {
    if ((await stat(path)).size <= MOST_BYTES) return await readFile(path, 'utf8');
  } catch (error) {
    throw new Failure(`${path} cannot be read: ${(error as Error).message}`);
  }
  throw new Failure(`${path} has more than 1 MB: import it in parts`);
}

function wordsOf({ created, watched, rejected, results }: ImportReport): string {
  const refused = results.filter(({ outcome }) => outcome === 'rejected');
  return [
    `${created} added, ${watched} watched already, ${rejected} rejected.${created > 0 ? ' The first reads follow one after the other; bin/civic source list shows what they found.' : ''}`,
    ...refused.slice(0, SHOWN).map(({ row, url, detail }) => `  ${row}: ${url}: ${detail}`),
    ...(refused.length > SHOWN ? [`  and ${refused.length - SHOWN} more; --json lists all`] : []),
  ].join('\n');
}
