import { FetchError, shown } from './error.ts';
import { parseUrl } from '../../url.ts';

/** One request of possibly several: the first, or one after a redirect. Header names are in lower case. */
export interface Hop {
  url: URL;
  method: 'GET' | 'HEAD' | 'POST';
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

/** Headers that are meant for one origin only. */
const SECRETS = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key'];
const OF_THE_BODY = ['content-type', 'content-encoding', 'content-language', 'content-location', 'content-length'];

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** An address that may be asked, whether typed in or named by a redirect from `base`. */
export function checkedUrl(text: string, base?: URL): URL {
  const refusal = base ? `${shown(base)} redirects to an address that cannot be fetched` : 'This address cannot be fetched';
  const url = parseUrl(text, base);
  if (!url) throw new FetchError('bad_url', `${refusal}: "${text.slice(0, 200)}" is not a URL such as https://example.org/page.`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new FetchError('bad_url', `${refusal}: it starts with ${url.protocol} and only http: and https: are known.`);
  if (url.username || url.password) throw new FetchError('bad_url', `${refusal}: it holds a user name or password in front of the host; leave that out.`);
  url.hash = '';
  return url;
}

/** What is asked after a redirect: 301, 302 and 303 turn a POST into a GET, and secrets stay with their origin. */
export function nextHop(hop: Hop, status: number, location: string): Hop {
  const url = checkedUrl(location, hop.url);
  const becomesGet = hop.method === 'POST' && status < 307;
  const body = becomesGet ? undefined : hop.body;
  const losesTls = hop.url.protocol === 'https:' && url.protocol === 'http:';
  if (losesTls && (body !== undefined || SECRETS.some((name) => name in hop.headers))) {
    throw new FetchError('bad_response', `${shown(hop.url)} redirects from https to http, which is not followed with credentials or data.`);
  }
  const dropped = [...(becomesGet ? OF_THE_BODY : []), ...(url.origin === hop.url.origin ? [] : [...SECRETS, 'host'])];
  const headers = Object.fromEntries(Object.entries(hop.headers).filter(([name]) => !dropped.includes(name)));
  return { url, method: becomesGet ? 'GET' : hop.method, headers, body };
}
