import type { DayRow } from './store.ts';

const DAY_MS = 86_400_000;
export const DAYS_SHOWN = 30;

export function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** The first of the days that are shown. */
export function firstDay(now: number): string {
  return dayOf(now - (DAYS_SHOWN - 1) * DAY_MS);
}

/** Requests of accounts by UTC day that are not written down yet. */
export interface Tallies {
  add(accountId: string, now: number, requests?: number): void;
  take(): DayRow[];
  giveBack(rows: DayRow[]): void;
}

export function createTallies(): Tallies {
  let days = new Map<number, Map<string, number>>();

  function add(accountId: string, now: number, requests = 1): void {
    const day = Math.floor(now / DAY_MS);
    const accounts = days.get(day) ?? days.set(day, new Map()).get(day)!;
    accounts.set(accountId, (accounts.get(accountId) ?? 0) + requests);
  }

  return {
    add,
    take() {
      const rows = [...days].flatMap(([day, accounts]) => [...accounts].map(([account_id, requests]) => ({ account_id, day: dayOf(day * DAY_MS), requests })));
      days = new Map();
      return rows;
    },
    giveBack(back) {
      for (const { account_id, day, requests } of back) add(account_id, Date.parse(day), requests);
    },
  };
}

/** One entry a day up to today, with those on which nothing was asked. */
export function byDay(rows: DayRow[], now: number): { day: string; requests: number }[] {
  const counted = new Map(rows.map(({ day, requests }) => [day, requests]));
  const days = Array.from({ length: DAYS_SHOWN }, (_, index) => dayOf(now - (DAYS_SHOWN - 1 - index) * DAY_MS));
  return days.map((day) => ({ day, requests: counted.get(day) ?? 0 }));
}
