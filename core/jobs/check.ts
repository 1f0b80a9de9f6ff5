import type { JobsStatus } from '../jobs.ts';
import type { Check, CheckResult } from '../plugin.ts';

// Longer than any sensible poll: nobody takes jobs, or there are too few hands.
const LATE_SECONDS = 600;

/** For `doctor`: says when work piles up or fails. An instance that is behind with it still answers requests. */
export function jobsCheck(status: () => Promise<JobsStatus>): Check {
  return { name: 'jobs', run: async () => judge(await status()) };
}

function judge({ pending, running, oldest_pending_seconds, failed_last_day }: JobsStatus): CheckResult {
  if (oldest_pending_seconds !== null && oldest_pending_seconds > LATE_SECONDS) {
    return {
      status: 'warning',
      detail: `${pending} jobs wait, the oldest for ${Math.round(oldest_pending_seconds / 60)} minutes, and ${running} run`,
      fix: 'Start a server with --role worker or --role all, or raise jobs.concurrency',
    };
  }
  if (failed_last_day > 0) {
    return { status: 'warning', detail: `${failed_last_day} jobs failed for good within a day`, fix: 'The log says why: look for "failed for good"' };
  }
  return { status: 'ok', detail: `${pending} jobs wait, ${running} run` };
}
