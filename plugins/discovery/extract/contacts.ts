import type { Link } from 'civic/reader';
import type { Line } from './lines.ts';
import { urlOf } from './text.ts';
import type { FoundClaim } from './types.ts';

const EMAIL = /[a-z0-9](?:[\w.+-]{0,62}[\w+-])?@(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,12}\b/gi;
const PHONE = /(?<![\d.-])(?:\+?1[-. ])?(?:\(\d{3}\)[-. ]?|\d{3}[-. ])\d{3}[-. ]\d{4}(?!\d)(?:,?\s?(?:x|ext\.?)\s?\d{1,5})?|(?<![\d+])\+\d{1,3}[ -]?(?:\(?\d{1,4}\)?[ -]?){2,5}\d(?!\d)/gi;
const FAX = /\bfax\W{0,3}(?:number)?\W{0,3}$/i;
const NETWORKS: Record<string, string> = {
  'facebook.com': 'facebook', 'twitter.com': 'twitter', 'x.com': 'twitter', 'instagram.com': 'instagram', 'linkedin.com': 'linkedin', 'youtube.com': 'youtube', 'tiktok.com': 'tiktok', 'threads.net': 'threads', 'bsky.app': 'bluesky',
};
const SHARING = /\/(?:sharer?|intent|shareArticle|dialog|plugins|hashtag|search)\b|[?&](?:u|url)=/i;

/** Returns the addresses of e-mail and the telephone numbers of lines, as far as they are visible. */
export function contactsIn(lines: Line[]): FoundClaim[] {
  return lines.flatMap(({ text, start, links }) => [
    ...matches(text, EMAIL).map(({ value, at }): FoundClaim => ({ property: 'email', value: value.toLowerCase(), start: start + at, end: start + at + value.length })),
    ...matches(text, PHONE).filter(({ at }) => !FAX.test(text.slice(Math.max(0, at - 20), at))).map(({ value, at }): FoundClaim => ({ property: 'phone', value, start: start + at, end: start + at + value.length })),
    ...links.flatMap((link) => linkedEmail(link) ?? []),
  ]);
}

function matches(text: string, pattern: RegExp): { value: string; at: number }[] {
  return [...text.matchAll(pattern)].slice(0, 20).map(({ 0: value, index }) => ({ value, at: index }));
}

/** A link such as `Email Jane` states an address: its passage is the text of the link. */
function linkedEmail({ url, text, start, end }: Link): FoundClaim | null {
  if (!url.startsWith('mailto:') || end <= start || text.includes('@')) return null;
  const [address] = decoded(url.slice(7).split('?')[0]!).match(EMAIL) ?? [];
  return address ? { property: 'email', value: address.toLowerCase(), start, end } : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the profile of a link on a social network; null for others, and for links to share a page. */
export function socialOf({ url, start, end }: Link): FoundClaim | null {
  if (end <= start || !/^https?:/.test(url) || SHARING.test(url)) return null;
  const address = urlOf(url);
  if (!address) return null;
  const { hostname, pathname } = address;
  const network = NETWORKS[hostname.replace(/^(?:www|m|mobile)\./, '')];
  return network && pathname.length > 1 ? { property: 'social', value: { network, url }, start, end } : null;
}
