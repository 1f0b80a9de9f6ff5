import { setTimeout as sleep } from 'node:timers/promises';
import { randomDraft } from './drafts.ts';
import type { Nodes } from './nodes.ts';
import type { Random } from './random.ts';

/** What was sent in one transaction. */
export interface Batch {
  titles: string[];
  withdrawn: string[];
  isAcknowledged: boolean;
}

export interface SignalWriters {
  readonly batches: Batch[];
  /** The workspace that a version was written for, by its title. */
  workspaceOf(title: string): string | null;
  /** How many versions were acknowledged. */
  acknowledged(): number;
  readonly faults: string[];
  /** Writes until so many versions are acknowledged in all. */
  writeUntil(count: number): Promise<void>;
}

export interface WriterOptions {
  random: Random;
  nodes: Nodes;
  count: number;
  workspaces: string[];
  /** The share of signals that are large. */
  fat: number;
  /** How long a writer rests between two requests, at most. */
  restMs: number;
}

export function createSignalWriters({ random, nodes, count, workspaces, fat, restMs }: WriterOptions): SignalWriters {
  const batches: Batch[] = [];
  const known: string[] = [];
  const owners = new Map<string, string | null>();
  const faults: string[] = [];
  let acknowledged = 0;
  let number = 0;

  function randomBatch(chances: Random): { batch: Batch; body: object } {
    const isTakingBack = known.length > 0 && chances.chance(0.1);
    const signals = Array.from({ length: isTakingBack ? 0 : chances.chance(0.2) ? 1 + chances.int(12) : 1 }, () => {
      const id = known.length > 0 && chances.chance(0.4) ? chances.pick(known) : undefined;
      const draft = randomDraft(chances, { id, title: `version ${++number}`, workspaces, fat });
      owners.set(draft.title, draft.workspace_id ?? null);
      return draft;
    });
    const withdraw = isTakingBack || (known.length > 0 && chances.chance(0.1)) ? [chances.pick(known)] : [];
    known.push(...signals.map(({ id }) => id));
    const batch = { titles: signals.map(({ title }) => title), withdrawn: withdraw, isAcknowledged: false };
    return { batch, body: { signals, withdraw, hold_ms: chances.chance(0.3) ? chances.int(25) : 0 } };
  }

  async function write(chances: Random): Promise<void> {
    const node = nodes.any(chances);
    if (!node) return sleep(20);
    const { batch, body } = randomBatch(chances);
    batches.push(batch);
    try {
      const answer = await fetch(`${node.url}/api/wire`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
      const text = await answer.text();
      if (answer.status === 201) {
        batch.isAcknowledged = true;
        acknowledged += batch.titles.length;
      } else if (answer.status !== 503 || !node.isStopping) faults.push(`a write was answered ${answer.status}: ${text.slice(0, 200)}`);
    } catch {
      await sleep(20);
    }
  }

  return {
    batches,
    faults,
    workspaceOf: (title) => owners.get(title) ?? null,
    acknowledged: () => acknowledged,
    async writeUntil(target) {
      await Promise.all(Array.from({ length: count }, async () => {
        const chances = random.fork();
        while (acknowledged < target && faults.length < 20) {
          await write(chances);
          if (restMs > 0) await sleep(chances.int(restMs));
        }
      }));
    },
  };
}
