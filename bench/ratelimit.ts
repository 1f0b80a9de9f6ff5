import { clientAddressOf } from 'civic';
import type { Request } from '@hapi/hapi';
import { join } from 'node:path';
import { vocabularyOf } from '../core/vocabulary.ts';
import { limitHeaders } from '../plugins/ratelimit/headers.ts';
import { createLimits } from '../plugins/ratelimit/limits.ts';
import { createMemory } from '../plugins/ratelimit/memory.ts';
import { compare, median, printRows, type Target } from './harness.ts';
import { unlimited } from './servers/unlimited.ts';

const MOST_MICROSECONDS = 5;
const ADDRESSES = 10_000;
const DECISIONS = 200_000;

/** What a decision costs by itself, and what a request costs with and without the plugin. */
export async function benchRatelimit(options: { rounds: number; seconds: number }): Promise<boolean> {
  const rounds = Array.from({ length: 15 }, decisions);
  const microseconds = median(rounds);
  process.stdout.write(`\nOne decision in memory: which windows, taking from both, headers; ${ADDRESSES.toLocaleString('en-US')} addresses\n  ${microseconds.toFixed(2)} µs (best round ${Math.min(...rounds).toFixed(2)}, limit ${MOST_MICROSECONDS})\n`);
  const rows = await compare([target('without ratelimit', []), target('with ratelimit', ['limited'])], options);
  printRows('One GET route under /api, small answer, CPU a request', rows);
  const added = rows[1]!.cpu - rows[0]!.cpu;
  process.stdout.write(`  ${added.toFixed(1)} µs more a request\n`);
  return microseconds <= MOST_MICROSECONDS;
}

function decisions(): number {
  const ruleOf = createLimits({ config: unlimited, vocabulary: vocabularyOf([]), plans: () => null });
  const memory = createMemory(ADDRESSES * 2);
  const requests = Array.from({ length: ADDRESSES }, (_, index) => requestFrom(`10.0.${index >> 8}.${index & 255}`));
  const started = process.cpuUsage();
  for (let i = 0; i < DECISIONS; i++) {
    const request = requests[i % ADDRESSES]!;
    request.civic.clientAddress = null;
    const rule = ruleOf(null, request)!;
    const now = Date.now();
    request.civic.headers = limitHeaders(memory.take(rule.subject, rule.windows, now), now);
  }
  const { user, system } = process.cpuUsage(started);
  return (user + system) / DECISIONS;
}

/** As much of a request as the plugin looks at. */
function requestFrom(remoteAddress: string): Request {
  const request = { path: '/api/bench', route: { settings: {} }, raw: { req: { method: 'GET', headers: {}, socket: { remoteAddress } } }, civic: { clientAddress: null, headers: null }, server: { app: { civic: { trustedProxies: [] } } } };
  clientAddressOf(request as never);
  return request as never;
}

function target(name: string, args: string[]): Target {
  return { name, module: join(import.meta.dirname, 'servers', 'civic.js'), args: ['small', 'warn', ...args], path: '/api/bench' };
}
