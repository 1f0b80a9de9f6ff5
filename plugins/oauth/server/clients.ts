import { isLoopbackHost, parseUrl } from 'civic';
import type { errors as OidcErrors } from 'oidc-provider';

/** The metadata of a client while the library validates it. Assigning a member changes the client. */
export type ClientMetadata = Record<string, unknown> & { redirect_uris?: unknown; client_secret?: unknown; token_endpoint_auth_method?: unknown };

const MOST_REDIRECTS = 20;
const MOST_CHARACTERS = 2000;
const MOST_NAME = 60;
const MOST_SOFTWARE_ID = 200;
/**
 * The schemes of apps on the user's device that are not the reversed name of a domain, as RFC 8252, section 7.1, requires. Other schemes
 * without a dot may send the code to a website or another person, such as `mailto:`, `microsoft-edge:` and `x-safari-https:`.
 */
const APP_SCHEMES = new Set(['chatgpt:', 'claude:', 'cursor:', 'goose:', 'vscode:', 'vscode-insiders:', 'warp:', 'windsurf:', 'zed:']);
const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'];

/** Returns whether a redirect URI leads to a program on the user's own device that listens on a port. */
export function isLoopback(url: URL): boolean {
  return url.protocol === 'http:' && isLoopbackHost(url.hostname);
}

/** Returns whether a redirect URI has the scheme of an app on the user's own device, such as `cursor://`. */
export function isPrivateScheme({ protocol }: URL): boolean {
  return protocol !== 'http:' && protocol !== 'https:';
}

/**
 * Checks and completes the metadata of every client: registered, of a metadata document, or created by the operator. The library
 * calls it before its own checks.
 */
export function adjustClient(metadata: ClientMetadata, { InvalidClientMetadata }: typeof OidcErrors): void {
  const uris = redirectUris(metadata);
  if (uris.length > MOST_REDIRECTS) throw new InvalidClientMetadata(`redirect_uris can have up to ${MOST_REDIRECTS} members`);
  for (const uri of uris) {
    if (uri.href.length > MOST_CHARACTERS) throw new InvalidClientMetadata(`a member of redirect_uris can have up to ${MOST_CHARACTERS} characters`);
    if (!isAllowed(uri)) throw new InvalidClientMetadata('redirect_uris must use https, a loopback address or the scheme of an app, such as com.example.app');
    if (uri.username !== '' || uri.password !== '') throw new InvalidClientMetadata('redirect_uris must not contain a user name or password');
  }
  const { software_id: softwareId } = metadata;
  if (softwareId !== undefined && (typeof softwareId !== 'string' || softwareId.length > MOST_SOFTWARE_ID)) throw new InvalidClientMetadata(`software_id must be a string of up to ${MOST_SOFTWARE_ID} characters`);
  // Many apps leave `application_type` out. Only native ones may use any port of a loopback address (RFC 8252, section 7.3).
  metadata['application_type'] = uris.some((uri) => isLoopback(uri) || isPrivateScheme(uri)) ? 'native' : 'web';
  // The library rejects later requests for scopes beyond a registered `scope`. Here the user decides on the consent page.
  metadata['scope'] = undefined;
  metadata['sector_identifier_uri'] = undefined;
  metadata['subject_type'] = 'public';
  metadata['client_name'] = cleanName(metadata['client_name']);
  // A client of a metadata document has no secret and cannot use the default method of RFC 7591, client_secret_basic.
  const needsSecret = SECRET_METHODS.includes(String(metadata.token_endpoint_auth_method));
  if (metadata.client_secret === undefined && needsSecret) metadata.token_endpoint_auth_method = 'none';
}

function isAllowed(uri: URL): boolean {
  return uri.protocol === 'https:' || isLoopback(uri) || uri.protocol.includes('.') || APP_SCHEMES.has(uri.protocol);
}

/** Returns the redirect URIs that can be parsed. The library rejects the others. */
function redirectUris({ redirect_uris: given }: ClientMetadata): URL[] {
  return Array.isArray(given) ? given.map((uri) => (typeof uri === 'string' ? parseUrl(uri) : null)).filter((uri) => uri !== null) : [];
}

/** Removes control characters and marks that reverse the direction of text, and shortens the name: it is shown to users. */
function cleanName(name: unknown): unknown {
  if (typeof name !== 'string') return name;
  const visible = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu, '').replace(/(\p{M}{3})\p{M}+/gu, '$1').trim();
  if (!/[\p{L}\p{N}]/u.test(visible)) return undefined;
  const characters = [...visible];
  // At the end of a word, if one ends nearby.
  return characters.length > MOST_NAME ? `${characters.slice(0, MOST_NAME - 1).join('').replace(/\s+\S{0,12}$/, '')}…` : visible;
}
