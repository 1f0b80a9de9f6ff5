import { Failure, type Command, type Database } from 'civic';
import { auditAfter } from './store.ts';

const BATCH = 1000;

export function auditExport(db: () => Database): Command {
  return {
    name: 'audit export',
    summary: 'Write the audit log as JSON, one line per event, oldest first',
    examples: ['bin/civic audit export > audit.ndjson'],
    needs: 'database',
    async run({ terminal }) {
      for (let seq = 0, rows; (rows = await auditAfter(db().read, seq, BATCH)).length > 0; seq = rows.at(-1)!.seq) {
        if (terminal.signal.aborted) throw new Failure('Stopped: this is not all of the record');
        for (const row of rows) terminal.out(JSON.stringify(row));
      }
    },
  };
}
