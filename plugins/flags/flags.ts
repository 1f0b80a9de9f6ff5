import { isId, newId, problem, singleLine, type Caller, type Civic, type Tx } from 'civic';
import type { DirectoryService } from 'civic/directory';
import type { FirehoseService } from 'civic/firehose';
import type { FlagsConfig } from './config.ts';
import type { FlagEvent } from './events.ts';
import { newReceipt, readReceipt } from './receipt.ts';
import { resolvedSignal } from './signal.ts';
import { countsToStore, createdFlag, flagByReceipt, flagToDecide, insertFlag, takeSignals, targetsWithReason, updateFlag, type FlagRow } from './store.ts';
import { hashOfReason, suspicionOf } from './suspicion.ts';
import { entityTarget, sourceTarget, type FoundTarget } from './targets.ts';
import type { CreatedFlag, Decision, FlagType, Proposal, Receipt, ReviewedFlag, Status } from './types.ts';

export interface NewFlag {
  flag_type: FlagType;
  reason: string;
  proposal?: Proposal;
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
  /** Withdraws the signals that name deleted actors. */
  withdrawSignals(tx: Tx, actorIds: string[]): Promise<void>;
  /** Returns the status of a flag by its receipt. Throws `unknown_receipt`. */
  receipt(text: string): Promise<Receipt>;
  /** Accepts, dismisses or resolves a flag. Throws `unknown_flag` and `flag_transition`. */
  decide(id: string, decision: { status: Decision; note?: string }, caller: Caller): Promise<ReviewedFlag>;
}

export interface Flagged {
  flag: CreatedFlag;
  /** False when the account had the same flag open already. */
  isNew: boolean;
}

const DAY_MS = 86_400_000;
const NEXT: Record<Status, readonly Status[]> = { open: ['accepted', 'dismissed'], accepted: ['resolved'], dismissed: [], resolved: [] };

export function createFlags(civic: Civic<FlagsConfig>): Flags {
  const directory = civic.service('directory');
  const firehose: FirehoseService | null = civic.serviceIfOn('firehose');

  async function create(target: FoundTarget, { flag_type, reason, proposal, isHiddenFieldFilled = false }: NewFlag, caller: Caller | null): Promise<Flagged> {
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
      if (row.id !== id) return { flag: createdFlag(row), isNew: false };
      if (row.suspicion === null) await showCounts(tx, row);
      await civic.emit(tx, 'flags.created', eventOf(row));
      return { flag: createdFlag(row), isNew: true };
    });
  }

  /** Stores the counts of the target in the directory, in the transaction of the flag. */
  async function showCounts(tx: Tx, { target_type: type, target_id: id }: FlagRow): Promise<void> {
    const counts = new Map([[id, await countsToStore(tx, { type, id })]]);
    await directory.setFlags(tx, { actors: type === 'entity' ? counts : new Map(), sources: type === 'source' ? counts : new Map() });
  }

  async function announce(tx: Tx, flag: FlagRow): Promise<void> {
    const signal = firehose && await resolvedSignal(directory, tx, flag);
    if (!signal) return;
    const [signal_id] = await firehose.publish(tx, [signal]);
    await updateFlag(tx, flag.key, { signal_id });
  }

  return {
    civic, directory,
    async withdrawSignals(tx, actorIds) {
      const ids = actorIds.length > 0 ? await takeSignals(tx, actorIds) : [];
      if (ids.length > 0) await firehose?.withdraw(tx, ids);
    },
    flagEntity: async ({ entity_id, claim_id, ...flag }, caller) => create(await entityTarget(directory, entity_id, claim_id), flag, caller),
    flagSource: async ({ source_id, ...flag }, caller) => create(await sourceTarget(directory, civic.db.read, source_id), flag, caller),
    async receipt(text) {
      const receipt = readReceipt(text);
      const row = receipt && await flagByReceipt(civic.db.read, receipt);
      if (!row) throw problem('unknown_receipt', { detail: `No report has the receipt "${singleLine(text, 40)}".` });
      return { id: row.id, flag_type: row.flag_type, status: row.status, created_at: row.created_at, decided_at: row.decided_at };
    },
    decide: (id, { status, note }, caller) => civic.db.write(async (tx) => {
      const row = isId(id) ? await flagToDecide(tx, id.toLowerCase()) : undefined;
      if (!row) throw problem('unknown_flag', { detail: `No flag has the id ${singleLine(id, 100)}.` });
      if (!NEXT[row.status].includes(status)) throw problem('flag_transition', { detail: transitionDetail(row.status, status) });
      const at = civic.clock.iso();
      // Accepting a suspected flag clears the suspicion, so that it is counted; a dismissed one stays suspected.
      const suspicion = status === 'dismissed' ? row.suspicion : null;
      const decided = await updateFlag(tx, row.key, { status, note: note ?? row.note, suspicion, open_key: null, decided_by: caller.account_id, decided_at: at, updated_at: at });
      await showCounts(tx, decided);
      await civic.emit(tx, 'flags.decided', eventOf(decided));
      if (status === 'resolved') await announce(tx, decided);
      return reviewedFlag(decided);
    }),
  };
}

function transitionDetail(from: Status, to: Status): string {
  const next = NEXT[from];
  return `The flag is ${from} and cannot become ${to}: ${next.length > 0 ? `it can become ${next.join(' or ')}` : 'its decision is final'}.`;
}

function eventOf({ id, target_type, target_id, flag_type, status, suspicion }: FlagRow): FlagEvent {
  return { id, target_type, target_id, flag_type, status, is_suspected: suspicion !== null };
}

export function reviewedFlag(row: FlagRow): ReviewedFlag {
  const { id, target_type, target_id, claim_id, flag_type, reason, status, account_id, suspicion, note, decided_by, decided_at, created_at, updated_at } = row;
  return { id, target_type, target_id, claim_id, flag_type, reason, proposal: proposalOf(row), status, account_id, suspicion, note, decided_by, decided_at, created_at, updated_at };
}

function proposalOf({ proposed_value: value, proposed_source: source_url }: FlagRow): Proposal | null {
  return value === null && source_url === null ? null : { value, source_url };
}
