import { FetchError, type Fetch, type FetchOptions } from 'civic';

const MOST_BYTES = 64 * 1024;
const SECONDS = 5;
const OPTIONS: FetchOptions = { headers: { accept: 'application/json' }, timeout_seconds: SECONDS, max_bytes: MOST_BYTES, max_redirects: 0 };

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** A document of a client has another media type than JSON: a file that users can upload to a host must not become a client. */
export class MediaTypeError extends Error {}

/**
 * Returns the `fetch` with which the library reads metadata documents and key sets of clients. `civic.fetch` checks each address when
 * it connects, so that a host name cannot resolve to a private network. Redirects are not followed.
 */
export function createClientFetch(fetch: Fetch, onRefused: (url: string, error: FetchError) => Promise<void>): typeof globalThis.fetch {
  return async (input) => {
    const url = input instanceof Request ? input.url : String(input);
    try {
      const { status, headers, body } = await fetch(url, OPTIONS);
      if (status === 200 && !JSON_TYPE.test(headers['content-type'] ?? '')) throw new MediaTypeError('the document is not application/json');
      const kept = { 'content-type': headers['content-type'] ?? '', 'cache-control': headers['cache-control'] ?? '' };
      return new Response(new Uint8Array(body), { status, headers: kept });
    } catch (error) {
      if (error instanceof FetchError) await onRefused(url, error);
      throw error;
    }
  };
}
