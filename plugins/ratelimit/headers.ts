import { exceededHeaders, problem } from 'civic';
import type { Rule } from './limits.ts';
import type { Standing } from './windows.ts';

const SPANS: Record<number, string> = { 60: 'a minute', 3600: 'an hour', 86400: 'a day' };

export function limitHeaders({ window, remaining, ends }: Standing, now: number): Record<string, string> {
  return { 'ratelimit-limit': String(window.limit), 'ratelimit-remaining': String(remaining), 'ratelimit-reset': String(secondsUntil(ends, now)) };
}

/** Rounded up: who waits that long finds the window open. */
function secondsUntil(ends: number, now: number): number {
  return Math.max(1, Math.ceil((ends - now) / 1000));
}

export function rateLimited(rule: Rule, standing: Standing, now: number, hasAccounts: boolean): Error {
  const { window, ends } = standing;
  const seconds = secondsUntil(ends, now);
  const limit = `${window.limit.toLocaleString('en-US')} ${window.what} ${SPANS[window.seconds]}`;
  return problem('rate_limited', {
    detail: `${allowance(rule, limit)}. The next is free in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, at ${new Date(Math.ceil(ends / 1000) * 1000).toISOString().replace('.000', '')}.${advice(rule, hasAccounts)}`,
    headers: exceededHeaders({ limit: window.limit, resetAt: ends, now }),
  });
}

function allowance({ account, label, subject }: Rule, limit: string): string {
  if (account) return `The plan ${account.plan} allows ${limit} for all keys, tokens and sessions of an account together`;
  const whom = / account /.test(subject) ? 'an account' : 'one address';
  return label === '/api' ? `Without an account ${limit} are allowed from one address` : `${limit} are allowed to ${whom} for ${label}`;
}

function advice({ account, isApi, isRaisedByAccount }: Rule, hasAccounts: boolean): string {
  if (!hasAccounts) return '';
  if (account) return ' A larger plan allows more: see /api/plans.';
  return isApi && isRaisedByAccount ? ' An API key gives more: see /api/plans.' : '';
}
