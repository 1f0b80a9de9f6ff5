import type { Tx } from './types.ts';

/** By the client of a transaction, which `tx` shares with the one that tests watch. */
const waiting = new WeakMap<object, (() => void)[]>();

/** Calls `fn` once the transaction is on disk, and never when it was rolled back. A run that is repeated registers anew. */
export function afterCommit(tx: Tx, fn: () => void): void {
  const registered = waiting.get(tx.client);
  if (registered) registered.push(fn);
  else waiting.set(tx.client, [fn]);
}

/** What waits for the commit of `tx`; for whoever commits it. */
export function waitingFor(tx: Tx): (() => void)[] {
  return waiting.get(tx.client) ?? [];
}

/** Work of several writes that is done once, in their common transaction. */
type SharedWork<Item> = (tx: Tx, items: Item[]) => Promise<void>;

/** By the client, as above. */
const shared = new WeakMap<object, Map<SharedWork<any>, unknown[]>>();

/** Lets `shareWork` defer the work of this transaction; the caller takes it with `takeSharedWork`. */
export function allowSharedWork(tx: Tx): void {
  shared.set(tx.client, new Map());
}

/**
 * Does `work` for these items before the commit: on SQLite once for the items of all writes that commit together,
 * in the order of the writes; elsewhere at once. Not at all when this write is rolled back.
 */
export async function shareWork<Item>(tx: Tx, work: SharedWork<Item>, items: Item[]): Promise<void> {
  const deferred = shared.get(tx.client);
  if (!deferred) return work(tx, items);
  const known = deferred.get(work);
  if (known) for (const item of items) known.push(item);
  else deferred.set(work, [...items]);
}

/** Returns the deferred work of these transactions as one function, once; null when there is none. */
export function takeSharedWork(transactions: Tx[]): ((tx: Tx) => Promise<void>) | null {
  const all = new Map<SharedWork<any>, unknown[]>();
  for (const tx of transactions) {
    for (const [work, items] of shared.get(tx.client) ?? []) {
      all.set(work, [...all.get(work) ?? [], ...items]);
    }
    shared.delete(tx.client);
  }
  if (all.size === 0) return null;
  return async (tx) => { for (const [work, items] of all) await work(tx, items); };
}
