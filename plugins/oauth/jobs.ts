import type { JobKind, Tx } from 'civic';
import type { Oauth } from './service.ts';
import { deleteArtifactsByKey, deleteExpiredArtifacts, registrationTokens } from './store/artifacts.ts';
import { deleteIdleClients, existingClients } from './store/clients.ts';
import { keyRanges } from './store/ranges.ts';

const HOUR_SECONDS = 3600;
const DAY_MS = 86_400_000;
/** Registered apps without a connection are deleted: a day after the registration if never approved, otherwise 90 days after the last approval. */
const UNUSED_DAYS = 1;
const IDLE_DAYS = 90;
const BATCH = 500;

export function oauthJobs({ civic, grants, keys }: Oauth): JobKind[] {
  /** Other writers of SQLite wait for a transaction, so each deletes a few rows. */
  const inBatches = async (remove: (tx: Tx) => Promise<number>): Promise<void> => {
    while (await civic.db.write(remove) === BATCH) { /* there are more */ }
  };
  const ago = (days: number): string => new Date(civic.clock.now() - days * DAY_MS).toISOString();
  return [
    {
      name: 'oauth.sweep',
      every_seconds: HOUR_SECONDS,
      async run() {
        await inBatches((tx) => deleteExpiredArtifacts(tx, civic.clock.iso(), BATCH));
        await grants.sweep();
        const idle = { unusedBefore: ago(UNUSED_DAYS), idleBefore: ago(IDLE_DAYS) };
        for await (const range of keyRanges(civic.db.read, 'oauth_clients')) await civic.db.write((tx) => deleteIdleClients(tx, range, idle));
        await deleteOrphanedTokens(civic);
      },
    },
    { name: 'oauth.rotate_keys', every_seconds: 6 * HOUR_SECONDS, run: () => keys.rotate() },
  ];
}

/** Deletes the registration access tokens of clients that are gone. They do not expire. */
async function deleteOrphanedTokens({ db }: Oauth['civic']): Promise<void> {
  let after = 0;
  for (;;) {
    const tokens = await registrationTokens(db.read, after, BATCH);
    if (tokens.length === 0) return;
    after = tokens.at(-1)!.key;
    const existing = await existingClients(db.read, tokens.map(({ client_id }) => client_id));
    const orphaned = tokens.filter(({ client_id }) => !existing.has(client_id)).map(({ key }) => key);
    if (orphaned.length > 0) await db.write((tx) => deleteArtifactsByKey(tx, orphaned));
  }
}
