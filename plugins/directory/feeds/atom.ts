import { atomFeed, escapeMarkup, xmlElement, type FeedEntry } from 'civic';
import type { ActorDetail } from '../types.ts';
import { entryOf, isDemo, statementsOf, type ActorFeed } from './entry.ts';

/** The namespace of what Atom has no element for: claims, each with its source. */
const NAMESPACE = 'urn:civic:directory';

export function atomOf(feed: ActorFeed, alternates: { json: string; issueAreas: string; places: string }): string {
  return atomFeed({
    ...feed,
    namespaces: { civic: NAMESPACE },
    alternate: { type: 'application/feed+json', url: alternates.json },
    entries: feed.actors.map((actor) => ({ ...entryOf(actor, feed), categories: categoriesOf(actor, alternates), extension: extensionOf(actor) })),
  });
}

function categoriesOf(actor: ActorDetail, schemes: { issueAreas: string; places: string }): FeedEntry['categories'] {
  return [
    { term: actor.type },
    ...(isDemo(actor) ? [{ term: 'demo', label: 'Demo: this is made up' }] : []),
    ...actor.places.map(({ place_key, name }) => ({ term: place_key, scheme: schemes.places, label: name })),
    ...actor.issue_areas.map((area) => ({ term: area, scheme: schemes.issueAreas, label: area.replaceAll('_', ' ') })),
  ];
}

function extensionOf(actor: ActorDetail): string {
  return [
    ...actor.places.map(({ place_key }) => xmlElement('civic:place', { key: place_key })),
    ...statementsOf(actor).map(({ claim, source }) => xmlElement('civic:claim', {
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
    }, claim.excerpt ? escapeMarkup(claim.excerpt) : '')),
  ].join('');
}
