import type { ConfigFragment } from 'civic';

export interface ConsoleConfig {
  backup_days: number;
  backups_kept: number;
}

export const consoleOptions: ConfigFragment = {
  backup_days: { doc: 'After how many days without a backup the console asks for one; 0 never asks.', format: 'nat', default: 7 },
  backups_kept: { doc: 'How many backups that were created in the console are kept: older ones are deleted after a new one is complete. 0 keeps all. Backups of bin/civic backup are never deleted.', format: 'nat', default: 7 },
};
