import type { Tx } from 'civic';
import { insertOrigins, originsOfRecords, removeOrigins } from './store.ts';

/** Returns an origin as it is stored. The origin of a private record includes its workspace, so that imports of other workspaces do not match it. */
export function storedOrigin(origin: string, owner: string | null): string {
  return owner === null ? origin : `${owner} ${origin}`;
}

/** The origin of a record that could not keep the id it came with. */
export const givenId = (id: string): string => `id:${id}`;

/** The origins by which a draft finds its record: that of its workspace, then the public one. */
export function knownOrigins(origin: string, owner: string | null): string[] {
  return owner === null || origin.startsWith(givenId('')) ? [storedOrigin(origin, owner)] : [storedOrigin(origin, owner), origin];
}

/** The origin as the file has it. */
export function plainOrigin(stored: string, owner: string | null): string {
  return owner !== null && stored.startsWith(`${owner} `) ? stored.slice(owner.length + 1) : stored;
}

/** Makes the origins of records public; one that a public record has already stays with it. */
export async function publishOrigins(tx: Tx, recordKeys: number[], owner: string | null): Promise<void> {
  const rows = await originsOfRecords(tx, recordKeys);
  await removeOrigins(tx, recordKeys);
  await insertOrigins(tx, rows.map(({ origin, record_key }) => ({ origin: plainOrigin(origin, owner), record_key })));
}
