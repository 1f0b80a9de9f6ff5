import type { ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { FetchError, type FetchErrorCode } from 'civic';
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

const EXPLANATIONS: Record<string, string> = {
  invalid_client: 'This instance does not know the app. The app may have been removed, or its description cannot be read. Remove the connection in the app and connect again.',
  invalid_redirect_uri: 'The app requested a redirect to an address that it did not register. Do not continue: an attacker may want access to your account.',
  invalid_client_metadata: 'The description that the app publishes about itself is not valid.',
  invalid_scope: 'The app requested permissions that this instance does not have.',
  invalid_target: 'The app requested access to an address that does not belong to this instance.',
  login_required: 'The app wanted to connect without showing you a page, but you are not signed in here. Connect again in the app.',
  invalid_request: 'The app sent an incomplete request, or this page has expired. Return to the app and connect again.',
};
/** For errors of a known app with a link to it. */
const NOT_VALID = 'The app sent a request that is not valid.';

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

export function refusalPage(h: ResponseToolkit, { error, description, received, status, next }: Refusal): ResponseObject {
  const explanation = next !== undefined && error === 'invalid_request' ? NOT_VALID : EXPLANATIONS[error] ?? (next === undefined ? EXPLANATIONS['invalid_request'] : NOT_VALID);
  const destination = next === undefined ? null : destinationOf(next);
  return h.view('oauth/refused', { title: 'This app cannot be connected', explanation, error, description, received, next, destination })
    .code(status >= 400 ? status : 400).header('cache-control', 'no-store');
}
