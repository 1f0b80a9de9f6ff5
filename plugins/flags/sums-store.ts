import { bulkInsert, type Reader, type Tx } from 'civic';
import type { FlagCounts } from 'civic/directory';
import { lockTable } from './review/queue-store.ts';
import type { FlagRow } from './store.ts';
import type { Status, TargetType } from './types.ts';

/** The flags of a target with one status, suspicion and type. */
export interface FlagSum {
  target_type: TargetType;
  target_id: string;
  status: Status;
  /** Empty when nothing indicates spam. */
  suspicion: string;
  /** As it is stored. */
  flag_type: string;
  flags: number;
  first_at: string;
  latest_at: string;
  /** Of the latest flag. */
  last_key: number;
}

type Group = Pick<FlagSum, 'target_type' | 'target_id' | 'status' | 'suspicion' | 'flag_type'>;

export const SUMS_TABLE = 'flags_sums';
const KEY = ['target_type', 'target_id', 'status', 'suspicion', 'flag_type'];

/** Updates the sums after a change of flags, whose targets are locked. `before` has the same flags as they were; new flags are in `after` only. */
export async function updateSums(tx: Tx, before: FlagRow[], after: FlagRow[]): Promise<void> {
  const changes = new Map<string, Group & { flags: number }>();
  const add = (rows: FlagRow[], change: number) => {
    for (const { target_type, target_id, status, suspicion, flag_type } of rows) {
      const group = { target_type, target_id, status, suspicion: suspicion ?? '', flag_type };
      const name = Object.values(group).join(' ');
      const sum = changes.get(name) ?? changes.set(name, { ...group, flags: 0 }).get(name)!;
      sum.flags += change;
    }
  };
  add(before, -1);
  add(after, 1);
  const changed: FlagSum[] = [];
  for (const { flags, ...group } of changes.values()) {
    const [first, last] = [await flagAtEnd(tx, group, 'asc'), await flagAtEnd(tx, group, 'desc')];
    if (first && last) changed.push({ ...group, flags, first_at: first.created_at, latest_at: last.created_at, last_key: last.key });
    else await tx(SUMS_TABLE).where(group).del();
  }
  await bulkInsert(tx, SUMS_TABLE, changed, { onConflict: { columns: KEY, merge: ['first_at', 'latest_at', 'last_key'], add: ['flags'] } });
  // Groups with flags have at least one: a node of an older version did not count some of these.
  const targets = [...changes.values()].map(({ target_type, target_id }) => [target_type, target_id]);
  const wrong: Group[] = await tx(SUMS_TABLE).whereIn(['target_type', 'target_id'], targets).where('flags', '<', 1);
  for (const { target_type, target_id } of wrong) await recountSums(tx, target_type, [target_id]);
}

/** Returns the first or the latest flag of a group. Sorts by all columns of the index that a condition with null leaves open, so that Postgres reads one entry. */
async function flagAtEnd(reader: Reader, { suspicion, ...group }: Group, order: 'asc' | 'desc'): Promise<Pick<FlagRow, 'key' | 'created_at'> | undefined> {
  const flags = reader('flags_flags').where(group).orderBy(['suspicion', 'created_at', 'key'].map((column) => ({ column, order })));
  return (suspicion === '' ? flags.whereNull('suspicion') : flags.where({ suspicion })).first('key', 'created_at');
}

export async function sumsOfTargets(reader: Reader, type: TargetType, ids: string[]): Promise<FlagSum[]> {
  const rows: FlagSum[] = await reader(SUMS_TABLE).where({ target_type: type }).whereIn('target_id', ids).orderBy(KEY);
  return rows.map((row) => ({ ...row, flags: Number(row.flags), last_key: Number(row.last_key) }));
}

/** Returns the counts of each target that the directory shows. Suspected spam is not counted. */
export async function countsOfTargets(reader: Reader, type: TargetType, ids: string[]): Promise<Map<string, FlagCounts>> {
  const counts = new Map<string, FlagCounts>(ids.map((id) => [id, { open: 0, total: 0, latest_at: null }]));
  for (const { target_id, status, suspicion, flags, latest_at } of await sumsOfTargets(reader, type, ids)) {
    if (suspicion !== '') continue;
    const count = counts.get(target_id)!;
    if (status === 'open') count.open += flags;
    count.total += flags;
    if (count.latest_at === null || latest_at > count.latest_at) count.latest_at = latest_at;
  }
  return counts;
}

/** Sums up all flags again. */
export async function rebuildSums(tx: Tx): Promise<void> {
  await lockTable(tx, SUMS_TABLE);
  await tx(SUMS_TABLE).del();
  await insertSums(tx, tx('flags_flags'));
}

/** Sums up the flags of targets again, which are locked. */
export async function recountSums(tx: Tx, type: TargetType, ids: string[]): Promise<void> {
  const ofTargets = (table: string) => tx(table).where({ target_type: type }).whereIn('target_id', ids);
  await ofTargets(SUMS_TABLE).del();
  await insertSums(tx, ofTargets('flags_flags'));
}

async function insertSums(tx: Tx, flags: ReturnType<Reader>): Promise<void> {
  const group = 'target_type, target_id, status, suspicion, flag_type';
  const numbered = flags.select(tx.raw(`${group}, created_at, key, count(*) over (partition by ${group}) as flags, min(created_at) over (partition by ${group}) as first_at,
    row_number() over (partition by ${group} order by created_at desc, key desc) as number`)).as('numbered');
  await tx.raw(`insert into flags_sums (${group}, flags, first_at, latest_at, last_key)
    select target_type, target_id, status, coalesce(suspicion, ''), flag_type, flags, first_at, created_at, key from ? where number = 1`, [numbered]);
}
