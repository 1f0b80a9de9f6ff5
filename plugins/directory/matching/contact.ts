import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { parse } from 'tldts';

export interface Website {
  /** What somebody registered: `example.org`; of a shared host with the part that is the actor's own: `facebook.com/friendsofx`. */
  site: string;
  /** The whole address in one form, without scheme, `www` and query. */
  page: string;
}

/** Hosts where many have their pages: the domain says nothing, the first part of the path says who. */
const SHARED_HOSTS = new Set(`
  facebook.com fb.com fb.me instagram.com twitter.com x.com linkedin.com youtube.com youtu.be tiktok.com threads.net bsky.app meetup.com eventbrite.com
  linktr.ee google.com goo.gl bit.ly tinyurl.com medium.com substack.com github.com gofundme.com givebutter.com actionnetwork.org secure.actblue.com actblue.com
  winred.com mobilize.us nextdoor.com patreon.com flickr.com pinterest.com reddit.com yelp.com guidestar.org charitynavigator.org wikipedia.org ballotpedia.org
  change.org opencollective.com paypal.com venmo.com carrd.co notion.site discord.gg discord.com slack.com vimeo.com t.me tumblr.com
`.trim().split(/\s+/));
/** Hosts that give each customer a name under theirs. */
const SHARED_PARENTS = new Set('wordpress.com blogspot.com wixsite.com squarespace.com weebly.com github.io tumblr.com substack.com medium.com webs.com godaddysites.com ngpvan.com'.split(' '));
/** What stands before the part of the path that says who. */
const PATH_WORDS = new Set('groups pages company in channel c user site view watch people profile.php r school sites p o organizer wiki profile events'.split(' '));
const FREE_MAIL = new Set(`
  gmail.com googlemail.com yahoo.com ymail.com hotmail.com outlook.com live.com msn.com aol.com icloud.com me.com mac.com proton.me protonmail.com comcast.net
  sbcglobal.net att.net verizon.net bellsouth.net charter.net cox.net earthlink.net juno.com gmx.com mail.com zoho.com fastmail.com centurylink.net frontier.com
  roadrunner.com rr.com optonline.net windstream.net embarqmail.com netzero.net yandex.com hey.com pm.me tutanota.com rocketmail.com
`.trim().split(/\s+/));

export function normalizeWebsite(url: string): Website | null {
  const text = url.trim().toLowerCase();
  const { hostname, domain } = parse(text, { allowPrivateDomains: false });
  if (!hostname || !domain) return null;
  const path = decoded(text.replace(/^[a-z][a-z0-9+.-]*:\/\//, '').replace(/[?#].*$/, '').split('/').slice(1))
    .map((part) => part.trim()).filter((part) => part !== '' && !/^(index|home|default)(\.\w+)?$/.test(part));
  const host = hostname.replace(/^(www\d?|m|mobile)\./, '');
  const page = [host, ...path].join('/');
  if (SHARED_PARENTS.has(domain) && host !== domain) return { site: host, page };
  if (!SHARED_HOSTS.has(domain)) return { site: domain, page };
  const own = path.find((part) => !PATH_WORDS.has(part));
  return own ? { site: `${host}/${own.replace(/^@/, '')}`, page } : null;
}

function decoded(parts: string[]): string[] {
  try {
    return parts.map((part) => decodeURIComponent(part));
  } catch {
    return parts;
  }
}

export interface Email {
  address: string;
  /** Null where everybody can have an address. */
  domain: string | null;
}

export function normalizeEmail(text: string): Email | null {
  const [, local = '', host = ''] = /^(?:mailto:)?([^\s@<>]+)@([^\s@<>?]+)/i.exec(text.trim()) ?? [];
  const { domain } = parse(host);
  if (!local || !domain) return null;
  return { address: `${local.replace(/\+.*$/, '')}@${host}`.toLowerCase(), domain: FREE_MAIL.has(domain) ? null : domain };
}

const NANP = /^(?:\+?1)?([2-9]\d{2}[2-9]\d{6})$/;

/** The number in E.164, without an extension; null when it is none. */
export function normalizePhone(text: string): string | null {
  // Nearly all numbers are of this form, and the library takes a hundred times as long.
  const [, plain] = NANP.exec(text.replace(/[\s().-]/g, '')) ?? [];
  if (plain) return `+1${plain}`;
  const number = parsePhoneNumberFromString(text, 'US');
  return number?.isPossible() ? number.number : null;
}

export interface Identifier {
  scheme: string;
  value: string;
}

/** Identifiers that belong to one actor and no other. */
export const STRONG_SCHEMES = new Set(['ein', 'ocd-person', 'ocd-organization', 'wikidata']);

/** One form for each identifier; null for one that cannot be right. Unknown schemes are kept as they are. */
export function normalizeIdentifier({ scheme, value }: Identifier): Identifier | null {
  const name = scheme.trim().toLowerCase().replaceAll('_', '-');
  const text = value.trim();
  if (['ein', 'us-ein', 'irs', 'irs-ein', 'fein'].includes(name)) {
    const digits = text.replace(/\D/g, '').padStart(9, '0');
    return digits.length === 9 && !/^(\d)\1+$/.test(digits) && text !== '' ? { scheme: 'ein', value: digits } : null;
  }
  const ocd = /^(ocd-(?:person|organization))\/([0-9a-f-]{36})$/i.exec(text);
  if (ocd) return { scheme: ocd[1]!.toLowerCase(), value: ocd[2]!.toLowerCase() };
  if (['wikidata', 'qid', 'wikidata-id'].includes(name)) {
    const qid = /\bQ[1-9]\d*$/i.exec(text)?.[0];
    return qid ? { scheme: 'wikidata', value: qid.toUpperCase() } : null;
  }
  return text === '' ? null : { scheme: name, value: text };
}
