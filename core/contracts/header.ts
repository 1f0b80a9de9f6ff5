import type { JsonSchema } from './schema.ts';

interface Header {
  description: string;
  schema: JsonSchema;
  required?: boolean;
}

const text: JsonSchema = { type: 'string' };
const count: JsonSchema = { type: 'integer', minimum: 0 };

/** The headers of answers, said once. */
export const responseHeaders: Record<string, Header> = {
  'Accept': { description: 'The media types the resource can be had in.', schema: text },
  'Accept-Patch': { description: 'The media type a PATCH must have.', schema: text },
  'Accept-Post': { description: 'The media type a body must have.', schema: text },
  'Allow': { description: 'The methods the resource takes.', schema: text },
  'Cache-Control': { description: 'Who may keep the answer, and for how long.', schema: text },
  'Content-Location': { description: 'The canonical address of what was answered.', schema: { type: 'string', format: 'uri' } },
  'ETag': { description: 'The version of what was answered; send it back as If-None-Match.', schema: text },
  'Idempotency-Replayed': { description: 'true when this is the first answer given again.', schema: text },
  'Last-Modified': { description: 'When the latest of what was answered was noticed.', schema: text },
  'Link': { description: 'The address of the next page, as rel="next".', schema: text },
  'Location': { description: 'The address of what was made.', schema: { type: 'string', format: 'uri' } },
  'Preference-Applied': { description: 'What of Prefer was followed.', schema: text },
  'RateLimit-Limit': { description: 'How many requests the tightest window allows.', schema: count },
  'RateLimit-Remaining': { description: 'How many of them are left.', schema: count },
  'RateLimit-Reset': { description: 'Seconds until the window starts anew.', schema: count },
  'Retry-After': { description: 'Seconds to wait before asking again.', schema: count },
  'Sec-WebSocket-Protocol': { description: 'The subprotocol both sides speak.', schema: text },
  'Server-Timing': { description: 'How long the answer took, in whole milliseconds.', schema: text },
  'Traceparent': { description: 'The W3C trace this request belongs to.', schema: text, required: true },
  'Tracestate': { description: 'What vendors added to the trace, when the request said it.', schema: text },
  'Upgrade': { description: 'The protocol the connection changes to.', schema: text },
  'Vary': { description: 'The request headers the answer depends on.', schema: text },
  'WWW-Authenticate': { description: 'How to say who is asking.', schema: text },
  'X-RateLimit-Limit': { description: 'How many requests the window that is used up allows.', schema: count },
  'X-RateLimit-Remaining': { description: 'How many of them are left.', schema: count },
  'X-RateLimit-Reset': { description: 'When the window starts anew, in Unix time.', schema: count },
  'X-Request-ID': { description: 'Names this request in the server’s log; the caller’s own if one was sent.', schema: text, required: true },
};

/** What a POST under /api may carry. */
export const idempotencyHeader: Header = { description: 'Names this request: sent again with the same key and body within a day, it is not done again, and the first answer is given. A request that is rejected with 400, 401, 403, 413, 415, 429 or 5xx does not take the key: it can be sent again, also corrected.', schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' } };

/** The headers every request may carry. */
export const requestHeaders: Record<string, Header> = {
  'Traceparent': { description: 'A W3C trace to continue.', schema: text },
  'Tracestate': { description: 'What vendors add to the trace.', schema: text },
  'X-Request-ID': { description: 'A name for this request, found again in the answer and the log.', schema: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[!-~]+$' } },
};
