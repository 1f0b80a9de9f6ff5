import Joi from 'joi';

/** A feed, to be written as Atom or JSON Feed. Addresses are absolute. */
export interface Feed {
  /** A URI that stays when the instance moves: see `tagUri`. */
  id: string;
  title: string;
  description: string;
  self: string;
  /** The page that shows the same. */
  home: string;
  author: { name: string; url: string };
  /** XML namespaces of the entries' `extension`, by prefix. */
  namespaces?: Record<string, string>;
  /** The same feed in another format. */
  alternate?: { type: string; url: string };
  entries: FeedEntry[];
}

export interface FeedEntry {
  id: string;
  title: string;
  url: string;
  published: string;
  updated: string;
  summary: string | null;
  html: string;
  text: string;
  categories: { term: string; scheme?: string; label?: string }[];
  /** Where it was read. */
  sources: { url: string; title: string }[];
  /** XML of other namespaces, by `xmlElement`. */
  extension?: string;
}

const JSON_VERSION = 'https://jsonfeed.org/version/1.1';

/** Returns a feed as Atom 1.0 (RFC 4287). By hand, as libraries write only the extensions they know. */
export function atomFeed({ id, title, description, self, home, author, namespaces = {}, alternate, entries }: Feed): string {
  const declared = Object.fromEntries(Object.entries(namespaces).map(([prefix, uri]) => [`xmlns:${prefix}`, uri]));
  return `<?xml version="1.0" encoding="utf-8"?>\n${xmlElement('feed', { xmlns: 'http://www.w3.org/2005/Atom', ...declared, 'xml:lang': 'en' }, [
    textElement('id', id),
    textElement('title', title),
    textElement('subtitle', description),
    // A feed without entries has never changed.
    textElement('updated', entries.reduce((latest, { updated }) => (updated > latest ? updated : latest), '1970-01-01T00:00:00.000Z')),
    xmlElement('author', {}, textElement('name', author.name) + textElement('uri', author.url)),
    xmlElement('generator', { uri: author.url }, 'Civic'),
    xmlElement('link', { rel: 'self', type: 'application/atom+xml', href: self }),
    xmlElement('link', { rel: 'alternate', href: home }),
    ...(alternate ? [xmlElement('link', { rel: 'alternate', type: alternate.type, href: alternate.url })] : []),
    ...entries.map(atomEntry),
  ].join(''))}\n`;
}

function atomEntry({ id, title, url, published, updated, summary, html, categories, sources, extension = '' }: FeedEntry): string {
  return xmlElement('entry', {}, [
    textElement('id', id),
    textElement('title', title),
    textElement('published', published),
    textElement('updated', updated),
    xmlElement('link', { rel: 'alternate', href: url }),
    ...sources.filter((source) => isWebUrl(source.url)).map((source) => xmlElement('link', { rel: 'via', href: source.url, title: source.title })),
    ...categories.map((category) => xmlElement('category', category)),
    ...(summary ? [textElement('summary', summary)] : []),
    xmlElement('content', { type: 'html' }, escapeMarkup(html)),
    extension,
  ].join(''));
}

/** Returns the members of a JSON Feed 1.1 besides its items and extensions. */
export function jsonFeedHead({ title, description, self, home, author }: Feed) {
  return { version: JSON_VERSION, title, description, home_page_url: home, feed_url: self, language: 'en', authors: [author] };
}

/** Returns the members of an item besides extensions. `tags` are its categories in the words of a JSON Feed. */
export function jsonFeedItem({ id, title, url, published, updated, summary, html, text }: FeedEntry, tags: string[]) {
  return { id, url, title: writableText(title), content_html: html, content_text: text, ...(summary && { summary: writableText(summary) }), date_published: published, date_modified: updated, tags };
}

const text = Joi.string().allow('').required();
const address = Joi.string().uri().required();

/** The schemas of `jsonFeedHead` and `jsonFeedItem`. */
export const jsonFeedHeadSchema = {
  version: Joi.string().valid(JSON_VERSION).required(),
  title: text,
  description: text,
  home_page_url: address,
  feed_url: address,
  language: Joi.string().required(),
  authors: Joi.array().items(Joi.object({ name: text, url: address })).required(),
};
export const jsonFeedItemSchema = {
  id: Joi.string().required(),
  url: address,
  title: text,
  content_html: text,
  content_text: text,
  summary: Joi.string(),
  date_published: Joi.string().isoDate().required(),
  date_modified: Joi.string().isoDate().required(),
  tags: Joi.array().items(Joi.string()).required(),
};

/** Returns a tag URI (RFC 4151) for a URL: it stays the same when the instance moves to https or another port. */
export function tagUri(url: string): string {
  const { hostname, pathname, search } = new URL(url);
  return `tag:${hostname.replace(/[^\w.-]/g, '')},2026:${pathname}${search}`;
}

export function xmlElement(name: string, attributes: Record<string, string>, inside = ''): string {
  const written = Object.entries(attributes).map(([attribute, value]) => ` ${attribute}="${escapeMarkup(value).replace(/[\t\n\r]/g, ' ')}"`).join('');
  return inside === '' ? `<${name}${written}/>` : `<${name}${written}>${inside}</${name}>`;
}

function textElement(name: string, value: string): string {
  return xmlElement(name, {}, escapeMarkup(value));
}

// XML has no way to write these, and no reader wants them.
const UNWRITABLE = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\p{Surrogate}/gu;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Returns a text without characters that XML and calendars cannot have. */
export function writableText(given: string): string {
  return given.replace(UNWRITABLE, '');
}

/** Escapes a text for text and attributes, in XML and HTML alike. */
export function escapeMarkup(given: string): string {
  return writableText(given).replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}

/** Returns whether a text may become a link: the address of a source can be any text. */
export function isWebUrl(given: string): boolean {
  return /^https?:\/\//i.test(given);
}
