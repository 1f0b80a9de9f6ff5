import type { ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { FetchError, type FetchErrorCode, type Texts } from 'civic';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { destinationOf } from '../pages/consent.ts';
import { DocumentError } from './fetch.ts';

/** An error that is shown to the user and not sent to the client, because the client or its redirect URI is unknown, or because anyone can register the client. */
export interface Refusal {
  error: string;
  status: number;
  /** The cause and the value that caused it, for the developer of the app. */
  description?: string;
  received?: string;
  /** The address of the client with the error, for the user to continue to. */
  next?: string;
}

const MOST_CHARACTERS = 300;

/** The errors that the page explains. */
const EXPLAINED = new Set(['invalid_client', 'invalid_redirect_uri', 'invalid_client_metadata', 'invalid_scope', 'invalid_target', 'login_required', 'invalid_request']);
/** For errors of a known app with a link to it. */
const NOT_VALID = 'not_valid';

/** One reason for a host without an address and for one with a private address: the page must not reveal the network of the instance. */
const FETCH_REASONS: Partial<Record<FetchErrorCode, string>> = {
  too_slow: 'the host did not respond in time',
  too_large: 'the document is too large',
  too_many_redirects: 'the address is redirected',
};
const UNREACHABLE = 'the host cannot be reached';

/** Returns the refusal for an error of the library. `body` is the body that the library would send. */
export function refusalOf(ctx: KoaContextWithOIDC, body: { error: string; error_description?: string }, error: Error & { error_detail?: string }): Refusal {
  const { client_id, redirect_uri } = (ctx.oidc?.params ?? {}) as Record<string, unknown>;
  const received = body.error === 'invalid_redirect_uri' ? redirect_uri : client_id;
  const reason = reasonOf(error);
  return {
    error: body.error,
    status: ctx.status,
    description: [body.error_description, reason].filter(Boolean).join(': '),
    ...(typeof received === 'string' && { received: received.slice(0, MOST_CHARACTERS) }),
  };
}

function reasonOf({ cause, error_detail }: Error & { error_detail?: string }): string | undefined {
  if (cause instanceof DocumentError) return cause.message;
  return cause instanceof FetchError ? FETCH_REASONS[cause.code] ?? UNREACHABLE : error_detail;
}

export function refusalPage(h: ResponseToolkit, t: Texts, { error, description, received, status, next }: Refusal): ResponseObject {
  const isKnown = next !== undefined;
  const why = isKnown && (error === 'invalid_request' || !EXPLAINED.has(error)) ? NOT_VALID : EXPLAINED.has(error) ? error : 'invalid_request';
  const destination = next === undefined ? null : destinationOf(next);
  return h.view('oauth/refused', { title: t('refused.title'), why, error, description, received, next, destination })
    .code(status >= 400 ? status : 400).header('cache-control', 'no-store');
}
