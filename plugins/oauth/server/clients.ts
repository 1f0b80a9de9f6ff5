import { parseUrl } from 'civic';
import type { errors as OidcErrors } from 'oidc-provider';

/** The metadata of a client while the library validates it: its members can be changed. */
export type ClientMetadata = Record<string, unknown> & { redirect_uris?: unknown; client_secret?: unknown; token_endpoint_auth_method?: unknown };

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const MOST_REDIRECTS = 20;
const MOST_CHARACTERS = 2000;
const MOST_NAME = 100;

/** Whether an address leads to an app on the user's own device. */
export function isLoopback(url: URL): boolean {
  return url.protocol === 'http:' && LOOPBACK.has(url.hostname);
}

/** Whether an address is opened by an app on the user's own device by its scheme, such as `cursor://`. */
export function isPrivateScheme({ protocol }: URL): boolean {
  return protocol !== 'http:' && protocol !== 'https:';
}

/**
 * Completes and checks the metadata of every client: registered, by metadata document, and by hand. The library calls it before its
 * own checks.
 */
export function adjustClient(metadata: ClientMetadata, { InvalidClientMetadata }: typeof OidcErrors): void {
  const uris = redirectUris(metadata);
  if (uris.length > MOST_REDIRECTS) throw new InvalidClientMetadata(`redirect_uris can have up to ${MOST_REDIRECTS} members`);
  for (const uri of uris) {
    if (uri.href.length > MOST_CHARACTERS) throw new InvalidClientMetadata(`a member of redirect_uris can have up to ${MOST_CHARACTERS} characters`);
    if (uri.protocol === 'http:' && !isLoopback(uri)) throw new InvalidClientMetadata('redirect_uris must use https, a loopback address or a scheme of an app');
  }
  // Many apps leave `application_type` out. Only native ones may use any port of a loopback address (RFC 8252, section 7.3).
  metadata['application_type'] = uris.some((uri) => isLoopback(uri) || isPrivateScheme(uri)) ? 'native' : 'web';
  // A registered scope would be a limit for all later requests; what an app may do is decided on the consent page.
  metadata['scope'] = undefined;
  metadata['sector_identifier_uri'] = undefined;
  metadata['subject_type'] = 'public';
  metadata['client_name'] = cleanName(metadata['client_name']);
  // A metadata document has no secret; without one, the method that RFC 7591 names as default is impossible.
  if (metadata.client_secret === undefined && ['client_secret_basic', 'client_secret_post'].includes(String(metadata.token_endpoint_auth_method))) metadata.token_endpoint_auth_method = 'none';
}

/** Those that can be parsed; the library rejects the others. */
function redirectUris({ redirect_uris: given }: ClientMetadata): URL[] {
  return Array.isArray(given) ? given.map((uri) => (typeof uri === 'string' ? parseUrl(uri) : null)).filter((uri) => uri !== null) : [];
}

/** The name is shown to users: without control characters and marks that reverse the direction of text. */
function cleanName(name: unknown): unknown {
  if (typeof name !== 'string') return name;
  return name.replace(/[\p{Cc}\p{Cf}]/gu, '').trim().slice(0, MOST_NAME) || undefined;
}
