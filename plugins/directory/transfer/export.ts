import type { Civic, Reader } from 'civic';
import type { Ledger } from '../ledger/service.ts';
import type { ActorType } from '../types.ts';
import { addedPlaces } from '../places/store.ts';
import type { ExportedActor, Format, JudgementLine, WriteContext } from './format.ts';
import { judgementsAfter, recordsBehind } from './store.ts';

export interface ExportOptions {
  civic: Pick<Civic, 'instance' | 'url'> & { readonly db: Civic['db'] };
  ledger: Pick<Ledger, 'walk'>;
  format: Format;
  /** Its own actors too. */
  workspaceId: string | null;
  /** Returns the keys of the actors of a search, in its order; all actors when left out. Judgements and the places of the instance are left out of a search. */
  found?(reader: Reader): AsyncIterable<number[]>;
  signal?: AbortSignal;
  /** Called while actors are read: how many so far, and how many of each type the format holds. A format may read them several times. */
  onActors?(read: number, written: Partial<Record<ActorType, number>>): void;
}

const CHUNK = 100;
type Walked = Awaited<ReturnType<Ledger['walk']>>[number];

async function* nothing(): AsyncIterable<never> {}

/** The lines of an export, each without its end. Read in chunks: it takes as much memory as one of them. */
export function exportLines({ civic, ledger, format, workspaceId, found, signal, onActors }: ExportOptions): AsyncIterable<string> {
  const context: WriteContext = {
    instance: { name: civic.instance.name, version: civic.instance.version, url: civic.url('/') },
    actors: () => actors(civic.db.read),
    judgements: () => (found ? nothing() : judgements(civic.db.read)),
    places: async () => (found ? [] : addedPlaces(civic.db.read)),
  };

  async function* actors(reader: Reader): AsyncIterable<ExportedActor> {
    let read = 0;
    const written: Partial<Record<ActorType, number>> = {};
    for await (const chunk of found ? searched(reader, found(reader)) : all(reader)) {
      signal?.throwIfAborted();
      const behind = await recordsBehind(reader, chunk.map(({ key }) => key));
      for (const { key, actor } of chunk) {
        if (format.holds && !format.holds.includes(actor.type)) continue;
        written[actor.type] = (written[actor.type] ?? 0) + 1;
        yield { actor, ...behind.get(key)! };
      }
      onActors?.(read += chunk.length, written);
    }
  }

  async function* all(reader: Reader): AsyncIterable<Walked[]> {
    for (let after = 0, chunk: Walked[]; (chunk = await ledger.walk(reader, { after, limit: CHUNK, workspace_id: workspaceId })).length > 0; after = chunk.at(-1)!.key) yield chunk;
  }

  async function* searched(reader: Reader, keys: AsyncIterable<number[]>): AsyncIterable<Walked[]> {
    for await (const some of keys) yield await ledger.walk(reader, { keys: some, workspace_id: workspaceId });
  }

  async function* judgements(reader: Reader): AsyncIterable<JudgementLine> {
    for (let after = 0; ;) {
      const found = await judgementsAfter(reader, { after, limit: CHUNK, workspaceId });
      if (found.length === 0) return;
      for (const { judgement } of found) yield judgement;
      after = found.at(-1)!.key;
    }
  }

  return format.writes!(context);
}
