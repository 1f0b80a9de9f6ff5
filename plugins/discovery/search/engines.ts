import { FetchError, Joi, parseUrl, type Civic, type Fetch } from 'civic';
import type { DiscoveryConfig } from '../config.ts';

export interface SearchConfig {
  /** '' for none. */
  searxng_url: string;
  brave_key: string;
}

/** A search engine that the operator configured. Its results are addresses, nothing else. */
export interface SearchEngine {
  name: string;
  /** Between two requests, as the terms of the engine require. */
  pauseMs: number;
  /** Returns addresses, the best first. Rejects with a `SearchError`. */
  search(query: string, signal: AbortSignal): Promise<string[]>;
}

/** The engine cannot be used; `fix` states what the operator does. */
export class SearchError extends Error {
  override readonly name = 'SearchError';
  readonly fix: string | undefined;

  constructor(message: string, fix?: string) {
    super(message);
    this.fix = fix;
  }
}

const RESULTS = 10;
const SECONDS = 20;
const MAX_BYTES = 2_000_000;
const BRAVE_URL = 'https://api.search.brave.com/res/v1/web/search';

/** What is done about the statuses with which SearXNG refuses programs. A restart of SearXNG applies them. */
const SEARXNG_FIXES: Record<number, { problem: string; fix: string }> = {
  403: { problem: 'it does not return JSON', fix: 'in settings.yml of SearXNG add json to the formats and restart it:\n    search:\n      formats:\n        - html\n        - json' },
  429: { problem: 'its limiter takes this server for a bot', fix: 'in settings.yml of SearXNG switch the limiter off and restart it:\n    server:\n      limiter: false\n  or, where others use it, let this server pass in limiter.toml:\n    [botdetection.ip_lists]\n    pass_ip = ["192.0.2.10"]  # the address of this server' },
};

const searxngResponse = Joi.object<{ results: { url: string }[] }>({ results: Joi.array().items(Joi.object({ url: Joi.string().required() }).unknown()).required() }).unknown();
const braveResponse = Joi.object<{ web?: { results: { url: string }[] } }>({ web: Joi.object({ results: Joi.array().items(Joi.object({ url: Joi.string().required() }).unknown()).required() }).unknown() }).unknown();

/** Returns the engines of the configuration, in the order in which they are asked. */
export function searchEngines({ config, fetch }: Pick<Civic<DiscoveryConfig>, 'config' | 'fetch'>): SearchEngine[] {
  const { searxng_url, brave_key } = config.search;
  return [...(searxng_url === '' ? [] : [searxng(fetch, searxng_url)]), ...(brave_key === '' ? [] : [brave(fetch, brave_key)])];
}

export function searxng(fetch: Fetch, base: string): SearchEngine {
  return {
    name: 'searxng',
    pauseMs: 0,
    async search(query, signal) {
      const url = `${base.replace(/\/+$/, '')}/search?${new URLSearchParams({ q: query, format: 'json' })}`;
      const json = await requested(fetch, url, {}, signal, (status) => {
        const known = SEARXNG_FIXES[status];
        return new SearchError(`SearXNG responded with the status ${status}${known ? `: ${known.problem}` : ''}.`, known?.fix ?? 'open the address of plugins.discovery.search.searxng_url in a browser, and check the log of SearXNG');
      });
      return addresses(checked(searxngResponse, json, 'SearXNG').results);
    },
  };
}

export function brave(fetch: Fetch, key: string, address = BRAVE_URL): SearchEngine {
  return {
    name: 'brave',
    // The smallest plan has one request a second.
    pauseMs: 1100,
    async search(query, signal) {
      const url = `${address}?${new URLSearchParams({ q: query, count: String(RESULTS) })}`;
      const json = await requested(fetch, url, { 'x-subscription-token': key }, signal, (status) => {
        const isKey = status === 401 || status === 403 || status === 422;
        return new SearchError(`Brave Search responded with the status ${status}${status === 429 ? ': its requests of this second or month are used' : isKey ? ': it does not accept the key' : ''}.`, isKey ? 'check plugins.discovery.search.brave_key' : 'check the plan of the key at api-dashboard.search.brave.com');
      });
      return addresses(checked(braveResponse, json, 'Brave Search').web?.results ?? []);
    },
  };
}

async function requested(fetch: Fetch, url: string, headers: Record<string, string>, signal: AbortSignal, refused: (status: number) => SearchError): Promise<unknown> {
  try {
    const response = await fetch(url, { headers: { accept: 'application/json', ...headers }, timeout_seconds: SECONDS, max_bytes: MAX_BYTES, max_redirects: 0, signal });
    if (response.status !== 200) throw refused(response.status);
    return parsed(response.text());
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FetchError) throw new SearchError(error.message);
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function checked<T>(schema: Joi.ObjectSchema<T>, json: unknown, name: string): T {
  const { value, error } = schema.validate(json);
  if (error) throw new SearchError(`${name} responded with something else than results in JSON.`, 'check the address: it is the one at which people open the search, without /search');
  return value;
}

function addresses(results: { url: string }[]): string[] {
  return results.slice(0, RESULTS).map(({ url }) => url).filter((url) => parseUrl(url) !== null);
}
