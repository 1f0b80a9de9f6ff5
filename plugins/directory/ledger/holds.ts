import { lazily, newId, type Clock, type Reader, type Tx } from 'civic';
import { isShown } from '../actors/choose.ts';
import { typeOf, type Cluster } from '../actors/derive.ts';
import { groupBy } from './group.ts';
import { addContact, claimsHeldWith, contactsOfHolds, deleteHold, forgetHeldClaims, hasHolds, heldAmongContacts, HELD_PROPERTIES, hideClaims, holdById, holdsOfActors, holdsOfRecords, insertHold, lockHolds, peopleInBlock, recordsOfHold, removeContact, showClaims, waitForChanges } from './holds-store.ts';
import { loadClusters, type Loaded } from './load.ts';
import type { ClaimRow } from './rows.ts';
import { lockActors, recordsById, recordsByKey } from './store.ts';

/** Loads the library of telephone numbers. */
const loadContact = lazily(() => import('./contact-key.ts'));

/** A contact that more than so many other people have is that of an office: a hold hides it in the entry of the reported person only. */
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
  /** Begins a hold; null when the actor is no public person, has no such claims, or has a hold already. The first key is that of the person. */
  begin(tx: Tx, actorId: string, until: string): Promise<{ id: string; actorKeys: number[] } | null>;
  /** Ends a hold; nothing when it has ended already. */
  end(tx: Tx, holdId: string): Promise<number[]>;
  /** Makes a hold hide the contacts of other people, too, if the node of an older version that began it did not. */
  complete(tx: Tx, holdId: string): Promise<number[]>;
  /** Hides held contacts of actors that are about to be derived, whatever showed them: an import, an edit, a merge, or the end of another hold. */
  hide(tx: Tx, deriving: Deriving): Promise<Deriving>;
  /** Ends the holds of records that are erased, and forgets their held claims. */
  erase(tx: Tx, recordKeys: number[]): Promise<number[]>;
  /** Returns the ids of other actors whose contacts a hold hides. */
  othersHeld(reader: Reader, holdId: string): Promise<string[]>;
}

/** A claim of a public person that states a contact. */
interface Contact {
  claim: ClaimRow;
  contact: string;
  actor_key: number;
}

/** A contact of a person who has a hold. */
interface OwnContact {
  hold_key: number;
  actor_key: number;
  contact: string;
}

export function createHolds(clock: Clock): Holds {
  const isPublicPerson = ({ records: [canonical], claims }: Cluster): boolean => canonical?.visibility === 'public' && typeOf(claims, clock.iso()) === 'person';

  /** Returns the contacts of a person, also held ones; none for other actors. */
  async function contactsOfPerson(tx: Tx, recordKey: number): Promise<Pick<Contact, 'contact' | 'actor_key'>[]> {
    const { actor_key } = (await recordsByKey(tx, [recordKey]))[0]!;
    const { clusters: [cluster] } = await loadClusters(tx, [actor_key]);
    if (!isPublicPerson(cluster!)) return [];
    const { contactKey } = await loadContact();
    return cluster!.claims.filter((claim) => isContact(claim) || cluster!.held!.has(claim.key)).map((claim) => ({ actor_key, contact: contactKey(claim) }));
  }

  /** Returns the contacts of a person who can get a hold. */
  async function contactsToHold(tx: Tx, recordKey: number): Promise<Pick<Contact, 'contact' | 'actor_key'>[]> {
    const contacts = await contactsOfPerson(tx, recordKey);
    return contacts.length > 0 && (await holdsOfActors(tx, [contacts[0]!.actor_key])).length > 0 ? [] : contacts;
  }

  /** Returns the contacts that public people among these actors show. */
  async function contactsIn(clusters: Cluster[]): Promise<Contact[]> {
    const people = clusters.filter((cluster) => cluster.claims.some(isContact) && isPublicPerson(cluster));
    if (people.length === 0) return [];
    const { contactKey } = await loadContact();
    return people.flatMap(({ key, claims }) => claims.filter(isContact).map((claim) => ({ claim, contact: contactKey(claim), actor_key: key })));
  }

  /** Makes holds hide contacts of other people, too, unless many share them. Returns the keys of these people. */
  async function addContacts(tx: Tx, contacts: OwnContact[], deriving: Contact[]): Promise<number[]> {
    const known = new Set((await contactsOfHolds(tx, contacts.map(({ hold_key }) => hold_key))).map(({ hold_key, contact }) => `${hold_key} ${contact}`));
    const sharing: number[] = [];
    for (const { hold_key, actor_key, contact } of contacts) {
      if (known.has(`${hold_key} ${contact}`)) continue;
      known.add(`${hold_key} ${contact}`);
      const others = await othersWith(tx, { contact, actor_key }, deriving);
      if (others.length > MOST_SHARING) continue;
      await addContact(tx, { contact, hold_key });
      sharing.push(...others);
    }
    return [...new Set(sharing)];
  }

  /** Adds contacts that held people got to their holds. Returns the keys of others who have them. */
  async function addOwnContacts(tx: Tx, contacts: Contact[]): Promise<number[]> {
    const own = await ownHolds(tx, contacts);
    return addContacts(tx, contacts.flatMap(({ contact, actor_key }) => (own.has(actor_key) ? [{ contact, actor_key, hold_key: own.get(actor_key)! }] : [])), contacts);
  }

  /** Shows held contacts again that many people have by now, except in the entries of the reported people. Returns the keys of the actors, locked. */
  async function showOffices(tx: Tx, contacts: Contact[]): Promise<number[]> {
    const shown: number[] = [];
    for (const [contact, rows] of groupBy(await heldAmongContacts(tx, contacts.map((one) => one.contact)), (row) => row.contact)) {
      const offices: typeof rows = [];
      for (const row of rows) if ((await othersWith(tx, row, contacts)).length > MOST_SHARING) offices.push(row);
      if (offices.length === rows.length) shown.push(...await showOffice(tx, contact));
      for (const row of offices) await removeContact(tx, row);
    }
    return [...new Set(shown)];
  }

  async function showOffice(tx: Tx, contact: string): Promise<number[]> {
    const { contactKey } = await loadContact();
    const held = (await claimsHeldWith(tx, contact)).filter((claim) => contactKey(claim) === contact);
    const own = await ownHolds(tx, held);
    const others = held.filter(({ actor_key }) => !own.has(actor_key));
    const keys = others.map(({ actor_key }) => actor_key);
    await lockActors(tx, keys);
    await showClaims(tx, others.map(({ key }) => key));
    return keys;
  }

  /** Hides held contacts of actors. Returns the keys of the hidden claims. */
  async function hideContacts(tx: Tx, clusters: Cluster[]): Promise<Set<number>> {
    const contacts = await contactsIn(clusters);
    if (contacts.length === 0) return new Set();
    const own = await ownHolds(tx, contacts);
    const holdOf = new Map((await heldAmongContacts(tx, contacts.map(({ contact }) => contact))).map(({ contact, hold_key }) => [contact, hold_key]));
    const held = contacts.flatMap(({ claim, contact, actor_key }) => {
      const hold_key = own.get(actor_key) ?? holdOf.get(contact);
      return hold_key === undefined ? [] : [{ key: claim.key, status: claim.status, hold_key }];
    });
    await hideClaims(tx, held);
    return new Set(held.map(({ key }) => key));
  }

  return {
    async begin(tx, actorId, until) {
      const [record] = await recordsById(tx, [actorId]);
      if (!record || (await contactsToHold(tx, record.key)).length === 0) return null;
      await waitForChanges(tx);
      await lockActors(tx, [record.actor_key]);
      await lockHolds(tx);
      const contacts = await contactsToHold(tx, record.key);
      if (contacts.length === 0) return null;
      const { id, key: hold_key } = await insertHold(tx, { id: newId(clock.now()), record_key: record.key, ends_at: until, created_at: clock.iso() });
      const sharing = await addContacts(tx, contacts.map((contact) => ({ hold_key, ...contact })), []);
      return { id, actorKeys: [contacts[0]!.actor_key, ...sharing] };
    },
    async end(tx, holdId) {
      const hold = await holdById(tx, holdId);
      if (!hold) return [];
      await lockActors(tx, await actorsOf(tx, await recordsOfHold(tx, hold)));
      await lockHolds(tx);
      return actorsOf(tx, await deleteHold(tx, hold));
    },
    async complete(tx, holdId) {
      const hold = await holdById(tx, holdId);
      const contacts = hold ? await contactsOfPerson(tx, hold.record_key) : [];
      let isOfOffices = true;
      for (const contact of contacts) if ((await othersWith(tx, contact, [])).length <= MOST_SHARING) isOfOffices = false;
      // Most such holds are about contacts of offices only: changes do not wait for those.
      if (isOfOffices) return [];
      await waitForChanges(tx);
      await lockActors(tx, [contacts[0]!.actor_key]);
      await lockHolds(tx);
      if (!await holdById(tx, holdId)) return [];
      const sharing = await addContacts(tx, (await contactsOfPerson(tx, hold!.record_key)).map((contact) => ({ hold_key: hold!.key, ...contact })), []);
      return [contacts[0]!.actor_key, ...sharing];
    },
    async hide(tx, deriving) {
      if (!await hasHolds(tx)) return deriving;
      const { fresh, changed } = deriving;
      const contacts = await contactsIn([...fresh.clusters, ...changed.clusters]);
      const sharing = await addOwnContacts(tx, contacts);
      const shown = await showOffices(tx, contacts);
      const derived = new Set([...fresh.clusters, ...changed.clusters].map(({ key }) => key));
      const again = await loadLocked(tx, [...new Set([...sharing.filter((key) => !derived.has(key)), ...shown])]);
      const isAgain = new Set(again.clusters.map(({ key }) => key));
      const all = { clusters: [...changed.clusters.filter(({ key }) => !isAgain.has(key)), ...again.clusters], sources: new Map([...changed.sources, ...again.sources]) };
      const hidden = await hideContacts(tx, [...fresh.clusters, ...all.clusters]);
      return { fresh: { ...fresh, clusters: withHidden(fresh.clusters, hidden) }, changed: { ...all, clusters: withHidden(all.clusters, hidden) } };
    },
    async erase(tx, recordKeys) {
      const shown: number[] = [];
      for (const hold of await holdsOfRecords(tx, recordKeys)) shown.push(...await deleteHold(tx, hold));
      await forgetHeldClaims(tx, recordKeys);
      return actorsOf(tx, shown);
    },
    async othersHeld(reader, holdId) {
      const hold = await holdById(reader, holdId);
      const [own, ...others] = hold ? await actorsOf(reader, await recordsOfHold(reader, hold)) : [];
      return (await recordsByKey(reader, others.filter((key) => key !== own))).map(({ id }) => id);
    },
  };
}

/** Returns the holds of the people who have these contacts, by person. */
async function ownHolds(tx: Tx, contacts: { actor_key: number }[]): Promise<Map<number, number>> {
  const keys = [...new Set(contacts.map(({ actor_key }) => actor_key))];
  return new Map((keys.length > 0 ? await holdsOfActors(tx, keys) : []).map((hold) => [hold.actor_key, hold.key]));
}

/**
 * Returns the keys of other public people who have a contact: those that are about to be derived, those of whom it is hidden, and those who show it, by their blocking keys,
 * which are those of the first addresses and numbers of each. Not all of them when there are many.
 */
async function othersWith(tx: Tx, { contact, actor_key }: Pick<Contact, 'contact' | 'actor_key'>, deriving: Contact[]): Promise<number[]> {
  const { blockOfContact, contactKey } = await loadContact();
  const keys = [
    ...deriving.filter((one) => one.contact === contact && isShown(one.claim)).map((one) => one.actor_key),
    ...(await claimsHeldWith(tx, contact)).filter((claim) => contactKey(claim) === contact && isShown(claim)).map((claim) => claim.actor_key),
    ...await peopleInBlock(tx, blockOfContact(contact), MOST_SHARING + 2),
  ];
  return [...new Set(keys)].filter((key) => key !== actor_key);
}

async function loadLocked(tx: Tx, actorKeys: number[]): Promise<Loaded> {
  if (actorKeys.length === 0) return { clusters: [], sources: new Map() };
  await lockActors(tx, actorKeys);
  return loadClusters(tx, actorKeys);
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

/** Returns the keys of the actors that records are, in the order of the records. */
async function actorsOf(reader: Reader, recordKeys: number[]): Promise<number[]> {
  const actors = new Map((await recordsByKey(reader, recordKeys)).map(({ key, actor_key }) => [key, actor_key]));
  return [...new Set(recordKeys.flatMap((key) => actors.get(key) ?? []))];
}
