import { FetchError, type Civic, type Clock, type Fetch, type FetchOptions } from 'civic';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { OauthConfig } from '../config.ts';
import { hashOf } from '../secrets.ts';
import { artifact } from '../store/artifacts.ts';
import { hasGrants } from '../store/grants.ts';

const MOST_BYTES = 64 * 1024;
const SECONDS = 5;
const OPTIONS: FetchOptions = { headers: { accept: 'application/json' }, timeout_seconds: SECONDS, max_bytes: MOST_BYTES, max_redirects: 0 };
const MINUTE_MS = 60_000;
/** How many documents are read in a minute, in total and from one host: the library keeps a valid one for at least 15 minutes. */
const MOST_FETCHES = 60;
const MOST_FETCHES_OF_HOST = 10;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Why a document of a client is not accepted, for the developer of the app. */
export class DocumentError extends Error {}

/** The endpoints for apps that a user has connected, or for a device that waits for the user. */
const SERVICES = ['token', 'introspection', 'revocation'];

/** Returns the rule that decides whether the metadata document of a client may be read for a request. */
export function documentPolicy({ config, db }: Pick<Civic<OauthConfig>, 'config' | 'db'>): (ctx: KoaContextWithOIDC | undefined, id: string) => Promise<boolean> {
  const { hosts } = config.metadata_documents;
  const isOfDevice = async (code: unknown, id: string): Promise<boolean> => typeof code === 'string' && (await artifact(db.read, 'DeviceCode', hashOf(code)))?.payload['clientId'] === id;
  return async (ctx, id) => {
    if (hosts.length > 0 && !hosts.includes(new URL(id).hostname)) return false;
    if (!ctx || !SERVICES.includes(ctx.oidc.route)) return true;
    return await hasGrants(db.read, id) || isOfDevice(ctx.oidc.params?.['device_code'], id);
  };
}

export interface ClientFetchOptions {
  fetch: Fetch;
  clock: Clock;
  onRefused(url: string, error: FetchError): Promise<void>;
}

interface Fetched {
  status: number;
  headers: { 'content-type': string; 'cache-control': string };
  body: Uint8Array<ArrayBuffer>;
}

/**
 * Returns the `fetch` with which the library reads metadata documents and key sets of clients. `civic.fetch` checks each address when
 * it connects, so that a host name cannot resolve to a private network. Redirects are not followed. An address is read once in a
 * minute, also when it fails: anonymous callers choose addresses, and this instance must not flood another host for them.
 */
export function createClientFetch({ fetch, clock, onRefused }: ClientFetchOptions): typeof globalThis.fetch {
  /** The requests of the last minute, the oldest first. */
  const recent = new Map<string, { at: number; fetched: Promise<Fetched> }>();

  async function load(url: string): Promise<Fetched> {
    const { status, headers, body } = await fetch(url, OPTIONS);
    // A file of another type that users can upload to a host must not become a client.
    if (status === 200 && !JSON_TYPE.test(headers['content-type'] ?? '')) throw new DocumentError('the document is not application/json');
    return { status, headers: { 'content-type': headers['content-type'] ?? '', 'cache-control': headers['cache-control'] ?? '' }, body: new Uint8Array(body) };
  }

  function loadOnce(url: string): Promise<Fetched> {
    for (const [address, { at }] of recent) if (Math.abs(clock.now() - at) >= MINUTE_MS) recent.delete(address);
    const found = recent.get(url);
    if (found) return found.fetched;
    const { hostname } = new URL(url);
    const ofHost = [...recent.keys()].filter((address) => new URL(address).hostname === hostname).length;
    if (recent.size >= MOST_FETCHES || ofHost >= MOST_FETCHES_OF_HOST) throw new DocumentError('this instance reads too many documents now; try again in a minute');
    const fetched = load(url);
    recent.set(url, { at: clock.now(), fetched });
    return fetched;
  }

  return async (input) => {
    const url = input instanceof Request ? input.url : String(input);
    try {
      const { body, ...response } = await loadOnce(url);
      return new Response(body, response);
    } catch (error) {
      if (error instanceof FetchError) await onRefused(url, error);
      throw error;
    }
  };
}
