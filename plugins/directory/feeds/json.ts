import type { ActorDetail, Claim, Source } from '../types.ts';
import { clean, htmlOf, isDemo, textOf, titleOf, type Feed } from './entry.ts';

/** JSON Feed 1.1; what it has no member for is under `_civic`. */
export interface JsonFeed {
  version: string;
  title: string;
  description: string;
  home_page_url: string;
  feed_url: string;
  language: string;
  authors: { name: string; url: string }[];
  _civic: { about: string; id: string };
  items: JsonFeedItem[];
}

export interface JsonFeedItem {
  id: string;
  url: string;
  external_url?: string;
  title: string;
  content_html: string;
  content_text: string;
  summary?: string;
  date_published: string;
  date_modified: string;
  tags: string[];
  _civic: Pick<ActorDetail, 'id' | 'type' | 'places' | 'issue_areas' | 'event' | 'status'> & { about: string; demo: boolean; claims: Claim[]; sources: Source[] };
}

export function jsonFeed({ title, description, id, self, home, author, actors }: Feed, about: string): JsonFeed {
  return {
    version: 'https://jsonfeed.org/version/1.1',
    title,
    description,
    home_page_url: home,
    feed_url: self,
    language: 'en',
    authors: [author],
    _civic: { about, id },
    items: actors.map((actor) => itemOf(actor, about)),
  };
}

function itemOf(actor: ActorDetail, about: string): JsonFeedItem {
  const { type, places, issue_areas, event, status, claims, sources } = actor;
  const isMadeUp = isDemo(actor);
  return {
    id: `urn:uuid:${actor.id}`,
    url: actor.url,
    ...(actor.contact.website && { external_url: actor.contact.website }),
    title: clean(titleOf(actor)),
    content_html: htmlOf(actor),
    content_text: textOf(actor),
    ...(actor.description && { summary: clean(actor.description) }),
    date_published: actor.created_at,
    date_modified: actor.updated_at,
    tags: [...(isMadeUp ? ['demo'] : []), type, ...places.map(({ name }) => name), ...issue_areas],
    _civic: { about, demo: isMadeUp, id: actor.id, type, places, issue_areas, event, status, claims, sources },
  };
}
