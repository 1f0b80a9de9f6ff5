import { addressGroup, type Civic, type JobKind, type Tx } from 'civic';
import type { DirectoryService, HoldExpired } from 'civic/directory';
import { createHash } from 'node:crypto';
import type { FlagsConfig } from '../config.ts';
import type { Flags } from '../flags.ts';
import type { Reviewer } from '../review/decisions.ts';
import { flagsByKey, type FlagRow } from '../store.ts';
import { countHoldsOf, forgetHolders, holdOf, holdsOfFlags, insertHold, updateHold, wasHeldSince } from './store.ts';

/** Who reports: an account, or a client without one. */
export interface Holder {
  account_id: string | null;
  address: string | null;
}

/** Hides the e-mail and phone of a person while a privacy flag is checked. */
export interface Holds {
  /** Begins a hold for a new flag, if it is one about the privacy of a person and the limits allow it. `property` is that of the flagged claim. */
  begin(tx: Tx, flag: FlagRow, property: string | null, holder: Holder): Promise<void>;
  /** Ends the holds of flags that are dismissed or resolved. */
  end(tx: Tx, flags: FlagRow[]): Promise<void>;
  /** Begins the holds of flags again whose dismissal or resolution was undone, for the rest of their time. */
  resume(tx: Tx, flags: FlagRow[], reviewer: Pick<Reviewer, 'by'>): Promise<void>;
  /** Records that the time of a hold is over. */
  expired(tx: Tx, hold: HoldExpired): Promise<void>;
  job: JobKind;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** After a hold of a person, reports begin no other one for this long: holds in a row would hide the contacts for good. */
const PAUSE_MS = 30 * DAY_MS;
const HELD = ['email', 'phone'];

export function createHolds(civic: Civic<FlagsConfig>, directory: DirectoryService, audit: Flags['audit']): Holds {
  const ago = (ms: number) => new Date(civic.clock.now() - ms).toISOString();

  async function isAllowed(tx: Tx, { target_type, target_id, flag_type, suspicion }: FlagRow, property: string | null, reporter: string): Promise<boolean> {
    const isAboutContacts = target_type === 'entity' && flag_type === 'privacy' && (property === null || HELD.includes(property));
    if (!isAboutContacts || suspicion !== null || civic.config.hold_hours === 0) return false;
    return await countHoldsOf(tx, reporter, ago(DAY_MS)) < civic.config.max_holds_per_day && !await wasHeldSince(tx, target_id, ago(PAUSE_MS));
  }

  return {
    async begin(tx, flag, property, holder) {
      const reporter_hash = createHash('sha256').update(holder.account_id ?? addressGroup(holder.address ?? '')).digest('hex');
      if (!await isAllowed(tx, flag, property, reporter_hash)) return;
      const until = new Date(civic.clock.now() + civic.config.hold_hours * HOUR_MS).toISOString();
      const hold = await directory.holdContacts(tx, flag.target_id, until);
      if (hold === null) return;
      await insertHold(tx, { hold_id: hold.id, flag_key: flag.key, actor_id: flag.target_id, reporter_hash, at: civic.clock.iso() });
      await audit(tx, 'flags_held', { by: holder }, flag.id, { actor: flag.target_id, others: hold.others, until });
    },
    async end(tx, flags) {
      const closed = flags.filter(({ flag_type, status }) => flag_type === 'privacy' && (status === 'dismissed' || status === 'resolved'));
      for (const { hold_id, flag_key } of closed.length > 0 ? await holdsOfFlags(tx, closed.map(({ key }) => key)) : []) {
        const flag = closed.find(({ key }) => Number(key) === Number(flag_key))!;
        if (await directory.endHold(tx, hold_id)) await audit(tx, 'flags_hold_ended', { by: { account_id: flag.decided_by, address: null } }, flag.id, { actor: flag.target_id });
      }
    },
    async resume(tx, flags, reviewer) {
      const waiting = flags.filter(({ flag_type, status, suspicion }) => flag_type === 'privacy' && (status === 'open' || status === 'accepted') && suspicion === null);
      for (const { key, flag_key, at } of waiting.length > 0 ? await holdsOfFlags(tx, waiting.map((flag) => flag.key)) : []) {
        const flag = waiting.find((one) => Number(one.key) === Number(flag_key))!;
        const until = new Date(Date.parse(at) + civic.config.hold_hours * HOUR_MS).toISOString();
        const hold = until > civic.clock.iso() ? await directory.holdContacts(tx, flag.target_id, until) : null;
        if (hold === null) continue;
        await updateHold(tx, key, hold.id);
        await audit(tx, 'flags_held', reviewer, flag.id, { actor: flag.target_id, others: hold.others, until });
      }
    },
    async expired(tx, { id, entity_id }) {
      const hold = await holdOf(tx, id, entity_id);
      const flag = hold && (await flagsByKey(tx, [hold.flag_key]))[0];
      if (flag) await audit(tx, 'flags_hold_expired', { by: { account_id: null, address: null } }, flag.id, { actor: flag.target_id });
    },
    job: { name: 'flags.forget_holders', every_seconds: 3600, run: ({ write }) => write((tx) => forgetHolders(tx, ago(DAY_MS))) },
  };
}
