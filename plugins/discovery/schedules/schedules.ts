import { Failure, type JobKind, type Reader, type RunningJob } from 'civic';
import { createHash } from 'node:crypto';
import type { Discovery } from '../context.ts';
import { startScheduledRun } from '../runs/start.ts';
import { openScheduledRun, type RunRow } from '../runs/store.ts';

export const SCHEDULE_JOB = 'discovery.schedule';
export const PERIODS = ['weekly', 'monthly', 'quarterly'] as const;
const DAYS = { weekly: 7, monthly: 30, quarterly: 91 };
const DAY_SECONDS = 86_400;

/** Runs of the operator that start by themselves, from the configuration. */
export interface Schedule {
  location: string;
  issue_areas: string[];
  depth: RunRow['depth'];
  every: (typeof PERIODS)[number];
}

export interface ShownSchedule extends Schedule {
  place: string;
  next_at: string | null;
}

/** The job that starts the run of a schedule. A schedule whose last run has not ended starts no other. */
export function scheduleJob(discovery: Discovery): JobKind<{ key: string }> {
  const { civic } = discovery;
  return {
    name: SCHEDULE_JOB,
    by_key: true,
    async run({ payload, write }: RunningJob<{ key: string }>) {
      const schedule = civic.config.schedules.find((one) => keyOf(one) === payload.key);
      await write(async (tx) => {
        // The schedule is no longer in the configuration.
        if (!schedule) return civic.jobs.removeDue(tx, SCHEDULE_JOB, payload.key);
        const { place } = await discovery.directory.resolvePlace(tx, schedule.location);
        if (place && !await openScheduledRun(tx, place.place_key, schedule.issue_areas)) await startScheduledRun(discovery, tx, { ...schedule, seeds: [] });
      });
    },
  };
}

/** Sets the times of new schedules: the first run begins at once. Fails when the configuration names a place or issue area that does not exist. */
export async function startSchedules({ civic, directory }: Discovery): Promise<void> {
  const { schedules } = civic.config;
  if (schedules.length === 0) return;
  for (const [at, { location, issue_areas }] of schedules.entries()) {
    const { place, candidates } = await directory.resolvePlace(civic.db.read, location);
    if (!place) throw new Failure(`plugins.discovery.schedules[${at}].location: "${location}" names no place for certain${candidates.length > 0 ? `; did you mean ${candidates.map(({ display_name }) => display_name).join('; ')}?` : ''}`);
    const unknown = issue_areas.find((slug) => directory.issueName(slug) === null);
    if (unknown !== undefined) throw new Failure(`plugins.discovery.schedules[${at}].issue_areas: "${unknown}" is no issue area; /api/issue-areas lists them`);
  }
  await civic.db.write(async (tx) => {
    const times = await civic.jobs.dueTimes(tx, SCHEDULE_JOB, schedules.map(keyOf));
    for (const schedule of schedules) {
      const seconds = DAYS[schedule.every] * DAY_SECONDS;
      const next = times.get(keyOf(schedule));
      const latest = civic.clock.now() + seconds * 1000;
      // A time further away belongs to a longer period that the schedule had before.
      if (next === undefined || Date.parse(next) > latest) await civic.jobs.setDue(tx, SCHEDULE_JOB, keyOf(schedule), { at: next === undefined ? civic.clock.iso() : new Date(latest).toISOString(), every_seconds: seconds });
    }
  });
}

/** Returns the schedules of the configuration with their next times, which are null before the server has started with them. */
export async function shownSchedules({ civic, directory }: Discovery, reader: Reader): Promise<ShownSchedule[]> {
  const { schedules } = civic.config;
  const times = await civic.jobs.dueTimes(reader, SCHEDULE_JOB, schedules.map(keyOf));
  return Promise.all(schedules.map(async (schedule) => ({ ...schedule, place: (await directory.resolvePlace(reader, schedule.location)).place?.place_key ?? '', next_at: times.get(keyOf(schedule)) ?? null })));
}

/** Returns what is the same while the place, the issue areas and the depth of a schedule are. */
function keyOf({ location, issue_areas, depth }: Schedule): string {
  return createHash('sha256').update(JSON.stringify([location, issue_areas.toSorted(), depth])).digest('hex').slice(0, 32);
}
