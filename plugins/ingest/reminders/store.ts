import { dialectOf, type Reader, type Tx } from 'civic';

const TABLE = 'ingest_sources';

/** The owner of failing sources, who gets the mails: the operator where there is no workspace, else the member who added the sources. */
export interface FailingOwner {
  workspace_id: string | null;
  created_by: string | null;
}

export interface FailingSource {
  key: number;
  name: string;
  url: string;
  fault_detail: string | null;
  failing_since: string | null;
}

/** A source turned failing after its last mail, or its last mail is older than `again`. */
const DUE = "health = 'failing' and state = 'active' and (reminded_at is null or reminded_at <= ? or failing_since > reminded_at)";
/** All sources of the operator have one owner. */
const ADDED_BY = 'case when workspace_id is null then null else created_by end';

export interface ReminderTimes {
  /** Failing sources are mailed again when their last mail is older. */
  again: string;
  /** An owner whose last mail about any source is younger gets none. */
  rest: string;
}

/** Returns the owners of failing sources who should get a mail; with `owner` that one, or none. */
export async function ownersToRemind(reader: Reader, { again, rest }: ReminderTimes, { owner, limit }: { owner?: FailingOwner; limit: number }): Promise<FailingOwner[]> {
  const query = reader(TABLE).groupByRaw(`workspace_id, ${ADDED_BY}`).havingRaw(`sum(case when ${DUE} then 1 else 0 end) > 0 and sum(case when reminded_at > ? then 1 else 0 end) = 0`, [again, rest]).limit(limit);
  if (owner) query.where(ownedBy(owner));
  return query.select('workspace_id', reader.raw(`${ADDED_BY} as created_by`));
}

function ownedBy({ workspace_id, created_by }: FailingOwner): Partial<FailingOwner> {
  return { workspace_id, ...(workspace_id !== null && { created_by }) };
}

/** Returns all failing sources of an owner, and locks them for the transaction. */
export async function failingOf(tx: Tx, owner: FailingOwner): Promise<FailingSource[]> {
  const query = tx(TABLE).where({ health: 'failing', state: 'active', ...ownedBy(owner) }).orderBy('key');
  if (dialectOf(tx) === 'postgres') query.forUpdate();
  return query.select('key', 'name', 'url', 'fault_detail', 'failing_since');
}

export async function setReminded(tx: Tx, keys: number[], at: string): Promise<void> {
  for (let start = 0; start < keys.length; start += 500) await tx(TABLE).whereIn('key', keys.slice(start, start + 500)).update({ reminded_at: at });
}
