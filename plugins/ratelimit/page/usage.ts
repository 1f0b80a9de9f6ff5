import type { Civic, SlotPart } from 'civic';
import type { RatelimitService } from '../service.ts';
import { plotOf } from './plot.ts';

/** Shows an account's requests of the last 30 days on the page about its plan. */
export function usagePart({ usageOf }: RatelimitService, texts: Civic['texts']): SlotPart {
  return {
    partial: 'ratelimit/usage',
    async load(request) {
      const accountId = request.auth.credentials?.account_id as string | undefined;
      if (!accountId) return null;
      const { days } = await usageOf(accountId);
      return {
        plot: plotOf(days, await texts(request.civic.language)),
        days,
        total: days.reduce((sum, { requests }) => sum + requests, 0),
      };
    },
  };
}
