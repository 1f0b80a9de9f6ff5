import { lazily, newId, type Clock, type Tx } from 'civic';
import type { Cluster } from '../actors/derive.ts';
import type { ActorDraft } from '../types.ts';
import { deleteHold, forgetHeldClaims, HELD_PROPERTIES, heldContacts, hideClaims, hideContacts, holdById, holdsOfActors, holdsOfRecords, insertHold, typeOfActor, type HoldRow } from './holds-store.ts';
import type { ClaimRow } from './rows.ts';
import { lockActors, recordsById, recordsByKey } from './store.ts';

/** Loads the library of telephone numbers. */
const loadContact = lazily(() => import('./contact-key.ts'));

/** Hides the e-mail and phone claims of a person for a time. Each function returns the keys of the actors to derive again. */
export interface Holds {
  /** Begins a hold; null when the actor is no public person, has no such claims, or has a hold already. */
  begin(tx: Tx, actorId: string, until: string): Promise<{ id: string; actorKeys: number[] } | null>;
  /** Ends a hold; nothing when it has ended already. */
  end(tx: Tx, holdId: string): Promise<number[]>;
  /** Hides contacts that were added to held actors since, by an import or a merge. */
  keep(tx: Tx, actorKeys: number[]): Promise<void>;
  /** Hides contacts of public people who were just entered that equal contacts of a hold: an import may name the held person in another way. */
  extend(tx: Tx, created: { cluster: Cluster; draft: Pick<ActorDraft, 'type'> }[]): Promise<number[]>;
  /** Ends the holds of records that are erased, and forgets their held claims. */
  erase(tx: Tx, recordKeys: number[]): Promise<number[]>;
}

export function createHolds(clock: Clock): Holds {
  return {
    async begin(tx, actorId, until) {
      const [found] = await recordsById(tx, [actorId]);
      if (!found) return null;
      await lockActors(tx, [found.actor_key]);
      const [record] = await recordsByKey(tx, [found.key]);
      const isPerson = await typeOfActor(tx, record!.actor_key) === 'person';
      if (!isPerson || record!.visibility !== 'public' || record!.deleted_at !== null || (await holdsOfActors(tx, [record!.actor_key])).length > 0) return null;
      const hold: HoldRow = await insertHold(tx, { id: newId(clock.now()), record_key: record!.key, ends_at: until, created_at: clock.iso() });
      if (await hideContacts(tx, { ...hold, actor_key: record!.actor_key }) > 0) return { id: hold.id, actorKeys: [record!.actor_key] };
      await deleteHold(tx, hold);
      return null;
    },
    async end(tx, holdId) {
      const hold = await holdById(tx, holdId);
      if (!hold) return [];
      const [record] = await recordsByKey(tx, [hold.record_key]);
      await lockActors(tx, [record!.actor_key]);
      return actorsOf(tx, await deleteHold(tx, hold));
    },
    async keep(tx, actorKeys) {
      for (const hold of await holdsOfActors(tx, actorKeys)) {
        // A hold of a person does not extend to the organization that the person was merged into by mistake.
        if (await typeOfActor(tx, hold.actor_key) === 'person') await hideContacts(tx, hold);
      }
    },
    async extend(tx, created) {
      const people = created.filter(({ cluster, draft }) => draft.type === 'person' && cluster.records[0]!.visibility === 'public');
      const contacts = people.flatMap(({ cluster }) => cluster.claims.filter(isContact));
      const held = contacts.length > 0 ? await heldContacts(tx) : [];
      if (held.length === 0) return [];
      const { contactKey } = await loadContact();
      const holdOf = new Map(held.map((claim) => [contactKey(claim), claim.hold_key]));
      const same = contacts.flatMap((claim) => {
        const hold_key = holdOf.get(contactKey(claim));
        return hold_key === undefined ? [] : [{ key: claim.key, status: claim.status, hold_key, record_key: claim.record_key }];
      });
      await hideClaims(tx, same);
      return [...new Set(same.map(({ record_key }) => record_key))];
    },
    async erase(tx, recordKeys) {
      const shown: number[] = [];
      for (const hold of await holdsOfRecords(tx, recordKeys)) shown.push(...await deleteHold(tx, hold));
      await forgetHeldClaims(tx, recordKeys);
      return actorsOf(tx, shown);
    },
  };
}

function isContact({ property, status }: ClaimRow): boolean {
  return HELD_PROPERTIES.includes(property) && (status === 'active' || status === 'disputed');
}

async function actorsOf(tx: Tx, recordKeys: number[]): Promise<number[]> {
  return [...new Set((await recordsByKey(tx, recordKeys)).map(({ actor_key }) => actor_key))];
}
