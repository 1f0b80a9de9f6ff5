import { cutText, type Texts } from 'civic';
import type { Signal } from 'civic/firehose';
import type { Site } from '../site.ts';
import type { ShownEvent } from './events.ts';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const WEEKS = 12;
const COMING_WEEKS = 2;
/** The first Monday after the epoch, which was a Thursday. */
const MONDAY = 4 * DAY_MS;
const SHOWN = 5;
const LONGEST_TITLE = 140;
/** Up to so many signals are read at once and counted by week; when there are more, each week takes a query. */
const MOST_READ = 200;
const HEIGHT = 44;

interface Week {
  start: string;
  until: string;
  count: number;
}

/** Returns the latest signals of places and their number in each of the last weeks; null when the Firehose is off or there are none. */
export async function shownSignals({ civic, firehose }: Site, placeKeys: string[], events: ShownEvent[], t: Texts): Promise<object | null> {
  if (!firehose) return null;
  const query = { places: placeKeys, hasUpkeep: false, visibility: 'public' as const };
  const now = civic.clock.now();
  const starts = Array.from({ length: WEEKS }, (_, at) => mondayOf(now) - (WEEKS - 1 - at) * WEEK_MS);
  const read = async (span: object, limit: number) => firehose.signals({ ...query, ...span, limit }, null);
  const { signals, total } = await read({ since: iso(starts[0]!) }, MOST_READ);
  const latest = signals.length >= SHOWN ? signals : (await read({}, SHOWN)).signals;
  if (latest.length === 0) return null;
  const weeks = await Promise.all(starts.map(async (start): Promise<Week> => {
    const [since, until] = [iso(start), iso(start + WEEK_MS)];
    const count = total > signals.length ? (await read({ since, until }, 1)).total : signals.filter(({ detected_at: at }) => at >= since && at < until).length;
    return { start: since.slice(0, 10), until: until.slice(0, 10), count };
  }));
  return { latest: latest.slice(0, SHOWN).map(shownSignal), ...drawn(weeks, comingWeeks(events, mondayOf(now) + WEEK_MS), placeKeys, t) };
}

const iso = (time: number): string => new Date(time).toISOString();

function mondayOf(time: number): number {
  return Math.floor((time - MONDAY) / WEEK_MS) * WEEK_MS + MONDAY;
}

function comingWeeks(events: ShownEvent[], from: number): number[] {
  return Array.from({ length: COMING_WEEKS }, (_, at) => {
    const start = from + at * WEEK_MS;
    return events.filter((event) => Date.parse(event.start) >= start && Date.parse(event.start) < start + WEEK_MS).length;
  });
}

function shownSignal({ actors, detected_at: at, title }: Signal): object {
  const actor = actors.find(({ id }) => id !== null);
  return { title: cutText(title, LONGEST_TITLE), at, href: actor ? `/actors/${actor.id}` : null };
}

/** Returns the bars of the weeks for an SVG of 272 by 60, and a sentence with the same numbers. */
function drawn(weeks: Week[], coming: number[], placeKeys: string[], t: Texts): object {
  const most = Math.max(1, ...weeks.map(({ count }) => count), ...coming);
  const step = 272 / (weeks.length + coming.length);
  const bar = (count: number, at: number) => {
    const height = count === 0 ? 1 : Math.max(3, Math.round((count / most) * HEIGHT));
    return { x: Math.round(at * step) + 1, y: HEIGHT - height, width: Math.round(step) - 3, height };
  };
  const busiest = weeks.reduce((best, week) => (week.count > best.count ? week : best));
  const total = weeks.reduce((sum, { count }) => sum + count, 0);
  const places = placeKeys.map((key) => `place=${encodeURIComponent(key)}`).join('&');
  const href = (week: Week) => `/signals?${places}&since=${week.start}&until=${week.until}`;
  return {
    all: `/signals?${places}`,
    bars: weeks.map((week, at) => ({ ...bar(week.count, at), title: t('lately.week', { day: t.formatDate(week.start), count: week.count }), href: href(week) })),
    coming: coming.flatMap((count, at) => (count > 0 ? [bar(count, weeks.length + at)] : [])),
    today: Math.round(weeks.length * step),
    weeks: weeks.map((week) => ({ ...week, href: href(week) })),
    caption: total === 0 ? t('lately.none') : t('lately.caption', { total, day: t.formatDate(busiest.start), count: busiest.count }),
  };
}
