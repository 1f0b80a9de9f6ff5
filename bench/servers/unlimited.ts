import type { RatelimitConfig } from '../../plugins/ratelimit/config.ts';

const MOST = 1_000_000_000;
const area = { requests_per_minute: MOST, requests_per_hour: MOST };

/** Limits that a measurement does not reach. */
export const unlimited: RatelimitConfig = {
  anonymous: { reads_per_minute: MOST, writes_per_minute: MOST, requests_per_hour: MOST },
  without_plan: { requests_per_minute: MOST, requests_per_day: MOST },
  pages: area, assets: area, sign_in: area, well_known: area,
  patience_ms: 50,
};
