import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from './log.ts';

const loads = new Set<() => Promise<unknown>>();

/**
 * Declares a module that a start does not wait for: `const library = lazily(() => import('library'))`. A serving process
 * loads it in the background once it listens. Node keeps the failure of an import for good, so a request that finds no free
 * file descriptor must not be the first to need the module. A build while the server runs replaces the files of its modules.
 */
export function lazily<Module>(load: () => Promise<Module>): () => Promise<Module> {
  loads.add(load);
  return load;
}

/** Loads every declared module, one after the other, with requests in between. */
export async function loadLazyModules(log: Logger): Promise<void> {
  for (const load of loads) {
    await nextTurn();
    await load().catch((error: unknown) => { log.error({ err: error }, 'A module cannot be loaded; what needs it fails until the next start'); });
  }
}
