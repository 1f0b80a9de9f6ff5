import { Joi } from 'civic';
import { actorDetailSchema } from '../actors/schemas.ts';
import type { ActorDetail, Claim, Source } from '../types.ts';
import { clean, htmlOf, isDemo, textOf, titleOf, type Feed } from './entry.ts';

const VERSION = 'https://jsonfeed.org/version/1.1';

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

const text = Joi.string().allow('').required();
const address = Joi.string().uri().required();
const member = (name: string) => actorDetailSchema.extract(name);

const itemSchema = Joi.object<JsonFeedItem, true>({
  id: Joi.string().required().description('`urn:uuid:` and the id of the actor'),
  url: address,
  external_url: Joi.string().description('The website of the actor'),
  title: text,
  content_html: text,
  content_text: text,
  summary: Joi.string(),
  date_published: Joi.string().isoDate().required(),
  date_modified: Joi.string().isoDate().required(),
  tags: Joi.array().items(Joi.string()).required(),
  _civic: Joi.object<JsonFeedItem['_civic']>({
    about: address,
    demo: Joi.boolean().required().description('Whether the actor was invented for the demo'),
    id: member('id'),
    type: member('type'),
    places: member('places'),
    issue_areas: member('issue_areas'),
    event: member('event'),
    status: member('status'),
    claims: member('claims'),
    sources: member('sources'),
  }).required(),
}).meta({ name: 'JsonFeedItem' });

export const jsonFeedSchema = Joi.object<JsonFeed, true>({
  version: Joi.string().valid(VERSION).required(),
  title: text,
  description: text,
  home_page_url: address,
  feed_url: address,
  language: Joi.string().required(),
  authors: Joi.array().items(Joi.object({ name: text, url: address })).required(),
  _civic: Joi.object({ about: address, id: Joi.string().required().description('A tag URI, which stays the same when the instance moves') }).required(),
  items: Joi.array().items(itemSchema).required(),
}).meta({ name: 'JsonFeed' }).description('JSON Feed 1.1 (https://jsonfeed.org/version/1.1)');

export function jsonFeed({ title, description, id, self, home, author, actors, pageOf }: Feed, about: string): JsonFeed {
  return {
    version: VERSION,
    title,
    description,
    home_page_url: home,
    feed_url: self,
    language: 'en',
    authors: [author],
    _civic: { about, id },
    items: actors.map((actor) => itemOf(actor, about, pageOf(actor.id))),
  };
}

function itemOf(actor: ActorDetail, about: string, page: string): JsonFeedItem {
  const { type, places, issue_areas, event, status, claims, sources } = actor;
  const isMadeUp = isDemo(actor);
  return {
    id: `urn:uuid:${actor.id}`,
    url: page,
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
