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
  reminded_at: string | null;
}

const failing = (reader: Reader) => reader(TABLE).where({ health: 'failing', state: 'active' });

/** Returns the owners of failing sources who got no mail since a time. */
export async function ownersToRemind(reader: Reader, before: string, limit: number): Promise<FailingOwner[]> {
  const rows: FailingOwner[] = await failing(reader).where((due) => due.whereNull('reminded_at').orWhere('reminded_at', '<=', before)).limit(limit).select('workspace_id', 'created_by');
  const owners = rows.map(({ workspace_id, created_by }) => ({ workspace_id, created_by: workspace_id === null ? null : created_by }));
  return [...new Map(owners.map((owner) => [JSON.stringify(owner), owner])).values()];
}

/** Returns all failing sources of an owner, and locks them for the transaction. */
export async function failingOf(tx: Tx, { workspace_id, created_by }: FailingOwner): Promise<FailingSource[]> {
  const query = failing(tx).where({ workspace_id, ...(workspace_id !== null && { created_by }) }).orderBy('key');
  if (dialectOf(tx) === 'postgres') query.forUpdate();
  return query.select('key', 'name', 'url', 'fault_detail', 'failing_since', 'reminded_at');
}

export async function setReminded(tx: Tx, keys: number[], at: string): Promise<void> {
  for (let start = 0; start < keys.length; start += 500) await tx(TABLE).whereIn('key', keys.slice(start, start + 500)).update({ reminded_at: at });
}
