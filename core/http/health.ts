import type { Server } from '@hapi/hapi';
import Joi from 'joi';
import type { Logger } from '../log.ts';
import type { Check, CheckResult } from '../plugin.ts';
import { problem } from '../problems.ts';

const PATIENCE_MS = 3000;

const healthSchema = Joi.object({ status: Joi.string().valid('ok').required(), version: Joi.string().required() }).meta({ name: 'Health' });

const checkSchema = Joi.object({
  name: Joi.string().required(),
  status: Joi.string().valid('ok', 'warning', 'failed').required(),
  progress: Joi.object({ done: Joi.number().integer().required(), total: Joi.number().integer().required() }).description('How far the work has come that the check waits for'),
}).meta({ name: 'ReadinessCheck' });

const readySchema = Joi.object({ status: Joi.string().valid('ready').required(), checks: Joi.array().items(checkSchema).required() }).meta({ name: 'Readiness' });

/** `/health`: the process answers. `/health/ready`: it can also do its work. */
export function addHealth(server: Server, options: { version: string; checks: () => Check[]; log: Logger }): void {
  const readiness = createReadiness(options.checks, options.log);

  server.route({
    method: 'GET',
    path: '/health',
    options: {
      auth: false,
      description: 'Whether the service can be reached',
      notes: 'Responds as long as the process runs and checks nothing else. Needs no key and is not counted against rate limits.',
      tags: ['health'],
      plugins: { civic: { rate: 'none' } },
      response: { status: { 200: healthSchema } },
    },
    handler: () => ({ status: 'ok', version: options.version }),
  });

  server.route({
    method: 'GET',
    path: '/health/ready',
    options: {
      auth: false,
      description: 'Whether the service can do its work, check by check',
      notes: '200 when every check passes, 503 with the failed ones otherwise. For load balancers and monitoring.',
      tags: ['health'],
      plugins: { civic: { rate: 'none', problems: ['not_ready'] } },
      response: { status: { 200: readySchema } },
    },
    handler: async (_request, h) => {
      const checks = await readiness();
      const failed = checks.filter((check) => check.status === 'failed');
      if (failed.length === 0) return h.response({ status: 'ready', checks }).header('cache-control', 'no-store');
      throw problem('not_ready', { detail: `Not ready: ${failed.map((check) => check.name).join(', ')}.`, headers: { 'retry-after': '5' }, extra: { checks } });
    },
  });
}

interface Readiness {
  name: string;
  status: CheckResult['status'];
  progress?: CheckResult['progress'];
}

/** Callers at the same time share one round of checks. Details may name hosts and paths, so they go to the log. */
function createReadiness(checks: () => Check[], log: Logger): () => Promise<Readiness[]> {
  let running: Promise<Readiness[]> | null = null;
  let lastFailed = '';

  async function round(): Promise<Readiness[]> {
    const results = await Promise.all(checks().filter((check) => check.readiness).map(runCheck));
    const failed = results.filter(({ result }) => result.status === 'failed');
    const failedNow = failed.map(({ name }) => name).join();
    if (failedNow !== lastFailed) for (const { name, result } of failed) log.warn({ check: name, detail: result.detail, fix: result.fix }, 'not ready');
    lastFailed = failedNow;
    return results.map(({ name, result: { status, progress } }) => ({ name, status, ...(progress && { progress }) }));
  }

  return () => {
    running ??= round().finally(() => { running = null; });
    return running;
  };
}

/** Runs a check, and reports one that throws or takes too long as failed. */
export async function runCheck(check: Check): Promise<{ name: string; result: CheckResult }> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<CheckResult>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, { status: 'failed', detail: `no answer within ${PATIENCE_MS / 1000} s` });
  });
  try {
    return { name: check.name, result: await Promise.race([check.run(), patience]) };
  } catch (error) {
    return { name: check.name, result: { status: 'failed', detail: (error as Error).message } };
  } finally {
    clearTimeout(timer);
  }
}
