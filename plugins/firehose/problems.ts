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
  subprotocol_required: {
    status: 400,
    title: 'The subprotocol is missing',
    advice: 'Ask for `service.firehose.v1` in Sec-WebSocket-Protocol: `new WebSocket(url, "service.firehose.v1")`.',
  },
  foreign_origin: {
    status: 403,
    title: 'A page of another site needs a ticket',
    advice: 'Make a ticket on your server with `POST /api/firehose/sessions/{id}/tickets`, and open the socket with `?ticket=`.',
  },
  unknown_session: {
    status: 404,
    title: 'No such session',
    advice: 'It was deleted, was not used for long, or is of another workspace. `GET /api/firehose/sessions` lists yours.',
  },
  too_many_sessions: {
    status: 429,
    title: 'Too many sessions',
    advice: 'Delete one that is no longer needed first. A larger plan allows more: see /api/plans.',
  },
};
