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
