import type { Reader } from 'civic';
import { originsUnder, recordsByKey } from '../ledger/store.ts';
import type { DemoRegion } from './parts.ts';
import { DEMO_ORIGIN } from './store.ts';

const MOST = 100_000;

/** Who of the demo is there, as others may know it. */
export async function regionOf(reader: Reader): Promise<DemoRegion> {
  const records = await recordsByKey(reader, (await originsUnder(reader, DEMO_ORIGIN, MOST)).map(({ record_key }) => record_key));
  const ids = new Map(records.map(({ key, id }) => [key, id]));
  const merged = records.filter(({ key, actor_key }) => key !== actor_key && ids.has(actor_key));
  return {
    actors: records.filter(({ key, actor_key }) => key === actor_key).map(({ id }) => id),
    merged: merged.map(({ id, actor_key }) => ({ id, into: ids.get(actor_key)! })),
  };
}
