import type { Check, Civic, JobKind } from 'civic';
import type { AccountsConfig } from '../config.ts';
import type { AuditRow } from './chain.ts';
import { auditAfter, auditHashAt, setStreamPosition, streamPosition } from './store.ts';
import { streamTarget } from './target.ts';

const BATCH = 500;
const EVERY_SECONDS = 2;
const LATE_SECONDS = 60;

type StreamCivic = Pick<Civic<AccountsConfig>, 'clock' | 'config'> & { readonly db: Civic['db'] };

/** Copies the audit record to a file or a syslog server, in order. One process of the installation does it at a time. */
export function auditStream(civic: StreamCivic): { job: JobKind; check: Check } | null {
  const address = civic.config.audit.stream;
  if (address === null) return null;
  const target = streamTarget(address);

  /** New rows must continue the streamed copy: a record whose end was cut off reuses the numbers of the removed rows. */
  async function faultAfter(last: AuditRow | null): Promise<string | null> {
    if (last === null || await auditHashAt(civic.db.read, last.seq) === last.hash) return null;
    return `row ${last.seq} of the record is not the one that was streamed to ${address}`;
  }

  return {
    job: {
      name: 'accounts.audit_stream',
      every_seconds: EVERY_SECONDS,
      async run(job) {
        const last = target.lastRow();
        const fault = await faultAfter(last);
        if (fault !== null) throw new Error(fault);
        for (let seq = last?.seq ?? await streamPosition(civic.db.read, address), rows; (rows = await auditAfter(civic.db.read, seq, BATCH)).length > 0;) {
          job.signal.throwIfAborted();
          await target.send(rows);
          seq = rows.at(-1)!.seq;
          await job.write((tx) => setStreamPosition(tx, address, seq));
        }
      },
    },
    check: {
      name: 'audit stream',
      readiness: true,
      async run() {
        const fault = await faultAfter(target.lastRow());
        if (fault !== null) return { status: 'warning', detail: fault, fix: 'the record was changed in the database, or an older backup was restored: compare both, then move the file away' };
        const [oldest] = await auditAfter(civic.db.read, await streamPosition(civic.db.read, address), 1);
        const seconds = oldest ? Math.round((civic.clock.now() - Date.parse(oldest.at)) / 1000) : 0;
        if (seconds <= LATE_SECONDS) return { status: 'ok', detail: `the record is streamed to ${address}` };
        return { status: 'warning', detail: `the stream to ${address} is behind: row ${oldest!.seq} waits for ${seconds} s`, fix: 'check that the file can be written or the syslog server responds, and that a process does background work; the log says why it failed' };
      },
    },
  };
}
