import { definePlugin } from 'civic';
import { accountOptions, type AccountsConfig } from './config.ts';
import { accountEvents } from './events.ts';
import { accountProblems } from './problems.ts';
import { createAccounts } from './service.ts';

export default definePlugin<AccountsConfig>({
  name: 'accounts',
  summary: 'Accounts, workspaces, plans and API keys, with a record of every security event',
  config: accountOptions,
  problems: accountProblems,
  events: accountEvents,
  migrations: `${import.meta.dirname}/migrations`,

  register(_server, civic) {
    const accounts = createAccounts(civic);
    civic.provide(accounts.service);
  },
});
