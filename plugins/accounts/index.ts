import { definePlugin } from 'civic';
import { auditCheck } from './audit/check.ts';
import { auditExport } from './audit/commands.ts';
import { accountOptions, type AccountsConfig } from './config.ts';
import { accountEvents } from './events.ts';
import { keyCommands } from './keys/commands.ts';
import { accountCommands } from './people/commands.ts';
import { planRoutes } from './plans/routes.ts';
import { accountProblems } from './problems.ts';
import { createAccounts } from './service.ts';
import { invitationRoutes } from './workspaces/invitation-routes.ts';
import { memberRoutes } from './workspaces/member-routes.ts';
import { workspaceRoutes } from './workspaces/routes.ts';

export default definePlugin<AccountsConfig>({
  name: 'accounts',
  summary: 'Accounts, workspaces, plans and API keys, with a record of every security event',
  config: accountOptions,
  problems: accountProblems,
  events: accountEvents,
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const accounts = createAccounts(civic);
    const { plans, resolver } = accounts;
    const db = () => civic.db;

    civic.provide(accounts.service);
    civic.identify(resolver.identify);
    civic.plansWith(plans.including);
    civic.watch('accounts.access_changed', resolver.forget);
    civic.check(auditCheck(db));
    for (const command of [...accountCommands(accounts), ...keyCommands(accounts), auditExport(db)]) civic.command(command);
    server.route([
      ...planRoutes({ plans, defaultPlan: civic.config.default_plan }),
      ...workspaceRoutes(accounts),
      ...memberRoutes(accounts),
      ...invitationRoutes(accounts),
    ]);
    return { start: accounts.start, stop: accounts.stop };
  },
});
