import type { Server } from '@hapi/hapi';
import type { Texts } from 'civic';
import { countsSince, type HourCount } from './store.ts';
import { hourOf } from './counts.ts';
import { failedName, type Console, type Series } from './service.ts';

/** The spans that the plots can show, the default first. */
export const SPANS = ['month', 'day'] as const;
export type Span = (typeof SPANS)[number];

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
const STEPS: Record<Span, { step: number; count: number }> = { month: { step: DAY_MS, count: 30 }, day: { step: HOUR_MS, count: 24 } };
const [STEP, TALL, LEAST] = [10, 100, 2];

interface Bucket {
  at: number;
  count: number;
  failed: number;
}

export interface Bar {
  x: number;
  y: number;
  height: number;
  /** The height of the failed part, at the bottom of the bar. */
  failedHeight: number;
  failedY: number;
  /** "Nov 3: 1,204" */
  text: string;
}

/** A series as the page shows it: bars, and the same numbers as a table. */
export interface Plot {
  plugin: string;
  label: string;
  total: number;
  failed: number;
  hasFailed: boolean;
  isBad: boolean;
  width: number;
  bars: Bar[];
  first: string;
  last: string;
  /** The largest count, and its day or hour. */
  peak: { count: number; at: string } | null;
  rows: { at: string; count: number; failed: number }[];
}

/** Counts requests, errors and jobs. Leaves out health checks and OPTIONS: on a small instance they would outnumber the requests of visitors. */
export function declareOwnSeries(server: Server, { civic, service }: Console): void {
  let requests = 0;
  let errors = 0;
  server.events.on('response', ({ raw, route }) => {
    if (route.settings.plugins?.civic?.rate === 'none') return;
    requests++;
    if (raw.res.statusCode >= 500) errors++;
  });
  const { totals } = civic.operations.jobs;
  const plugin = 'console';
  service.series({ name: 'console.requests', plugin, label: 'series.requests', total: () => requests });
  service.series({ name: 'console.errors', plugin, label: 'series.errors', isBad: true, total: () => errors });
  service.series({ name: 'console.jobs', plugin, label: 'series.jobs', total: () => totals().completed + totals().failed, failed: () => totals().failed });
}

/** Returns the plots of all series over a span, including counts that this node has not stored yet. */
export async function activityPlots({ civic, counters, series }: Console, span: Span, t: Texts): Promise<Plot[]> {
  const now = civic.clock.now();
  const starts = bucketStarts(span, now);
  const stored = await countsSince(civic.db.read, series.flatMap(({ name }) => [name, failedName(name)]), new Date(starts[0]!).toISOString());
  const pending = [...counters.pending()].map(([name, count]): HourCount => ({ hour: hourOf(now), name, count }));
  const sums = summed([...stored, ...pending], STEPS[span].step);
  const countOf = (name: string, at: number): number => sums.get(`${name} ${at}`) ?? 0;
  const titled = (at: number): string => titleOf(span, at, t);
  return series.map((one) => plotOf(one, starts.map((at) => ({ at, count: countOf(one.name, at), failed: countOf(failedName(one.name), at) })), titled, t));
}

/** Returns when each day or hour of the span began, the current one last. */
function bucketStarts(span: Span, now: number): number[] {
  const { step, count } = STEPS[span];
  const last = Math.floor(now / step) * step;
  return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * step);
}

/** Returns the counts by series and bucket. */
function summed(counts: HourCount[], step: number): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { hour, name, count } of counts) {
    const key = `${name} ${Math.floor(Date.parse(hour) / step) * step}`;
    sums.set(key, (sums.get(key) ?? 0) + count);
  }
  return sums;
}

function plotOf({ plugin, label, isBad = false, failed: countsFailed }: Series, buckets: Bucket[], titled: (at: number) => string, t: Texts): Plot {
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(LEAST, round((count / most) * TALL)));
  const peak = buckets.reduce((best, bucket) => (bucket.count > best.count ? bucket : best), buckets[0]!);
  const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    plugin, label,
    total: sum(buckets.map(({ count }) => count)),
    failed: sum(buckets.map(({ failed }) => failed)),
    hasFailed: countsFailed !== undefined,
    isBad,
    width: buckets.length * STEP,
    bars: buckets.flatMap(({ at, count, failed }, index) => (count === 0 ? [] : [{
      x: index * STEP + 1, y: TALL - heightOf(count), height: heightOf(count), failedHeight: heightOf(failed), failedY: TALL - heightOf(failed),
      text: t('activity.bar', { at: titled(at), count, failed }),
    }])),
    first: titled(buckets[0]!.at),
    last: titled(buckets.at(-1)!.at),
    peak: peak.count === 0 ? null : { count: peak.count, at: titled(peak.at) },
    rows: buckets.toReversed().map(({ at, count, failed }) => ({ at: titled(at), count, failed })),
  };
}

function titleOf(span: Span, at: number, t: Texts): string {
  return span === 'month' ? t.formatDate(at) : t.formatHour(at);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
