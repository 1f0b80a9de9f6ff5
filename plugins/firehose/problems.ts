import type { ProblemKinds } from 'civic';

export const firehoseProblems: ProblemKinds = {
  invalid_event_id: {
    status: 400,
    title: 'Not an event id',
    advice: 'Send the `id` of the last event you received, as it was, in Last-Event-ID or last_event_id; `0` replays everything that is kept.',
  },
  invalid_preference: {
    status: 400,
    title: 'Malformed Prefer header',
    advice: 'Send for example `Prefer: wait=20`, a whole number of seconds.',
  },
  visibility_forbidden: {
    status: 403,
    title: 'Not for you to see',
    advice: 'Ask with visibility=workspace or visibility=public. The operator decides which workspaces are partners and which accounts review.',
  },
  too_many_streams: {
    status: 429,
    title: 'Too many open streams',
    advice: 'Close a stream or socket first. A larger plan allows more: see /api/plans.',
  },
  wait_too_long: {
    status: 503,
    title: 'Waits are not supported for so long',
    advice: 'Ask for at most 30 seconds and ask again.',
  },
  streams_full: {
    status: 503,
    title: 'No more streams here now',
    advice: 'This server has as many open streams as its operator allows. Come back after the time in Retry-After.',
  },
};
