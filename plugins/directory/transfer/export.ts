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
  signal?: AbortSignal;
  /** Called while actors are read: how many so far, and how many of each type the format holds. A format may read them several times. */
  onActors?(read: number, written: Partial<Record<ActorType, number>>): void;
}

const CHUNK = 100;

/** The lines of an export, each without its end. Read in chunks: it takes as much memory as one of them. */
export function exportLines({ civic, ledger, format, workspaceId, signal, onActors }: ExportOptions): AsyncIterable<string> {
  const context: WriteContext = {
    instance: { name: civic.instance.name, version: civic.instance.version, url: civic.url('/') },
    actors: () => actors(civic.db.read),
    judgements: () => judgements(civic.db.read),
    places: () => addedPlaces(civic.db.read),
  };

  async function* actors(reader: Reader): AsyncIterable<ExportedActor> {
    let read = 0;
    const written: Partial<Record<ActorType, number>> = {};
    for (let after = 0; ;) {
      signal?.throwIfAborted();
      const found = await ledger.walk(reader, { after, limit: CHUNK, workspace_id: workspaceId });
      if (found.length === 0) return;
      const behind = await recordsBehind(reader, found.map(({ key }) => key));
      for (const { key, actor } of found) {
        if (format.holds && !format.holds.includes(actor.type)) continue;
        written[actor.type] = (written[actor.type] ?? 0) + 1;
        yield { actor, ...behind.get(key)! };
      }
      after = found.at(-1)!.key;
      onActors?.(read += found.length, written);
    }
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
