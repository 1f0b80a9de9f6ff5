/** Returns the milliseconds of a Retry-After header: seconds or a date; null when it has neither. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

export function isOverloaded(status: number): boolean {
  return status === 429 || status === 503;
}
