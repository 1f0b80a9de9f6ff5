import type { Directory } from '../service.ts';
import { changedActors, changedPlaces, hasPublicActors, lastActorKey, countAllCovered } from './addresses-store.ts';

/** What a sitemap lists, in parts of at most `PART` records. All of it is public. */
export interface AddressReads {
  /** Returns which parts of actors there are, and how many of places. */
  addressParts(): Promise<{ actors: number[]; places: number }>;
  /** Reads a part of the actors, some thousand at a time. */
  actorAddresses(part: number): AsyncIterable<Address[]>;
  /** The same of the places that have actors; a place changes with its actors. */
  placeAddresses(part: number): AsyncIterable<Address[]>;
}

export interface Address {
  /** The id of an actor, the key of a place. */
  id: string;
  updated_at: string;
}

const PART = 50_000;
const CHUNK = 2000;

export function offeredAddresses({ civic }: Directory): AddressReads {
  return {
    async addressParts() {
      const reader = civic.db.read;
      const parts = Array.from({ length: Math.ceil((await lastActorKey(reader) + 1) / PART) }, (_, part) => part);
      // An actor stays in its part when others are deleted, so a part may have become empty.
      const filled = await Promise.all(parts.map((part) => hasPublicActors(reader, part * PART, (part + 1) * PART)));
      return { actors: parts.filter((part) => filled[part]), places: Math.ceil(await countAllCovered(reader) / PART) };
    },
    async *actorAddresses(part) {
      const end = (part + 1) * PART;
      for (let start = part * PART; start < end; start += CHUNK) {
        const rows = await changedActors(civic.db.read, start, start + CHUNK);
        if (rows.length > 0) yield rows;
      }
    },
    async *placeAddresses(part) {
      for (let offset = part * PART; offset < (part + 1) * PART; offset += CHUNK) {
        const rows = await changedPlaces(civic.db.read, offset, CHUNK);
        if (rows.length > 0) yield rows;
        if (rows.length < CHUNK) return;
      }
    },
  };
}
