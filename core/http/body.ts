import type { Boom } from '@hapi/boom';
import type { Lifecycle, Request } from '@hapi/hapi';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { jsonValueFault } from '../json.ts';
import { problem } from '../problems.ts';

export const MAX_BODY_BYTES = 1024 * 1024;

/** `payload` of every route that does not say otherwise: JSON, and it must be called so. */
export const bodyOptions = {
  allow: ['application/json'],
  maxBytes: MAX_BODY_BYTES,
  // A missing Content-Type counts as one that no route allows.
  defaultContentType: 'missing/missing',
};

/** `payload.failAction` of every route. */
export const refuseBody: Lifecycle.Method = (request, h, error) => {
  const boom = error as Boom;
  const status = boom.output.statusCode;
  const isTypeFault = status === 415 || boom.message.startsWith('Invalid content-type');
  if (isTypeFault && !hasBody(request)) return h.continue;
  if (isTypeFault) throw unsupportedType(request);
  if (status === 413) throw problem('body_too_large', { detail: `The body may have up to ${readable(request.route.settings.payload?.maxBytes ?? MAX_BODY_BYTES)}.` });
  if (status === 400 && isEncoded(request)) throw unsupportedEncoding(request);
  if (status === 400 && boom.data instanceof SyntaxError) throw problem('malformed_body', { detail: `${boom.data.message}.` });
  throw error;
};

/** Rejects JSON that recursive code, such as `JSON.stringify`, could not process, or only slowly: hapi's own parser reads any depth. */
export const rejectUnwieldyBody: Lifecycle.Method = (request, h) => {
  const { output, parse } = request.route.settings.payload ?? {};
  const isJson = output === 'data' && parse === true && /[/+]json$/.test(request.mime ?? '');
  const fault = isJson ? jsonValueFault(request.payload) : null;
  if (fault) throw problem('malformed_body', { detail: `The body ${fault}.` });
  return h.continue;
};

/**
 * Listens for errors of a streamed body. A body that is not valid gzip fails even if no handler reads it, such as when the caller
 * lacks the scope, and an error without a listener ends the process.
 */
export const guardStream: Lifecycle.Method = (request, h) => {
  if (request.route.settings.payload?.output === 'stream' && request.payload instanceof Readable) request.payload.on('error', () => undefined);
  return h.continue;
};

/**
 * hapi cuts the connection of a body without a length once it grows too large, before it could answer 413.
 * Only that call has no error and comes before the end.
 */
export function keepAnswerable(req: IncomingMessage): void {
  const { destroy } = req;
  req.destroy = function (error?: Error) {
    return error || this.readableEnded ? destroy.call(this, error) : this;
  };
}

export function hasBody(request: Request): boolean {
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function unsupportedType(request: Request): Boom {
  const allowed = [request.route.settings.payload?.allow ?? []].flat().join(', ');
  const given = request.headers['content-type'] as string | undefined;
  return problem('unsupported_media_type', {
    detail: `${given ? `The body is ${given}` : 'The body has no Content-Type'}, but ${allowed} is expected.`,
    headers: { [request.method === 'patch' ? 'accept-patch' : 'accept-post']: allowed },
  });
}

/** hapi reads an encoding it does not know as if it were none. */
function isEncoded({ headers }: Request): boolean {
  return headers['content-encoding'] !== undefined && !/^(?:identity|gzip|deflate)$/.test(headers['content-encoding'] as string);
}

function unsupportedEncoding({ headers }: Request): Boom {
  return problem('unsupported_media_type', {
    detail: `The body has the Content-Encoding ${headers['content-encoding'] as string}, but only gzip and deflate are understood.`,
    headers: { 'accept-encoding': 'gzip, deflate' },
  });
}

function readable(bytes: number): string {
  return bytes % MAX_BODY_BYTES === 0 ? `${bytes / MAX_BODY_BYTES} MB` : `${bytes} bytes`;
}
