import type { Check, Civic, JobKind } from 'civic';
import type { AccountsConfig } from '../config.ts';
import { auditAfter, setStreamPosition, streamPosition } from './store.ts';
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
  return {
    job: {
      name: 'accounts.audit_stream',
      every_seconds: EVERY_SECONDS,
      async run(job) {
        const stored = await streamPosition(civic.db.read, address);
        for (let seq = Math.max(stored, target.position() ?? 0), rows; (rows = await auditAfter(civic.db.read, seq, BATCH)).length > 0;) {
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
        const [oldest] = await auditAfter(civic.db.read, await streamPosition(civic.db.read, address), 1);
        const seconds = oldest ? Math.round((civic.clock.now() - Date.parse(oldest.at)) / 1000) : 0;
        if (seconds <= LATE_SECONDS) return { status: 'ok', detail: `the record is streamed to ${address}` };
        return { status: 'warning', detail: `the stream to ${address} is behind: row ${oldest!.seq} waits for ${seconds} s`, fix: 'check that the file can be written or the syslog server responds, and that a process does background work; the log says why it failed' };
      },
    },
  };
}
