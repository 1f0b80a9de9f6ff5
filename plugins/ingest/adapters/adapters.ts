import { legistarApi } from './legistar-api.ts';
import type { Adapter } from './types.ts';

/** All platforms that are known. A new one is one file, and one line here. */
export const ADAPTERS: Adapter[] = [legistarApi];

export function adapterOf(name: string): Adapter {
  const adapter = ADAPTERS.find((one) => one.name === name);
  if (!adapter) throw new Error(`No adapter has the name ${name}`);
  return adapter;
}
