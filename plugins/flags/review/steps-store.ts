import type { Reader, Tx } from 'civic';
import type { FlagRow } from '../store.ts';
import type { Status } from '../types.ts';

/** What happened to a flag. */
export const ACTIONS = ['accepted', 'dismissed', 'resolved', 'cleared', 'undone', 'reopened'] as const;
export type Action = (typeof ACTIONS)[number];

/** Steps that cannot be undone. They are stored with `undone_at`, so that no undo finds them. */
export const FINAL_ACTIONS: readonly Action[] = ['undone', 'reopened'];

/** The columns of a flag that an undo restores. */
export type Before = Pick<FlagRow, 'status' | 'suspicion' | 'note' | 'open_key' | 'decided_by' | 'decided_at' | 'signal_id'>;

export interface StepRow {
  key: number;
  id: string;
  batch: string;
  flag_key: number;
  action: Action;
  from_status: Status;
  to_status: Status;
  note: string | null;
  /** JSON. */
  edit: string | null;
  /** JSON: `Before`. */
  before: string;
  account_id: string | null;
  at: string;
  undone_at: string | null;
}

const TABLE = 'flags_steps';

export async function insertStep(tx: Tx, step: Omit<StepRow, 'key'>): Promise<void> {
  await tx(TABLE).insert(step);
}

/** Returns the history of a flag, the latest step first. */
export async function stepsOfFlag(reader: Reader, flagKey: number): Promise<StepRow[]> {
  return reader(TABLE).where({ flag_key: flagKey }).orderBy('key', 'desc');
}

/** Returns the decisions of a batch that were not undone, the latest first. */
export async function stepsOfBatch(reader: Reader, batch: string): Promise<StepRow[]> {
  return reader(TABLE).where({ batch }).whereNull('undone_at').orderBy('key', 'desc');
}

/** Returns the last decision of a flag that was not undone. */
export async function lastStep(reader: Reader, flagKey: number): Promise<StepRow | undefined> {
  return reader(TABLE).where({ flag_key: flagKey }).whereNull('undone_at').orderBy('key', 'desc').first();
}

/** Returns the last decision of a reviewer that was not undone. */
export async function lastStepOf(reader: Reader, accountId: string): Promise<StepRow | undefined> {
  return reader(TABLE).where({ account_id: accountId }).whereNull('undone_at').orderBy('key', 'desc').first();
}

export async function markUndone(tx: Tx, keys: number[], at: string): Promise<void> {
  await tx(TABLE).whereIn('key', keys).update({ undone_at: at });
}
