import type { Reader, Tx } from 'civic';
import { claimOf } from '../actors/wire.ts';
import { heldClaims } from '../ledger/holds-store.ts';
import type { BegunHold } from '../ledger/service.ts';
import { recordsById, sourcesByKey } from '../ledger/store.ts';
import type { Directory } from '../service.ts';
import type { Claim } from '../types.ts';

/** Hides contacts of people for a time, while a report about their privacy is checked. */
export interface HoldWrites {
  /**
   * Hides the e-mail and phone claims of a public person until a time, also those that are added meanwhile, and the same contacts of other public people,
   * unless many have them. Holds end by themselves. Returns null when the actor is no person, has no such claims, or has a hold already.
   */
  holdContacts(tx: Tx, actorId: string, until: string): Promise<BegunHold | null>;
  /** Ends a hold. Claims that were retracted meanwhile stay retracted. Returns whether the hold had not ended yet. */
  endHold(tx: Tx, holdId: string): Promise<boolean>;
  /** Returns the claims of an actor that would be shown without a hold, for reviewers only; null when there are none. */
  heldContacts(reader: Reader, actorId: string): Promise<HeldContacts | null>;
}

export interface HeldContacts {
  ends_at: string;
  claims: Claim[];
}

export function offeredHolds({ ledger }: Directory): HoldWrites {
  return {
    holdContacts: ledger.holdContacts,
    endHold: ledger.endHold,
    async heldContacts(reader, actorId) {
      const [record] = await recordsById(reader, [actorId]);
      const held = record ? await heldClaims(reader, [record.actor_key]) : [];
      if (held.length === 0) return null;
      const sources = new Map((await sourcesByKey(reader, held.map(({ source_key }) => source_key))).map(({ key, id }) => [key, id]));
      return { ends_at: held[0]!.ends_at, claims: held.map((claim) => claimOf(claim, sources.get(claim.source_key)!)) };
    },
  };
}
