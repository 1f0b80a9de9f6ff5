const DAY = /^\d{4}-\d{2}-\d{2}/;

/** A day or moment as people write it, or null when there is no such day: 31 February would become 3 March. */
export function momentOf(text: string): string | null {
  const [day] = DAY.exec(text) ?? [];
  const midnight = day === undefined ? NaN : Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day!)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** A moment in milliseconds; without one it never comes. */
export function endOf(time: string | null): number {
  return time === null ? Infinity : Date.parse(time);
}

/** When somebody's access ends by itself. A plan that has ended already was replaced by another, which does not end. */
export function firstEnd(credential: number, plan: number, now: number): number {
  return plan > now ? Math.min(credential, plan) : credential;
}
