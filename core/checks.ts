import type { Kernel, OwnedCheck } from './civic.ts';
import { eventsCheck } from './events/status.ts';
import type { CheckResult } from './plugin.ts';
import { program } from './program.ts';

const LATE_SECONDS = 600;

/** The checks of core for `/health/ready` and `doctor`. */
export function coreChecks(kernel: Kernel): OwnedCheck[] {
  return [
    { plugin: 'core', name: 'database', readiness: true, run: () => databaseResult(kernel) },
    { plugin: 'core', ...eventsCheck(() => kernel.events.status()) },
    { plugin: 'core', name: 'read models', readiness: true, run: () => kernel.readModels.check() },
    { plugin: 'core', name: 'jobs', run: () => jobsResult(kernel) },
    ...(program().commands.includes('serve') ? [{ plugin: 'core', name: 'rate limits', quick: true, run: async () => limitsResult(kernel) }] : []),
  ];
}

async function databaseResult(kernel: Kernel): Promise<CheckResult> {
  if (!kernel.db) return { status: 'failed', detail: 'the database is not open' };
  await kernel.db.ping();
  await kernel.db.checkWritable();
  return { status: 'ok', detail: 'readable and writable' };
}

async function jobsResult(kernel: Kernel): Promise<CheckResult> {
  const { pending, running, oldest_pending_seconds: oldest, failed_last_day: failed } = await kernel.jobs.status();
  const detail = `${running} running, ${pending} waiting, ${failed} failed in the last day`;
  if (oldest !== null && oldest > LATE_SECONDS) return { status: 'warning', detail: `${detail}; the oldest waits for ${Math.round(oldest / 60)} minutes`, fix: 'start a process that does background work: bin/civic serve --role worker, or all' };
  if (failed > 0) return { status: 'warning', detail, fix: 'the log has the reason of each failure' };
  return { status: 'ok', detail };
}

function limitsResult({ gates }: Kernel): CheckResult {
  if (gates.admit.length > 0) return { status: 'ok', detail: 'requests are limited' };
  return { status: 'warning', detail: 'requests are not limited: one client can use all of the server\'s capacity', fix: 'switch on a plugin that limits requests, or limit them in your proxy' };
}
