import { isId, problem, singleLine, type Reader, type Tx } from 'civic';
import { isShown } from '../actors/choose.ts';
import { groupBy } from '../ledger/group.ts';
import type { ClaimRow, RecordRow, SourceRow } from '../ledger/rows.ts';
import { claimsOfRecords, lockToChange, recordsById, recordsOfActors, sourceById } from '../ledger/store.ts';

/** A statement of a source about an actor. */
export interface NamedStatement {
  entity_id: string;
  claim_id: string;
}

export async function publicSource(reader: Reader, id: string): Promise<SourceRow> {
  const row = isId(id) ? await sourceById(reader, id.toLowerCase()) : undefined;
  if (!row || row.workspace_id !== null) throw problem('unknown_source', { detail: `No source has the id ${singleLine(id, 100)}.` });
  return row;
}

/** A claim with the record and the actor that it belongs to. */
export interface FoundStatement {
  claim: ClaimRow;
  record: RecordRow;
  entity_id: string;
}

/** Finds statements of a source about public actors. Throws `unknown_claim` when one is not of the source, or is no longer shown. */
export async function statementsOf(tx: Tx, source: SourceRow, named: NamedStatement[]): Promise<FoundStatement[]> {
  const ids = [...new Set(named.flatMap(({ entity_id: id }) => (isId(id) ? [id.toLowerCase()] : [])))];
  const actors = (await recordsById(tx, ids)).filter(isPublicActor);
  // The lock keeps other transactions from changing these claims before the outcome is written.
  await lockToChange(tx, actors.map(({ key }) => key));
  const records = await recordsOfActors(tx, actors.map(({ actor_key }) => actor_key));
  const byKey = new Map(records.map((record) => [record.key, record]));
  const claims = groupBy((await claimsOfRecords(tx, records.map(({ key }) => key))).filter((claim) => claim.source_key === source.key && isShown(claim)), ({ id }) => id);
  return named.map(({ entity_id, claim_id }, at) => {
    const [claim] = claims.get(claim_id.toLowerCase()) ?? [];
    const record = claim && byKey.get(claim.record_key);
    const actor = actors.find(({ id }) => id === entity_id.toLowerCase());
    if (!claim || !record || record.actor_key !== actor?.actor_key) {
      throw problem('unknown_claim', { detail: 'The source has no such statement about the actor, or it was retracted.', errors: [{ pointer: `/statements/${at}`, detail: 'is no statement of the source' }] });
    }
    return { claim, record, entity_id: actor.id };
  });
}

/** Returns whether a record is the canonical record of a public actor. Other records of a merged actor have its key as `actor_key`. */
function isPublicActor({ key, actor_key, visibility, deleted_at }: RecordRow): boolean {
  return key === actor_key && visibility === 'public' && deleted_at === null;
}
