import { newId, problem, singleLine, type Caller, type Civic, type JobKind, type Reader, type Tx } from 'civic';
import type { AccountsService } from 'civic/accounts';
import type { ActorsChanged, DirectoryService, FlagCounts } from 'civic/directory';
import type { FirehoseService } from 'civic/firehose';
import type { FlagsConfig } from './config.ts';
import { newReceipt, readReceipt } from './receipt.ts';
import type { Reviewer } from './review/decisions.ts';
import { refreshQueue } from './review/queue.ts';
import { createHolds } from './privacy/holds.ts';
import { messagesOf } from './reporter/messages-store.ts';
import { insertReporter, reportersOf, type ReporterRow } from './reporter/store.ts';
import { resolvedSignal } from './signal.ts';
import { putSignalActors, sourceFlagsOfActors, takeSignals } from './signal-store.ts';
import { countsToStore, createdFlag, eventOf, flagByReceipt, insertFlag, targetsWithReason, updateFlag, type FlagRow } from './store.ts';
import { hashOfReason, suspicionOf } from './suspicion.ts';
import { entityTarget, placeTarget, sourceTarget, type FoundTarget } from './targets.ts';
import { TARGET_TYPES, type CreatedFlag, type FlagType, type Proposal, type Receipt, type ReviewedFlag } from './types.ts';

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

export interface Flags {
  civic: Civic<FlagsConfig>;
  directory: DirectoryService;
  /** Flags an actor, or one of its claims. Throws `unknown_actor` and `unknown_claim`. */
  flagEntity(flag: NewFlag & { entity_id: string; claim_id?: string }, caller: Caller | null): Promise<Flagged>;
  /** Flags a source. Throws `unknown_source`. */
  flagSource(flag: NewFlag & { source_id: string }, caller: Caller | null): Promise<Flagged>;
  /** Flags a place. Throws `unknown_place`. */
  flagPlace(flag: NewFlag & { place_key: string }, caller: Caller | null): Promise<Flagged>;
  /** Withdraws the signals about deleted actors, and about sources that no public actor cites any more. */
  withdrawSignals(tx: Tx, changes: ActorsChanged['actors']): Promise<void>;
  /** Returns the status of a flag by its receipt. Throws `unknown_receipt`. */
  receipt(text: string): Promise<Receipt>;
  /** Stores the counts of the targets in the directory, and their rows in the queue, in the transaction of the change. */
  followFlags(tx: Tx, flags: FlagRow[]): Promise<void>;
  /** Publishes the signal of a resolved flag. `targetId` is the target after the correction. */
  announce(tx: Tx, flag: FlagRow, targetId: string): Promise<void>;
  /** Withdraws signals. */
  withdraw(tx: Tx, signalIds: string[]): Promise<void>;
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
  const firehose: FirehoseService | null = civic.serviceIfOn('firehose');

  const audit: Flags['audit'] = async (tx, kind, { by }, subject, detail) => { await accounts?.record(tx, { kind, by, subject, detail }); };
  const holds = createHolds(civic, directory, audit);

  async function create(target: FoundTarget, { flag_type, reason, proposal, reporter, address = null, isHiddenFieldFilled = false }: NewFlag, caller: Caller | null): Promise<Flagged> {
    const at = civic.clock.iso();
    const open_key = caller && [caller.account_id, target.type, target.id, flag_type, target.claimId ?? ''].join(' ');
    return civic.db.write(async (tx) => {
      const reason_hash = hashOfReason(reason);
      const repeats = await targetsWithReason(tx, reason_hash, new Date(civic.clock.now() - DAY_MS).toISOString(), target);
      const id = newId(civic.clock.now());
      const row = await insertFlag(tx, {
        id, receipt: newReceipt(), target_type: target.type, target_id: target.id, claim_id: target.claimId, flag_type, reason, reason_hash,
        account_id: caller?.account_id ?? null, open_key, status: 'open', suspicion: isHiddenFieldFilled ? 'hidden_field' : suspicionOf(reason, repeats, civic.config), note: null, decided_by: null, decided_at: null, signal_id: null, created_at: at, updated_at: at,
        proposed_value: proposal?.value ?? null, proposed_source: proposal?.source_url ?? null,
      }, target.placeKeys);
      if (row.id === id && reporter) await insertReporter(tx, { flag_key: row.key, ...reporter, created_at: at });
      if (row.id !== id) return { flag: createdFlag(row), isNew: false };
      if (row.suspicion === null) await followFlags(tx, [row]);
      else await refreshQueue(tx, target.type, [target.id]);
      await civic.emit(tx, 'flags.created', eventOf(row));
      await holds.begin(tx, row, target.property, { account_id: caller?.account_id ?? null, address });
      return { flag: createdFlag(row), isNew: true };
    });
  }

  async function followFlags(tx: Tx, flags: FlagRow[]): Promise<void> {
    for (const type of TARGET_TYPES) {
      const some = flags.filter((flag) => flag.target_type === type);
      const ids = [...new Set(some.map(({ target_id }) => target_id))].sort();
      if (ids.length === 0) continue;
      const counts = new Map<string, FlagCounts>();
      for (const id of ids) counts.set(id, await countsToStore(tx, { type, id }));
      if (type !== 'place') await directory.setFlags(tx, { actors: type === 'entity' ? counts : new Map(), sources: type === 'source' ? counts : new Map() });
    }
    // Last, because the totals of the queue are rows that all of these transactions change.
    for (const type of TARGET_TYPES) {
      const ids = [...new Set(flags.filter((flag) => flag.target_type === type).map(({ target_id }) => target_id))];
      if (ids.length > 0) await refreshQueue(tx, type, ids);
    }
    await holds.end(tx, flags);
  }

  async function announce(tx: Tx, flag: FlagRow, targetId: string): Promise<void> {
    const signal = firehose && await resolvedSignal(directory, tx, { ...flag, target_id: targetId });
    if (!signal) return;
    const [signal_id] = await firehose.publish(tx, [signal]);
    await updateFlag(tx, flag.key, { signal_id });
    if (flag.target_type === 'source') await putSignalActors(tx, flag.key, (await directory.source(tx, targetId))!.entity_ids);
  }

  async function withdraw(tx: Tx, signalIds: string[]): Promise<void> {
    if (signalIds.length > 0) await firehose?.withdraw(tx, signalIds);
  }

  return {
    civic, directory,
    async withdrawSignals(tx, changes) {
      const deleted = changes.filter(({ change }) => change === 'deleted').map(({ id }) => id);
      const changed = changes.filter(({ change }) => change !== 'created').map(({ id }) => id);
      const gone: FlagRow[] = [];
      for (const flag of await sourceFlagsOfActors(tx, changed)) {
        const source = await directory.source(tx, flag.target_id);
        await putSignalActors(tx, flag.key, source?.entity_ids ?? []);
        if (!source) gone.push(flag);
      }
      await withdraw(tx, [...await takeSignals(tx, 'entity', deleted), ...await takeSignals(tx, 'source', gone.map(({ target_id }) => target_id))]);
    },
    flagEntity: async ({ entity_id, claim_id, ...flag }, caller) => create(await entityTarget(directory, entity_id, claim_id), flag, caller),
    flagPlace: async ({ place_key, ...flag }, caller) => create(await placeTarget(directory, place_key), flag, caller),
    flagSource: async ({ source_id, ...flag }, caller) => create(await sourceTarget(directory, civic.db.read, source_id), flag, caller),
    byReceipt,
    async receipt(text) {
      return receiptOf(await byReceipt(civic.db.read, text));
    },
    followFlags, announce, withdraw,
    audit,
    jobs: [holds.job],
  };
}

async function byReceipt(reader: Reader, text: string): Promise<FlagRow> {
  const receipt = readReceipt(text);
  const row = receipt && await flagByReceipt(reader, receipt);
  if (!row) throw problem('unknown_receipt', { detail: `No report has the receipt "${singleLine(text, 40)}".` });
  return row;
}

export function receiptOf({ id, flag_type, status, created_at, decided_at }: FlagRow): Receipt {
  return { id, flag_type, status, created_at, decided_at };
}

/** Returns flags as reviewers see them, with the addresses of their reporters and all messages. */
export async function reviewedFlags(reader: Reader, rows: FlagRow[]): Promise<ReviewedFlag[]> {
  const keys = rows.map(({ key }) => Number(key));
  const reporters = await reportersOf(reader, keys);
  const messages = await messagesOf(reader, keys);
  return rows.map((row) => ({
    ...reviewedFlag(row),
    reporter_email: reporters.get(Number(row.key))?.email ?? null,
    messages: messages.get(Number(row.key))!.map(({ id, kind, text, suspicion, account_id, at }) => ({ id, kind, text, suspicion, account_id, at })),
  }));
}

function reviewedFlag(row: FlagRow): Omit<ReviewedFlag, 'reporter_email' | 'messages'> {
  const { id, target_type, target_id, claim_id, flag_type, reason, status, account_id, suspicion, note, decided_by, decided_at, created_at, updated_at } = row;
  return { id, target_type, target_id, claim_id, flag_type, reason, proposal: proposalOf(row), status, account_id, suspicion, note, decided_by, decided_at, created_at, updated_at };
}

function proposalOf({ proposed_value: value, proposed_source: source_url }: FlagRow): Proposal | null {
  return value === null && source_url === null ? null : { value, source_url };
}
