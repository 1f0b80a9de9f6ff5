/** The headers of every 429 response: `limit` is used up until `resetAt`. Both times are in milliseconds. */
export function exceededHeaders({ limit, resetAt, now }: { limit: number; resetAt: number; now: number }): Record<string, string> {
  return {
    'retry-after': String(Math.max(1, Math.ceil((resetAt - now) / 1000))),
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.ceil(resetAt / 1000)),
  };
}
