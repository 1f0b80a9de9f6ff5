import type { SlotPart } from 'civic';
import type { RatelimitService } from '../service.ts';
import { number, plotOf } from './plot.ts';

/** Shows an account's requests of the last 30 days on the page about its plan. */
export function usagePart({ usageOf }: RatelimitService): SlotPart {
  return {
    partial: 'ratelimit/usage',
    async load(request) {
      const accountId = request.auth.credentials?.account_id as string | undefined;
      if (!accountId) return null;
      const { days } = await usageOf(accountId);
      return {
        plot: plotOf(days),
        days: days.map(({ day, requests }) => ({ day, requests: number(requests) })),
        total: number(days.reduce((sum, { requests }) => sum + requests, 0)),
      };
    },
  };
}
