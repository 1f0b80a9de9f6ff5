import type { JobKind } from 'civic';
import type { Oauth } from './service.ts';
import { deleteExpiredArtifacts } from './store/artifacts.ts';
import { deleteIdleClients } from './store/clients.ts';

const HOUR_SECONDS = 3600;
const DAY_MS = 86_400_000;
/** Registered apps without a connection are deleted: a day after the registration if never approved, otherwise 90 days after the last approval. */
const UNUSED_DAYS = 1;
const IDLE_DAYS = 90;

export function oauthJobs({ civic, grants, keys }: Oauth): JobKind[] {
  const ago = (days: number): string => new Date(civic.clock.now() - days * DAY_MS).toISOString();
  return [
    {
      name: 'oauth.sweep',
      every_seconds: HOUR_SECONDS,
      async run() {
        await civic.db.write((tx) => deleteExpiredArtifacts(tx, civic.clock.iso()));
        await grants.sweep();
        await civic.db.write((tx) => deleteIdleClients(tx, ago(UNUSED_DAYS), ago(IDLE_DAYS)));
      },
    },
    { name: 'oauth.rotate_keys', every_seconds: 6 * HOUR_SECONDS, run: () => keys.rotate() },
  ];
}
