import type { Reader } from 'civic';
import type { Target } from './types.ts';

const GROUP = 'target_type, target_id, status, suspicion, flag_type';
const TOTAL = 'place_key, state, target_type, severity';
const COUNT = 'status, flag_type, target_type';

/** For each stored table the compared columns, what it is derived from, and its rows: both queries return the same rows while the table is right, each once. */
const SUMS = {
  columns: `${GROUP}, flags, first_at, latest_at`,
  derived: `select target_type, target_id, status, coalesce(suspicion, '') as suspicion, flag_type, count(*) as flags, min(created_at) as first_at, max(created_at) as latest_at
    from flags_flags group by target_type, target_id, status, flags_flags.suspicion, flag_type`,
  stored: `select ${GROUP}, flags, first_at, latest_at from flags_sums`,
};
const QUEUE = {
  columns: 'target_type, target_id, state, reports, first_at',
  derived: `select target_type, target_id, case when status = 'open' and suspicion <> '' then 'suspected' else status end as state, sum(flags) as reports, min(first_at) as first_at
    from flags_sums group by 1, 2, 3`,
  stored: "select target_type, target_id, state, reports, first_at from flags_queue where place_key = ''",
};
const TOTALS = {
  columns: `${TOTAL}, targets, reports`,
  derived: `select ${TOTAL}, count(*) as targets, sum(reports) as reports from flags_queue group by ${TOTAL}`,
  stored: `select ${TOTAL}, targets, reports from flags_queue_totals where targets <> 0 or reports <> 0`,
};
const COUNTS = {
  columns: `place_key, ${COUNT}, flags`,
  derived: `select '' as place_key, ${COUNT}, count(*) as flags from flags_flags group by ${COUNT}
    union all select place_key, ${COUNT}, count(*) as flags from flags_places join flags_flags on key = flag_key group by place_key, ${COUNT}`,
  stored: `select place_key, ${COUNT}, flags from flags_counts where flags <> 0`,
};

type Table = typeof SUMS;

/** Returns a table of the rows that only one of the two queries returns. One statement reads both at one moment, so that changes under way make no difference. */
function differences(reader: Reader, { columns, derived, stored }: Table) {
  return reader.from(reader.raw(`(select ${columns} from (${derived} union all ${stored}) as both_rows group by ${columns} having count(*) = 1) as different`));
}

async function isDifferent(reader: Reader, table: Table): Promise<boolean> {
  return await differences(reader, table).first(reader.raw('1 as found')) !== undefined;
}

/** Returns the targets whose sums differ from their flags, or whose rows in the queue differ from their sums. */
export async function targetsToRecount(reader: Reader): Promise<Target[]> {
  const targets: Target[] = [];
  for (const table of [SUMS, QUEUE]) targets.push(...await differences(reader, table).distinct({ type: 'target_type', id: 'target_id' }));
  return [...new Map(targets.map((target) => [`${target.type} ${target.id}`, target])).values()];
}

/** Returns whether the totals of the queue differ from its rows. */
export const hasWrongTotals = (reader: Reader): Promise<boolean> => isDifferent(reader, TOTALS);

/** Returns whether the counts for lists of the API differ from the flags. */
export const hasWrongCounts = (reader: Reader): Promise<boolean> => isDifferent(reader, COUNTS);
