import { lazily, newId, type Clock, type Tx } from 'civic';
import { isShown } from '../actors/choose.ts';
import { typeOf, type Cluster } from '../actors/derive.ts';
import { addContact, contactsOfHolds, deleteHold, forgetHeldClaims, hasHolds, HELD_PROPERTIES, hideClaims, holdById, holdsOfActors, holdsOfContacts, holdsOfRecords, insertHold, lockHolds, peopleInBlock, recordsOfHold, waitForChanges } from './holds-store.ts';
import { loadClusters, type Loaded } from './load.ts';
import type { ClaimRow } from './rows.ts';
import { lockActors, recordsById, recordsByKey } from './store.ts';

/** Loads the library of telephone numbers. */
const loadContact = lazily(() => import('./contact-key.ts'));

/** A contact that more other people have is that of an office: a hold hides it of the held person only. */
const MOST_SHARING = 5;

/** Actors about to be derived: new ones, and those that were there before. */
export interface Deriving {
  fresh: Loaded;
  changed: Loaded;
}

/**
 * Hides the e-mail and phone claims of a person for a time. As long as a hold lasts, no public person shows a contact that it is about, except one that many share.
 * A hold that begins or ends only returns the keys of the actors to derive again; `hide` hides their claims.
 */
export interface Holds {
  /** Begins a hold; null when the actor is no public person, has no such claims, or has a hold already. */
  begin(tx: Tx, actorId: string, until: string): Promise<{ id: string; actorKeys: number[] } | null>;
  /** Ends a hold; nothing when it has ended already. */
  end(tx: Tx, holdId: string): Promise<number[]>;
  /** Hides held contacts of actors that are about to be derived, whatever showed them: an import, an edit, a merge, or the end of another hold. */
  hide(tx: Tx, deriving: Deriving): Promise<Deriving>;
  /** Ends the holds of records that are erased, and forgets their held claims. */
  erase(tx: Tx, recordKeys: number[]): Promise<number[]>;
}

/** A contact of a person who has a hold. */
interface OwnContact {
  hold_key: number;
  actor_key: number;
  contact: string;
}

export function createHolds(clock: Clock): Holds {
  const isPublicPerson = ({ records: [canonical], claims }: Cluster): boolean => canonical?.visibility === 'public' && typeOf(claims, clock.iso()) === 'person';

  /** Returns the contacts of a person who can get a hold; none for other actors. */
  async function contactsToHold(tx: Tx, recordKey: number): Promise<{ actor_key: number; contacts: ClaimRow[] }> {
    const { actor_key } = (await recordsByKey(tx, [recordKey]))[0]!;
    const { clusters: [cluster] } = await loadClusters(tx, [actor_key]);
    const isHoldable = isPublicPerson(cluster!) && (await holdsOfActors(tx, [actor_key])).length === 0;
    return { actor_key, contacts: isHoldable ? cluster!.claims.filter((claim) => isContact(claim) || cluster!.held!.has(claim.key)) : [] };
  }

  /**
   * Makes holds hide contacts of other people, too, unless many share them. Returns the keys of the people who may have them, by their blocking keys:
   * those of the first addresses and numbers of each.
   */
  async function addContacts(tx: Tx, contacts: OwnContact[]): Promise<number[]> {
    const known = new Set((await contactsOfHolds(tx, contacts.map(({ hold_key }) => hold_key))).map(({ hold_key, contact }) => `${hold_key} ${contact}`));
    const { blockOfContact } = await loadContact();
    const sharing: number[] = [];
    for (const { hold_key, actor_key, contact } of contacts) {
      if (known.has(`${hold_key} ${contact}`)) continue;
      known.add(`${hold_key} ${contact}`);
      const others = (await peopleInBlock(tx, blockOfContact(contact), MOST_SHARING + 2)).filter((key) => key !== actor_key);
      if (others.length > MOST_SHARING) continue;
      await addContact(tx, { contact, hold_key });
      sharing.push(...others);
    }
    return [...new Set(sharing)];
  }

  /** Hides held contacts of actors. Returns the keys of the hidden claims, and of further people who have contacts that were added to a held person. */
  async function hideContacts(tx: Tx, clusters: Cluster[]): Promise<{ hidden: Set<number>; sharing: number[] }> {
    const people = clusters.filter((cluster) => cluster.claims.some(isContact) && isPublicPerson(cluster));
    if (people.length === 0) return { hidden: new Set(), sharing: [] };
    const { contactKey } = await loadContact();
    const own = new Map((await holdsOfActors(tx, people.map(({ key }) => key))).map((hold) => [hold.actor_key, hold.key]));
    const contacts = people.flatMap(({ key, claims }) => claims.filter(isContact).map((claim) => ({ claim, contact: contactKey(claim), actor_key: key, hold_key: own.get(key) })));
    const ownContacts = contacts.filter((one): one is typeof one & OwnContact => one.hold_key !== undefined);
    const sharing = ownContacts.length > 0 ? await addContacts(tx, ownContacts) : [];
    const holdOf = await holdsOfContacts(tx, [...new Set(contacts.map(({ contact }) => contact))]);
    const held = contacts.flatMap(({ claim, contact, hold_key = holdOf.get(contact) }) => (hold_key === undefined ? [] : [{ key: claim.key, status: claim.status, hold_key }]));
    await hideClaims(tx, held);
    return { hidden: new Set(held.map(({ key }) => key)), sharing };
  }

  /** Loads actors, locked, without their held contacts. */
  async function loadHidden(tx: Tx, actorKeys: number[]): Promise<Loaded> {
    await lockActors(tx, actorKeys);
    const loaded = await loadClusters(tx, actorKeys);
    return { ...loaded, clusters: withHidden(loaded.clusters, (await hideContacts(tx, loaded.clusters)).hidden) };
  }

  return {
    async begin(tx, actorId, until) {
      const [record] = await recordsById(tx, [actorId]);
      if (!record || (await contactsToHold(tx, record.key)).contacts.length === 0) return null;
      await lockActors(tx, [record.actor_key]);
      await lockHolds(tx);
      await waitForChanges(tx);
      const { actor_key, contacts } = await contactsToHold(tx, record.key);
      if (contacts.length === 0) return null;
      const { id, key: hold_key } = await insertHold(tx, { id: newId(clock.now()), record_key: record.key, ends_at: until, created_at: clock.iso() });
      const { contactKey } = await loadContact();
      const sharing = await addContacts(tx, contacts.map((claim) => ({ hold_key, actor_key, contact: contactKey(claim) })));
      return { id, actorKeys: [actor_key, ...sharing] };
    },
    async end(tx, holdId) {
      const hold = await holdById(tx, holdId);
      if (!hold) return [];
      await lockActors(tx, await actorsOf(tx, await recordsOfHold(tx, hold)));
      await lockHolds(tx);
      return actorsOf(tx, await deleteHold(tx, hold));
    },
    async hide(tx, deriving) {
      if (!await hasHolds(tx)) return deriving;
      const { fresh, changed } = deriving;
      const { hidden, sharing } = await hideContacts(tx, [...fresh.clusters, ...changed.clusters]);
      const derived = new Set([...fresh.clusters, ...changed.clusters].map(({ key }) => key));
      const further = sharing.filter((key) => !derived.has(key));
      const also = further.length > 0 ? await loadHidden(tx, further) : { clusters: [], sources: new Map() };
      return {
        fresh: { ...fresh, clusters: withHidden(fresh.clusters, hidden) },
        changed: { clusters: [...withHidden(changed.clusters, hidden), ...also.clusters], sources: new Map([...changed.sources, ...also.sources]) },
      };
    },
    async erase(tx, recordKeys) {
      const shown: number[] = [];
      for (const hold of await holdsOfRecords(tx, recordKeys)) shown.push(...await deleteHold(tx, hold));
      await forgetHeldClaims(tx, recordKeys);
      return actorsOf(tx, shown);
    },
  };
}

/** Returns whether a claim states a contact that can be read: retracted claims are in the history. */
function isContact({ property, status }: ClaimRow): boolean {
  return HELD_PROPERTIES.includes(property) && status !== 'hidden';
}

function withHidden(clusters: Cluster[], hidden: Set<number>): Cluster[] {
  if (hidden.size === 0) return clusters;
  return clusters.map((cluster) => {
    const own = cluster.claims.filter(({ key }) => hidden.has(key));
    if (own.length === 0) return cluster;
    const held = new Set([...cluster.held ?? [], ...own.filter(isShown).map(({ key }) => key)]);
    return { ...cluster, held, claims: cluster.claims.map((claim) => (hidden.has(claim.key) ? { ...claim, status: 'hidden' } : claim)) };
  });
}

async function actorsOf(tx: Tx, recordKeys: number[]): Promise<number[]> {
  return [...new Set((await recordsByKey(tx, recordKeys)).map(({ actor_key }) => actor_key))];
}
