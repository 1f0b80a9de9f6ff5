import type { Civic, Language, SlotPart } from 'civic';
import type { AttentionEntry, AttentionSource } from 'civic/console';
import { basename } from 'node:path';
import { countsOf } from './import.ts';
import { failedImports, latestImports, type ImportRow } from './store.ts';

type Context = Pick<Civic, 'texts' | 'clock' | 'operations'> & { readonly db: Civic['db'] };

const SHOWN = 5;
const ATTENTION_MS = 3 * 86_400_000;
/** Faults of the server: those of a file are reported to the account that sent it, or on the command line. */
const OF_THE_SERVER = ['storage_full', 'storage_failed', 'import_failed'];

/** Reports imports that the server could not finish in the last days. */
export function importAttention(civic: Context): AttentionSource {
  return {
    plugin: 'directory',
    async load(language: Language): Promise<AttentionEntry[]> {
      const since = new Date(civic.clock.now() - ATTENTION_MS).toISOString();
      const failed = await failedImports(civic.db.read, since, OF_THE_SERVER, SHOWN);
      if (failed.length === 0) return [];
      const t = await civic.texts(language);
      return failed.map((row) => ({ title: t('imports.failed_title', { name: nameOf(row) }), detail: civic.operations.mask(row.error ?? ''), language: 'en', advice: t('imports.again'), isUrgent: true }));
    },
  };
}

/** Shows the latest imports on the home of the console. */
export function importSection(civic: Context): SlotPart {
  return {
    partial: 'directory/imports',
    load: async () => ({ imports: (await latestImports(civic.db.read, SHOWN)).map((row) => shown(row, civic.operations.mask)) }),
  };
}

function shown(row: ImportRow, mask: (text: string) => string): object {
  const { read, created, updated, rejected } = countsOf(row);
  const percent = row.state === 'running' && row.bytes_total > 0 ? Math.floor((row.bytes_done / row.bytes_total) * 100) : null;
  return { name: nameOf(row), state: row.state, percent, at: row.finished_at ?? row.created_at, read, created, updated, rejected, error: row.error && mask(row.error) };
}

/** An upload is stored under a name of its own; a file of the command line is known by its name. */
function nameOf({ account_id, format, path }: ImportRow): string {
  return account_id === null ? `${format}, ${basename(path)}` : format;
}
