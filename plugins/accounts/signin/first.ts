import type { Server } from '@hapi/hapi';
import type { Civic } from 'civic';
import type { AccountsConfig } from '../config.ts';
import { hasPeople } from '../people/store.ts';
import { createLink } from './links.ts';

/**
 * Somebody must be the first. While there is no account, every server that begins to listen prints a link of its own;
 * the first one that is used makes the administrator and ends the others. Standard error, not the log: it is a secret.
 */
export function printFirstLink(server: Server, civic: Civic<AccountsConfig>, write = (text: string): void => { process.stderr.write(text); }): void {
  server.ext('onPostStart', async () => {
    if (await hasPeople(civic.db.read)) return;
    const { url } = await civic.db.write((tx) => createLink(civic, tx, null));
    write(`\n  This instance has no account yet. Become the administrator within ${civic.config.link_minutes} minutes:\n  ${url}\n`);
  });
}
