import { definePlugin } from 'civic';
import { ratelimitOptions, type RatelimitConfig } from './config.ts';
import { ratelimitProblems } from './problems.ts';
import { createRatelimit } from './service.ts';

export default definePlugin<RatelimitConfig>({
  name: 'ratelimit',
  summary: 'Counts requests by address and by account, and refuses those that are too many',
  recommended: 'Without it, one client can use all of the server\'s capacity.',
  config: ratelimitOptions,
  uses: ['accounts'],
  problems: ratelimitProblems,
  migrations: `${import.meta.dirname}/migrations`,

  register(_server, civic) {
    const ratelimit = createRatelimit(civic);
    civic.admit(ratelimit.admit);
    civic.provide({ usageOf: ratelimit.usageOf });
    civic.serviceIfOn('accounts')?.usageFrom(async (accountId) => (await ratelimit.usageOf(accountId)).days);
    civic.metric({ name: 'local_decisions_total', help: 'Requests decided by the counters of this node, because the shared ones did not answer in time', value: ratelimit.localDecisions });
    civic.jobs.define({ name: 'ratelimit.prune', every_seconds: 3600, run: ratelimit.prune });
    return { start: ratelimit.start, stop: ratelimit.stop };
  },
});
