import { lazily, newId, problem, type Reader, type Tx } from 'civic';
import { isShown } from '../actors/choose.ts';
import { tagged } from '../actors/derive.ts';
import { actorsByIds, actorsByKey, type ShownActor } from '../actors/read-store.ts';
import { groupBy } from '../ledger/group.ts';
import { heldAmong } from '../ledger/holds-store.ts';
import { claimsOfActors, sourcesByKey } from '../ledger/store.ts';
import type { Places } from '../places/service.ts';
import { stateByAbbreviation } from '../places/states.ts';
import type { Actor, ClaimValue } from '../types.ts';
import { candidatesFor } from './candidates.ts';
import type { RegisterKey } from './key.ts';
import { personOf, personOfRequest, type Statements, type UnlistRequest } from './people.ts';
import { deleteEntry, entriesWith, entryById, hashesOf, insertEntry, isEmpty, type EntryRow } from './store.ts';
import type { Person, Trait } from './traits.ts';

const loadTraits = lazily(() => import('./traits.ts'));

/** The register of people who asked not to be listed. It knows hashes only. */
export interface Register {
  isEmpty(reader: Reader): Promise<boolean>;
  /** Returns whether the register has these people. */
  has(reader: Reader, people: Statements[]): Promise<boolean[]>;
  /** Adds an entry, or returns the one that has the same hashes. */
  add(tx: Tx, request: UnlistRequest, by: { reference: string | null; account_id: string | null; now: string }): Promise<{ entry: EntryRow; isNew: boolean; kinds: Trait['kind'][] }>;
  /** Removes an entry; null when there is none of this id. */
  remove(tx: Tx, id: string): Promise<EntryRow | null>;
  /** Returns the ids of the entries that have a person. */
  entriesOf(reader: Reader, request: UnlistRequest): Promise<string[]>;
  /** Returns the public people that a request is about. */
  listed(reader: Reader, request: UnlistRequest): Promise<ListedPerson[]>;
  /** Returns which of these actors an entry is about. */
  matching(reader: Reader, entryId: string, actorIds: string[]): Promise<string[]>;
}

export type ListedPerson = Pick<Actor, 'id' | 'name' | 'places'>;

/** The problem of a write about a person in the register. The response does not name the person. */
export function unlistedPerson(): Error {
  return problem('unlisted_person', { detail: 'The register of people who asked not to be listed has this person.' });
}

export function createRegister({ key, places }: { key: RegisterKey; places: Places }): Register {
  /** Returns the keyed hashes of traits, each once. */
  const hashed = (traits: Trait[]) => [...new Map(traits.map(({ kind, text }) => [text, { kind, hash: key.hash(text) }])).values()];

  /** Returns the hashes of each person. A name is combined with the place, its county and its state, because an entry may have any of them. */
  async function hashesFor(reader: Reader, people: Person[]): Promise<{ kind: Trait['kind']; hash: string }[][]> {
    const { traitsOf } = await loadTraits();
    const rows = await places.byKeys(reader, [...new Set(people.flatMap((person) => person.places))]);
    const around = (place: string): string[] => {
      const row = rows.get(place);
      const state = row?.state ? stateByAbbreviation(row.state)?.slug : null;
      return [place, ...(row?.county ? [row.county] : []), ...(state ? [state] : [])];
    };
    return people.map((person) => hashed(traitsOf({ ...person, places: [...new Set(person.places.flatMap(around))] })));
  }

  /** Returns the hashes of a request. A name is combined with the place of the request only. */
  async function hashesOfRequest(request: UnlistRequest): Promise<{ kind: Trait['kind']; hash: string }[]> {
    const { traitsOf } = await loadTraits();
    return hashed(traitsOf(personOfRequest(request)));
  }

  async function peopleOf(reader: Reader, actorKeys: number[]): Promise<Map<number, Person>> {
    const stated = await claimsOfActors(reader, actorKeys);
    const held = await heldAmong(reader, stated);
    const claims = stated.filter((claim) => isShown(claim) || held.has(claim.key));
    const sources = new Map((await sourcesByKey(reader, [...new Set(claims.map(({ source_key }) => source_key))])).map(({ key: sourceKey, url }) => [sourceKey, url]));
    return new Map([...groupBy(claims, ({ actor_key }) => actor_key)].map(([actorKey, own]) => [actorKey, personOf({
      claims: own.map(({ property, value }) => ({ property, value: JSON.parse(value) as ClaimValue })), urls: own.map(({ source_key }) => sources.get(source_key)!),
    })]));
  }

  /** Returns which actors have one of the hashes. */
  async function withHashes(reader: Reader, actorKeys: number[], wanted: ReadonlySet<string>): Promise<number[]> {
    const people = [...await peopleOf(reader, actorKeys)];
    const hashes = await hashesFor(reader, people.map(([, person]) => person));
    return people.filter((_, at) => hashes[at]!.some(({ hash }) => wanted.has(hash))).map(([actorKey]) => actorKey);
  }

  return {
    isEmpty,
    async has(reader, people) {
      if (people.length === 0 || key.id() === null || await isEmpty(reader)) return people.map(() => false);
      const hashes = await hashesFor(reader, people.map(personOf));
      const known = new Set((await entriesWith(reader, hashes.flat().map(({ hash }) => hash))).map(({ hash }) => hash));
      return hashes.map((own) => own.some(({ hash }) => known.has(hash)));
    },
    async add(tx, request, { reference, account_id, now }) {
      key.create();
      const hashes = await hashesOfRequest(request);
      const kinds = [...new Set(hashes.map(({ kind }) => kind))];
      const same = await sameEntry(tx, hashes.map(({ hash }) => hash));
      if (same) return { entry: same, isNew: false, kinds };
      const id = newId();
      await insertEntry(tx, { id, place_key: kinds.includes('name') ? request.place : null, reference, key_id: key.id()!, account_id, created_at: now, hashes });
      return { entry: (await entryById(tx, id))!, isNew: true, kinds };
    },
    async remove(tx, id) {
      const entry = await entryById(tx, id);
      if (entry) await deleteEntry(tx, entry.key);
      return entry ?? null;
    },
    async entriesOf(reader, request) {
      if (key.id() === null || await isEmpty(reader)) return [];
      const [stated] = await hashesFor(reader, [personOfRequest(request)]);
      return [...new Set((await entriesWith(reader, stated!.map(({ hash }) => hash))).map(({ id }) => id))];
    },
    async listed(reader, request) {
      const wanted = new Set((await hashesOfRequest(request)).map(({ hash }) => hash));
      const found = await withHashes(reader, await candidatesFor(reader, request), wanted);
      return (await actorsByKey(reader, found)).filter(isPublicPerson).map(({ body }) => {
        const { id, name, places: where } = JSON.parse(body) as Actor;
        return { id, name, places: where };
      });
    },
    async matching(reader, entryId, actorIds) {
      const entry = await entryById(reader, entryId);
      if (!entry) return [];
      const wanted = new Set((await hashesOf(reader, [entry.key])).map(({ hash }) => hash));
      const actors = (await actorsByIds(reader, actorIds)).filter(isPublicPerson);
      const found = new Set(await withHashes(reader, actors.map((actor) => actor.key), wanted));
      return actors.filter((actor) => found.has(actor.key)).map(({ id }) => id);
    },
  };
}

const isPublicPerson = ({ visibility, tags }: ShownActor): boolean => visibility === 'public' && tagged(tags, 't')[0] === 'person';

/** Returns the entry that has exactly these hashes. */
async function sameEntry(reader: Reader, hashes: string[]): Promise<EntryRow | null> {
  const found = await entriesWith(reader, hashes);
  for (const [id, shared] of groupBy(found, (row) => row.id)) {
    if (shared.length !== hashes.length) continue;
    const entry = await entryById(reader, id);
    if (entry && (await hashesOf(reader, [entry.key])).length === hashes.length) return entry;
  }
  return null;
}
