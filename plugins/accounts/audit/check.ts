import type { Check, CheckResult, Database, Reader } from 'civic';
import { chained, START } from './chain.ts';
import { sealedWith, type Seals } from './seal.ts';
import { auditAfter, auditHead } from './store.ts';
import type { Witness } from './witness.ts';

const BATCH = 2000;

export interface AuditCheckContext {
  db(): Database;
  seals: Seals;
  witness: Witness;
}

/** Verifies the hash chain from its first row to its last, and the seals. */
export function auditCheck({ db, seals, witness }: AuditCheckContext): Check {
  return {
    name: 'audit',
    run: () => db().snapshot(async (reader) => result(await followed(reader, seals, witness), seals)),
  };
}

interface Followed {
  rows: number;
  fault: string | null;
  /** The first row with a seal of a known key. */
  sealedFrom: number | null;
  /** The last row that was sealed with an unknown key, and that key. */
  foreign: { seq: number; key: string } | null;
}

function result({ rows, fault, sealedFrom, foreign }: Followed, seals: Seals): CheckResult {
  const chain = `${rows.toLocaleString('en-US')} rows, and the hash chain is intact`;
  if (fault !== null) return { status: 'failed', detail: fault, fix: 'the audit log was changed in the database: compare bin/civic audit export with a streamed copy or the record in a backup' };
  if (foreign !== null) {
    const where = seals.currentKey() === null ? `there is no key in ${seals.location}` : `the key in ${seals.location} is another one (${seals.currentKey()})`;
    return {
      status: 'warning',
      detail: `${chain}, but the rows up to ${foreign.seq} were sealed with the key ${foreign.key}, and ${where}, so that their seals cannot be verified`,
      fix: 'this is so after a restore elsewhere or with a lost key: add the old key as a further line of audit.key, or keep this in mind; several nodes must share one key (plugins.accounts.audit.key)',
    };
  }
  if (sealedFrom !== null) return { status: 'ok', detail: `${chain}, sealed from row ${sealedFrom} on` };
  if (rows > 0 && seals.currentKey() !== null) return { status: 'warning', detail: `${chain}, but no row is sealed although there is a key in ${seals.location}`, fix: 'start the server: it seals the record. If it ran before, the seals were removed: compare with a streamed copy or a backup' };
  return { status: 'ok', detail: `${chain}; the next start seals the rows` };
}

async function followed(reader: Reader, seals: Seals, witness: Witness): Promise<Followed> {
  const found: Followed = { rows: 0, fault: null, sealedFrom: null, foreign: null };
  const seen = witness.remembered();
  const sealedSince = seen?.sealed_from ?? Infinity;
  const failed = (fault: string): Followed => ({ ...found, fault });
  let seq = 0;
  let hash = START;
  let hasSeal = false;
  for (let rows; (rows = await auditAfter(reader, seq, BATCH)).length > 0;) {
    for (const row of rows) {
      const called = `row ${row.seq} (${row.kind}, ${row.at})`;
      if (row.seq !== seq + 1) return failed(`row ${seq + 1} is missing`);
      if (row.prev_hash !== hash || chained(hash, row) !== row.hash) return failed(`${called} was changed`);
      const verdict = seals.verdict(row.hash, row.seal);
      if (verdict === 'forged') return failed(`${called} has a wrong seal: it was not written by this instance`);
      if (verdict === 'unsealed' && (hasSeal || row.seq >= sealedSince)) return failed(`${called} has no seal, although earlier rows were sealed`);
      if (verdict === 'foreign' && found.sealedFrom !== null) return failed(`${called} was sealed with the key ${sealedWith(row.seal)}, which is not known here, after rows that were sealed with the key of this instance; several nodes must share one key`);
      if (verdict === 'foreign') found.foreign = { seq: row.seq, key: sealedWith(row.seal)! };
      if (verdict === 'good') found.sealedFrom ??= row.seq;
      hasSeal ||= row.seal !== null;
      if (row.seq === seen?.seq && row.hash !== seen.hash) return failed(`${called} is not the row that was there before (${witness.file} remembers it)`);
      ({ seq, hash } = row);
    }
  }
  if (seen?.broken) return failed(`row ${seen.broken.seq} was changed or removed before ${seen.broken.at}: ${witness.file} remembers another one. If you restored an older backup, delete that file`);
  const head = await auditHead(reader);
  if (head.seq !== seq) return failed(`row ${seq + 1} is missing, and all after it up to ${head.seq}`);
  if (head.hash !== hash) return failed(`row ${seq} was changed`);
  if (seen !== null && seen.seq > seq) return failed(`row ${seq + 1} is missing, and all after it up to ${seen.seq}: ${witness.file} remembers them. If you restored an older backup, delete that file`);
  return { ...found, rows: seq };
}
