import type { ActorDetail } from '../types.ts';
import { escape, htmlOf, isDemo, isLink, sourceName, statementsOf, titleOf, updatedOf, type Feed } from './entry.ts';

/** The namespace of what Atom has no element for: claims, each with its source. */
const NAMESPACE = 'urn:civic:directory';

/** Atom 1.0 (RFC 4287). By hand, as libraries write only the extensions they know. */
export function atomFeed(feed: Feed, alternates: { json: string; issueAreas: string; places: string }): string {
  const { title, description, id, self, home, author, actors, pageOf } = feed;
  return [
    '<?xml version="1.0" encoding="utf-8"?>\n',
    `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:civic="${NAMESPACE}" xml:lang="en">`,
    text('id', id),
    text('title', title),
    text('subtitle', description),
    text('updated', updatedOf(actors)),
    element('author', {}, text('name', author.name) + text('uri', author.url)),
    element('generator', { uri: author.url }, 'Civic'),
    element('link', { rel: 'self', type: 'application/atom+xml', href: self }),
    element('link', { rel: 'alternate', href: home }),
    element('link', { rel: 'alternate', type: 'application/feed+json', href: alternates.json }),
    ...actors.map((actor) => entry(actor, alternates, pageOf(actor.id))),
    '</feed>\n',
  ].join('');
}

function entry(actor: ActorDetail, schemes: { issueAreas: string; places: string }, page: string): string {
  return element('entry', {}, [
    text('id', `urn:uuid:${actor.id}`),
    text('title', titleOf(actor)),
    text('published', actor.created_at),
    text('updated', actor.updated_at),
    element('link', { rel: 'alternate', href: page }),
    ...actor.sources.filter(({ url }) => isLink(url)).map((source) => element('link', { rel: 'via', href: source.url, title: sourceName(source) })),
    element('category', { term: actor.type }),
    ...(isDemo(actor) ? [element('category', { term: 'demo', label: 'Demo: this is made up' })] : []),
    ...actor.places.map(({ place_key, name }) => element('category', { term: place_key, scheme: schemes.places, label: name })),
    ...actor.issue_areas.map((area) => element('category', { term: area, scheme: schemes.issueAreas, label: area.replaceAll('_', ' ') })),
    ...(actor.description ? [text('summary', actor.description)] : []),
    element('content', { type: 'html' }, escape(htmlOf(actor))),
    ...actor.places.map(({ place_key }) => element('civic:place', { key: place_key })),
    ...statementsOf(actor).map(({ claim, source }) => element('civic:claim', {
      id: claim.id,
      property: claim.property,
      value: typeof claim.value === 'string' ? claim.value : JSON.stringify(claim.value),
      rank: claim.rank,
      status: claim.status,
      confidence: String(claim.confidence),
      method: claim.method,
      source: source.url,
      source_id: source.id,
      last_seen_at: claim.last_seen_at,
    }, claim.excerpt ? escape(claim.excerpt) : '')),
  ].join(''));
}

function element(name: string, attributes: Record<string, string>, inside = ''): string {
  const written = Object.entries(attributes).map(([attribute, value]) => ` ${attribute}="${escape(value).replace(/[\t\n\r]/g, ' ')}"`).join('');
  return inside === '' ? `<${name}${written}/>` : `<${name}${written}>${inside}</${name}>`;
}

function text(name: string, value: string): string {
  return element(name, {}, escape(value));
}
