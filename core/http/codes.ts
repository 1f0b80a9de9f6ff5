import { registerProblems, type ProblemKinds } from '../problems.ts';

/** What can go wrong on any route, before or around its handler. */
export const coreProblems = {
  bad_request: {
    status: 400,
    title: 'The request cannot be understood',
    advice: 'Check the address and the headers for characters that do not belong there.',
    anywhere: true,
  },
  invalid_request: {
    status: 400,
    title: 'The request holds invalid values',
    advice: 'Each entry of `errors` names the parameter or the place in the body and says what is expected there.',
  },
  invalid_header: {
    status: 400,
    title: 'A header is malformed',
    advice: 'The detail names the header and its form. Leave it out if you do not need it.',
    anywhere: true,
  },
  malformed_body: {
    status: 400,
    title: 'The body is not valid JSON',
    advice: 'Send one JSON document in UTF-8. The detail says where reading stopped.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The cursor cannot be used here',
    advice: 'Use `next_cursor` exactly as it was given, on the same address, alone or with the parameters it was made from. Only `limit` may change.',
  },
  two_credentials: {
    status: 400,
    title: 'Two credentials were sent',
    advice: 'Send either `X-API-Key` or `Authorization`, not both.',
    anywhere: true,
  },
  authentication_required: {
    status: 401,
    title: 'This needs an account',
    advice: 'Send an API key in `X-API-Key`, or an access token in `Authorization: Bearer`.',
  },
  invalid_credentials: {
    status: 401,
    title: 'The credentials are not valid',
    advice: 'Check the key or token: it may be mistyped, expired or revoked. Public reads work without any.',
    anywhere: true,
  },
  no_accounts: {
    status: 401,
    title: 'This instance has no accounts',
    advice: 'Nobody can sign in here until the operator switches a plugin for accounts on. Public reads work without credentials.',
  },
  forbidden: {
    status: 403,
    title: 'This is not allowed',
    advice: 'The caller is known but may not do this.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The key or token lacks a scope',
    advice: 'Make a key or ask for a token that has the scope named in the detail.',
  },
  permission_required: {
    status: 403,
    title: 'This needs another role',
    advice: 'Ask the operator of this instance for the role named in the detail.',
  },
  plan_required: {
    status: 403,
    title: 'The plan does not include this',
    advice: 'Use an account on one of the plans that the member `plans` names, or ask the operator for one.',
  },
  foreign_form: {
    status: 403,
    title: 'This form did not come from our own page',
    advice: 'Open the page at the address of this instance, and send the form from there.',
  },
  stale_form: {
    status: 403,
    title: 'This page is out of date',
    advice: 'You signed in or out since it was opened. Go back, load the page again and repeat what you did.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing here',
    advice: 'Check the address and the id in it. Ids are given in full.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    advice: 'The `Allow` header lists the methods of this address.',
  },
  not_acceptable: {
    status: 406,
    title: 'None of the accepted media types can be given',
    advice: 'The `Accept` header of the answer lists what can be given.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    advice: 'Send it again, over a better line or in smaller parts.',
  },
  conflict: {
    status: 409,
    title: 'The request does not fit the present state',
    advice: 'Read the thing again, then decide.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'This Idempotency-Key belongs to another request',
    advice: 'Make a new key for every new request. The same key is for trying the very same request again.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'The first request with this Idempotency-Key is still running',
    advice: 'Try again in a moment: you then get the answer of the first one.',
  },
  secret_shown_once: {
    status: 409,
    title: 'The answer held a secret, which is shown once',
    advice: 'The first request was carried out. If its answer was lost, take back what it made and ask again with a new Idempotency-Key.',
  },
  precondition_failed: {
    status: 412,
    title: 'The thing has changed since it was read',
    advice: 'Read it again, repeat the change on the new version and send its ETag in `If-Match`.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    advice: 'Send less at once. The detail says how much is allowed.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The media type of the body is not supported',
    advice: 'Set `Content-Type` to the type named in `Accept-Post` or `Accept-Patch`.',
  },
  upgrade_required: {
    status: 426,
    title: 'This address speaks WebSocket only',
    advice: 'Open it with a WebSocket client.',
  },
  result_too_large: {
    status: 413,
    title: 'The result is too large for a tool',
    advice: 'Use fewer or shorter filters. The API has no such limit.',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests',
    advice: 'Wait as many seconds as `Retry-After` says.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    advice: 'Send fewer or shorter headers, cookies and query parameters.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong on our side',
    advice: 'Try again later. If it stays, tell the operator the `request_id`; the log says more.',
    anywhere: true,
  },
  unavailable: {
    status: 503,
    title: 'This is not available now',
    advice: 'Try again later, after `Retry-After` seconds where that is given.',
  },
  not_ready: {
    status: 503,
    title: 'The instance is not ready',
    advice: '`checks` lists what failed; `bin/civic doctor` prints how to fix it.',
  },
} satisfies ProblemKinds;

registerProblems(coreProblems);

const codeByStatus = new Map<number, string>([
  [400, 'bad_request'], [401, 'authentication_required'], [403, 'forbidden'], [404, 'not_found'], [405, 'method_not_allowed'],
  [406, 'not_acceptable'], [408, 'request_timeout'], [409, 'conflict'], [412, 'precondition_failed'], [413, 'body_too_large'],
  [415, 'unsupported_media_type'], [426, 'upgrade_required'], [429, 'too_many_requests'], [431, 'headers_too_large'], [503, 'unavailable'],
]);

/** The detail of a 404 that says no more than the path. Pages translate it. */
export function nothingAt(path: string): string {
  return `There is nothing at ${path}.`;
}

/** The code of an error that was thrown without one, by hapi or a library. */
export function codeForStatus(status: number): string {
  return codeByStatus.get(status) ?? (status >= 500 ? 'internal_error' : 'bad_request');
}
