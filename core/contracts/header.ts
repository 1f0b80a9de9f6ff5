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
  'Accept': { description: 'The media types in which the resource is available.', schema: text },
  'Accept-Patch': { description: 'The media type a PATCH must have.', schema: text },
  'Accept-Post': { description: 'The media type a body must have.', schema: text },
  'Allow': { description: 'The methods that the resource supports.', schema: text },
  'Cache-Control': { description: 'Who may store the response, and for how long.', schema: text },
  'Content-Location': { description: 'The canonical URL of the returned resource.', schema: { type: 'string', format: 'uri' } },
  'ETag': { description: 'The version of the returned resource, for If-None-Match.', schema: text },
  'Idempotency-Replayed': { description: 'true when this is the stored response of the first request.', schema: text },
  'Last-Modified': { description: 'When the newest returned signal was detected.', schema: text },
  'Link': { description: 'The URL of the next page, with rel="next".', schema: text },
  'Location': { description: 'The URL of the created resource.', schema: { type: 'string', format: 'uri' } },
  'Preference-Applied': { description: 'The preferences of Prefer that were applied.', schema: text },
  'RateLimit-Limit': { description: 'How many requests the tightest window allows.', schema: count },
  'RateLimit-Remaining': { description: 'How many of them are left.', schema: count },
  'RateLimit-Reset': { description: 'Seconds until the window resets.', schema: count },
  'Retry-After': { description: 'Seconds to wait before the next request.', schema: count },
  'Sec-WebSocket-Protocol': { description: 'The selected subprotocol.', schema: text },
  'Server-Timing': { description: 'The duration of the request, in whole milliseconds.', schema: text },
  'Traceparent': { description: 'The W3C trace this request belongs to.', schema: text, required: true },
  'Tracestate': { description: 'The data of tracing vendors, copied from the request.', schema: text },
  'Upgrade': { description: 'The protocol of the upgraded connection.', schema: text },
  'Vary': { description: 'The request headers that the response depends on.', schema: text },
  'WWW-Authenticate': { description: 'The authentication schemes that the resource accepts.', schema: text },
  'X-RateLimit-Limit': { description: 'How many requests the exceeded window allows.', schema: count },
  'X-RateLimit-Remaining': { description: 'How many of them are left.', schema: count },
  'X-RateLimit-Reset': { description: 'When the window resets, in Unix time.', schema: count },
  'X-Request-ID': { description: 'The id of the request in the log of the server; that of the request header if one was sent.', schema: text, required: true },
};

/** What a POST under /api may carry. */
export const idempotencyHeader: Header = { description: 'Makes the request idempotent: repeated with the same key and body within a day, it is not executed again and gets the response of the first request. A request that is rejected with 400, 401, 403, 413, 415, 429 or 5xx does not use the key: it can be repeated, also corrected.', schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' } };

/** The headers every request may carry. */
export const requestHeaders: Record<string, Header> = {
  'Traceparent': { description: 'A W3C trace to continue.', schema: text },
  'Tracestate': { description: 'The data of tracing vendors.', schema: text },
  'X-Request-ID': { description: 'An id for this request, which the response and the log repeat.', schema: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[!-~]+$' } },
};
