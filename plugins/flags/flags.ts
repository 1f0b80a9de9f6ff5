import { newId, problem, singleLine, type Caller, type Civic, type JobKind, type Reader, type Tx } from 'civic';
import type { AccountsService } from 'civic/accounts';
import type { DirectoryService, HoldExpired } from 'civic/directory';
import type { FlagsConfig } from './config.ts';
import { updateCounts } from './counts-store.ts';
import { newReceipt, readReceipt } from './receipt.ts';
import type { Reviewer } from './review/decisions.ts';
import { repairJob } from './repair.ts';
import { refreshQueue } from './review/queue.ts';
import { lockTarget } from './review/queue-store.ts';
import { createHolds } from './privacy/holds.ts';
import { insertReporter, type ReporterRow } from './reporter/store.ts';
import { createSignals, type Signals } from './signals/signals.ts';
import { createdFlag, eventOf, flagByReceipt, insertFlag, targetsWithReason, type FlagRow } from './store.ts';
import { countsOfTargets, recountSums, updateSums } from './sums-store.ts';
import { hashOfReason, suspicionOf } from './suspicion.ts';
import { entityTarget, placeTarget, sourceTarget, type FoundTarget } from './targets.ts';
import { knownType, TARGET_TYPES, type CreatedFlag, type FlagType, type Proposal, type Receipt, type Target, type TargetType } from './types.ts';

export interface NewFlag {
  flag_type: FlagType;
  reason: string;
  proposal?: Proposal;
  /** The address that gets the receipt, questions and the decision, and the language of these mails. */
  reporter?: Pick<ReporterRow, 'email' | 'language'>;
  /** Of the client. */
  address?: string | null;
  /** Whether the field of the form that people do not see was filled in. */
  isHiddenFieldFilled?: boolean;
}

/** A flag that a plugin raises. */
export interface PluginFlag extends Pick<NewFlag, 'flag_type' | 'reason'> {
  plugin: string;
  source_id: string;
}

export interface Flags {
  civic: Civic<FlagsConfig>;
  directory: DirectoryService;
  /** Flags an actor, or one of its claims. Throws `unknown_actor` and `unknown_claim`. */
  flagEntity(flag: NewFlag & { entity_id: string; claim_id?: string }, caller: Caller | null): Promise<Flagged>;
  /** Flags a source. Throws `unknown_source`. */
  flagSource(flag: NewFlag & { source_id: string }, caller: Caller | null): Promise<Flagged>;
  /** Flags a place. Throws `unknown_place`. */
  flagPlace(flag: NewFlag & { place_key: string }, caller: Caller | null): Promise<Flagged>;
  /** Flags a public source on behalf of a plugin. Returns the id of the flag, also of the one that the plugin has open; null when no public actor cites the source. */
  report(tx: Tx, flag: PluginFlag): Promise<string | null>;
  /** Returns the status of a flag by its receipt. Throws `unknown_receipt`. */
  receipt(text: string): Promise<Receipt>;
  signals: Signals;
  /**
   * Updates what follows from changed flags, in the transaction of the change: the sums of their targets, the counts in the directory, the queue, and
   * the holds of contacts. `before` has the same flags as they were; new flags are in `after` only.
   */
  refreshTargets(tx: Tx, before: FlagRow[], after: FlagRow[]): Promise<void>;
  /** Derives what is stored about targets from all of their flags: sums, the counts in the directory, and the queue. */
  recountTargets(tx: Tx, targets: Target[]): Promise<void>;
  /** Hides contacts again for privacy flags whose decision was undone. */
  resumeHolds(tx: Tx, flags: FlagRow[], reviewer: Pick<Reviewer, 'by'>): Promise<void>;
  /** Records that contacts are shown again because no reviewer decided in time. */
  holdExpired(tx: Tx, hold: HoldExpired): Promise<void>;
  /** Adds a step of a reviewer, or of a reporter without an account, to the audit record. */
  audit(tx: Tx, kind: string, from: { by: Omit<Reviewer['by'], 'account_id'> & { account_id: string | null } }, flagId: string, detail: object): Promise<void>;
  /** Returns the flag of a receipt. Throws `unknown_receipt`. */
  byReceipt(reader: Reader, text: string): Promise<FlagRow>;
  jobs: JobKind[];
}

export interface Flagged {
  flag: CreatedFlag;
  /** False when the account had the same flag open already. */
  isNew: boolean;
}

const DAY_MS = 86_400_000;

export function createFlags(civic: Civic<FlagsConfig>): Flags {
  const directory = civic.service('directory');
  const accounts: AccountsService | null = civic.serviceIfOn('accounts');
  const audit: Flags['audit'] = async (tx, kind, { by }, subject, detail) => { await accounts?.record(tx, { kind, by, subject, detail }); };
  const holds = createHolds(civic, directory, audit);

  const create = (target: FoundTarget, given: NewFlag, caller: Caller | null): Promise<Flagged> => civic.db.write(async (tx) => {
    const id = newId(civic.clock.now());
    return insert(tx, id, await newRow(tx, id, target, given, caller), target, given);
  });

  async function insert(tx: Tx, id: string, given: Omit<FlagRow, 'key'>, { placeKeys, property }: FoundTarget, { reporter, address = null }: Pick<NewFlag, 'reporter' | 'address'>): Promise<Flagged> {
    const row = await insertFlag(tx, given, placeKeys);
    if (row.id !== id) return { flag: createdFlag(row), isNew: false };
    if (reporter) await insertReporter(tx, { flag_key: row.key, ...reporter, created_at: row.created_at });
    // Before rows are locked that other reports change: a hold waits for changes of the directory.
    await holds.begin(tx, row, property, { account_id: row.account_id, address });
    await refreshTargets(tx, [], [row]);
    await civic.emit(tx, 'flags.created', eventOf(row));
    await updateCounts(tx, [], [row]);
    return { flag: createdFlag(row), isNew: true };
  }

  /** Flags a public source for a plugin, which is no spam even when it reports the same of many sources. */
  async function report(tx: Tx, { plugin, source_id, ...given }: PluginFlag): Promise<string | null> {
    if (!(await directory.source(tx, source_id))) return null;
    const target = await sourceTarget(directory, tx, source_id);
    const id = newId(civic.clock.now());
    const row = await newRow(tx, id, target, given, null);
    const { flag } = await insert(tx, id, { ...row, suspicion: null, open_key: [plugin, target.type, target.id, given.flag_type].join(' ') }, target, {});
    return flag.id;
  }

  async function newRow(tx: Tx, id: string, target: FoundTarget, { flag_type, reason, proposal, isHiddenFieldFilled = false }: NewFlag, caller: Caller | null): Promise<Omit<FlagRow, 'key'>> {
    const at = civic.clock.iso();
    const reason_hash = hashOfReason(reason);
    const repeats = await targetsWithReason(tx, reason_hash, new Date(civic.clock.now() - DAY_MS).toISOString(), target);
    return {
      id, receipt: newReceipt(), target_type: target.type, target_id: target.id, claim_id: target.claimId, flag_type,
      reason, reason_hash, suspicion: isHiddenFieldFilled ? 'hidden_field' : suspicionOf(reason, repeats, civic.config),
      proposed_value: proposal?.value ?? null, proposed_source: proposal?.source_url ?? null,
      account_id: caller?.account_id ?? null, open_key: caller && [caller.account_id, target.type, target.id, flag_type, target.claimId ?? ''].join(' '),
      status: 'open', note: null, decided_by: null, decided_at: null, signal_id: null, created_at: at, updated_at: at,
    };
  }

  async function refreshTargets(tx: Tx, before: FlagRow[], after: FlagRow[]): Promise<void> {
    const targets = targetsOf(after);
    await lockTargets(tx, targets);
    await updateSums(tx, before, after);
    // Suspected spam is in the queue, but is not counted.
    for (const { type, ids } of targetsOf([...before, ...after].filter(({ suspicion }) => suspicion === null))) await storeCounts(tx, type, ids);
    // Last, because the totals of the queue are rows that all of these transactions change.
    for (const { type, ids } of targets) await refreshQueue(tx, type, ids);
    await holds.end(tx, after);
  }

  async function recountTargets(tx: Tx, given: Target[]): Promise<void> {
    const targets = byType(given);
    await lockTargets(tx, targets);
    for (const { type, ids } of targets) await recountSums(tx, type, ids);
    for (const { type, ids } of targets) await storeCounts(tx, type, ids);
    for (const { type, ids } of targets) await refreshQueue(tx, type, ids);
  }

  async function storeCounts(tx: Tx, type: TargetType, ids: string[]): Promise<void> {
    if (type === 'place') return;
    const counts = await countsOfTargets(tx, type, ids);
    await directory.setFlags(tx, type === 'entity' ? { actors: counts, sources: new Map() } : { actors: new Map(), sources: counts });
  }

  return {
    civic, directory, audit, refreshTargets, recountTargets,
    signals: createSignals(civic, directory),
    flagEntity: async ({ entity_id, claim_id, ...flag }, caller) => create(await entityTarget(directory, entity_id, claim_id), flag, caller),
    flagPlace: async ({ place_key, ...flag }, caller) => create(await placeTarget(directory, place_key), flag, caller),
    flagSource: async ({ source_id, ...flag }, caller) => create(await sourceTarget(directory, civic.db.read, source_id), flag, caller),
    byReceipt, report,
    async receipt(text) {
      return receiptOf(await byReceipt(civic.db.read, text));
    },
    resumeHolds: holds.resume, holdExpired: holds.expired,
    jobs: [holds.job, repairJob({ civic, recountTargets })],
  };
}

async function byReceipt(reader: Reader, text: string): Promise<FlagRow> {
  const receipt = readReceipt(text);
  const row = receipt && await flagByReceipt(reader, receipt);
  if (!row) throw problem('unknown_receipt', { detail: `No report has the receipt "${singleLine(text, 40)}".` });
  return row;
}

interface Targets {
  type: TargetType;
  ids: string[];
}

/** Makes other transactions that change flags of these targets wait, so that none derives rows without the flags of another. */
async function lockTargets(tx: Tx, targets: Targets[]): Promise<void> {
  for (const { type, ids } of targets) for (const id of ids) await lockTarget(tx, { type, id });
}

function targetsOf(flags: FlagRow[]): Targets[] {
  return byType(flags.map(({ target_type: type, target_id: id }) => ({ type, id })));
}

/** Groups targets by type, sorted, so that concurrent transactions lock them without a deadlock. */
function byType(targets: Target[]): Targets[] {
  const ids = (type: TargetType) => [...new Set(targets.filter((target) => target.type === type).map(({ id }) => id))].sort();
  return TARGET_TYPES.map((type) => ({ type, ids: ids(type) })).filter((some) => some.ids.length > 0);
}

export function receiptOf({ id, flag_type, status, created_at, decided_at }: FlagRow): Receipt {
  return { id, flag_type: knownType(flag_type), status, created_at, decided_at };
}
