import { definePlugin } from 'civic';
import { ratelimitOptions, type RatelimitConfig } from './config.ts';
import { usagePart } from './page/usage.ts';
import { ratelimitProblems } from './problems.ts';
import { createRatelimit } from './service.ts';

export type { RatelimitService } from './service.ts';

export default definePlugin<RatelimitConfig>({
  name: 'ratelimit',
  summary: 'Counts requests by address and by account, and refuses those that are too many',
  recommended: 'Without it, one client can use all of the server\'s capacity.',
  config: ratelimitOptions,
  limits: {
    requests_per_minute: { label: 'Requests a minute', doc: 'How many requests an account can make a minute', plans: { free: 60, individual: 300, research_pass: 600, team: 1200 } },
    requests_per_day: { label: 'Requests a day', doc: 'How many requests an account can make a day', plans: { free: 2000, individual: 20_000, research_pass: 50_000, team: 200_000 } },
  },
  uses: ['accounts'],
  problems: ratelimitProblems,
  migrations: `${import.meta.dirname}/migrations`,

  register(_server, civic) {
    const ratelimit = createRatelimit(civic);
    civic.admit(ratelimit.admit);
    civic.provide({ usageOf: ratelimit.usageOf });
    civic.serviceIfOn('accounts')?.meter('requests_per_day', async (accountId) => (await ratelimit.usageOf(accountId)).days.at(-1)!.requests);
    civic.pages.fill('accounts.usage', usagePart(ratelimit, civic.texts));
    civic.metric({ name: 'local_decisions_total', help: 'Requests decided by the counters of this node, because the shared ones did not answer in time', value: ratelimit.localDecisions });
    civic.jobs.define({ name: 'ratelimit.prune', every_seconds: 3600, run: ratelimit.prune });
    return { start: ratelimit.start, stop: ratelimit.stop };
  },
});
