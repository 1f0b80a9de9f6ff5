import type { Follower, Segment } from './follower.ts';
import { deliveryOf, matches, type Delivery, type Line, type Version } from './model.ts';
import type { Batch } from './writers.ts';

/** Every acknowledged write is in the log, every other one wholly or not at all; the log is numbered without holes. */
export function judgeLog(lines: Line[], floor: number, batches: Batch[]): string[] {
  const faults: string[] = [];
  lines.forEach((line, index) => { if (line.seq !== floor + index + 1) faults.push(`line ${index + 1} of the log has the number ${line.seq}`); });
  const titles = lines.flatMap(({ now }) => (now ? [now.signal.title] : []));
  const found = new Set(titles);
  if (found.size !== titles.length) faults.push(`${titles.length - found.size} versions are in the log more than once`);
  for (const batch of batches) {
    const stored = batch.titles.filter((title) => found.has(title)).length;
    if (batch.isAcknowledged && stored < batch.titles.length) faults.push(`acknowledged, but not in the log: ${batch.titles.find((title) => !found.has(title))}`);
    if (stored > 0 && stored < batch.titles.length) faults.push(`half of a transaction is in the log: ${batch.titles.join(', ')}`);
  }
  return faults;
}

/** What a follower had to get in all. */
export function deliveriesOf(lines: Line[], { query, asker }: Pick<Follower, 'query' | 'asker'>): Delivery[] {
  return lines.map((line) => deliveryOf(line, query, asker)).filter((delivery) => delivery !== null);
}

function startFaults({ requested, remembered, ready }: Segment, isFirst: boolean, { query, isSession }: Follower): string[] {
  const { seq, resume } = ready!;
  if (requested === null && isSession) {
    // What was said to be read may have been lost with the server, but nobody is ahead of it.
    if (!isFirst && seq > Math.max(...remembered)) return [`the session went on after ${seq}, though nobody said to have read so far`];
    return resume.requested === null || resume.requested.endsWith(`-${seq}`) ? [] : [`${resume.requested} was said to be requested, but the session began after ${seq}`];
  }
  if (requested === null) {
    if (resume.status !== (query.since === null ? 'live' : 'complete')) return [`the start was said to be ${resume.status}`];
    return resume.requested === null ? [] : [`${resume.requested} was said to be requested, but nothing was`];
  }
  const wanted = requested === '0' ? 0 : Number(requested.slice(requested.lastIndexOf('-') + 1));
  return [
    ...(resume.requested === requested ? [] : [`${requested} was requested, not ${resume.requested}`]),
    ...(resume.status === 'complete' ? [] : [`the resume from ${requested} was said to be ${resume.status}`]),
    ...(seq === wanted ? [] : [`the resume from ${requested} began after ${seq}`]),
  ];
}

function segmentFaults(segment: Segment, expected: Delivery[], head: number): string[] {
  const start = segment.ready!.seq;
  let next = expected.findIndex(({ seq }) => seq > start);
  if (next < 0) next = expected.length;
  let at = start;
  for (const seen of segment.seen) {
    const due = expected[next];
    if (seen.seq > head) return [`${seen.seq} is not in the log, which ends with ${head}`];
    if (seen.kind === 'position') {
      if (seen.seq < at) return [`a heartbeat went back from ${at} to ${seen.seq}`];
      if (due && due.seq <= seen.seq) return [`a heartbeat said ${seen.seq} before ${due.seq} was sent`];
    } else {
      if (seen.seq <= at) return [`${seen.seq} came after ${at}`];
      if (!due || due.seq > seen.seq) return [`${seen.seq} came, which does not match`];
      if (due.seq < seen.seq) return [`${due.seq} is missing before ${seen.seq}`];
      if (due.retracted !== seen.retracted) return [`${seen.seq} came ${seen.retracted ? 'as a retraction' : 'as a signal'}, and is the other`];
      if (due.hash !== seen.hash || due.id !== seen.id) return [`${seen.seq} came with another signal than the log has`];
      next += 1;
    }
    at = seen.seq;
  }
  return [];
}

export function judgeFollower(follower: Follower, lines: Line[]): string[] {
  const expected = deliveriesOf(lines, follower);
  const head = lines.at(-1)?.seq ?? 0;
  const opened = follower.segments.filter(({ ready }) => ready !== null);
  const faults = opened.flatMap((segment, index) => [...startFaults(segment, index === 0, follower), ...segmentFaults(segment, expected, head)]);
  const end = lastSeen(follower);
  const missing = expected.filter(({ seq }) => seq > end && end >= 0);
  if (missing.length > 0) faults.push(`${missing.length} never came, the first is ${missing[0]!.seq}, the last that came ${end}`);
  if (follower.base && faults.length === 0) faults.push(...foldFaults(follower, lines));
  return faults.map((fault) => `${follower.name}: ${fault}`);
}

/** How far a follower has got on any of its connections; the last one may be reading entries again, from an old id. */
export function lastSeen({ segments }: Follower): number {
  return Math.max(-1, ...segments.flatMap(({ ready, seen }) => (ready ? [seen.at(-1)?.seq ?? ready.seq] : [])));
}

/**
 * A client that applies a stream to a snapshot ends with the present signals. It skips entries that it has applied: a client that presents
 * an old id reads them again, and without an id its session continues after the furthest position, which may be beyond them.
 */
function foldFaults({ base, segments, query, asker }: Follower, lines: Line[]): string[] {
  const held = new Map(base!.pages.flatMap(({ items }) => items.map(({ id, hash }) => [id, hash] as const)));
  let applied = 0;
  for (const seen of segments.flatMap((segment) => segment.seen)) {
    if (seen.kind === 'position' || seen.seq <= applied) continue;
    applied = seen.seq;
    if (seen.retracted) held.delete(seen.id);
    else held.set(seen.id, seen.hash);
  }
  const present = new Map<string, Version | null>(lines.map(({ signalId, now }) => [signalId, now]));
  const wanted = new Map([...present].filter(([, version]) => version && matches(version, query, asker)).map(([id, version]) => [id, version!.hash]));
  const wrong = [...held].filter(([id, hash]) => wanted.get(id) !== hash);
  const absent = [...wanted].filter(([id]) => !held.has(id));
  return wrong.length + absent.length > 0 ? [`snapshot and stream together have ${wrong.length} signals too many and ${absent.length} too few`] : [];
}
